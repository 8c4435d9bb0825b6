from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evidence.renderers import html, markdown, terminal
from evidence.renderers.fold import gate_summary
from evidence.renderers.standalone import standalone
from evidence.statistics import Verdict
from evidence.views import Banner, Words
from tests.evidence.renderers import views_factory as views

STYLESHEET = Path(__file__).parents[3] / "docs" / "stylesheets" / "evidence.css"
BANNER = Banner("do_not_cite", "the prefix cache was on in one arm")


def test_no_format_drops_a_status() -> None:
    view = views.table(banner=BANNER)
    sheet = STYLESHEET.read_text(encoding="utf-8")
    for text in (markdown.table(view), terminal.table(view), standalone(view, "forest", sheet), html.table(view)):
        assert "do not cite" in text.lower()
        assert BANNER.text in text


@pytest.mark.parametrize(
    ("states", "text"),
    [
        ((), "no passed gate"),
        (("none",), "no passed gate"),
        (("failed", "failed"), "no passed gate"),
        (("passed",), "gate passed, 3 of 4"),
        (("partly",), "gate partly passed, 3 of 4"),
        (("passed", "passed", "failed"), "gates: 2 passed, 1 failed"),
    ],
)
def test_gates_are_told_in_a_few_words(states: tuple[str, ...], text: str) -> None:
    assert gate_summary([views.gate(state=state, counts="3 of 4") for state in states]) == text


def test_rows_with_raised_effects_have_bands_of_their_own() -> None:
    rows = (views.ROWS[0], replace(views.ROWS[1], cells=(*views.ROWS[1].cells[:4], views.ratio(Verdict.SAME, 1, 0.01))))
    raised = replace(rows[1], cells=(*rows[1].cells[:4], replace(rows[1].cells[4], effect=0.05)))  # type: ignore[type-var]
    assert html.chart(views.table(rows=rows), "forest").count('<rect class="ev-band"') == 1
    text = html.chart(views.table(rows=(rows[0], raised)), "forest")
    assert text.count('<rect class="ev-band"') == 2
    assert "the minimum effect of its row" in text


def test_words_and_verdicts_stand_in_any_column() -> None:
    row = views.row("1", "1", views.ROWS[0].cells[4], Words("n/a"), Words("baseline"))
    view = views.table(rows=(row,))
    assert "SLOWER" in html.table(view)
    assert 'colspan="3"' in html.table(view)
    assert "baseline" in html.chart(view, "forest")


def test_a_sentence_is_one_line_with_its_short_note() -> None:
    assert markdown.statement(views.loss()) == (
        "At 64 × 4,096 the fused kernel is 0.903×. (SLOWER; 0.903× (95 % 0.899–0.907), n 9)"
    )
    assert markdown.statement(views.stale()).endswith(" **superseded**")
    assert terminal.statement(views.stale()).startswith("SUPERSEDED: Replaced by")


def test_a_log_that_states_no_limitation_says_so() -> None:
    assert "None was stated." in html.table(views.table(evidence=(views.evidence(limitations=()),)))
