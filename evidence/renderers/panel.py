"""Owns what every chart of a table shares: the panel, its title from the verdicts, its numbers as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evidence.renderers import grid
from evidence.renderers.fold import scroll
from evidence.renderers.markup import escape
from evidence.renderers.svg import Canvas
from evidence.renderers.text import LABEL_LIMIT
from evidence.statistics import Verdict
from evidence.units import counted
from evidence.views import Absent, Ratio, Row, Table, TableCell

_PLAIN_WORDS = {Verdict.SAME: "the same"}
_ROWS_TOLD = 12
_VERDICTS = tuple(Verdict)


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot with its words: what it found, what it shows, how to read it, and its numbers as a table."""

    title: str
    subtitle: str
    key: str
    canvas: Canvas
    data: str
    arms: tuple[tuple[str, str], ...] = ()
    """Colour class and name of each arm, where colours stand for arms."""


def finding(cells: Sequence[TableCell], arm: str) -> str:
    """What the verdicts of one column say, losses and gaps included: `fused is faster in 3 of 5 rows, slower in 1`."""
    total = counted(len(cells), "row")
    ratios = sorted((cell for cell in cells if isinstance(cell, Ratio)), key=lambda cell: _VERDICTS.index(cell.verdict))
    words = Counter(_PLAIN_WORDS.get(ratio.verdict, ratio.word.lower()) for ratio in ratios)
    absent = Counter(cell.outcome for cell in cells if isinstance(cell, Absent))
    gaps = ", ".join(f"{count} {outcome}" for outcome, count in sorted(absent.items()))
    if not words:
        return f"{arm}: no ratio in {total}, {gaps or 'nothing was compared'}".removeprefix(": ")
    told = [f"{word} in {count}" for word, count in words.items()]
    told[0] += f" of {total}"
    return f"{arm} is {', '.join(told)}".removeprefix(" is ") + (f"; {gaps}" if gaps else "")


def description(view: Table, texts: Iterable[str]) -> str:
    """The first rows in words, for those who do not see the plot; the table below it has all of them."""
    told = [f"{grid.label(view, row)}: {text}" for row, text in zip(view.rows[:_ROWS_TOLD], texts, strict=False)]
    more = len(view.rows) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more else "")


def cell_of(row: Row, index: int) -> TableCell:
    """The cell of a number's column, or why its whole row has none."""
    cell = row.cells[index]
    return row.absent if row.absent is not None and not isinstance(cell, Absent) else cell


def outcome(cell: TableCell) -> tuple[str, str]:
    """The glyph and the word of a cell without a number."""
    if isinstance(cell, Ratio):
        return cell.verdict, cell.word.lower()
    return (cell.outcome, cell.outcome) if isinstance(cell, Absent) else ("missing", "no number")


def data_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The numbers of a plot: the first text of a row names it."""
    head = "".join(f'<th scope="col">{escape(text, LABEL_LIMIT)}</th>' for text in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{escape(text)}</td>" for text in texts)}</tr>'
        for name, *texts in rows
    )
    table = (
        f'<table class="ev-table ev-table--small" data-search-exclude=""><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )
    return scroll(table, label="Data of the chart")
