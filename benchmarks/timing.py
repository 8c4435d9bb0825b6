"""Owns timing: timers that others wrote behind one Protocol, stop rules, and `timed`, which a passed gate licenses.

Samples are seconds a call, in the order they were taken. A timer that cannot run here is replaced by another only
with a reason that the record keeps.
"""

from __future__ import annotations

import abc
import functools
import importlib.util
import itertools
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Generic, Literal, Protocol, TypeVar

from benchmarks.device import CurrentDevice, Device
from evidence.errors import EvidenceError
from evidence.schema import Passed
from evidence.statistics import coefficient_of_variation

Stopped = Literal["spread", "maximum", "budget", "fixed"]
Cache = Literal["hot", "cold"]
Call = Callable[[], object]
Given = TypeVar("Given")
Returned = TypeVar("Returned")

DO_BENCH = "triton.testing.do_bench"
CUDA_GRAPH = "triton.testing.do_bench_cudagraph"
HELD_EVENTS = "torch.cuda.Event"
TORCH_TIMER = "torch.utils.benchmark.Timer"

_BLOCK_S = 0.02
"""A host-timed sample lasts at least this long: twenty times the floor under which a host clock says nothing."""
_BATCH = 500
"""Samples asked for at once. Beyond a thousand, torch's timer would lengthen the block of its own accord."""
_OVERHEAD_SAMPLES = 7
_SIGNIFICANT_DIGITS = 9
"""Keeps any single-precision event time exactly."""


class TimingError(EvidenceError):
    """A timer gave what is no time, or there is none of that name."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples in order, in seconds a call, each the mean of `calls` consecutive calls."""

    samples_s: list[float]
    calls: int


class Timer(Protocol):
    """Takes samples of a call that is warm already."""

    @property
    def name(self) -> str:
        """The library function that takes the time."""

    @property
    def cache(self) -> Cache:
        """Whether the last-level cache may hold the inputs when the clock starts."""

    @property
    def flush_bytes(self) -> int:
        """Bytes it writes between calls to evict that cache."""

    def overhead_s(self, call_s: float) -> float:
        """Seconds it adds to a sample of calls of this length."""

    def finish(self) -> None:
        """Wait until everything started is done."""

    def calls_per_sample(self, call_s: float) -> int:
        """How many consecutive calls one sample is the mean of, for calls of this length."""

    def samples(self, call: Call, wanted: int, call_s: float) -> Batch:
        """Return about `wanted` samples of a call that lasts about `call_s`."""


@dataclass(frozen=True, slots=True)
class Rules:
    """When to begin and when to stop: after the minimum, at the spread, the maximum or the budget, whichever is first.

    The spread is the coefficient of variation of the samples. The budget counts sampling only, and never cuts a
    process below the minimum. A batch under way is finished, so a process may hold a few samples over the maximum.
    """

    minimum_samples: int = 10
    maximum_samples: int = 50
    target_spread: float | None = None
    budget_s: float | None = 10.0
    warm_up_s: float = 1.0

    def __post_init__(self) -> None:
        """Refuse rules under which nothing is sampled, or nothing stops."""
        if not 1 <= self.minimum_samples <= self.maximum_samples:
            raise TimingError("stop rules need 1 <= minimum_samples <= maximum_samples")
        for name, limit in (("target_spread", self.target_spread), ("budget_s", self.budget_s)):
            if limit is not None and not 0 < limit < math.inf:
                raise TimingError(f"{name} is a positive number, not {limit}")
        if not 0 <= self.warm_up_s < math.inf:
            raise TimingError(f"warm_up_s is a number of seconds, not {self.warm_up_s}")


@dataclass(frozen=True, slots=True)
class WarmUp:
    """What was done before the clock: calls, seconds, and how long one call took in its fastest block."""

    calls: int
    seconds: float
    call_s: float


@dataclass(frozen=True, slots=True)
class Timing:
    """What one process measured on one workload."""

    samples_s: tuple[float, ...]
    used: str
    overhead_s: float
    warm_up: WarmUp
    flush_bytes: int
    calls_per_sample: int
    """The fewest consecutive calls that one sample is the mean of."""
    stopped: Stopped
    compilations: int | None
    """Compilations while samples were taken; None if a compiler was there that could not be watched."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The timer that measures here, the one that was asked for, and why they differ where they do."""

    requested: str
    used: str
    fallback_reason: str | None
    cache: Cache
    flush_bytes: int
    overhead_s: float


class Rotation(Generic[Given, Returned]):
    """A call without arguments that takes the next input set each time, and keeps what it last returned on each."""

    def __init__(self, call: Callable[[Given], Returned], sets: Sequence[Given]) -> None:
        """Rotate over `sets`, in order."""
        self._call = call
        self._next = itertools.cycle(enumerate(sets)).__next__
        self.last: dict[int, Returned] = {}
        """The newest output by index of its input set."""

    def __call__(self) -> Returned:
        """Call once, on the next set."""
        index, given = self._next()
        returned = self._call(given)
        self.last[index] = returned
        return returned


