"""Owns one worker process of an op session: compiles, tunes, gates or times one arm on the workloads of its job.

`python -m benchmarks.ops.worker --op OP [OP …] --implementation NAME --dtype DTYPE --device DEVICE`. The job comes on
stdin and messages go to stdout, see `benchmarks.protocol`; whatever libraries print goes to stderr. With `--origin DIR`
the package that `--prove` names is imported from there, and what was loaded of it is told with every measurement.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import protocol
from benchmarks.conversation import Conversation
from benchmarks.memory import peak_memory, reset_peak_memory
from benchmarks.ops import autotuning, compiler, control, gates, inputs
from benchmarks.ops.calls import bind, load
from benchmarks.ops.fitting import named
from benchmarks.ops.origins import proof, redirect
from benchmarks.ops.planted import slowed
from benchmarks.ops.registry import Case, Device, Implementation, Op, OpError, find
from benchmarks.ops.selection import SLOWED, percent
from benchmarks.ops.workloads import case_of
from benchmarks.timing import Call, Rotation, Timer, Timing, make, timed
from evidence.errors import EvidenceError, UnknownNameError
from evidence.schema import Samples, Setting

if TYPE_CHECKING:
    import torch

    Outputs = tuple[torch.Tensor, ...]

_IMPORTED = ("torch", "torch.utils.benchmark", "numpy", "triton", "triton.testing")


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a worker runs: the ops of the session, and the implementation of each that has the one asked for."""

    ops: tuple[Op, ...]
    of_op: Mapping[str, Implementation]


_PREPARED: dict[tuple[str, ...], Chosen] = {}
"""What a nursery chose before it was forked, by its arguments: an origin is chosen once."""


