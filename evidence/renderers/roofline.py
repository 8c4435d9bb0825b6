"""Owns the roofline plot: both axes logarithmic, a point a cell with its interval, the ceilings of the device above.

All arms of a workload do the same work on the same bytes, so they stand above one another; rows are told by number.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from evidence.renderers import grid
from evidence.renderers.bars import arm_classes
from evidence.renderers.fold import banner, data_fold, folds
from evidence.renderers.marks import span
from evidence.renderers.markup import anchor, escape
from evidence.renderers.panel import data_table
from evidence.renderers.svg import Canvas, Scale
from evidence.renderers.text import LABEL_LIMIT
from evidence.units import format_value, scale_for
from evidence.views import Absent, Ceiling, Column, Measured, Point, Roofline

_HEIGHT = 300.0
_MARGIN = 2.0
"""How far the axes go on beyond the outermost value, as a factor."""
_NARROWEST = 1e-12
_MOST_TICKS = 6
_TOLD = 12
_BELOW = 16.0
"""How far the label of a slope stands off it."""
_APART = 0.016
"""Shares of the width between the arms of one row, which would lie on each other."""
_NEAR_X, _NEAR_Y = 0.05, 13.0
"""Points closer than this, as a share of the width and in pixels, have one label."""
_SHAPES = (
    '<circle class="o" r="4.2" stroke-width="2"/>',
    '<path d="M0-5.2 5.4 4.4H-5.4Z"/>',
    '<path d="M-4.2-4.2H4.2V4.2H-4.2Z"/>',
    '<path d="M0-5.6 5.6 0 0 5.6-5.6 0Z"/>',
    '<path d="M0 5.2-5.4-4.4H5.4Z"/>',
)
"""A shape an arm, the baseline's hollow: colour is never the only sign."""


def roofline(view: Roofline, root: str = "") -> str:
    """The plot with its key, its numbers as a table, and the evidence of every log in it."""
    canvas, title = _drawn(view), f"{anchor(view.id)}-roofline-heading"
    subtitle = f"{view.unit} against FLOP a byte of compulsory traffic, 95 % intervals, log scales, arms side by side"
    return (
        f'<section class="ev-chart" aria-label="{escape(view.title)}">{banner(view.banner)}'
        f'<section class="ev-figure" aria-labelledby="{title}"><p class="ev-figure-title" id="{title}">'
        f'{escape(canvas.title)}</p><p class="ev-figure-subtitle">{escape(subtitle)}</p>{_key(view)}'
        f"{canvas.render()}{data_fold(_data(view))}</section>{folds(view.evidence, root)}</section>"
    )


def _placed(view: Roofline) -> list[tuple[Point, Measured, float]]:
    """The points that can be drawn: a logarithm of nothing has no place."""
    return [
        (point, point.rate, point.intensity)
        for point in view.points
        if isinstance(point.rate, Measured) and point.intensity and point.rate.interval.value > 0
    ]


def _drawn(view: Roofline) -> Canvas:
    told = [f"{point.row}, {point.arm}: {_told(point, view.unit)}" for point in view.points[:_TOLD]]
    more = len(view.points) - len(told)
    description = "; ".join([*map(_said, view.ceilings), *told]) + (f"; and {more} more" if more else "")
    canvas = Canvas(f"{anchor(view.id)}-roofline", f"{view.title}: roofline", description, _HEIGHT, "roofline")
    x, y = _scales(view)
    _frame(canvas, x, y)
    for ceiling in view.ceilings:
        _ceiling(canvas, x, y, ceiling)
    styles = _styles(view)
    for point, rate, intensity in _placed(view):
        shape, colour = styles[point.arm]
        at = _beside(x(intensity), list(styles).index(point.arm), len(styles))
        low = _up(y, rate.interval.low) if rate.interval.low > 0 else _HEIGHT
        canvas.line(at, low, at, _up(y, rate.interval.high), f"ev-interval {colour}")
        canvas.shape(at, _up(y, rate.interval.value), shape, colour)
    _labels(canvas, x, y, view)
    return canvas


def _beside(at: float, index: int, arms: int) -> float:
    """Where one of several arms stands whose points have one intensity; never out of the plot."""
    return min(max(at + _APART * (index - (arms - 1) / 2), 0.0), 1.0)


def _scales(view: Roofline) -> tuple[Scale, Scale]:
    placed = _placed(view)
    across = [intensity for _, _, intensity in placed] or [1.0]
    up = [end for _, rate, _ in placed for end in (rate.interval.low, rate.interval.high) if end > 0] or [1.0]
    for one in view.ceilings:
        if one.flop_per_s and one.bytes_per_s:
            across.append(one.flop_per_s / one.bytes_per_s)
        up += [one.flop_per_s] if one.flop_per_s else []
    return _scale(across), _scale(up)


def _scale(values: Sequence[float]) -> Scale:
    low, high = max(min(values), _NARROWEST), max(*values, _NARROWEST)
    return Scale(low / _MARGIN, high * _MARGIN, is_log=True)


def _up(y: Scale, value: float) -> float:
    return _HEIGHT * (1 - y(value))


