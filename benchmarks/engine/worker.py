"""Owns one worker process of an engine session: gates or times one arm on the workloads of its job.

`python -m benchmarks.engine.worker --study NAME --arm NAME --model NAME …`. The job comes on stdin and messages go to
stdout, see `benchmarks.protocol`; whatever libraries print goes to stderr. The study is arranged anew from its words.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from benchmarks import protocol
from benchmarks.capture import REPOSITORY
from benchmarks.conversation import Conversation
from benchmarks.engine import accuracy, models, parity, timeline
from benchmarks.engine.engines import Engine, EngineError, Limits
from benchmarks.engine.engines.making import make
from benchmarks.engine.features import FUSED_QK_NORM, SCHEME, THREADS
from benchmarks.engine.load import Drive, HasClient, Trial, drive
from benchmarks.engine.preparation import Prepared, prepare_model
from benchmarks.engine.study import Side, find
from benchmarks.engine.workloads import AT_ONCE, Load
from benchmarks.memory import peak_memory, reset_peak_memory, total_memory
from benchmarks.timing import rounded, watched_compilations
from evidence.errors import EvidenceError, UnknownNameError
from evidence.schema import Counter as Count
from evidence.schema import Failed, Passed, Samples, Setting
from evidence.schema.cells import Requests

_IMPORTED = (
    "torch",
    "numpy",
    "transformers",
    "transformers.generation.continuous_batching.continuous_api",
    "transformers.models.qwen3.modeling_qwen3",
)
"""What engines import when they first need it."""


_OOM = "out of memory"


class MechanismError(EvidenceError):
    """An arm whose feature did nothing: its times would stand under a name that promises more."""


class EngineWorker:
    """One arm, its model built when it is first needed."""

    def __init__(self, asked: argparse.Namespace, session: Conversation) -> None:
        """Arrange the study and find the arm in it; nothing is built yet."""
        self._asked, self._session = asked, session
        self._study = find(asked.study)
        more = {
            name: tuple(getattr(asked, name.replace("-", "_"))) for name in (one.name for one in self._study.options)
        }
        self._wanted = self._study.asked(asked.device, asked.scale, more)
        arrangement = self._study.arranged(self._wanted)
        self._side = _named(asked.arm, arrangement.sides)
        self._loads = {one.name: one for one in arrangement.loads}
        self._model = models.find(asked.model)
        agreement = 1.0 if self._side.outputs == "same" else asked.agreement
        self._gate = parity.definition(asked.dtype, agreement=agreement, source=REPOSITORY)
        self._scheme = dict(self._side.switches)[SCHEME.switch]
        self._prepared: Prepared | None = None
        self._kept: tuple[Limits, Engine] | None = None

    def run(self, job: protocol.Job) -> None:
        """Do every assignment; one that raises is told of, and the next one begins."""
        import torch

        torch.set_num_threads(int(dict(self._side.switches).get(THREADS, job.threads)))
        try:
            for assignment in job.assignments:
                self._do(assignment, is_gate=job.phase == "gate")
                gc.collect()
                if self._asked.device == "cuda":
                    torch.cuda.empty_cache()
        finally:
            self._end()

    def _do(self, assignment: protocol.Assignment, *, is_gate: bool) -> None:
        try:
            if is_gate:
                self._verify(self._loads[assignment.workload])
            else:
                self._time(self._loads[assignment.workload], assignment)
        except Exception as error:  # noqa: BLE001 - whatever an engine raises is the finding of its cell
            self._session.say(_failed(assignment.workload, "gate" if is_gate else "timing", error))

    @contextlib.contextmanager
    def _opened(self, limits: Limits) -> Iterator[Engine]:
        """Have an engine with these limits: a new one, or the server of the process's last workload if it has them."""
        if self._kept is not None and self._kept[0] != limits:
            self._end()
        engine = make(self._side, self._build()) if self._kept is None else self._kept[1]
        is_new, self._kept = self._kept is None, None
        is_well = False
        try:
            if is_new:
                engine.open(limits)
            yield engine
            is_well = True
        finally:
            if is_well and self._side.is_served:
                self._kept = (limits, engine)
            else:
                engine.close()

    def _end(self) -> None:
        """Stop the server that was kept, if there is one."""
        if self._kept is not None:
            self._kept[1].close()
            self._kept = None

    def _prepare(self) -> Prepared:
        if self._prepared is None:
            self._prepared = prepare_model(
                self._model,
                self._asked.dtype,
                self._asked.device,
                self._scheme,
                is_assessed=self._study.is_assessed,
                is_fused=FUSED_QK_NORM in self._side.features,
            )
        return self._prepared

    def _build(self) -> Any:
        return self._prepare().model

    def _reference(self) -> Any:
        """Return what the arm's tokens are held to: its model before anything was done to it."""
        if self._scheme == SCHEME.off:
            return self._build()
        return models.build(self._model, self._asked.dtype, self._asked.device)

    def _accuracy(self, phase: Literal["before", "timed-outputs"]) -> Passed | Failed | None:
        """Judge the logits of the model that this process serves; None where the study does not ask for it."""
        compared = self._prepare().compared
        if compared is None:
            return None
        these = accuracy.passages(self._model)
        gate = accuracy.definition(these.measure, self._asked.dtype, source=REPOSITORY)
        return accuracy.outcome(compared, these, gate, source=self._side.source, phase=phase)

    def _verify(self, one: Load) -> None:
        self._session.say(protocol.Ready(workload=one.name))
        self._session.hear()
        with self._opened(one.limits) as engine:
            requests = one.drawn(self._model.vocabulary)
            answers = parity.ask(engine, requests, concurrency=one.concurrency, timeout_s=self._asked.timeout)
            _refuse_silence(answers.first)
        outcome = parity.verify(
            self._reference(), answers, self._gate, source=self._side.source, seed=one.seed, own=self._build()
        )
        if isinstance(outcome, Passed) and isinstance(assessed := self._accuracy("before"), Failed):
            outcome = assessed
        self._session.say(protocol.Judged(workload=one.name, phase="before", outcome=outcome))

    def _time(self, one: Load, assignment: protocol.Assignment) -> None:
        if assignment.proof is None:
            raise EvidenceError("no gate has passed, so nothing may be timed")
        self._build()
        reset_peak_memory(self._asked.device)
        with self._opened(one.limits) as engine:
            trial, sampled = self._measured(engine, one)
        if self._asked.timelines and sampled.requests is not None:
            timeline.write(Path(self._asked.timelines), trial, sampled.requests)
        self._session.say(sampled)
        if assignment.is_rechecked:
            outcome = parity.recheck(self._reference(), trial, self._gate, source=self._side.source, seed=one.seed)
            if isinstance(outcome, Passed) and (assessed := self._accuracy("timed-outputs")) is not None:
                outcome = assessed
            self._session.say(protocol.Judged(workload=one.name, phase="timed-outputs", outcome=outcome))

    def _measured(self, engine: Engine, one: Load) -> tuple[Trial, protocol.Sampled]:
        """Warm up, wait until it is this process's turn, and send the workload's requests once."""
        vocabulary, timeout_s = self._model.vocabulary, self._asked.timeout
        requests = one.drawn(vocabulary)
        began_s = time.perf_counter()
        warm = drive(engine, one.warm_up(vocabulary), AT_ONCE, timeout_s=timeout_s)
        warm_up_s = time.perf_counter() - began_s
        if warm.failures:
            raise EngineError(f"warm-up: {warm.failures[0].message}")
        gc.collect()
        self._session.say(protocol.Ready(workload=one.name))
        self._session.hear()
        before = Counter(engine.counters())
        cpu_s = time.process_time()
        with watched_compilations() as compilations:
            trial = _driven(engine)(requests, one.arrival, one.starts_s(), timeout_s=timeout_s)
        cpu_s = time.process_time() - cpu_s
        _refuse_silence(trial)
        counts = {name: count - before[name] for name, count in engine.counters().items()}
        if quantized := self._prepare().coverage.quantized:
            counts[SCHEME.mechanism] = quantized * counts["steps"]
        if idle := [name for name in self._side.mechanism if not counts.get(name)]:
            raise MechanismError(f"{', '.join(idle)}: counted nothing, so the arm did not do what its name says")
        counts.update(trial.failed())
        rows = trial.rows()
        sampled = protocol.Sampled(
            workload=one.name,
            stopped="fixed",
            compilations=None if self._side.is_served else compilations.count,
            client_cpu_s=None if trial.client_cpu_s is None else rounded(trial.client_cpu_s),
            counters=tuple(Count(name=name, count=count) for name, count in sorted(counts.items())),
            work=(),
            samples=self._samples(trial, rows, counts, one.limits, cpu_s),
            requests=rows,
            ran=tuple(Setting(name=name, value=value) for name, value in sorted(self._ran(engine).items())),
            timer_overhead_s=None,
            warm_up_s=round(warm_up_s, 6),
            warm_up_calls=len(warm.requests),
        )
        return trial, sampled

    def _ran(self, engine: Engine) -> Mapping[str, str]:
        prepared = self._prepare()
        more = {"weights": prepared.weights}
        if self._scheme != SCHEME.off:
            more["quantised layers"] = str(prepared.coverage)
        return {**engine.settings(), **more}

    def _samples(
        self, trial: Trial, rows: Requests, counts: Mapping[str, int], limits: Limits, cpu_s: float
    ) -> tuple[Samples, ...]:
        """Return what the study declares of what is known, counters among it: a server's memory and waste are not."""
        prepared, device = self._prepare(), self._asked.device
        peak = peak_memory(device, is_alone=self._study.sharing == "cell")
        memory, compared = total_memory(device), prepared.compared
        values: dict[str, float | int | None] = {
            **counts,
            "wall_time": trial.wall_s,
            "client_lateness": trial.lateness_s,
            "peak_memory": peak,
            "cpu_time": cpu_s,
            "model_memory": prepared.memory_bytes,
            "cache_capacity": None if peak is None else prepared.cache_capacity(peak, limits, memory),
            **({} if compared is None else compared.after.metrics),
            **self._study.derived(self._wanted, rows),
        }
        declared = {metric.name for metric in self._study.metrics}
        return tuple(
            Samples(metric=name, rank=0, values=(rounded(value) if isinstance(value, float) else float(value),))
            for name, value in values.items()
            if value is not None and name in declared
        )


