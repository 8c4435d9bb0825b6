"""Owns the small marks: verdict chips, outcome tags, gate states, whiskers, and the padding that aligns numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from evidence.renderers.markup import escape
from evidence.renderers.svg import GLYPHS, Scale, number, per_cent
from evidence.renderers.text import LABEL_LIMIT
from evidence.statistics import Interval, Verdict
from evidence.units import FIGURE_SPACE, MINUS, PUNCTUATION_SPACE
from evidence.views import Absent, CellOutcome, GateLine, Ratio, Shown

_FRACTION = re.compile(r"\d\.(\d+)")
_GATES: dict[str, tuple[str, str]] = {
    "passed": ("passed", "Passed"),
    "failed": ("rejected", "Failed"),
    "partly": ("inconclusive", "Partly"),
    "none": ("missing", "No gate"),
}
_WIDEST_CLAIM = 10


def glyph(name: str) -> str:
    """The shape of a verdict or outcome, for use beside its word."""
    return f'<svg class="ev-glyph ev-{name}" viewBox="-7 -7 14 14" aria-hidden="true">{GLYPHS[name]}</svg>'


def chip(verdict: Verdict, word: str = "") -> str:
    """A verdict with the metric's own word for it: shape, word and tint say the same."""
    return f'<span class="ev-chip ev-{verdict}">{glyph(verdict)}{escape(word or verdict.upper(), LABEL_LIMIT)}</span>'


def tag(outcome: CellOutcome) -> str:
    """Why a cell has no number, in a muted word without a box: nothing was compared."""
    return f'<span class="ev-tag ev-{outcome}">{glyph(outcome)}{outcome.upper()}</span>'


def gate_mark(gate: GateLine) -> str:
    """The state of one gate."""
    shape, word = _GATES[gate.state]
    return f'<span class="ev-gate ev-gate--{gate.state}">{glyph(shape)}{word}</span>'


def span(shown: Shown) -> str:
    """The interval as text, `1.377 – 1.384`, or with `to` where a dash would read as a minus; empty where exact."""
    if not shown.low and not shown.high:
        return ""
    dash = "to" if MINUS in shown.low + shown.high else "–"
    return f"{shown.low} {dash} {shown.high}"


def places(texts: Iterable[str]) -> int:
    """The most decimals among the numbers of a column."""
    return max((len(_fraction(text)) for text in texts), default=0)


def padding(text: str, most: int) -> str:
    """What follows a number so that the points of a right-aligned column agree: `most` is the column's decimals.

    A figure space copies as a space, so the number stays one.
    """
    decimals = len(_fraction(text))
    point = PUNCTUATION_SPACE if decimals == 0 < most else ""
    return point + FIGURE_SPACE * (most - decimals)


def ratio_scale(ratios: Sequence[Ratio]) -> Scale:
    """One logarithmic axis for all the ratios of a column, with 1 and their minimum effects on it."""
    ends = [end for ratio in ratios for end in (1 / (1 + ratio.effect), 1 + ratio.effect)]
    for ratio in ratios:
        if ratio.interval is not None:
            ends += [min(max(end, 1e-6), 1e6) for end in (ratio.interval.low, ratio.interval.high)]
    low, high = min([*ends, 1 / 1.05]), max([*ends, 1.05])
    margin = (high / low) ** 0.06
    return Scale(low / margin, high * margin, is_log=True)


def claim_scale(intervals: Iterable[Interval]) -> Scale:
    """The axis of claims: 0.5 to 2, doubled in both directions until every interval is on it."""
    ends = [end for interval in intervals for end in (interval.low, interval.high)]
    power = 1
    while power < _WIDEST_CLAIM and any(not 2.0**-power <= end <= 2.0**power for end in ends):
        power += 1
    return Scale(2.0**-power, 2.0**power, is_log=True)


def whisker(ratio: Ratio, scale: Scale) -> str:
    """One row of a forest plot: the line at 1, the minimum effect, the interval, the verdict's shape at the value."""
    if ratio.interval is None:
        return ""
    below, above = scale(1 / (1 + ratio.effect)), scale(1 + ratio.effect)
    low, value, high = (scale(end) for end in (ratio.interval.low, ratio.interval.value, ratio.interval.high))
    return (
        '<svg class="ev-whisker" width="100%" height="16" aria-hidden="true">'
        f'<rect class="ev-band" x="{per_cent(below)}" width="{per_cent(above - below)}" height="16"/>'
        f'<line class="ev-one" x1="{per_cent(scale(1))}" x2="{per_cent(scale(1))}" y2="16"/>'
        f'<line class="ev-interval ev-{ratio.verdict}" x1="{per_cent(low)}" x2="{per_cent(high)}" y1="8" y2="8"/>'
        f'<svg class="ev-{ratio.verdict}" x="{per_cent(value)}" y="{number(8)}" overflow="visible">'
        f'<g transform="scale(.8)">{GLYPHS[ratio.verdict]}</g></svg></svg>'
    )


def reason(absent: Absent) -> str:
    """The reason under an outcome, or nothing where there is none to tell."""
    return f"<small>{escape(absent.reason)}</small>" if absent.reason else ""


def _fraction(text: str) -> str:
    match = _FRACTION.search(text)
    return match.group(1) if match else ""
