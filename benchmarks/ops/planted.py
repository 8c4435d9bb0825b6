"""Owns the planted slowdown: a call that does what another does, then spends a share of its time on nothing.

With it a harness shows what it is able to find. What is added is measured in the process that adds it, by the clock of
the device it is spent on, and told with every measurement.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Protocol

from benchmarks.timing import Call, Timer, rounded, warm_up
from evidence.errors import EvidenceError
from evidence.schema import Setting

PLANTED, OWN = "planted_ns", "own_ns"
"""The settings that tell what was added to each call, and how long the call takes without it."""

_WARM_UP_S = 0.2
_SAMPLES = 20
_REPEATS = 5
_OFF_BY = 0.05
"""A delay that cannot be brought as near as this to what was asked for is none."""
_CHAIN = 50
"""Delays put one after the other, so that the step of a device's events does not show in one of them."""
_LEAD_CYCLES = 4_000_000
"""About 2 ms: the host queues a chain meanwhile, so that the chain's length is the device's and not the host's."""
_NS_PER_S = 1_000_000_000


class PlantError(EvidenceError):
    """What was to be added is less than adding anything takes, or cannot be met."""


class Delay(Protocol):
    """Something that takes time where a call takes it; the amount has a unit of its own."""

    def spend(self, amount: int) -> None:
        """Take that much."""

    def lasts_s(self, amount: int) -> float:
        """Measure the seconds that spending this amount adds to what stands before it."""


class BusyWait:
    """A processor that looks at its clock until nanoseconds have passed."""

    def spend(self, amount: int) -> None:
        """Return once `amount` nanoseconds have passed."""
        until = time.perf_counter_ns() + amount
        while time.perf_counter_ns() < until:
            pass

    def lasts_s(self, amount: int) -> float:
        """Return the median of a few, the call of it included."""
        marks = [time.perf_counter_ns()]
        for _ in range(_CHAIN):
            self.spend(amount)
            marks.append(time.perf_counter_ns())
        return median(after - before for before, after in itertools.pairwise(marks)) / _NS_PER_S


class Spin:
    """One thread of an accelerator that counts its clock's cycles, on the stream that calls run on.

    A cycle's length follows the device's clock, so amounts are found just after the call was warm.
    """

    def spend(self, amount: int) -> None:
        """Queue a kernel that lasts `amount` cycles, and as long as a launch takes."""
        import torch

        torch.cuda._sleep(amount)

    def lasts_s(self, amount: int) -> float:
        """Return what one of a chain adds, as the median of a few chains."""
        return median(self._chain_s(amount) for _ in range(_REPEATS)) / _CHAIN

    def _chain_s(self, amount: int) -> float:
        import torch

        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.spend(_LEAD_CYCLES)
        first.record()
        for _ in range(_CHAIN):
            self.spend(amount)
        last.record()
        torch.cuda.synchronize()
        return float(first.elapsed_time(last)) / 1e3


@dataclass(frozen=True, slots=True)
class Slowed:
    """A call with a delay after it. It returns what the call returns."""

    call: Call
    delay: Callable[[], None]
    own_s: float
    """The call alone: the median of what the timer read."""
    planted_s: float
    """What the delay adds to it, as measured."""

    def __call__(self) -> object:
        """Call once, then wait."""
        returned = self.call()
        self.delay()
        return returned

    @property
    def settings(self) -> tuple[Setting, Setting]:
        """What a record says of it, in whole nanoseconds."""
        return _in_ns(PLANTED, self.planted_s), _in_ns(OWN, self.own_s)


def _in_ns(name: str, seconds: float) -> Setting:
    return Setting(name=name, value=str(round(seconds * _NS_PER_S)))


def slowed(call: Call, share: float, timer: Timer, device: str) -> Slowed:
    """Return `call` slowed by `share` of its own time, as this timer reads it: 0.02 adds one fiftieth.

    The call has been made before: nothing of it is left to compile.

    Raises:
        PlantError: the share is not positive, too little for this device to add, or not met.
    """
    if share <= 0:
        raise PlantError(f"a share of {share} slows nothing", fix="plant a positive share")
    own_s = median(timer.samples(call, _SAMPLES, warm_up(call, timer, _WARM_UP_S).call_s).samples_s)
    delay: Delay = Spin() if device == "cuda" else BusyWait()
    amount, planted_s = _met(delay, share * own_s)
    return Slowed(call, lambda: delay.spend(amount), rounded(own_s), rounded(planted_s))


def _met(delay: Delay, target_s: float) -> tuple[int, float]:
    """Return the amount that lasts as long as is wanted, and how long it does."""
    least_s = delay.lasts_s(0)
    if target_s <= least_s:
        raise PlantError(
            f"{target_s * 1e6:.3g} us are less than any delay adds here, which is {least_s * 1e6:.3g} us",
            fix="plant it in a longer call",
        )
    amount = round(target_s * _NS_PER_S)
    for _ in range(_REPEATS):
        lasts_s = delay.lasts_s(amount)
        if abs(lasts_s / target_s - 1) <= _OFF_BY:
            return amount, lasts_s
        amount = max(1, round(amount * (target_s - least_s) / max(lasts_s - least_s, least_s / _CHAIN)))
    raise PlantError(
        f"a delay of {target_s * 1e6:.3g} us lasted {lasts_s * 1e6:.3g} us", fix="measure on a quieter machine"
    )
