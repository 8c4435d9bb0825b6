"""Owns what is not evidence and says so: errors, waivers, and numbers from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Literal

from evidence.diagnostics import Finding
from evidence.renderers.markup import address, escape, link
from evidence.views import Labelled

_ORIGINS = {"external": "reported by", "spec": "specified for", "target": "a target, not measured"}


def error_box(name: str, findings: Sequence[tuple[str, Finding]]) -> str:
    """What stands where an item cannot be shown: each rule's code, what is wrong, and what to do about it."""
    items = "".join(_finding(code, finding) for code, finding in findings)
    return (
        f'<section class="ev-error" role="note" aria-label="Not shown: {escape(name)}">'
        f'<p class="ev-error-title"><b>Not shown</b> <code>{escape(name)}</code></p><ul>{items}</ul></section>'
    )


def error_mark(name: str, code: str) -> str:
    """The same inside a paragraph, where only a word fits; the check and the build log have the rest."""
    return f'<span class="ev-error-mark"><b>{escape(code)}</b> not shown: <code>{escape(name)}</code></span>'


def waiver(rule: str, why: str, owner: str, until: date) -> str:
    """An accepted finding, printed where it is accepted. It never hides a verdict."""
    return (
        f'<p class="ev-waiver"><b>Waiver {escape(rule)}</b> {escape(why)} '
        f"<small>accepted by {escape(owner)} until {until.isoformat()}</small></p>"
    )


def borrowed(kind: Literal["external", "spec", "target"], text: str, origin: str = "") -> str:
    """A number that this project did not measure, with where it is from. The source is text, never a link."""
    words = f"{_ORIGINS[kind]} {origin}".strip()
    return f'<span class="ev-borrowed">{escape(text)} <small>({escape(words)})</small></span>'


def diagnostic(view: Labelled, root: str = "", page: str | None = None) -> str:
    """A number that no sentence may stand on, with the reason beside it, linked to the page of its log."""
    interval = f" [{escape(view.figure.interval)}]" if view.figure.interval else ""
    content = f"{escape(view.figure.text)}{interval} <small>({escape(view.label)})</small>"
    return link(None if page is None else address(root, page), content, classes="ev-borrowed")


def _finding(code: str, finding: Finding) -> str:
    fix = f"<small>Fix: {escape(finding.fix)}</small>" if finding.fix else ""
    return f"<li><b>{escape(code)}</b> {escape(finding.message)} <code>{escape(str(finding.at))}</code>{fix}</li>"
