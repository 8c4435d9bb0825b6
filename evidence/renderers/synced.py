"""Owns what `evidence sync` writes into Markdown that no macro runs on: sentences, numbers and tables as plain text.

A line that begins with a comment is raw HTML to GitHub, and Markdown elsewhere. So what stands among words is escaped
by entities alone, which read the same in both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from evidence.renderers import markdown
from evidence.renderers.text import one_line
from evidence.views import Banner, Drawn, Evidence, Figure, Labelled, Statement, Table

_MARKS = re.compile(
    r"[\\`*{}\[\]|~@$&<>]|(?<![^\W_])_|_(?![^\W_])|#(?=\w)|(?<=[A-Za-z]):(?=//)|(?<=\bwww)\.", re.IGNORECASE
)
_MOST_NAMED = 2
_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_START = re.compile(r"^(?:[-+](?=[-\s]|$)|=|#(?=[#\s]|$)|\d+(?=[.)](?:\s|$)))")


def escape(text: str) -> str:
    """Any text as text among words: no markup, no link, no line break, whether Markdown or HTML is read."""
    flat = one_line(text).strip(" ")
    return _MARKS.sub(lambda match: _NAMED.get(match[0], f"&#{ord(match[0])};"), flat)


def says(view: Statement) -> str:
    """The sentence and its short note, among words."""
    return _noted(view, view.short_note)


def claim(view: Statement) -> str:
    """The sentence and its whole note, among words."""
    return _noted(view, view.note)


def value(view: Figure) -> str:
    """One number with its interval."""
    interval = view.interval if view.interval in ("", "exact") else f"95 % {view.interval}"
    return escape(f"{view.text} ({interval})" if interval else view.text)


def diagnostic(view: Labelled) -> str:
    """One number that must not be concluded from, with its label beside it."""
    return f"{value(view.figure)} ({escape(view.label)})"


def callout(view: Statement, docs: str) -> str:
    """The sentence on lines of its own, with note, stance, mechanism, limitations and the records it stands on."""
    limits = dict.fromkeys(text for log in view.evidence for text in log.limitations)
    paragraphs = [
        f"**{escape(view.banner.status.replace('_', ' '))}**: {escape(view.banner.text)}" if view.banner else "",
        _START.sub(_kept, escape(view.text), count=1),
        escape(view.note),
        " · ".join([*(f"{escape(label)}: {escape(text)}" for label, text in view.stance), _logs(view.evidence, docs)]),
        f"Why: {escape(view.mechanism)}" if view.mechanism else "",
        f"Limitations: {escape('; '.join(limits))}" if limits else "",
    ]
    return "\n\n".join(filter(None, paragraphs))


def figure(view: Drawn, docs: str) -> str:
    """The image with its words for those who do not see it, its caption, and the records it was drawn from."""
    status = f"**{escape(view.banner.status.replace('_', ' '))}**: {escape(view.banner.text)} · " if view.banner else ""
    image = f"![{markdown.escape(view.text)}]({quote(docs + view.source)})"
    return f"{image}\n\n{status}{_START.sub(_kept, escape(view.caption), count=1)} · {_logs(view.evidence, docs)}"


def table(view: Table, docs: str) -> str:
    """The whole table, with its logs as links to their records."""
    return markdown.table(view, docs).rstrip("\n")


def _noted(view: Statement, note: str) -> str:
    """The sentence with its note before its full stop, and its status."""
    words, stop = (view.text[:-1], ".") if view.text.endswith(".") else (view.text, "")
    return f"{escape(words)} ({escape(note)}){stop}{_status(view.banner)}"


def _logs(evidence: Sequence[Evidence], docs: str) -> str:
    """Links to the records, by name or, of many, by number."""
    names = [markdown.escape(log.log) for log in evidence]
    if len(evidence) > _MOST_NAMED:
        names = [f"record {number}" for number in range(1, len(evidence) + 1)]
    links = (f"[{name}]({quote(docs + log.raw)})" for name, log in zip(names, evidence, strict=True))
    return ", ".join(links)


def _status(banner: Banner | None) -> str:
    return f" ({escape(banner.status.replace('_', ' '))}: {escape(banner.text)})" if banner else ""


def _kept(match: re.Match[str]) -> str:
    """Keep the first mark of a line from making a list or a heading of it."""
    return match[0] + "&#8288;" if match[0].isdigit() else f"&#{ord(match[0])};"
