"""Owns what comes before a session's clock: kernels compiled and tuned, and every arm gated on every workload.

In one process at a time a gate compiles and tunes what it needs. In several at once, what is timed must not suffer
from what runs beside it: processes compile side by side, which no device decides; then one process an arm calls every
workload once, alone, so that kernels are tuned as they are timed; then gates, which nothing times, run side by side.
Where no gate tunes what is timed, as engines tune their kernels in each process anew, there are gates only.
What fails beside others is gated again alone, unless it was silent for the time limit: that costs no cell twice.
"""

from __future__ import annotations

import contextlib
import math
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import chain, zip_longest
from typing import Protocol

from tqdm import tqdm

from benchmarks import protocol
from benchmarks.workers import DEADLINE, Worker, WorkerError
from evidence.importers.session_stream import Died, Digested, Gated, Started

Cells = Mapping[str, Sequence[str]]
"""Workloads by arm."""
Pair = tuple[str, str]
"""An arm's and a workload's name."""
Heard = protocol.Ready | protocol.Called | protocol.Judged | protocol.Failed

_MOST_SHARED = 4
"""Workloads of one process where several run at once: few, so that no process works on alone for long."""


class Starting(Protocol):
    """Starts a process of an arm, the one of that turn among those that run at once."""

    def __call__(self, phase: protocol.Phase, arm: str, workloads: Sequence[str], turn: int) -> Worker:
        """Return the process, which begins when its context is entered."""


