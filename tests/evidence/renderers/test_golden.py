"""What each renderer writes for one synthetic table and one claim, byte for byte, for a reviewer to read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evidence.renderers import html, markdown, terminal
from evidence.renderers.json import to_json
from evidence.renderers.standalone import standalone
from tests.evidence.renderers import views_factory as views

STYLESHEET = Path(__file__).parents[3] / "docs" / "stylesheets" / "evidence.css"

RENDERED: dict[str, Callable[[], str]] = {
    "table.html": lambda: html.table(views.table(), "../"),
    "claim.html": lambda: html.claim(views.statement(), "../"),
    "forest.html": lambda: html.chart(views.table(), "forest", "../"),
    "bars.html": lambda: html.chart(views.latency(), "bars", "../"),
    "roofline.html": lambda: html.roofline(views.roofline(), "../"),
    "board.html": lambda: html.board([html.Listed(views.loss(), "feature/"), html.Unshown("x", "EV602: …", None)]),
    "forest.svg": lambda: standalone(views.table(), "forest", STYLESHEET.read_text(encoding="utf-8")),
    "table.md": lambda: markdown.table(views.table()),
    "table.txt": lambda: terminal.table(views.table()),
    "claim.json": lambda: to_json(views.statement()),
}


@pytest.mark.parametrize("name", RENDERED)
def test_rendered_text_is_as_reviewed(name: str, golden: Callable[[str, str], None]) -> None:
    text = RENDERED[name]()
    # A tag a line: the page has one line, which no diff shows.
    readable = text.replace("><", ">\n<").rstrip("\n") + "\n" if name.endswith(("html", "svg")) else text
    golden(f"renderers/{name}", readable)
