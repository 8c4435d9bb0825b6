"""Owns a measuring session: arms on workloads in fresh processes, interleaved, from a Plan to a Record.

Everything that happens is written to a raw stream first, flushed and synced line by line, and the record is built from
that stream by the function that also reads the stream of a killed session. What processes share is a setting of the
plan, see `benchmarks.plan`; windows of one session never overlap.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from tqdm import tqdm

from benchmarks import protocol
from benchmarks.capture import Watch
from benchmarks.gating import Gating, Pair, Stages
from benchmarks.nurseries import Nurseries, Nursery
from benchmarks.plan import Plan, said_of_forks, said_of_gates
from benchmarks.privacy import scrubbed
from benchmarks.resumption import Done
from benchmarks.turns import turn
from benchmarks.workers import Start, Worker, WorkerError, spawned, terminable
from evidence.importers.session_stream import (
    RAW_NAME,
    CellEvent,
    Died,
    Digested,
    Discarded,
    Ended,
    Gated,
    Header,
    Measured,
    Noted,
    Reading,
    Started,
    read,
)
from evidence.schema import Outcome, Passed, Process, Record, Unavailable
from evidence.store import INCOMPLETE, save

_CLOSING_S = 5.0
"""Kept free before a deadline, for the last reading and for saving the record."""
_SLACK = 1.1
"""A round is expected to last so many times the longest one so far."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """What ended one attempt at a cell."""

    process: int
    cause: protocol.Cause
    phase: str
    message: str


@dataclass(frozen=True, slots=True)
class _Window:
    """One process's time on one workload, open since `started_s`."""

    workload: str
    process: int
    started_s: float


@dataclass(slots=True)
class _Attempt:
    """One timing process: the workloads it has not reached or not done, the window that is open, and what failed."""

    arm: str
    left: list[str]
    window: _Window | None = None
    failures: dict[str, _Failure] = field(default_factory=dict)


def run(plan: Plan, raw: Path, done: Done | None = None) -> Record:
    """Measure, writing the raw stream to `raw`, which must not exist, and return the record made from it.

    With `done` the stream is there, cut short, and this goes on where it ends: what was gated stays gated, what was
    measured is not measured again, and the record says that two processes ran the session.

    Workers are killed however this ends; an interruption leaves the stream, which `session_stream.read` reads.
    """
    if done is not None:
        os.truncate(raw, done.whole_bytes)
        plan = replace(plan, header=done.header)
    with raw.open("x" if done is None else "a", encoding="utf-8") as stream, terminable():
        _Session(plan, stream, done).run()
    return read(raw.read_bytes())


Finish = Callable[[Record], tuple[Record, Mapping[str, bytes]]]
"""Adds to a record what was known outside its session; returns it with the bytes of its artifacts, by path."""


def as_it_is(record: Record) -> tuple[Record, Mapping[str, bytes]]:
    """Add nothing to a record."""
    return record, {}


def run_and_save(plan: Plan, logs: Path, raw: Path, finish: Finish = as_it_is, done: Done | None = None) -> Record:
    """Measure, add the record to the store at `logs`, and return it under the name it got.

    The raw stream lies at `raw`, see `incomplete_path`, until the record is saved, and is removed then.

    Raises:
        RecordError: the record does not hold; its raw stream is kept.
    """
    raw.parent.mkdir(parents=True, exist_ok=done is not None)
    record, artifacts = finish(run(plan, raw, done))
    name = save(logs, record, artifacts)
    shutil.rmtree(raw.parent)
    with contextlib.suppress(OSError):
        raw.parent.parent.rmdir()
    return record.model_copy(update={"log": name})


def incomplete_path(logs: Path, log: str) -> Path:
    """Return where this process keeps the raw stream of a log while it runs."""
    folder = logs / INCOMPLETE / f"{log.replace('/', '-')}-{os.getpid()}"
    number = 2
    while folder.exists():
        folder = folder.with_name(f"{log.replace('/', '-')}-{os.getpid()}-{number}")
        number += 1
    return folder / RAW_NAME