def dealt(cells: Cells, processes: int) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the arm and the workloads of each process, the arms in turn."""
    total = sum(len(workloads) for workloads in cells.values())
    size = min(_MOST_SHARED, max(1, math.ceil(total / processes)))
    of_arms = [
        [(arm, tuple(workloads[first : first + size])) for first in range(0, len(workloads), size)]
        for arm, workloads in cells.items()
    ]
    return tuple(share for share in chain.from_iterable(zip_longest(*of_arms)) if share is not None)


class Stages:
    """Runs workloads through the phases before the clock, in at most so many processes at once."""

    def __init__(self, start: Starting, processes: int, *, ends_by_s: float = math.inf) -> None:
        """Say how processes start, and by when of `time.monotonic()` the last one may."""
        self._start, self._processes, self._ends_by_s = start, processes, ends_by_s
        self._stopping = threading.Event()
        self._live: set[Worker] = set()
        self._lock = threading.Lock()

    def alone(self, phase: protocol.Phase, cells: Cells, hear: Callable[[str, Heard], None]) -> None:
        """Let `hear` know what becomes of each cell, in one process at a time, one an arm unless it dies."""
        for arm, workloads in cells.items():
            for heard in self._followed(phase, arm, workloads, 0):
                hear(arm, heard)

    def beside(self, phase: protocol.Phase, cells: Cells, hear: Callable[[str, Heard], None]) -> None:
        """Let `hear` know what becomes of each cell, in several processes at once; their threads call it."""
        turns: dict[str, queue.PriorityQueue[int]] = {arm: queue.PriorityQueue() for arm in cells}
        for free in turns.values():
            for turn in range(self._processes):
                free.put(turn)

        def run(arm: str, workloads: Sequence[str]) -> None:
            turn = turns[arm].get()
            try:
                for heard in self._followed(phase, arm, workloads, turn):
                    hear(arm, heard)
            finally:
                turns[arm].put(turn)

        with ThreadPoolExecutor(self._processes) as pool:
            running = [pool.submit(run, *share) for share in dealt(cells, self._processes)]
            try:
                for ended in as_completed(running):
                    ended.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self._stop()
                raise

    def _stop(self) -> None:
        """End every process, and let no thread start another."""
        self._stopping.set()
        with self._lock:
            for worker in self._live:
                worker.interrupt()

    @contextlib.contextmanager
    def _known(self, worker: Worker) -> Iterator[None]:
        with self._lock:
            self._live.add(worker)
            if self._stopping.is_set():
                worker.interrupt()
        try:
            yield
        finally:
            with self._lock:
                self._live.discard(worker)

    def _followed(self, phase: protocol.Phase, arm: str, workloads: Sequence[str], turn: int) -> Iterator[Heard]:
        """Yield what becomes of workloads; a process that dies is followed by another for those it had not done."""
        left = list(workloads)
        while left and not self._stopping.is_set():
            if time.monotonic() >= self._ends_by_s:
                yield from (_late(phase, workload) for workload in left)
                return
            for heard in self._in_one_process(phase, arm, tuple(left), turn):
                if not isinstance(heard, protocol.Ready):
                    left.remove(heard.workload)
                yield heard

    def _in_one_process(self, phase: protocol.Phase, arm: str, workloads: Sequence[str], turn: int) -> Iterator[Heard]:
        """Yield what becomes of workloads until all are done or the process dies; one at least is done."""
        left = list(workloads)
        current = left[0]
        try:
            with self._start(phase, arm, workloads, turn) as worker, self._known(worker):
                while left:
                    message = _expected(worker.hear(), left)
                    current = message.workload
                    yield message
                    if isinstance(message, protocol.Ready):
                        worker.go()
                    else:
                        left.remove(current)
        except WorkerError as error:
            blamed = current if current in left else left[0]
            yield protocol.Failed(workload=blamed, cause=error.cause, phase=phase, message=error.message)


def _late(phase: protocol.Phase, workload: str) -> protocol.Failed:
    return protocol.Failed(workload=workload, cause="timeout", phase=phase, message=f"{DEADLINE} came first")


def _expected(message: protocol.Message, left: Sequence[str]) -> Heard:
    """Return a message about one of the workloads that are left, of a kind that comes before the clock.

    Raises:
        WorkerError: it is another.
    """
    if message.workload not in left:
        raise WorkerError("error", f"the worker spoke of {message.workload!r}, which it was not asked about")
    if isinstance(message, protocol.Sampled):
        raise WorkerError("error", f"the worker said {message.says!r} out of turn")
    return message


class Gating:
    """Gates every cell of a session, and tells what came of it."""

    def __init__(
        self,
        stages: Stages,
        tell: Callable[[Started | Digested | Gated | Died], None],
        died: Callable[[str, protocol.Failed], Died],
        *,
        processes: int,
        is_tuned: bool,
        announce: Callable[[str], None],
        is_quiet: bool | None,
    ) -> None:
        """Say whom to tell, from several threads where gates run side by side; `is_quiet` is tqdm's `disable`.

        `is_tuned` says that kernels are tuned before gates run side by side. `announce` gets a line for whoever waits:
        what begins, and what failed.
        """
        self._stages, self._tell, self._died = stages, tell, died
        self._processes, self._is_tuned, self._announce, self._is_quiet = processes, is_tuned, announce, is_quiet
        self._told: dict[Pair, Gated | Died] = {}

    def run(self, cells: Cells) -> Mapping[Pair, Gated | Died]:
        """Return the outcome of every cell, or what it died of."""
        if self._processes > 1 and self._is_tuned:
            self._beside("compiling", cells)
            self._beside("gate", self._tuned(self._untold(cells)))
        elif self._processes > 1:
            self._beside("gate", cells)
        with self._heard("gate", self._untold(cells), processes=1, is_last=True) as hear:
            self._stages.alone("gate", self._untold(cells), hear)
        return self._told

    def _untold(self, cells: Cells) -> Cells:
        return {arm: [name for name in names if (arm, name) not in self._told] for arm, names in cells.items()}

    def _beside(self, phase: protocol.Phase, cells: Cells) -> None:
        with self._heard(phase, cells, processes=self._processes) as hear:
            self._stages.beside(phase, cells, hear)

    def _tuned(self, cells: Cells) -> Cells:
        """Return the cells whose call ran alone: what raises there is gated alone, and tuned again if need be."""
        called: set[Pair] = set()
        with self._heard("tuning", cells, processes=1) as hear:

            def noting(arm: str, heard: Heard) -> None:
                if isinstance(heard, protocol.Called):
                    called.add((arm, heard.workload))
                hear(arm, heard)

            self._stages.alone("tuning", cells, noting)
        return {arm: [name for name in names if (arm, name) in called] for arm, names in cells.items()}

    @contextlib.contextmanager
    def _heard(
        self, phase: protocol.Phase, cells: Cells, *, processes: int, is_last: bool = False
    ) -> Iterator[Callable[[str, Heard], None]]:
        """Announce a phase and yield what hears of its cells; what fails is tried once more, unless this `is_last`."""
        if total := sum(len(names) for names in cells.values()):
            self._announce(
                f"{phase}: {total} cells, {f'up to {processes} processes' if processes > 1 else 'one'} at a time"
            )
        with tqdm(total=total, desc=phase, unit="cell", disable=self._is_quiet) as progress:

            def hear(arm: str, heard: Heard) -> None:
                self._keep(phase, arm, heard, is_last=is_last)
                progress.update(not isinstance(heard, protocol.Ready))

            yield hear

    def _keep(self, phase: protocol.Phase, arm: str, heard: Heard, *, is_last: bool) -> None:
        """Tell what happened; a failure is an outcome where nothing is tried again."""
        if isinstance(heard, protocol.Ready):
            self._tell(Started(arm=arm, workload=heard.workload, phase=phase, process=0))
        elif isinstance(heard, protocol.Judged):
            if heard.inputs_sha256 is not None:
                self._tell(Digested(workload=heard.workload, sha256=heard.inputs_sha256))
            self._settle(Gated(arm=arm, workload=heard.workload, phase="before", outcome=heard.outcome))
        elif isinstance(heard, protocol.Failed):
            event = self._died(arm, heard)
            self._announce(f"{phase}: {arm} on {event.workload}: {event.message}")
            if is_last or event.cause == "timeout":
                self._settle(event)

    def _settle(self, event: Gated | Died) -> None:
        self._tell(event)
        self._told[event.arm, event.workload] = event
