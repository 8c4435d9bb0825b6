"""Owns tables and claims in a terminal: plain text, no control character from a record."""

from __future__ import annotations

import textwrap

from evidence.renderers import grid
from evidence.renderers.text import one_line
from evidence.views import Statement, Table

_CELL_LIMIT, _CELL_WIDTH = 200, 36


def table(view: Table) -> str:
    """The rows in aligned columns, with title, status and stance above and the logs below."""
    from tabulate import tabulate  # start-up: only a command that prints a table needs it

    heads = [_wrapped(grid.head(column)) for column in view.columns]
    rows = [[_wrapped(text) for text in grid.cells(view, row)] for row in view.rows]
    sides = ["left" if column.kind in ("axis", "text") else "right" for column in view.columns]
    body = tabulate(rows, heads, tablefmt="simple", colalign=sides if rows else None, disable_numparse=True)
    above = [one_line(view.title) + (f"  ({one_line(view.tally)})" if view.tally else "")]
    if view.banner:
        above.append(f"{view.banner.status.replace('_', ' ').upper()}: {one_line(view.banner.text)}")
    above.append(" · ".join(f"{one_line(label)}: {one_line(text)}" for label, text in view.stance))
    below = [f"{one_line(grid.label(view, row))}: {one_line(row.footnote)}" for row in view.rows if row.footnote]
    below += [one_line(text) for text in view.footnotes]
    below += [f"{one_line(log.log)}  sha256 {one_line(log.sha256[:12])}" for log in view.evidence]
    return "\n".join([*above, "", body, "", *below]) + "\n"


def statement(view: Statement) -> str:
    """The sentence, and its note on a line of its own."""
    status = f"{view.banner.status.replace('_', ' ').upper()}: {one_line(view.banner.text)}\n" if view.banner else ""
    return f"{status}{one_line(view.text)}\n  {one_line(view.note)}\n"


def _wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(one_line(text, _CELL_LIMIT), _CELL_WIDTH))