def _frame(canvas: Canvas, x: Scale, y: Scale) -> None:
    for tick in _ticks(x):
        canvas.line(x(tick), 0, x(tick), _HEIGHT, "g")
        canvas.text(x(tick), _HEIGHT + 18, f"{tick:,.15g}", "t m")
    for tick in _ticks(y):
        canvas.line(0, _up(y, tick), 1, _up(y, tick), "g")
        canvas.text(0, _up(y, tick) - 4, format_value(tick, scale_for(tick, "FLOP/s"), 0), "t")
    canvas.text(0.5, _HEIGHT + 36, "FLOP a byte", "t m")
    canvas.line(0, _HEIGHT, 1, _HEIGHT, "axis")


def _ticks(scale: Scale) -> list[float]:
    """Powers of ten, every second or third where there are many; at least one value of each axis has a label."""
    first, last = math.ceil(math.log10(scale.low) - 1e-9), math.floor(math.log10(scale.high) + 1e-9)
    stride = max(1, math.ceil((last - first + 1) / _MOST_TICKS))
    return [10.0**power for power in range(first, last + 1, stride)]


def _ceiling(canvas: Canvas, x: Scale, y: Scale, one: Ceiling) -> None:
    """The slope as far as it lies in the plot, then the flat top; measured ones are broken lines."""
    classes = "ceiling" if one.kind == "datasheet" else "ceiling ev-tinted"
    below = " datasheet" if one.kind == "datasheet" else " measured"
    ridge = one.flop_per_s / one.bytes_per_s if one.flop_per_s and one.bytes_per_s else None
    if one.bytes_per_s:
        start = min(max(x.low, y.low / one.bytes_per_s), x.high)
        end = min(ridge or x.high, y.high / one.bytes_per_s, x.high)
        if start < end:
            begins, ends = _up(y, start * one.bytes_per_s), _up(y, end * one.bytes_per_s)
            canvas.line(x(start), begins, x(end), ends, classes)
            middle = math.sqrt(start * end)
            canvas.text(x(middle), (begins + ends) / 2 + _BELOW, one.bytes_text + below, "t", shift=_BELOW)
    if one.flop_per_s:
        top = _up(y, one.flop_per_s)
        canvas.line(x(ridge) if ridge else 0, top, 1, top, classes)
        canvas.text(1, top - 6, one.flop_text + below, "t end")


def _labels(canvas: Canvas, x: Scale, y: Scale, view: Roofline) -> None:
    """The number of its row beside each point; those of points that lie on each other stand together."""
    numbers = _numbers(view)
    right = _APART * (len(view.arms) - 1) / 2
    groups: list[tuple[float, float, list[int]]] = []
    for point, rate, intensity in _placed(view):
        at, up = x(intensity), _up(y, rate.interval.value)
        near = next((rows for gx, gy, rows in groups if abs(gx - at) < _NEAR_X and abs(gy - up) < _NEAR_Y), None)
        if near is None:
            groups.append((at, up, [numbers[point.row]]))
        elif numbers[point.row] not in near:
            near.append(numbers[point.row])
    for at, up, rows in groups:
        canvas.text(min(at + right, 1.0), up + 4, "#" + ", ".join(map(str, rows)), "n q", shift=10)


def _numbers(view: Roofline) -> Mapping[str, int]:
    return {row: index for index, row in enumerate(dict.fromkeys(point.row for point in view.points), 1)}


def _styles(view: Roofline) -> dict[str, tuple[str, str]]:
    """Shape and colour class of each arm."""
    columns = [Column(arm, "", "value", arm=arm, is_baseline=is_baseline) for arm, is_baseline in view.arms]
    others = itertools.cycle(_SHAPES[1:])
    shapes = [_SHAPES[0] if is_baseline else next(others) for _, is_baseline in view.arms]
    return {
        arm: (shape, colour) for (arm, _), shape, colour in zip(view.arms, shapes, arm_classes(columns), strict=True)
    }


def _key(view: Roofline) -> str:
    arms = "".join(
        f'<span class="ev-key-arm"><svg class="ev-glyph {colour}" viewBox="-7 -7 14 14" aria-hidden="true">'
        f"{shape}</svg>"
        f"{escape(arm, LABEL_LIMIT)}</span>"
        for arm, (shape, colour) in _styles(view).items()
    )
    rows = "".join(f"<span>#{index} {escape(row, LABEL_LIMIT)}</span>" for row, index in _numbers(view).items())
    ceilings = "".join(f"<span>{escape(_said(one))}</span>" for one in view.ceilings)
    unknown = "".join(f"<span>no peak of {escape(one)} is known</span>" for one in view.unknown)
    return f'<p class="ev-key">{arms}</p><p class="ev-key">{rows}</p><p class="ev-key">{ceilings}{unknown}</p>'


def _said(one: Ceiling) -> str:
    return f"{one.kind} ceiling {' and '.join(filter(None, (one.bytes_text, one.flop_text)))} ({one.source})"


def _told(point: Point, unit: str) -> str:
    cell = grid.plain(point.rate)
    return cell if isinstance(point.rate, Absent) else f"{cell} {unit} at {point.intensity_text} FLOP a byte"


def _data(view: Roofline) -> str:
    heads = ("Row", "Arm", "Log", "Workload", "FLOP a byte", view.unit, "95 % interval", "Outcome")
    return data_table(heads, [(point.row, *_texts(point)) for point in view.points])


def _texts(point: Point) -> tuple[str, ...]:
    named = point.arm, point.log, point.workload, point.intensity_text
    if isinstance(point.rate, Absent):
        return *named, "", "", f"{point.rate.outcome.upper()}: {point.rate.reason}"
    return *named, point.rate.shown.value, span(point.rate.shown), ""
