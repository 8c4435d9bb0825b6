"""Owns where a series of numbers changes its level, and what it changes from and to.

A level is a run of at least two numbers: one that stands alone is an outlier until a second one bears it out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from evidence.errors import EvidenceError
from evidence.statistics import BASE_EFFECT, Interval

LEAST_ON_A_LEVEL = 2
LEAST = 2 * LEAST_ON_A_LEVEL
"""Fewer numbers cannot show a change of level."""

_PENALTY = 2.5
_MAD_OF_NORMAL = 0.6745
"""Median absolute deviation of the standard normal distribution."""


@dataclass(frozen=True, slots=True)
class Change:
    """A new level: the index of its first number, the medians before and from there on."""

    index: int
    before: float
    after: float

    @property
    def factor(self) -> float:
        """How many times the old level the new one is."""
        return self.after / self.before


def change_points(numbers: Sequence[Interval]) -> tuple[Change, ...]:
    """Return where the level of positive numbers changes, in their order; none for fewer than four.

    Levels are fitted to the logarithms by PELT (Killick, Fearnhead and Eckley, 2012) with absolute errors, so that one
    outlier moves no level, and a penalty of 2.5 s log n a change. Here s is the noise between neighbours: robust, from
    their differences, and no smaller than their own intervals or half the least effect that is ever claimed. The factor
    lets one series of pure noise in twenty have a change, at six numbers or more (the tests draw them). A change by
    less than that effect is none.

    Raises:
        EvidenceError: the library that finds them is not installed.
        ValueError: a number is not positive.
    """
    if len(numbers) < LEAST:
        return ()
    logs = [math.log(number.value) for number in numbers]
    ends = _pelt(logs, _PENALTY * _noise(logs, numbers) * math.log(len(logs)))
    levels = _told_apart([logs[start:end] for start, end in itertools.pairwise([0, *ends])])
    starts = itertools.accumulate(len(level) for level in levels)
    return tuple(
        Change(start, math.exp(median(before)), math.exp(median(after)))
        for start, (before, after) in zip(starts, itertools.pairwise(levels), strict=False)
    )


def _noise(logs: Sequence[float], numbers: Sequence[Interval]) -> float:
    """Standard deviation of one number about its level, in units of its logarithm."""
    steps = [abs(after - before) for before, after in itertools.pairwise(logs)]
    between = median(steps) / (math.sqrt(2) * _MAD_OF_NORMAL)
    # A 95 % interval is 2 · 1.96 standard errors wide.
    within = median(math.log(number.high / number.low) / (2 * 1.96) if number.low > 0 else 0.0 for number in numbers)
    return max(between, within, math.log1p(BASE_EFFECT) / 2)


def _pelt(logs: Sequence[float], penalty: float) -> list[int]:
    try:
        import numpy
        import ruptures
    except ImportError:
        raise EvidenceError(
            "change points need the package ruptures", fix="pip install 'perf-evidence[history]'"
        ) from None
    signal = numpy.asarray(logs).reshape(-1, 1)
    found: list[int] = ruptures.Pelt(model="l1", min_size=LEAST_ON_A_LEVEL, jump=1).fit(signal).predict(pen=penalty)
    return found


def _told_apart(levels: list[list[float]]) -> list[list[float]]:
    """Join neighbours whose levels differ by less than any effect that is claimed, the nearest first."""
    while len(levels) > 1:
        gaps = [abs(median(after) - median(before)) for before, after in itertools.pairwise(levels)]
        nearest = min(range(len(gaps)), key=gaps.__getitem__)
        if gaps[nearest] >= math.log1p(BASE_EFFECT):
            break
        levels = [*levels[:nearest], levels[nearest] + levels[nearest + 1], *levels[nearest + 2 :]]
    return levels
