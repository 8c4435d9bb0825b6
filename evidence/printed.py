"""Owns what a lock holds of claims and tables: every text they print, by its key."""

from __future__ import annotations

from evidence import lock, statements
from evidence.book import Book
from evidence.errors import EvidenceError
from evidence.lock import Key
from evidence.sentences import filled
from evidence.tables import Built
from evidence.views import Absent, Column, Measured, Ratio, Row, Statement, Table, TableCell

NOTHING = "—"


def facts_of(book: Book) -> dict[Key, str]:
    """Return everything a lock of a book holds. An item that cannot be printed is left out."""
    found: dict[Key, str] = {}
    for series in book.series:
        try:
            found |= series_facts(book, series)
        except EvidenceError:
            continue
    for id_ in book.ids:
        found |= item_facts(book, id_)
    return found


def series_facts(book: Book, series: str) -> dict[Key, str]:
    """Return the lines of a series.

    Raises:
        RecordError: the log it stands on is not a record.
    """
    stand = book.stand(series)
    return {
        ("series", series, "log"): lock.date_of(stand.log, series),
        ("series", series, "sha256"): stand.sha256,
        ("series", series, "stance"): _cut(stand.stance),
    }


def item_facts(book: Book, id_: str) -> dict[Key, str]:
    """Return the lines of a claim or table.

    A claim that its logs do not bear out is printed all the same, if its fields mean something: whoever corrects what
    it expects then has the lock already. A table that cannot be built has no lines.
    """
    built = book.shown(id_)
    if isinstance(built, Built):
        return _table_facts(built.view)
    if isinstance(built, Statement):
        return _claim_facts(id_, built.text, built.note)
    if id_ in book.claims.tables:
        return {}
    try:
        readings = book.readings(id_)
        parts = filled(book.claims.claims[id_].item.statement, readings, "statement")
    except EvidenceError:
        return {}
    text = "".join(part if isinstance(part, str) else part.text for part in parts)
    return _claim_facts(id_, text, statements.note_of(readings))


def _claim_facts(id_: str, says: str, note: str) -> dict[Key, str]:
    return {("claims", id_, "says"): _cut(says), ("claims", id_, "note"): _cut(note)}


def _table_facts(view: Table) -> dict[Key, str]:
    return {
        ("tables", view.id, key): _cut(row_text(view, row)) for key, row in zip(row_keys(view), view.rows, strict=True)
    }


def row_keys(view: Table) -> list[str]:
    """Return what names each row of a table: its values on the axes, numbered where they were met before."""
    found: dict[str, None] = {}
    for row in view.rows:
        axes = [
            _text(cell, column) for column, cell in zip(view.columns, row.cells, strict=True) if column.kind == "axis"
        ]
        name = key = _cut(" / ".join(axes))
        count = 1
        while key in found:
            count += 1
            key = f"{name} ({count})"
        found[key] = None
    return list(found)


def row_text(view: Table, row: Row) -> str:
    """Return the cells of a row in one line; a reason is said once."""
    cells = [(cell, column) for column, cell in zip(view.columns, row.cells, strict=True) if column.kind != "axis"]
    said: set[str] = set()
    texts = []
    for cell, column in cells:
        reason = _reason(cell)
        texts.append(_text(cell, column) + (f": {reason}" if reason and reason not in said else ""))
        said.add(reason)
    return " | ".join(texts)


def _text(cell: TableCell, column: Column) -> str:
    match cell:
        case Measured(shown=shown):
            return f"{shown.value} {column.unit}" if column.unit else shown.value
        case Ratio(shown=shown):
            return f"{shown.value if shown else NOTHING} {cell.word}"
        case Absent():
            return f"{NOTHING} {cell.outcome.upper()}"
    return cell.text


def _reason(cell: TableCell) -> str:
    """Return why a cell has no number; empty for one that has some."""
    if isinstance(cell, Absent):
        return cell.reason
    return cell.note if isinstance(cell, Ratio) and cell.shown is None else ""


def _cut(text: str) -> str:
    return text if len(text) <= lock.LIMIT else f"{text[: lock.LIMIT - 1]}…"