def timed(call: Call, *, proof: Passed, timer: Timer, rules: Rules) -> Timing:
    """Warm a call up and sample it until a rule stops it. Only a passed gate licenses this: `proof` is that gate.

    Raises:
        TimingError: the timer gave a time that is not positive and finite.
    """
    warmed = warm_up(call, timer, rules.warm_up_s)
    sample_s = warmed.call_s * timer.calls_per_sample(warmed.call_s)
    taken: list[float] = []
    calls_per_sample: list[int] = []
    with watched_compilations() as compiled:
        started = time.perf_counter()
        while (stopped := _stopped(taken, rules, time.perf_counter() - started)) is None:
            wanted = _wanted(len(taken), rules, time.perf_counter() - started, sample_s)
            batch = timer.samples(call, wanted, warmed.call_s)
            taken += batch.samples_s
            calls_per_sample.append(batch.calls)
    return Timing(
        samples_s=tuple(_stored(sample, timer.name) for sample in taken),
        used=timer.name,
        overhead_s=rounded(timer.overhead_s(warmed.call_s)),
        warm_up=warmed,
        flush_bytes=timer.flush_bytes,
        calls_per_sample=min(calls_per_sample),
        stopped=stopped,
        compilations=compiled.count,
    )


def warm_up(call: Call, timer: Timer, seconds: float) -> WarmUp:
    """Call in doubling blocks until `seconds` have passed, waiting for the device after each; twice at least."""
    started = time.perf_counter()
    calls, block, call_s = 0, 1, math.inf
    while calls < 2 or time.perf_counter() - started < seconds:
        block_started = time.perf_counter()
        for _ in range(block):
            call()
        timer.finish()
        call_s = min(call_s, (time.perf_counter() - block_started) / block)
        calls += block
        left = max(1, math.ceil((seconds - (time.perf_counter() - started)) / max(call_s, 1e-9)))
        block = min(2 * block, left)
    return WarmUp(calls, time.perf_counter() - started, call_s)


def _wanted(have: int, rules: Rules, elapsed_s: float, sample_s: float) -> int:
    """Return how many samples to ask for next, so that no rule is overrun by much."""
    wanted = rules.maximum_samples - have
    if rules.target_spread is not None:
        wanted = min(wanted, rules.minimum_samples)
    if rules.budget_s is not None:
        affordable = int((rules.budget_s - elapsed_s) / max(sample_s, 1e-9))
        wanted = min(wanted, max(affordable, rules.minimum_samples - have))
    return min(max(1, wanted), _BATCH)


def _stopped(taken: Sequence[float], rules: Rules, elapsed_s: float) -> Stopped | None:
    """Return the rule that ends the sampling now, or None while it goes on."""
    if len(taken) < rules.minimum_samples:
        return None
    if rules.target_spread is not None and len(taken) > 1 and coefficient_of_variation(taken) <= rules.target_spread:
        return "spread"
    if len(taken) >= rules.maximum_samples:
        return "fixed" if rules.minimum_samples == rules.maximum_samples else "maximum"
    if rules.budget_s is not None and elapsed_s >= rules.budget_s:
        return "budget"
    return None


def rounded(seconds: float) -> float:
    """Round to nine significant digits, as times are stored."""
    return float(f"{seconds:.{_SIGNIFICANT_DIGITS}g}")


def _stored(seconds: float, name: str) -> float:
    if not 0 < seconds < math.inf:
        raise TimingError(f"{name} gave {seconds} as a time", fix="measure more work a call: the timer cannot see it")
    return rounded(seconds)


@dataclass(slots=True)
class Compilations:
    """How often something was compiled while watched; None if that cannot be told."""

    count: int | None = 0
    misses: int = field(default=0, repr=False)


@contextmanager
def watched_compilations() -> Iterator[Compilations]:
    """Count the compilations of Triton and torch.compile inside the block, of those two that are loaded.

    Triton's hook fires on every miss of the cache in memory: compiling, or loading a kernel compiled before.
    """
    watched = Compilations()
    loaded = _compilers()
    knobs = _triton_runtime()
    graphs = _graphs_compiled()
    previous = None if knobs is None else knobs.jit_cache_hook

    def miss(*arguments: Any, **named: Any) -> Any:
        watched.misses += 1
        return None if previous is None else previous(*arguments, **named)

    if knobs is not None:
        knobs.jit_cache_hook = miss
    try:
        yield watched
    finally:
        if knobs is not None:
            knobs.jit_cache_hook = previous
        unwatched = _compilers() != loaded or ("triton" in loaded and knobs is None)
        watched.count = None if unwatched else watched.misses + _graphs_compiled() - graphs


