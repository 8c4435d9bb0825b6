from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from evidence.diagnostics import Finding, Location
from evidence.renderers import html
from evidence.renderers.marks import claim_scale
from evidence.statistics import Interval, Verdict
from evidence.views import Figure
from tests.evidence.renderers import views_factory as views
from tests.evidence.renderers.markup_checks import parsed


def test_the_callout_is_where_every_mention_leads() -> None:
    view = views.statement()
    assert parsed(html.claim(view)).ids[0] == "ev-skewed-batch"
    assert parsed(html.says(view)).links == ["#ev-skewed-batch"]
    assert parsed(html.says(view, "../", "feature/")).links == ["../feature/#ev-skewed-batch"]
    assert parsed(html.value(Figure("1.16×"), view.id)).links == ["#ev-skewed-batch"]


def test_the_callout_shows_sentence_note_cause_and_the_whole_stance() -> None:
    view = views.statement()
    document = parsed(html.claim(view))
    for text in (view.text, view.note, view.mechanism, "1.160×", "1.150 – 1.170", *(value for _, value in view.stance)):
        assert text in document.text


def test_a_refused_claim_has_no_number() -> None:
    text = parsed(html.claim(views.refused())).text
    assert "no number" in text
    assert "no passed gate" in text
    assert "×" not in text.replace("80 GB × 1", "").replace("2 × 48", "").replace("9 processes × 40", "")


def test_a_reading_of_one_arm_has_no_axis() -> None:
    assert "ev-claim-axis" not in html.claim(views.statement(headline=None))


def test_a_stale_claim_keeps_its_number_and_its_verdict() -> None:
    text = html.claim(views.stale())
    assert "Superseded." in text
    assert "3.940×" in text
    assert "ev-claim ev-better ev-claim--stale" in text
    assert "not to be cited" in html.says(views.stale())


def test_a_value_says_its_verdict_to_those_who_listen() -> None:
    document = parsed(html.value(Figure("0.903×", "0.899–0.907", Verdict.WORSE), "x"))
    assert document.text == "0.903× [0.899–0.907] worse"
    assert parsed(html.value(Figure("bf16"), "x")).text == "bf16"


@pytest.mark.parametrize(("high", "ends"), [(1.9, (0.5, 2)), (3.0, (0.25, 4)), (1e9, (2**-10, 2**10))])
def test_the_axis_of_claims_doubles_until_it_holds_the_interval(high: float, ends: tuple[float, float]) -> None:
    scale = claim_scale([Interval(1.0, 1.0, high)])
    assert (scale.low, scale.high) == ends
    assert 0 <= scale(high) <= 1


def test_the_board_lists_all_and_hides_nothing_without_script() -> None:
    items = [views.statement(), views.loss(), views.stale(), views.refused()]
    text = html.board([*(html.Listed(item, "feature/") for item in items), html.Unshown("gone", "EV602: no", None)])
    document = parsed(text)
    rows = [attributes for tag, attributes in document.elements if tag == "tr" and "data-verdict" in attributes]
    assert [row["data-verdict"] for row in rows] == ["better", "worse", "better", "refused", "refused"]
    assert [row["data-status"] for row in rows] == ["citable", "citable", "superseded", "do not cite", "not shown"]
    assert not [row for row in rows if "hidden" in row]
    assert "./feature/#ev-small-norm" in document.links
    counts = [attributes for tag, attributes in document.elements if tag == "button"]
    assert {item["aria-pressed"] for item in counts} == {"false"}


def test_a_board_without_pages_has_no_links() -> None:
    assert parsed(html.board([html.Listed(views.statement(), None)])).links == []


def test_an_error_names_rule_place_and_fix() -> None:
    finding = Finding(Location("docs/claims/x.yml", 7), "expect is better, the log says worse", "measure again")
    text = parsed(html.error_box("splitkv", [("EV602", finding)])).text
    assert text == ("Not shown splitkvEV602 expect is better, the log says worse docs/claims/x.yml:7Fix: measure again")
    assert "Fix" not in html.error_box("splitkv", [("EV602", replace(finding, fix=""))])


def test_what_is_not_evidence_says_so() -> None:
    assert parsed(html.borrowed("external", "4.8 TB/s", "a vendor")).text == "4.8 TB/s (reported by a vendor)"
    assert parsed(html.borrowed("target", "2×")).text == "2× (a target, not measured)"
    waiver = parsed(html.waiver("EV506", "two timers differ", "@docs", date(2030, 1, 2))).text
    assert waiver == "Waiver EV506 two timers differ accepted by @docs until 2030-01-02"
