"""Owns GitHub Markdown: a table or a claim as plain text that any text inside it leaves whole."""

from __future__ import annotations

import re
from urllib.parse import quote

from evidence.renderers import grid
from evidence.renderers.text import one_line
from evidence.views import Evidence, Statement, Table

_ESCAPES = str.maketrans(
    {
        **{mark: f"\\{mark}" for mark in "\\`*_{}[]#|!"},
        # Entities where a backslash would be shown by some reader, or where raw text would still end a comment block.
        **{mark: f"&#{ord(mark)};" for mark in "~@$"},
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
    }
)
_AUTOLINK = re.compile(r"(?<=[A-Za-z]):(?=//)|(?<=\bwww)\.", re.IGNORECASE)
_BLOCK_START = re.compile(r"^([-+=]|\d+(?=[.)]))")


def escape(text: str) -> str:
    """Any text as text inside a paragraph or a cell: no markup, no link, no line break."""
    escaped = one_line(text).strip(" ").translate(_ESCAPES)
    return _AUTOLINK.sub(lambda match: f"&#{ord(match.group())};", escaped)


def table(view: Table, docs: str | None = None) -> str:
    """The rows as a Markdown table, with title, status, stance, footnotes and logs as lines around it.

    `docs` is the way from the file to the site's sources, such as `docs/`: with it, logs are links to their records.
    """
    lines = [f"**{escape(view.title)}**" + (f" ({escape(view.tally)})" if view.tally else ""), ""]
    if view.banner:
        lines += [f"> **{escape(view.banner.status.replace('_', ' '))}**: {escape(view.banner.text)}", ""]
    lines += [" · ".join(f"{escape(label)}: {escape(text)}" for label, text in view.stance), ""]
    heads = [escape(grid.head(column)) for column in view.columns]
    sides = [":--" if column.kind in ("axis", "text") else "--:" for column in view.columns]
    lines += [_line(heads), _line(sides)]
    lines += [_line([escape(text) for text in grid.cells(view, row)]) for row in view.rows]
    notes = [f"- {escape(grid.label(view, row))}: {escape(row.footnote)}" for row in view.rows if row.footnote]
    notes += [f"- {escape(text)}" for text in view.footnotes]
    notes += [f"- log {_log(log, docs)}, sha256 {escape(log.sha256[:12])}" for log in view.evidence]
    return "\n".join([*lines, "", *notes]) + "\n"


def statement(view: Statement) -> str:
    """The sentence and its short note on one line: `On …, 1.16× sooner. (FASTER; 1.16× …)`."""
    status = f" **{escape(view.banner.status.replace('_', ' '))}**" if view.banner else ""
    return f"{_BLOCK_START.sub(_keep_inline, escape(view.text), count=1)} ({escape(view.short_note)}){status}"


def _log(log: Evidence, docs: str | None) -> str:
    return escape(log.log) if docs is None else f"[{escape(log.log)}]({quote(docs + log.raw)})"


def _keep_inline(match: re.Match[str]) -> str:
    return match.group() + "&#8288;" if match.group().isdigit() else f"&#{ord(match.group())};"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