def _compilers() -> frozenset[str]:
    return frozenset({"triton", "torch._dynamo.utils"} & sys.modules.keys())


def _triton_runtime() -> Any:
    """Return the settings object that holds Triton's hook, or None where there is none."""
    runtime = getattr(getattr(sys.modules.get("triton"), "knobs", None), "runtime", None)
    return runtime if hasattr(runtime, "jit_cache_hook") else None


def _graphs_compiled() -> int:
    dynamo = sys.modules.get("torch._dynamo.utils")
    return 0 if dynamo is None else int(dynamo.counters["stats"]["unique_graphs"])


class TorchTimer:
    """Host clock round blocks of calls, the device waited for at the end of each, and a fixed number of threads."""

    name = TORCH_TIMER
    cache: Cache = "hot"
    flush_bytes = 0

    def __init__(self, threads: int) -> None:
        """Use this many threads inside torch."""
        self._threads = threads

    @functools.cached_property
    def _empty_s(self) -> float:
        return median(self.samples(_nothing, _OVERHEAD_SAMPLES, 5e-8).samples_s)

    def overhead_s(self, call_s: float) -> float:
        """Return how long a call that does nothing takes, the loop round it included."""
        return self._empty_s

    def finish(self) -> None:
        """Wait for the device, if there is one in use."""
        import torch

        if torch.cuda.is_initialized():
            torch.cuda.synchronize()

    def calls_per_sample(self, call_s: float) -> int:
        """Return enough calls for a block of 20 ms, as a power of two, so that runs agree on it."""
        return 1 << max(0, math.ceil(math.log2(_BLOCK_S / max(call_s, 1e-9))))

    def samples(self, call: Call, wanted: int, call_s: float) -> Batch:
        """Time blocks of `calls_per_sample` calls; a sample is a block's mean."""
        from torch.utils.benchmark import Timer as Library

        number = self.calls_per_sample(call_s)

        def block() -> None:
            for _ in range(number):
                call()

        timer = Library("block()", globals={"block": block}, num_threads=self._threads)
        measured = timer.blocked_autorange(min_run_time=(wanted - 0.5) * number * call_s)
        return Batch([float(seconds) / number for seconds in measured.times], number * measured.number_per_run)


class _EventTimer(abc.ABC):
    """What timers share that put device events round each call, and evict the cache before it."""

    cache: Cache = "cold"

    def __init__(self, device: Device) -> None:
        self._device = device
        self.flush_bytes = device.flush_bytes

    @functools.cached_property
    def _empty_s(self) -> float:
        return median(self.samples(_nothing, _OVERHEAD_SAMPLES, 0.0).samples_s)

    def overhead_s(self, call_s: float) -> float:
        """Return the time between two events with nothing between them."""
        return self._empty_s

    def finish(self) -> None:
        """Wait for the device."""
        self._device.synchronize()

    def calls_per_sample(self, call_s: float) -> int:
        """Return one: every call has its own events."""
        return 1

    @abc.abstractmethod
    def samples(self, call: Call, wanted: int, call_s: float) -> Batch:
        """Return about `wanted` samples of a call that lasts about `call_s`."""


class DoBench(_EventTimer):
    """Device events round each call, after Triton's own buffer was written to evict the cache."""

    name = DO_BENCH

    def __init__(self) -> None:
        """Measure once how large Triton's flush is and how long it takes."""
        super().__init__(CurrentDevice())
        self._flush_s = _event_seconds(self._device, self._device.flush)

    def samples(self, call: Call, wanted: int, call_s: float) -> Batch:
        """Ask do_bench for as long as `wanted` calls and flushes take."""
        from triton.testing import do_bench

        milliseconds = wanted * (call_s + self._flush_s) * 1e3
        values = do_bench(call, warmup=1, rep=milliseconds, return_mode="all")
        return Batch([float(value) / 1e3 for value in values], 1)


