"""Owns forest plots: a row a ratio, on one logarithmic axis with 1 and the minimum effect marked."""

from __future__ import annotations

from collections.abc import Sequence

from evidence.renderers import grid
from evidence.renderers.axes import ratio_ticks, tick_text
from evidence.renderers.marks import ratio_scale, span
from evidence.renderers.markup import anchor
from evidence.renderers.panel import Panel, cell_of, data_table, description, finding, outcome
from evidence.renderers.svg import Canvas, Scale, fit
from evidence.views import Absent, Column, Ratio, Table, TableCell

_PITCH = 40
_LABEL_WIDTH, _ANSWER_WIDTH = 148.0, 172.0


def forests(view: Table) -> tuple[Panel, ...]:
    """A plot for each ratio column of the table."""
    return tuple(_forest(view, index, column) for index, column in enumerate(view.columns) if column.kind == "ratio")


def _forest(view: Table, index: int, column: Column) -> Panel:
    cells = [cell_of(row, index) for row in view.rows]
    ratios = [cell for cell in cells if isinstance(cell, Ratio)]
    labels = [grid.label(view, row) for row in view.rows]
    title = finding(cells, column.arm)
    height = _PITCH * max(1, len(cells))
    canvas = Canvas(
        f"{anchor(view.id)}-forest-{index}", title, description(view, map(grid.plain, cells)), height, "forest"
    )
    x = ratio_scale(ratios)
    _frame(canvas, x, cells)
    for place, (label, cell) in enumerate(zip(labels, cells, strict=True)):
        _row(canvas, _PITCH * (place + 0.5), label, cell, x)
    rows = [(label, *_texts(cell)) for label, cell in zip(labels, cells, strict=True)]
    return Panel(
        title=title,
        subtitle=", ".join(filter(None, (column.title, column.subtitle, "log scale"))),
        key=_key(ratios),
        canvas=canvas,
        data=data_table(("Row", "Ratio", "95 % interval", "Verdict", "Note"), rows),
    )


def _frame(canvas: Canvas, x: Scale, cells: Sequence[TableCell]) -> None:
    ticks = ratio_ticks(x)
    for tick in ticks:
        canvas.line(x(tick), 0, x(tick), canvas.height, "g")
        canvas.text(x(tick), canvas.height + 18, f"{tick_text(tick, ticks)}×", "t m")
    effects = {cell.effect for cell in cells if isinstance(cell, Ratio)}
    if len(effects) == 1:
        _band(canvas, x, effects.pop(), 0, canvas.height)
    else:
        for place, cell in enumerate(cells):
            if isinstance(cell, Ratio):
                _band(canvas, x, cell.effect, _PITCH * place, _PITCH)
    canvas.line(x(1), 0, x(1), canvas.height, "ev-one")


def _band(canvas: Canvas, x: Scale, effect: float, y: float, height: float) -> None:
    low, high = x(1 / (1 + effect)), x(1 + effect)
    canvas.rectangle(low, y, high - low, height, "ev-band")


def _row(canvas: Canvas, y: float, label: str, cell: TableCell, x: Scale) -> None:
    canvas.text(0, y, fit(label, _LABEL_WIDTH), "ev-row n")
    if isinstance(cell, Ratio) and cell.interval is not None and cell.shown is not None:
        canvas.line(x(cell.interval.low), y, x(cell.interval.high), y, f"ev-interval ev-{cell.verdict}")
        canvas.mark(x(cell.interval.value), y, cell.verdict)
        canvas.text(1, y, fit(grid.number(cell.shown), _ANSWER_WIDTH), "ev-answer n")
        return
    # At the edge and not on the line at 1: what has no number must not look like a ratio of 1.
    glyph, word = outcome(cell)
    canvas.mark(0, y, glyph, shift=8)
    canvas.text(1, y, fit(word, _ANSWER_WIDTH), "ev-answer n q")


def _key(ratios: Sequence[Ratio]) -> str:
    effects = {ratio.effect for ratio in ratios}
    band = f"±{100 * effects.pop():.3g} %" if len(effects) == 1 else "the minimum effect of its row"
    return (
        '<p class="ev-key"><span class="ev-worse">◂ worse</span>'
        f'<span class="ev-key-band">within {band}: no difference is claimed</span>'
        '<span class="ev-better">better ▸</span></p>'
    )


def _texts(cell: TableCell) -> tuple[str, str, str, str]:
    if isinstance(cell, Ratio):
        value, interval = ("", "") if cell.shown is None else (cell.shown.value, span(cell.shown))
        return value, interval, cell.word, cell.note
    if isinstance(cell, Absent):
        return "", "", cell.outcome.upper(), cell.reason
    return grid.plain(cell), "", "", ""