def _named(name: str, sides: Sequence[Side]) -> Side:
    for side in sides:
        if side.name == name:
            return side
    raise UnknownNameError("arm", name, [side.name for side in sides])


def _driven(engine: Engine) -> Drive:
    """Return the client of an engine's trials: its own, if it has one."""
    return engine.drive if isinstance(engine, HasClient) else partial(drive, engine)


def _refuse_silence(trial: Trial) -> None:
    """Refuse a trial without one answer.

    Raises:
        EngineError: naming the first failure.
    """
    if len(trial.failures) == len(trial.requests):
        first = trial.failures[0]
        raise EngineError(f"no request was answered; the first: {first.reason}, {first.message}")


def _failed(workload: str, phase: str, error: Exception) -> protocol.Failed:
    import torch

    causes = (error, error.__cause__)
    lines = str(error).strip().splitlines() or ["no message"]
    # An engine's own thread tells of what it ran out of by its words alone.
    is_oom = any(isinstance(one, torch.OutOfMemoryError | MemoryError) for one in causes) or _OOM in lines[0]
    return protocol.Failed(
        workload=workload,
        cause="oom" if is_oom else "error",
        phase="mechanism" if isinstance(error, MechanismError) else phase,
        message=f"{type(error).__name__}: {lines[0]}",
    )


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Read a worker's arguments, its study's own options among them."""
    parser = argparse.ArgumentParser(prog="benchmarks.engine.worker")
    for option in ("--study", "--arm", "--model", "--dtype", "--device", "--scale"):
        parser.add_argument(option, required=True)
    parser.add_argument("--agreement", type=float, required=True)
    parser.add_argument("--timelines", default="")
    parser.add_argument("--timeout", type=float, default=600.0)
    study = find(parser.parse_known_args(words)[0].study)
    for own in study.options:
        parser.add_argument(f"--{own.name}", nargs="+", default=list(own.default))
    return parser.parse_args(words)


def prepare(words: Sequence[str]) -> None:
    """Import what `main` will use, and run nothing of it: a nursery calls this before it is forked."""
    parse(words)
    for module in _IMPORTED:
        importlib.import_module(module)


def main(argv: Sequence[str] | None = None) -> int:
    """Do the job that comes on stdin."""
    asked = parse(sys.argv[1:] if argv is None else argv)
    session = Conversation.over_stdio()
    EngineWorker(asked, session).run(session.hear_job())
    session.close()
    # Interpreters that hold a device's context can hang or crash while they tear it down; everything is said already.
    os._exit(0)


if __name__ == "__main__":
    raise SystemExit(main())
