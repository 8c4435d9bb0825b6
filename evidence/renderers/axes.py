"""Owns tick marks: few, round, and never a label for a value that is not on the axis."""

from __future__ import annotations

import itertools
import math

from evidence.renderers.svg import Scale
from evidence.units import format_number

_MOST_TICKS = 5
_STEPS = (1, 2, 5)
_FINEST, _COARSEST = -6, 1


def ratio_ticks(scale: Scale) -> tuple[float, ...]:
    """Ticks of a logarithmic axis of ratios, 1 among them: even steps where they are few, else powers of 2, then 10."""
    for step in (base * 10.0**power for power in range(_FINEST, _COARSEST) for base in _STEPS):
        ticks = _multiples(scale, step)
        is_even = (scale.high - scale.low) / step < 2 * _MOST_TICKS
        if is_even and len(ticks) <= _MOST_TICKS and _are_apart(scale, ticks):
            return ticks
    powers = itertools.chain((2.0**stride for stride in (1, 2, 3)), (10.0**stride for stride in itertools.count(1)))
    return next(ticks for ticks in (_powers(scale, power) for power in powers) if len(ticks) <= _MOST_TICKS)


def value_ticks(highest: float) -> tuple[float, ...]:
    """Ticks from zero to at most `highest`, which is positive, three to six of them."""
    power = math.floor(math.log10(highest / 3))
    step = max(base * 10.0**power for base in _STEPS if base * 10.0**power <= highest / 3 * 1.0000001)
    return tuple(step * index for index in range(math.floor(highest / step + 1e-9) + 1))


def tick_text(value: float, ticks: tuple[float, ...]) -> str:
    """The tick with as many decimals as tell the ticks apart."""
    gap = min((abs(b - a) for a, b in itertools.pairwise(ticks)), default=1.0)
    smallest = min((tick for tick in ticks if tick > 0), default=1.0)
    finest = min(gap, smallest)
    return format_number(value, min(12, max(0, math.ceil(-math.log10(finest) - 1e-9))))


def _multiples(scale: Scale, step: float) -> tuple[float, ...]:
    first = math.ceil((scale.low - 1) / step - 1e-9)
    last = math.floor((scale.high - 1) / step + 1e-9)
    if last - first > 2 * _MOST_TICKS:
        return tuple(1 + step * index for index in range(2 * _MOST_TICKS + 1))
    return tuple(round(1 + step * index, 9) for index in range(first, last + 1))


def _are_apart(scale: Scale, ticks: tuple[float, ...]) -> bool:
    """Whether the labels of a logarithmic axis leave each other room in a narrow column, and none lies at zero."""
    places = [scale(tick) for tick in ticks if tick > 0]
    return len(places) == len(ticks) and all(b - a > 0.15 for a, b in itertools.pairwise(places))


def _powers(scale: Scale, base: float) -> tuple[float, ...]:
    first = math.ceil(math.log(scale.low, base) - 1e-9)
    last = math.floor(math.log(scale.high, base) + 1e-9)
    return tuple(base**index for index in range(first, last + 1))
