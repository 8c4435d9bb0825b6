"""Owns what comes before a session's clock: kernels compiled and tuned, and every arm gated on every workload.

In one process at a time a gate compiles and tunes what it needs. In several at once, what is timed must not suffer
from what runs beside it: processes compile side by side, which no device decides; then one process an arm calls every
workload once, alone, so that kernels are tuned as they are timed; then gates, which nothing times, run side by side.
What fails beside others is gated again alone.
"""

from __future__ import annotations

import contextlib
import math
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import chain, zip_longest
from typing import NoReturn, Protocol

from tqdm import tqdm

from benchmarks import protocol
from benchmarks.workers import Worker, WorkerError
from evidence.importers.session_stream import Died, Gated, Started

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

    def __init__(self, start: Starting, processes: int) -> None:
        """Say how processes start."""
        self._start, self._processes = start, processes
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
        tell: Callable[[Started | Gated | Died], None],
        died: Callable[[str, protocol.Failed], Died],
        *,
        is_side_by_side: bool,
        is_quiet: bool | None,
    ) -> None:
        """Say whom to tell, from several threads where gates run side by side; `is_quiet` is tqdm's `disable`."""
        self._stages, self._tell, self._died = stages, tell, died
        self._is_side_by_side, self._is_quiet = is_side_by_side, is_quiet
        self._told: dict[Pair, Gated | Died] = {}

    def run(self, cells: Cells) -> Mapping[Pair, Gated | Died]:
        """Return the outcome of every cell, or what it died of."""
        if self._is_side_by_side:
            self._beside("compiling", cells, lambda arm, heard: None)
            self._beside("gate", self._tuned(cells), self._hear_beside)
        left = {arm: [name for name in names if (arm, name) not in self._told] for arm, names in cells.items()}
        with self._shown("gates", left) as progress:

            def hear(arm: str, heard: Heard) -> None:
                self._hear_beside(arm, heard)
                if isinstance(heard, protocol.Failed):
                    self._keep(self._died(arm, heard))
                progress.update(not isinstance(heard, protocol.Ready))

            self._stages.alone("gate", left, hear)
        return self._told

    def _tuned(self, cells: Cells) -> Cells:
        """Return the cells whose call ran alone: what raises there is gated alone, and tuned again if need be."""
        called: set[Pair] = set()
        with self._shown("tuning", cells) as progress:

            def hear(arm: str, heard: Heard) -> None:
                if isinstance(heard, protocol.Called):
                    called.add((arm, heard.workload))
                progress.update(not isinstance(heard, protocol.Ready))

            self._stages.alone("tuning", cells, hear)
        return {arm: [name for name in names if (arm, name) in called] for arm, names in cells.items()}

    def _beside(self, phase: protocol.Phase, cells: Cells, hear: Callable[[str, Heard], None]) -> None:
        with self._shown(phase, cells) as progress:

            def shown(arm: str, heard: Heard) -> None:
                hear(arm, heard)
                progress.update(not isinstance(heard, protocol.Ready))

            self._stages.beside(phase, cells, shown)

    def _hear_beside(self, arm: str, heard: Heard) -> None:
        """Keep an outcome; what failed for being beside others is not told of, since it is gated again alone."""
        if isinstance(heard, protocol.Ready):
            self._tell(Started(arm=arm, workload=heard.workload, phase="gate", process=0))
        elif isinstance(heard, protocol.Judged):
            self._keep(Gated(arm=arm, workload=heard.workload, phase="before", outcome=heard.outcome))

    def _keep(self, event: Gated | Died) -> None:
        self._tell(event)
        self._told[event.arm, event.workload] = event

    def _shown(self, what: str, cells: Cells) -> tqdm[NoReturn]:
        total = sum(len(names) for names in cells.values())
        return tqdm(total=total, desc=what, unit="cell", disable=self._is_quiet)