class HeldEvents(_EventTimer):
    """Device events round each of a few calls that are queued while the device is held, the cache evicted before each.

    Where Python launches a call more slowly than the device runs it, events of `DoBench` hold the time that the device
    waited. Here a kernel that only counts cycles runs until a few calls are queued, as NVBench does it for one.
    """

    name = HELD_EVENTS

    _CALLS = 10
    """Queued at once: few, for a queue that is full stops the host until the device is let go."""
    _TRIES = 6
    _QUEUED_S = 5e-5
    """Allowed for a call's events and flush beside what its launches take."""
    _TRIED_CYCLES = 10_000_000
    """Some milliseconds, in which the length of a cycle is measured."""

    def __init__(self, device: Device | None = None) -> None:
        """Measure how long the flush and a cycle take; `device` is torch's current one unless given."""
        super().__init__(device or CurrentDevice())
        self._cycle_s = _event_seconds(self._device, lambda: self._device.hold(self._TRIED_CYCLES)) / self._TRIED_CYCLES

    def samples(self, call: Call, wanted: int, call_s: float) -> Batch:
        """Queue a few calls at a time behind a held device.

        Raises:
            TimingError: the host is never ahead of the device, since the call waits for it.
        """
        taken: list[float] = []
        while len(taken) < wanted:
            taken += self._held(call, min(self._CALLS, wanted - len(taken)), call_s)
        return Batch(taken, 1)

    def _held(self, call: Call, calls: int, call_s: float) -> list[float]:
        """Return samples of so many calls, or of fewer if not so many can be queued."""
        hold_s = 2 * calls * (call_s + self._QUEUED_S)
        for _ in range(self._TRIES):
            pairs = [(self._device.event(), self._device.event()) for _ in range(calls)]
            released = self._device.event()
            self._device.hold(round(hold_s / self._cycle_s))
            released.record()
            for first, last in pairs:
                self._device.flush()
                first.record()
                call()
                last.record()
            is_ahead = not released.query()
            self._device.synchronize()
            if is_ahead:
                return [float(first.elapsed_time(last)) / 1e3 for first, last in pairs]
            calls, hold_s = max(1, calls // 2), 2 * hold_s
        raise TimingError(
            f"the device is let go after {hold_s / 2:.3g} s, and no call is queued by then: it waits for the device",
            fix="measure it with do-bench, whose times hold the waiting",
        )


class CudaGraphBench:
    """Device events round the replay of a graph of many calls: no launch gaps, and nothing evicts the cache."""

    name = CUDA_GRAPH
    cache: Cache = "hot"
    flush_bytes = 0
    _REPLAY_S = 0.02

    def __init__(self) -> None:
        """Find the device."""
        self._device = CurrentDevice()

    @functools.cached_property
    def _empty_s(self) -> float:
        return _event_seconds(self._device, _nothing)

    def overhead_s(self, call_s: float) -> float:
        """Return the time between two events with nothing between them, spread over the calls of a replay."""
        return self._empty_s / self.calls_per_sample(call_s)

    def finish(self) -> None:
        """Wait for the device."""
        self._device.synchronize()

    def calls_per_sample(self, call_s: float) -> int:
        """Return how many calls the graph of one sample holds."""
        return max(1, int(self._REPLAY_S / max(call_s, 1e-9)))

    def samples(self, call: Call, wanted: int, call_s: float) -> Batch:
        """Capture and replay ten times: that is what do_bench_cudagraph does, whatever is wanted."""
        from triton.testing import do_bench_cudagraph

        values = do_bench_cudagraph(call, rep=self._REPLAY_S * 1e3, return_mode="all")
        return Batch([float(value) / 1e3 for value in values], self.calls_per_sample(call_s))


def _event_seconds(device: Device, call: Call) -> float:
    """Return the median of a few event-timed calls, in seconds."""
    found: list[float] = []
    for _ in range(_OVERHEAD_SAMPLES):
        first, last = device.event(), device.event()
        first.record()
        call()
        last.record()
        device.synchronize()
        found.append(first.elapsed_time(last) / 1e3)
    return median(found)


def _nothing() -> None:
    """Stand for a call that costs nothing."""


def make(name: str, threads: int) -> Timer:
    """Return the timer of that name.

    Raises:
        TimingError: there is none.
    """
    if name == TORCH_TIMER:
        return TorchTimer(threads)
    if name == DO_BENCH:
        return DoBench()
    if name == HELD_EVENTS:
        return HeldEvents()
    if name == CUDA_GRAPH:
        return CudaGraphBench()
    raise TimingError(f"no timer {name!r}", fix=f"known: {', '.join((TORCH_TIMER, DO_BENCH, HELD_EVENTS, CUDA_GRAPH))}")


def choose(device: str, requested: str, threads: int) -> Choice:
    """Return the timer that measures on `device` here: the one asked for, or torch's own with the reason.

    `requested` empty asks for the usual one: do_bench on an accelerator, torch's timer on a processor.

    Raises:
        TimingError: no timer has that name.
    """
    wanted = requested or (TORCH_TIMER if device == "cpu" else DO_BENCH)
    reason = _obstacle(wanted, device)
    timer = make(TORCH_TIMER if reason else wanted, threads)
    return Choice(wanted, timer.name, reason, timer.cache, timer.flush_bytes, rounded(timer.overhead_s(_BLOCK_S)))


def _obstacle(name: str, device: str) -> str | None:
    if name == TORCH_TIMER:
        return None
    if device == "cpu":
        return "its events time a device, and there is none"
    return None if importlib.util.find_spec("triton") else "triton is not installed"
