"""Owns the table block: head, banner, stance, the table that is its own forest plot, footnotes, evidence.

Columns are laid out answer first: what names the row, then verdicts and ratios, then measured values, then texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from evidence.renderers import grid
from evidence.renderers.fold import banner, folds, scroll, stance
from evidence.renderers.marks import chip, padding, places, ratio_scale, reason, span, tag, whisker
from evidence.renderers.markup import anchor, escape
from evidence.renderers.svg import Scale
from evidence.renderers.text import LABEL_LIMIT
from evidence.views import Absent, Column, Measured, Ratio, Row, Shown, Table, TableCell, Words

_COMPARED = ("ratio", "change")
_ORDER = {"axis": 0, "ratio": 1, "change": 1, "value": 2, "peak": 2, "text": 3}
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class _Lane:
    """One column as laid out: where its cells are, and what all of them share."""

    index: int
    column: Column
    decimals: int
    scale: Scale | None

    @property
    def width(self) -> int:
        """How many HTML columns it takes: verdict and number, and a whisker beside a ratio."""
        return {"ratio": 3, "change": 2}.get(self.column.kind, 1)


def table(view: Table, root: str = "") -> str:
    """The whole block on one line. `root` is the way from the page to the root of the site, such as `../`."""
    name = anchor(view.id)
    title = f"{name}-title"
    lanes = _lanes(view)
    marked = _marked(view)
    body = "".join(_row(view, lanes, row, mark) for row, mark in zip(view.rows, marked, strict=True))
    markup = (
        f'<table class="ev-table" aria-labelledby="{title}" data-search-exclude=""><thead><tr>{_head(view, lanes)}</tr>'
        f"</thead><tbody>{body}</tbody></table>"
    )
    return (
        f'<section class="ev-block" id="{name}" aria-labelledby="{title}"><div class="ev-head">'
        f'<p class="ev-title" id="{title}">{escape(view.title)}</p>{_tally(view.tally)}</div>{banner(view.banner)}'
        f"{stance(view.stance)}{scroll(markup, labelled_by=title)}{_footnotes(view, marked)}"
        f"{folds(view.evidence, root)}</section>"
    )


def _tally(text: str) -> str:
    return f'<p class="ev-tally">{escape(text)}</p>' if text else ""


def _lanes(view: Table) -> tuple[_Lane, ...]:
    found = []
    for index, column in enumerate(view.columns):
        if column.kind == "axis":
            continue
        cells = [row.cells[index] for row in view.rows]
        ratios = [cell for cell in cells if isinstance(cell, Ratio)]
        scale = ratio_scale(ratios) if column.kind == "ratio" else None
        found.append(_Lane(index, column, places(shown.value for shown in map(_shown, cells) if shown), scale))
    return tuple(sorted(found, key=lambda lane: _ORDER[lane.column.kind]))


def _shown(cell: TableCell) -> Shown | None:
    return cell.shown if isinstance(cell, Measured | Ratio) else None


def _head(view: Table, lanes: tuple[_Lane, ...]) -> str:
    axes = [column for column in view.columns if column.kind == "axis"]
    compared = sum(lane.column.kind in _COMPARED for lane in lanes)
    label = '<i class="ev-slash"> / </i>'.join(
        f"<span>{escape(grid.head(column), LABEL_LIMIT)}</span>" for column in axes
    )
    first = f'<th scope="col">{label or "Selection"}</th>'
    return first + "".join(_lane_head(lane, names_ratio=compared > 1) for lane in lanes)


def _lane_head(lane: _Lane, *, names_ratio: bool) -> str:
    column = lane.column
    title = f"{escape(column.title, LABEL_LIMIT)}{_small(column.subtitle)}"
    if column.kind in _COMPARED:
        which = _small(column.title) if names_ratio else ""
        group = ' scope="colgroup" colspan="2"' if column.kind == "ratio" else ' scope="col"'
        return f'<th scope="col">Verdict{which}</th><th{group} class="ev-quotient">{title}</th>'
    return f'<th scope="col"{"" if column.kind == "text" else _NUMBER}>{title}</th>'


_NUMBER = ' class="ev-n"'


def _small(text: str) -> str:
    return f" <small>{escape(text)}</small>" if text else ""


def _row(view: Table, lanes: tuple[_Lane, ...], row: Row, mark: str) -> str:
    label = _label(view, row, mark)
    if row.absent is None:
        cells = _said_once(row.cells[lane.index] for lane in lanes)
        return f"<tr>{label}{''.join(map(_cells, lanes, cells))}</tr>"
    width = sum(lane.width for lane in lanes if lane.column.kind != "text")
    texts = "".join(_cells(lane, row.cells[lane.index]) for lane in lanes if lane.column.kind == "text")
    return f'<tr class="ev-absent">{label}{_why(row.absent, width)}{texts}</tr>'


def _said_once(cells: Iterable[TableCell]) -> Iterator[TableCell]:
    """The cells of a row; a reason stands where it is met first, and what it is of keeps its mark everywhere."""
    said: set[Absent] = set()
    for cell in cells:
        if isinstance(cell, Absent):
            yield replace(cell, reason="") if cell in said else cell
            said.add(cell)
        else:
            yield cell


def _label(view: Table, row: Row, mark: str) -> str:
    axes = [
        f"<span>{escape(grid.plain(cell), LABEL_LIMIT)}</span>"
        for column, cell in zip(view.columns, row.cells, strict=True)
        if column.kind == "axis"
    ]
    label = '<i class="ev-slash"> / </i>'.join(axes) or "<span>all</span>"
    return f'<th scope="row">{label}{f"<sup>{mark}</sup>" if mark else ""}</th>'


def _why(absent: Absent, width: int) -> str:
    told = f"<span>{escape(absent.reason)}</span>" if absent.reason else ""
    why = f"<div>{tag(absent.outcome)}{told}</div>"
    return f'<td class="ev-why" colspan="{width}">{why}</td>'


def _cells(lane: _Lane, cell: TableCell) -> str:
    if isinstance(cell, Ratio) and lane.column.kind in _COMPARED:
        return _compared(lane, cell)
    if lane.width > 1 and isinstance(cell, Absent):
        return _why(cell, lane.width)
    across = f' colspan="{lane.width}"' if lane.width > 1 else ""
    return _single(cell, lane, across)


def _single(cell: TableCell, lane: _Lane, across: str) -> str:
    match cell:
        case Measured(shown=shown):
            return f"<td{across}{_NUMBER}>{_number(shown, lane.decimals, _plain)}</td>"
        case Absent():
            return f'<td{across} class="ev-n ev-gap">{tag(cell.outcome)}{reason(cell)}</td>'
        case Ratio():
            return f'<td{across} class="ev-verdict">{chip(cell.verdict, cell.word)}{_small(grid.plain(cell))}</td>'
        case Words(text=text):
            return f"<td{across}{_NUMBER if lane.column.kind != 'text' else ''}>{escape(text)}</td>"


def _compared(lane: _Lane, ratio: Ratio) -> str:
    verdict = f'<td class="ev-verdict">{chip(ratio.verdict, ratio.word)}{_small(ratio.note)}</td>'
    if ratio.shown is None:
        number = '<td class="ev-n ev-none">–<span class="ev-hidden"> no number</span></td>'
    else:
        number = f"<td{_NUMBER}>{_number(ratio.shown, lane.decimals, _bold)}</td>"
    beside = f'<td class="ev-beside">{whisker(ratio, lane.scale)}</td>' if lane.scale else ""
    return verdict + number + beside


def _plain(text: str) -> str:
    return escape(text, LABEL_LIMIT)


def _bold(text: str) -> str:
    return f"<b>{escape(text, LABEL_LIMIT)}</b>"


def _number(shown: Shown, decimals: int, style: Callable[[str], str]) -> str:
    pad = padding(shown.value, decimals)
    interval = span(shown)
    below = f"<small>{escape(interval, LABEL_LIMIT)}{pad}</small>" if interval else ""
    return f"{style(shown.value)}{pad}{below}"


def _marked(view: Table) -> tuple[str, ...]:
    """The letter of each row's footnote, or nothing."""
    marks, count = [], 0
    for row in view.rows:
        marks.append(_letter(count) if row.footnote else "")
        count += bool(row.footnote)
    return tuple(marks)


def _letter(index: int) -> str:
    rounds, place = divmod(index, len(_LETTERS))
    return (_letter(rounds - 1) if rounds else "") + _LETTERS[place]


def _footnotes(view: Table, marked: tuple[str, ...]) -> str:
    rows = [
        f"<li><sup>{mark}</sup> {escape(row.footnote)}</li>"
        for row, mark in zip(view.rows, marked, strict=True)
        if mark
    ]
    items = rows + [f"<li>{escape(text)}</li>" for text in view.footnotes]
    return f'<ul class="ev-footnotes">{"".join(items)}</ul>' if items else ""