class OpWorker:
    """One implementation of each of some ops, on one device."""

    def __init__(
        self,
        chosen: Chosen,
        dtype: str,
        device: Device,
        session: Conversation,
        *,
        proved: str = "",
        origin: Path | None = None,
        slowed: float = 0.0,
    ) -> None:
        """Say what to run; nothing is imported yet."""
        self._chosen, self._dtype, self._device, self._session = chosen, dtype, device, session
        self._proved, self._origin, self._slowed = proved, origin, slowed

    def run(self, job: protocol.Job) -> None:
        """Do every assignment, in order."""
        import torch

        torch.set_num_threads(job.threads)
        timer = make(job.timer, job.threads) if job.phase == "timing" else None
        for index, assignment in enumerate(job.assignments):
            self.attend(assignment, timer, job, is_first=index == 0)

    def attend(
        self, assignment: protocol.Assignment, timer: Timer | None, job: protocol.Job, *, is_first: bool
    ) -> None:
        """Call, gate or time one workload. What it raises is told of, and nothing of it stays on the device."""
        import torch

        try:
            case = self._case(assignment.workload)
            if job.phase in ("compiling", "tuning"):
                self._call(case, assignment.workload, is_measured=job.phase == "tuning")
            elif timer is None:
                self._gate(case, assignment.workload, is_digested=assignment.is_digested)
            else:
                self._time(case, assignment, timer, job, is_first=is_first)
        except Exception as error:  # noqa: BLE001 - whatever a kernel raises is the finding of its cell
            self._session.say(_failed(assignment.workload, job.phase, error))
        gc.collect()
        if self._device == "cuda":
            torch.cuda.empty_cache()

    def _case(self, workload: str) -> Case:
        beside = control.case(self._dtype, self._device)
        return beside if workload == beside.name else case_of(workload, self._chosen.ops, self._dtype)

    def _is_own(self, case: Case) -> bool:
        """Whether a case is of the ops that are measured; the control's code is the harness's own in every arm."""
        return case.op in self._chosen.ops

    def _implementation_of(self, case: Case) -> Implementation:
        """Return what runs a case; the control is nobody's code under test, and its outcomes are those of its arm."""
        if self._is_own(case):
            return self._chosen.of_op[case.op.name]
        return replace(case.op.implementations[0], package=next(iter(self._chosen.of_op.values())).package)

    def _ran(self, case: Case, given: inputs.InputSet | None = None) -> tuple[Setting, ...]:
        """Return which code ran, after it did on these inputs, where the arm alone does not tell."""
        if not self._is_own(case):
            return ()
        tell = self._implementation_of(case).resolved
        told = {} if tell is None or given is None else tell(given.tensors)
        proved = (proof(self._proved, self._origin),) if self._proved else ()
        is_one_of_several = len({entry.target for entry in self._chosen.of_op.values()}) > 1
        target = (Setting(name="target", value=self._implementation_of(case).target),) if is_one_of_several else ()
        return (*proved, *target, *(Setting(name=name, value=value) for name, value in told.items()))

    def _call(self, case: Case, workload: str, *, is_measured: bool) -> None:
        """Call once on the first of the timed inputs, so that kernels are compiled; tuned if `is_measured`."""
        self._session.say(protocol.Ready(workload=workload))
        self._session.hear()
        started = time.perf_counter()
        call = bind(self._implementation_of(case), case)
        given = inputs.draw(case, case.op.seed, self._device)
        with self._autotuned(is_measured=is_measured):
            call(given)
            if self._device == "cuda":
                import torch

                torch.cuda.synchronize()
        self._session.say(protocol.Called(workload=workload, seconds=round(time.perf_counter() - started, 3)))

    def _autotuned(self, *, is_measured: bool) -> contextlib.AbstractContextManager[None]:
        """Let autotuners choose by a brief measurement and keep it on disk, or by none and keep nothing."""
        if self._device != "cuda" or "triton" not in sys.modules:
            return contextlib.nullcontext()
        if is_measured:
            return autotuning.measured_by(autotuning.brief())
        compiler.keep_choices_off_disk()
        return autotuning.measured_by(autotuning.launched_once)

    def _gate(self, case: Case, workload: str, *, is_digested: bool) -> None:
        self._session.say(protocol.Ready(workload=workload))
        self._session.hear()
        outcome = gates.verify(case, self._implementation_of(case), self._device)
        self._ran(case)
        digest = None
        if is_digested and inputs.drawn_bytes(case) <= inputs.MOST_DIGESTED_BYTES:
            digest = inputs.fingerprint(inputs.draw(case, seed, self._device) for seed in case.seeds)
        judged = protocol.Judged(workload=workload, phase="before", outcome=outcome, inputs_sha256=digest)
        self._session.say(judged)

    def _time(
        self, case: Case, assignment: protocol.Assignment, timer: Timer, job: protocol.Job, *, is_first: bool
    ) -> None:
        if assignment.proof is None:
            raise EvidenceError("no gate has passed, so nothing may be timed")
        sets = inputs.draw_timed(case, self._device)
        call = bind(self._implementation_of(case), case)
        ran, peak_bytes = self._first_call(lambda: call(sets[0]), timer, is_alone=len(job.assignments) == 1)
        rotation = Rotation(call, sets)
        clocked, planted = self._clocked(rotation, timer)
        self._session.say(protocol.Ready(workload=assignment.workload))
        self._session.hear()
        timing = timed(clocked, proof=assignment.proof, timer=timer, rules=job.rules(is_first=is_first))
        ran = (*ran, *planted, *self._ran(case, sets[0]))
        self._session.say(_sampled(assignment.workload, timing, ran, peak_bytes))
        if assignment.is_rechecked:
            self._recheck(case, assignment.workload, rotation, sets)

    def _clocked(self, call: Call, timer: Timer) -> tuple[Call, tuple[Setting, ...]]:
        """Return what is timed, and what tells it from the call: in an arm that is slower on purpose it is longer."""
        if not self._slowed:
            return call, ()
        longer = slowed(call, self._slowed, timer, self._device)
        return longer, (Setting(name=SLOWED, value=percent(self._slowed)), *longer.settings)

    def _recheck(
        self, case: Case, workload: str, rotation: Rotation[inputs.InputSet, Outputs], sets: Sequence[inputs.InputSet]
    ) -> None:
        """Judge what the timed calls returned last on each input set."""
        outputs = {sets[index].seed: produced for index, produced in rotation.last.items()}
        outcome = gates.recheck(case, self._implementation_of(case), outputs, self._device)
        self._session.say(protocol.Judged(workload=workload, phase="timed-outputs", outcome=outcome))

    def _first_call(
        self, call: Callable[[], object], timer: Timer, *, is_alone: bool
    ) -> tuple[tuple[Setting, ...], int | None]:
        """Compile and tune, then call once more and return the settings that call ran with and its peak memory."""
        call()
        timer.finish()
        tuned = compiler.autotuners()
        for tuner in tuned:
            tuner.best_config = None
        reset_peak_memory(self._device)
        call()
        timer.finish()
        return compiler.configurations(tuned), peak_memory(self._device, is_alone=is_alone)