@dataclass(slots=True)
class _Session:
    """One run of a plan: what is still open, and the stream it tells."""

    plan: Plan
    stream: TextIO
    done: Done | None = None
    """What an interrupted session had done, which this one goes on with."""
    gated: dict[Pair, Gated | Died] = field(default_factory=dict)
    proofs: dict[Pair, Passed] = field(default_factory=dict)
    attempts: Counter[Pair] = field(default_factory=Counter)
    measured: Counter[Pair] = field(default_factory=Counter)
    """Windows of each cell that are measured."""
    rechecked: set[Pair] = field(default_factory=set)
    digested: set[str] = field(default_factory=set)
    """Workloads whose inputs have a digest."""
    watch: Watch = field(init=False)
    origin: float = field(init=False)
    progress: Any = field(init=False, default=None)
    nurseries: Nurseries = field(init=False)
    round: int = field(init=False, default=0)
    telling: threading.Lock = field(default_factory=threading.Lock)
    """Gates that run side by side tell of what came of them at once."""

    def run(self) -> None:
        """Gate every arm, then time what passed."""
        header = self.plan.header
        self.origin = time.monotonic() - (datetime.now(UTC) - header.started_at).total_seconds()
        self.watch = Watch({rank.device for arm in header.arms for rank in arm.ranks if rank.device is not None})
        if self.done is None:
            self._tell(header)
        else:
            self._go_on(self.done)
        self._read_conditions(())
        for event in self.plan.not_tried:
            if self.done is None or (event.arm, event.workload) not in self.done.skipped:
                self._tell(event)
        with self._opened_nurseries() as self.nurseries:
            self._note_starts()
            with self._turn():
                self._gate()
                self._time()
        self._read_conditions(())
        self._tell(Ended(ended_at=datetime.now(UTC)))

    def _turn(self) -> contextlib.AbstractContextManager[object]:
        """Return what waits for the turn. One that comes after the deadline is not needed: nothing is run then."""
        if not self.plan.is_in_turn:
            return contextlib.nullcontext()
        return turn(
            ends_by_s=self._ends_by_s(),
            waiting=lambda: self._announce("waiting until no other session of this machine gates or measures"),
        )

    def _ends_by_s(self) -> float:
        """Return by when of `time.monotonic()` all but the closing is to be done."""
        return math.inf if self.plan.ends_by_s is None else self.plan.ends_by_s - _CLOSING_S

    def _go_on(self, done: Done) -> None:
        """Take over what another process did, and say so."""
        self.gated, self.proofs, self.rechecked = dict(done.gated), dict(done.proofs), set(done.rechecked)
        self.digested = set(done.digested)
        self.attempts, self.measured = Counter(done.attempts), Counter(done.measured)
        text = (
            f"the session was interrupted after {done.measured.total()} of its windows and went on in another process "
            f"at {self._now_s():.0f} s; windows that the interruption cut short: {done.lost}"
        )
        self._tell(Noted(unavailable=(), limitations=(text,)))

    def _opened_nurseries(self) -> Nurseries:
        plan = self.plan
        skipped = {(event.arm, event.workload) for event in plan.not_tried}
        workloads = [load.name for load in plan.header.workloads]
        tried = [one.name for one in plan.header.arms if any((one.name, name) not in skipped for name in workloads)]
        arms = tried if plan.start == "fork" else []

        def nursery(arm: str) -> Nursery:
            return Nursery(
                plan.commands[arm],
                plan.facts,
                root=plan.root,
                environment=plan.environment,
                timeout_s=plan.timeout_s,
            )

        return Nurseries({arm: [nursery(arm) for _ in range(plan.nurseries)] for arm in arms})

    def _note_starts(self) -> None:
        """Say what forked processes share, and which arms are spawned after all."""
        refusals = self.nurseries.refusals
        unavailable = tuple(
            Unavailable(
                what=f"forks of {arm}",
                reason=scrubbed(f"{reason}; each of its processes imported everything itself", self.plan.root),
            )
            for arm, reason in refusals.items()
        )
        forked = self.nurseries.forked()
        said = (
            *((said_of_forks(forked, self.plan, is_all=not refusals),) if forked else ()),
            *((said_of_gates(self.plan),) if self.plan.gate_processes > 1 else ()),
        )
        limitations = tuple(text for text in said if self.done is None or text not in self.done.limitations)
        if unavailable or limitations:
            self._tell(Noted(unavailable=unavailable, limitations=limitations))

    def _tell(self, event: Header | Reading | CellEvent | Digested | Noted | Ended) -> None:
        """Write one event so that it survives whatever happens next."""
        line = event.model_dump_json() + "\n"
        with self.telling:
            self.stream.write(line)
            self.stream.flush()
            os.fsync(self.stream.fileno())

    def _now_s(self) -> float:
        return round(time.monotonic() - self.origin, 6)

    def _read_conditions(self, own: Sequence[int]) -> float:
        """Read the machine now and return the reading's time: a window's bound is exactly a reading's."""
        at_s = max(0.0, self._now_s())
        self._tell(self.watch.read(at_s, {os.getpid(), *own}))
        return at_s

    def _job(self, phase: protocol.Phase, arm: str, workloads: Sequence[str]) -> protocol.Job:
        rules = self.plan.rules
        return protocol.Job(
            phase=phase,
            timer=self.plan.header.method.timer_used,
            threads=self.plan.threads,
            minimum_samples=rules.minimum_samples,
            maximum_samples=rules.maximum_samples,
            target_spread=rules.target_spread,
            budget_s=rules.budget_s,
            warm_up_s=rules.warm_up_s,
            further_warm_up_s=self.plan.further_warm_up_s,
            assignments=tuple(
                protocol.Assignment(
                    workload=workload,
                    proof=self.proofs.get((arm, workload)),
                    is_rechecked=self._is_rechecked(arm, workload),
                    is_digested=phase == "gate" and workload not in self.digested,
                )
                for workload in workloads
            ),
        )

    def _worker(self, arm: str, job: protocol.Job, turn: int) -> Worker:
        plan = self.plan
        start = self.nurseries.start(arm, turn) or self._spawned(arm)
        return Worker(start, job, timeout_s=plan.timeout_s)

    def _started(self, phase: protocol.Phase, arm: str, workloads: Sequence[str], turn: int) -> Worker:
        """Return a process that nothing times. A nursery has one child at a time, so those beyond them are spawned."""
        forked = self.nurseries.start(arm, turn) if turn < self.plan.nurseries else None
        return Worker(
            forked or self._spawned(arm),
            self._job(phase, arm, workloads),
            timeout_s=self.plan.timeout_s,
            ends_by_s=self._ends_by_s(),
        )

    def _spawned(self, arm: str) -> Start:
        plan = self.plan
        return spawned(plan.commands[arm], root=plan.root, environment=plan.environment)

    def _gate(self) -> None:
        """Gate every arm in processes of its own; a control has its twin's outcome, which is of the same code."""
        header = self.plan.header
        skipped = {(event.arm, event.workload) for event in self.plan.not_tried}
        tried = {
            arm.name: [
                load.name for load in header.workloads if (arm.name, load.name) not in skipped | self.gated.keys()
            ]
            for arm in header.arms
            if arm.control_of is None
        }
        processes = self.plan.gate_processes
        gating = Gating(
            Stages(self._started, processes, ends_by_s=self._ends_by_s()),
            self._tell_of_gate,
            lambda arm, failed: self._died(arm, failed.workload, failed.cause, failed.phase, failed.message),
            processes=processes,
            is_tuned=self.plan.is_tuned,
            announce=self._announce,
            is_quiet=self._is_quiet(),
        )
        told = {**self.gated, **gating.run(tried)}
        for arm in header.arms:
            for load in header.workloads:
                if (arm.name, load.name) in skipped | self.gated.keys():
                    continue
                event = told[arm.control_of or arm.name, load.name]
                if arm.control_of is not None:
                    self._tell(event.model_copy(update={"arm": arm.name}))
                if isinstance(event, Gated) and isinstance(event.outcome, Passed):
                    self.proofs[arm.name, load.name] = event.outcome

    def _tell_of_gate(self, event: Started | Digested | Gated | Died) -> None:
        if isinstance(event, Digested):
            self.digested.add(event.workload)
        self._tell(event)

    def _died(self, arm: str, workload: str, cause: protocol.Cause, phase: str, message: str) -> Died:
        text = scrubbed(message, self.plan.root) or "no message"
        return Died(arm=arm, workload=workload, cause=cause, phase=phase, message=text)

    def _time(self) -> None:
        """Time every cell that passed, a process of each a round, until all are done or no time is left for a round."""
        processes = self.plan.header.method.processes
        # A window whose outputs an interruption left unjudged licenses nothing: that cell has another.
        whole = min((self.measured[pair] - (pair not in self.rechecked) for pair in self.proofs), default=0)
        total = sum(max(0, processes - self.measured[pair]) for pair in self.proofs)
        self._announce(f"timing: {total} windows")
        lasted_s: list[float] = []
        with tqdm(total=total, desc="timing", unit="window", disable=self._is_quiet()) as self.progress:
            for self.round in range(max(0, whole), processes):
                if not self._is_time_left(max(lasted_s, default=0.0)):
                    break
                started = time.monotonic()
                for arm, workloads in self._turns():
                    self._measure(arm, [name for name in workloads if self._is_due(arm, name)])
                lasted_s.append(time.monotonic() - started)
                if len(lasted_s) == 1:
                    self._say_how_long(lasted_s[0])
        if (run := max(0, whole) + len(lasted_s)) < processes:
            reason = f"{run} of {processes} a cell were run: another round would have ended after the deadline"
            self._tell(Noted(unavailable=(Unavailable(what="processes", reason=reason),), limitations=()))

    def _is_due(self, arm: str, workload: str) -> bool:
        """Whether a cell may be timed, and has no window of this round yet or none whose outputs were judged."""
        pair = arm, workload
        return pair in self.proofs and (self.measured[pair] <= self.round or pair not in self.rechecked)

    def _is_time_left(self, round_s: float) -> bool:
        return time.monotonic() + _SLACK * round_s <= self._ends_by_s()

    def _say_how_long(self, round_s: float) -> None:
        """Tell whoever waits, after the first round, how long the others take."""
        processes = self.plan.header.method.processes
        left = processes - self.round - 1
        text = f"round {self.round + 1} of {processes} took {round_s:.0f} s; about {left * round_s:.0f} s left"
        if self.plan.ends_by_s is not None:
            until_s = max(0.0, self.plan.ends_by_s - time.monotonic())
            text += f", {until_s:.0f} s to the deadline"
        self._announce(text)

    def _announce(self, text: str) -> None:
        """Say a line to whoever waits, on a terminal or not."""
        if self.plan.is_progress_shown:
            tqdm.write(text, file=sys.stderr)

    def _is_quiet(self) -> bool | None:
        """Return what tqdm makes of it: None shows progress on a terminal only."""
        return None if self.plan.is_progress_shown else True

    def _turns(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield what each process of one round does: arms alternate within the smallest unit that `sharing` allows."""
        header = self.plan.header
        names = tuple(load.name for load in header.workloads)
        for together in [names] if self.plan.sharing == "arm" else [(name,) for name in names]:
            for arm in header.arms:
                yield arm.name, together

    def _measure(self, arm: str, workloads: Sequence[str]) -> None:
        """Measure each workload once more; one that fails is tried again in a fresh process, once."""
        tries: Counter[str] = Counter()
        left = list(workloads)
        turns = itertools.count(self.round)
        while left:
            attempt = self._attempt(arm, left, next(turns))
            left = list(attempt.left)
            for workload, failure in attempt.failures.items():
                reason = scrubbed(f"{failure.phase}: {failure.message}", self.plan.root)
                self._tell(Discarded(arm=arm, workload=workload, process=failure.process, reason=reason))
                tries[workload] += 1
                if tries[workload] < 2:
                    left.append(workload)
                else:
                    self._tell(self._died(arm, workload, failure.cause, failure.phase, f"twice: {failure.message}"))
                    self.proofs.pop((arm, workload), None)

    def _attempt(self, arm: str, workloads: Sequence[str], turn: int) -> _Attempt:
        """Measure workloads in one fresh process, as far as it gets."""
        attempt = _Attempt(arm, list(workloads))
        try:
            with self._worker(arm, self._job("timing", arm, workloads), turn) as worker:
                while attempt.left:
                    self._take(attempt, worker.hear(), worker)
        except WorkerError as error:
            blamed = attempt.window.workload if attempt.window else attempt.left[0]
            attempt.failures[blamed] = self._failure(attempt, blamed, error.cause, "timing", error.message)
            attempt.left.remove(blamed)
        return attempt

    def _take(self, attempt: _Attempt, message: protocol.Message, worker: Worker) -> None:
        """Act on one message of a timing worker."""
        workload, window = message.workload, attempt.window
        is_current = window is not None and window.workload == workload
        if workload not in attempt.left:
            raise WorkerError("error", f"the worker spoke of {workload!r}, which it was not asked about")
        if isinstance(message, protocol.Ready):
            attempt.window = self._open_window(attempt.arm, workload, worker)
        elif isinstance(message, protocol.Sampled) and window is not None and is_current:
            self._close_window(attempt.arm, window, message, worker)
            attempt.window = None
            if not self._is_rechecked(attempt.arm, workload):
                attempt.left.remove(workload)
        elif isinstance(message, protocol.Judged):
            self._judge(attempt.arm, workload, message.outcome)
            attempt.left.remove(workload)
        elif isinstance(message, protocol.Failed):
            failure = self._failure(attempt, workload, message.cause, message.phase, message.message)
            attempt.failures[workload] = failure
            attempt.left.remove(workload)
            attempt.window = None
        else:
            raise WorkerError("error", f"the worker said {message.says!r} out of turn")

    def _failure(self, attempt: _Attempt, workload: str, cause: protocol.Cause, phase: str, message: str) -> _Failure:
        window = attempt.window
        is_open = window is not None and window.workload == workload
        index = window.process if window is not None and is_open else self._next_index(attempt.arm, workload)
        return _Failure(index, cause, phase, message)

    def _next_index(self, arm: str, workload: str) -> int:
        self.attempts[arm, workload] += 1
        return self.attempts[arm, workload] - 1

    def _open_window(self, arm: str, workload: str, worker: Worker) -> _Window:
        index = self._next_index(arm, workload)
        self._tell(Started(arm=arm, workload=workload, phase="timing", process=index))
        started_s = self._read_conditions(worker.process_ids())
        worker.go()
        return _Window(workload, index, started_s)

    def _close_window(self, arm: str, window: _Window, sampled: protocol.Sampled, worker: Worker) -> None:
        ended_s = self._read_conditions(worker.process_ids())
        process = Process(
            index=window.process,
            started_s=window.started_s,
            ended_s=ended_s,
            stopped=sampled.stopped,
            compilations=sampled.compilations,
            client_cpu_s=sampled.client_cpu_s,
            counters=sampled.counters,
            work=sampled.work,
            samples=sampled.samples,
            requests=sampled.requests,
        )
        self._tell(
            Measured(
                arm=arm,
                workload=window.workload,
                process=process,
                ran=sampled.ran,
                timer_overhead_s=sampled.timer_overhead_s,
                warm_up_s=sampled.warm_up_s,
                warm_up_calls=sampled.warm_up_calls,
            )
        )
        self.measured[arm, window.workload] += 1
        self.progress.update()

    def _is_rechecked(self, arm: str, workload: str) -> bool:
        """Whether the next process of a cell also judges what its timed calls returned."""
        return self.plan.is_every_process_rechecked or (arm, workload) not in self.rechecked

    def _judge(self, arm: str, workload: str, outcome: Outcome) -> None:
        """Keep the outcome of timed outputs; a cell whose timed outputs are wrong is not timed again."""
        self.rechecked.add((arm, workload))
        self._tell(Gated(arm=arm, workload=workload, phase="timed-outputs", outcome=outcome))
        if not isinstance(outcome, Passed):
            self.proofs.pop((arm, workload), None)
