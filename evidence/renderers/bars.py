"""Owns bars with intervals: a group a row, a bar an arm, all from zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evidence.renderers import grid
from evidence.renderers.axes import tick_text, value_ticks
from evidence.renderers.markup import anchor, escape
from evidence.renderers.panel import Panel, cell_of, data_table, description, finding, outcome
from evidence.renderers.svg import Canvas, Scale, fit, fit_start
from evidence.renderers.text import LABEL_LIMIT
from evidence.units import counted, parse_quantity
from evidence.views import Absent, Column, Measured, Table, TableCell

_BAR, _THICKNESS, _HEAD, _GAP = 18, 15, 22, 14
_LABEL_WIDTH, _NUMBER_WIDTH = 300.0, 84.0
_ROOM = 0.76
"""How far the longest interval reaches, so that its number fits behind it in a narrow column."""

_COLOURS = 3
_STYLES = ("", " ev-tinted", " ev-outlined")


def all_bars(view: Table) -> tuple[Panel, ...]:
    """A plot for each metric with a measured value: its columns are the arms."""
    metrics: dict[tuple[str, str], list[int]] = {}
    for index, column in enumerate(view.columns):
        if column.kind == "value":
            metrics.setdefault((column.metric, column.unit), []).append(index)
    return tuple(_bars(view, indices) for indices in metrics.values() if _measured(view, indices))


def _measured(view: Table, indices: Sequence[int]) -> list[Measured]:
    cells = [row.cells[index] for row in view.rows for index in indices]
    return [cell for cell in cells if isinstance(cell, Measured)]


def _bars(view: Table, indices: Sequence[int]) -> Panel:
    columns = [view.columns[index] for index in indices]
    groups = [[cell_of(row, index) for index in indices] for row in view.rows]
    labels = [grid.label(view, row) for row in view.rows]
    arms = tuple(zip(arm_classes(columns), _names(columns), strict=True))
    title, pitch = _title(view, columns), _HEAD + _BAR * len(columns) + _GAP
    told = (", ".join(map(_told, _names(columns), cells)) for cells in groups)
    height = len(groups) * pitch - _GAP
    canvas = Canvas(f"{anchor(view.id)}-bars-{indices[0]}", title, description(view, told), height, "bars")
    factor = _factor(columns[0].unit)
    x = _frame(canvas, max(cell.interval.high for cell in _measured(view, indices)) / factor)
    for place, (label, cells) in enumerate(zip(labels, groups, strict=True)):
        canvas.text(0, place * pitch + 14, fit(label, _LABEL_WIDTH), "n b")
        _group(canvas, place * pitch + _HEAD, cells, arm_classes(columns), lambda stored: x(stored / factor))
    canvas.line(0, 0, 0, canvas.height, "axis")
    rows = [(label, *map(grid.plain, cells)) for label, cells in zip(labels, groups, strict=True)]
    return Panel(
        title=title,
        subtitle=", ".join(filter(None, (columns[0].metric, columns[0].unit, "95 % intervals, axis from zero"))),
        key=_legend(arms),
        canvas=canvas,
        data=data_table(("Row", *_names(columns)), rows),
        arms=arms,
    )


def _title(view: Table, columns: Sequence[Column]) -> str:
    """What the ratios of the same metric say; without any, what is shown."""
    metric = columns[0].metric
    found = [
        finding([cell_of(row, index) for row in view.rows], column.arm)
        for index, column in enumerate(view.columns)
        if column.kind in ("ratio", "change") and column.metric == metric
    ]
    if found:
        return "; ".join(dict.fromkeys(found))
    return f"{metric or view.title}: {counted(len(view.rows), 'row')}, {counted(len(columns), 'arm')}"


def _frame(canvas: Canvas, highest: float) -> Scale:
    x = Scale(0, highest / _ROOM if highest > 0 else 1)
    ticks = value_ticks(x.high)
    for tick in ticks:
        canvas.line(x(tick), 0, x(tick), canvas.height, "g")
        canvas.text(x(tick), canvas.height + 18, tick_text(tick, ticks), "t m")
    return x


def _group(
    canvas: Canvas, top: float, cells: Sequence[TableCell], classes: Sequence[str], x: Callable[[float], float]
) -> None:
    reasons: set[str] = set()
    for place, (cell, arm) in enumerate(zip(cells, classes, strict=True)):
        y = top + place * _BAR
        if isinstance(cell, Measured):
            _bar(canvas, y, cell, arm, x)
            continue
        glyph, word = outcome(cell)
        reason = cell.reason if isinstance(cell, Absent) else ""
        canvas.mark(0, y + 8, glyph, shift=8)
        told = word if reason in reasons or not reason else f"{word}: {reason}"
        canvas.text(0, y + 13, fit_start(told, _LABEL_WIDTH), "n q", shift=20)
        reasons.add(reason)


def _bar(canvas: Canvas, y: float, cell: Measured, arm: str, x: Callable[[float], float]) -> None:
    middle = y + _THICKNESS / 2
    canvas.rectangle(0, y, x(cell.interval.value), _THICKNESS, f"bar {arm}")
    canvas.line(x(cell.interval.low), middle, x(cell.interval.high), middle, "whisk")
    canvas.text(x(cell.interval.high), middle + 5, fit(cell.shown.value, _NUMBER_WIDTH), "n", shift=6)


def arm_classes(columns: Sequence[Column]) -> list[str]:
    """Grey for the baseline; three colours for the rest, then the same three tinted, then outlined."""
    classes, others = [], 0
    for column in columns:
        if column.is_baseline:
            classes.append("ev-arm-0")
            continue
        style = _STYLES[min(others // _COLOURS, len(_STYLES) - 1)]
        classes.append(f"ev-arm-{1 + others % _COLOURS}{style}")
        others += 1
    return classes


def _legend(arms: Sequence[tuple[str, str]]) -> str:
    items = "".join(
        f'<span class="ev-key-arm"><i class="{arm}"></i>{escape(name, LABEL_LIMIT)}</span>' for arm, name in arms
    )
    return f'<p class="ev-key">{items}</p>'


def _names(columns: Sequence[Column]) -> list[str]:
    """The arms, where each column has one of its own; else the heads."""
    arms = [column.arm for column in columns]
    return arms if all(arms) and len({*arms}) == len(arms) else [column.title for column in columns]


def _told(name: str, cell: TableCell) -> str:
    return f"{name} {grid.plain(cell)}"


def _factor(unit: str) -> float:
    """How many stored units one of the column's shown units is; a unit without a prefix is stored as it is shown."""
    try:
        return parse_quantity(f"1 {unit}".strip())[0]
    except ValueError:
        return 1.0