def _sampled(workload: str, timing: Timing, ran: tuple[Setting, ...], peak_bytes: int | None) -> protocol.Sampled:
    samples = [Samples(metric="time", rank=0, values=timing.samples_s)]
    if peak_bytes is not None:
        samples.append(Samples(metric="peak_memory", rank=0, values=(float(peak_bytes),)))
    per_sample = Setting(name="calls per sample", value=str(timing.calls_per_sample))
    return protocol.Sampled(
        workload=workload,
        stopped=timing.stopped,
        compilations=timing.compilations,
        client_cpu_s=None,
        counters=(),
        work=(),
        samples=tuple(samples),
        requests=None,
        ran=(*ran, per_sample),
        timer_overhead_s=timing.overhead_s,
        warm_up_s=round(timing.warm_up.seconds, 6),
        warm_up_calls=timing.warm_up.calls,
    )


def _failed(workload: str, phase: str, error: Exception) -> protocol.Failed:
    import torch

    if isinstance(error, gates.CallError):
        return protocol.Failed(workload=workload, cause=error.cause, phase=phase, message=error.message)
    cause: protocol.Cause = "oom" if isinstance(error, torch.OutOfMemoryError | MemoryError) else "error"
    lines = str(error).strip().splitlines() or ["no message"]
    return protocol.Failed(workload=workload, cause=cause, phase=phase, message=f"{type(error).__name__}: {lines[0]}")


def _asked(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.ops.worker")
    parser.add_argument("--op", nargs="+", required=True)
    for option in ("--implementation", "--dtype", "--device"):
        parser.add_argument(option, required=True)
    for option in ("--prove", "--source", "--origin"):
        parser.add_argument(option, default="")
    parser.add_argument("--slowed", type=float, default=0.0, metavar="SHARE")
    return parser.parse_args(words)


def _chosen(asked: argparse.Namespace) -> Chosen:
    """Return what is asked for; its code is found in its origin from now on."""
    ops = tuple(find(name) for name in asked.op)
    of_op = named(ops, asked.implementation)
    if not of_op:
        raise UnknownNameError(
            "implementation", asked.implementation, [e.name for op in ops for e in op.implementations]
        )
    if asked.origin:
        redirect(asked.prove, Path(asked.origin))
    # Outcomes name the source of an arm, which is not what is installed here where the code comes from elsewhere.
    sourced = {op: replace(entry, package=asked.source) if asked.source else entry for op, entry in of_op.items()}
    return Chosen(ops, sourced)


def import_libraries() -> None:
    """Import what timers and gates import when they first need it, of what is installed."""
    for module in _IMPORTED:
        if importlib.util.find_spec(module.partition(".")[0]) is not None:
            importlib.import_module(module)


def prepare(words: Sequence[str]) -> None:
    """Import what `main` will use, and run nothing of it: a nursery calls this before it is forked.

    Code of one of several ops that cannot be imported is left to the processes: there it is the finding of its cells.
    """
    asked = _asked(words)
    import_libraries()
    _PREPARED[tuple(words)] = chosen = _chosen(asked)
    for op in chosen.ops:
        with contextlib.suppress(*((ImportError, OpError) if len(chosen.ops) > 1 else ())):
            for entry in (op.reference, *((chosen.of_op[op.name],) if op.name in chosen.of_op else ())):
                load(entry.target)
    if asked.device == "cuda":
        compiler.prepare()


def main(argv: Sequence[str] | None = None) -> int:
    """Do the job that comes on stdin."""
    words = tuple(sys.argv[1:] if argv is None else argv)
    asked = _asked(words)
    session = Conversation.over_stdio()
    worker = OpWorker(
        _PREPARED.get(words) or _chosen(asked),
        asked.dtype,
        asked.device,
        session,
        proved=asked.prove,
        origin=Path(asked.origin) if asked.origin else None,
        slowed=asked.slowed,
    )
    worker.run(session.hear_job())
    session.close()
    # Interpreters that hold a device's context can hang or crash while they tear it down; everything is said already.
    os._exit(0)


if __name__ == "__main__":
    raise SystemExit(main())
