"""Owns the plot of a history: a row a log in order of time, on one logarithmic axis, with changes of level marked.

Measured values are drawn as multiples of the first one, so that one axis serves every unit.
"""

from __future__ import annotations

from collections.abc import Sequence

from evidence.renderers import grid
from evidence.renderers.axes import ratio_ticks, tick_text
from evidence.renderers.fold import data_fold, folds
from evidence.renderers.marks import span
from evidence.renderers.markup import anchor, escape
from evidence.renderers.panel import data_table, outcome
from evidence.renderers.svg import Canvas, Scale, fit
from evidence.views import Absent, History, Measured, Moment, Ratio

_PITCH = 36
_LABEL_WIDTH, _ANSWER_WIDTH = 148.0, 172.0


def history(views: Sequence[History], root: str = "") -> str:
    """A figure for each history, and the evidence of every log in them."""
    logs = {one.log: one for view in views for one in view.evidence}
    return (
        f'<section class="ev-chart" aria-label="History">{"".join(map(_figure, views))}'
        f"{folds(tuple(logs.values()), root)}</section>"
    )


def _figure(view: History) -> str:
    canvas = _drawn(view)
    title = f"{canvas.id}-heading"
    axis = (
        "ratio" if any(isinstance(one.cell, Ratio) for one in view.moments) else f"{view.unit}, against the first log"
    )
    rows = [_texts(moment) for moment in view.moments]
    data = data_table(("Log", "Date", "Value", "95 % interval", "Verdict", "Level", "Software"), rows)
    return (
        f'<section class="ev-figure" aria-labelledby="{title}"><p class="ev-figure-title" id="{title}">'
        f'{escape(view.title)}: {escape(view.changes)}</p><p class="ev-figure-subtitle">'
        f"{escape(axis)}, 95 % intervals, log scale, the newest log last</p>"
        f"{canvas.render()}{data_fold(data)}</section>"
    )


def _drawn(view: History) -> Canvas:
    texts = "; ".join(f"{moment.date}: {grid.plain(moment.cell)}" for moment in view.moments)
    height = _PITCH * len(view.moments)
    canvas = Canvas(f"{anchor(view.id)}-history", view.title, texts, height, "forest")
    x = _scale(view)
    ticks = ratio_ticks(x)
    for tick in ticks:
        canvas.line(x(tick), 0, x(tick), height, "g")
        canvas.text(x(tick), height + 18, f"{tick_text(tick, ticks)}×", "t m")
    canvas.line(x(1), 0, x(1), height, "ev-one")
    for place, moment in enumerate(view.moments):
        if moment.level:
            canvas.line(0, _PITCH * place, 1, _PITCH * place, "axis")
            canvas.text(0, _PITCH * place + 12, f"{moment.level} from here", "t n", shift=4)
        _row(canvas, _PITCH * (place + 0.5), moment, x)
    return canvas


def _scale(view: History) -> Scale:
    ends = [end for one in view.moments if one.relative for end in (one.relative.low, one.relative.high) if end > 0]
    low, high = min([*ends, 1 / 1.05]), max([*ends, 1.05])
    margin = (high / low) ** 0.06
    return Scale(low / margin, high * margin, is_log=True)


def _row(canvas: Canvas, y: float, moment: Moment, x: Scale) -> None:
    canvas.text(0, y, fit(moment.date + _run(moment.log), _LABEL_WIDTH), "ev-row n")
    cell = moment.cell
    if moment.relative is None or moment.relative.low <= 0:
        glyph, word = outcome(cell) if isinstance(cell, Absent | Ratio) else ("missing", grid.plain(cell))
        canvas.mark(0, y, glyph, shift=8)
        canvas.text(1, y, fit(word, _ANSWER_WIDTH), "ev-answer n q")
        return
    kind = cell.verdict if isinstance(cell, Ratio) else "measured"
    canvas.line(x(moment.relative.low), y, x(moment.relative.high), y, f"ev-interval ev-{kind}")
    canvas.mark(x(moment.relative.value), y, kind)
    canvas.text(1, y, fit(_answer(cell), _ANSWER_WIDTH), "ev-answer n")


def _answer(cell: Measured | Ratio | Absent) -> str:
    """The number and its word; the interval is drawn beside it."""
    if isinstance(cell, Ratio) and cell.shown is not None:
        return f"{cell.shown.value} {cell.word}"
    return cell.shown.value if isinstance(cell, Measured) else grid.plain(cell)


def _run(log: str) -> str:
    """The run of its day that a log is, from its second on: `-2`."""
    run = log.rpartition("_")[2].partition("-")[2]
    return f" -{run}" if run else ""


def _texts(moment: Moment) -> tuple[str, ...]:
    cell = moment.cell
    level = moment.level
    if isinstance(cell, Measured):
        return moment.log, moment.date, cell.shown.value, span(cell.shown), "", level, moment.software
    if isinstance(cell, Ratio):
        value, interval = ("", "") if cell.shown is None else (cell.shown.value, span(cell.shown))
        return moment.log, moment.date, value, interval, cell.word, level, moment.software
    return moment.log, moment.date, "", "", f"{cell.outcome.upper()}: {cell.reason}", level, moment.software
