"""Owns a table as plain text cells, for the formats that have only text: Markdown and the terminal."""

from __future__ import annotations

from evidence.renderers.marks import span
from evidence.views import Absent, Column, Measured, Ratio, Row, Shown, Table, TableCell

NOTHING = "—"


def head(column: Column) -> str:
    """The column's title with its subtitle: unit, statistic, sense."""
    return f"{column.title} ({column.subtitle})" if column.subtitle else column.title


def plain(cell: TableCell) -> str:
    """One cell as text: value, interval, verdict; or why there is no value."""
    match cell:
        case Measured(shown=shown):
            return number(shown)
        case Ratio(shown=Shown() as shown):
            return f"{number(shown)} {cell.word}"
        case Ratio():
            return f"{NOTHING} {cell.word}" + (f": {cell.note}" if cell.note else "")
        case Absent():
            return f"{NOTHING} {cell.outcome.upper()}" + (f": {cell.reason}" if cell.reason else "")
    return cell.text


def number(shown: Shown) -> str:
    """A value with its interval in brackets."""
    interval = span(shown)
    return f"{shown.value} [{interval}]" if interval else shown.value


def cells(table: Table, row: Row) -> list[str]:
    """The row as one text a column; what is absent in every number is said once, in the first of them."""
    if row.absent is None:
        return [plain(cell) for cell in row.cells]
    texts, said = [], False
    for column, cell in zip(table.columns, row.cells, strict=True):
        if column.kind in ("axis", "text"):
            texts.append(plain(cell))
        else:
            texts.append(NOTHING if said else plain(row.absent))
            said = True
    return texts


def label(table: Table, row: Row) -> str:
    """What names the row: its axes."""
    axes = [plain(cell) for column, cell in zip(table.columns, row.cells, strict=True) if column.kind == "axis"]
    return " / ".join(axes) or "all"
