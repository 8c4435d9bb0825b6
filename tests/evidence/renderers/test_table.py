from __future__ import annotations

import re
from dataclasses import replace

import pytest

from evidence.renderers import html
from evidence.renderers.marks import padding, places, ratio_scale, span, whisker
from evidence.statistics import Verdict
from evidence.units import parse_number
from evidence.views import Absent, Banner, Column, Row, Shown, Table, Words
from tests.evidence.renderers import views_factory as views
from tests.evidence.renderers.markup_checks import parsed


def columns_of(text: str) -> list[int]:
    """The number of columns of each row, spans counted."""
    rows = re.findall(r"<tr.*?</tr>", text)
    cells = [re.findall(r"<t[hd]((?: [^>]*)?)>", row) for row in rows]
    return [sum(int((re.search(r'colspan="(\d+)"', cell) or [0, "1"])[1]) for cell in row) for row in cells]


VARIANTS = {
    "usual": views.table(),
    "values alone": views.latency(),
    "no rows": views.table(rows=()),
    "no axis": views.table(
        columns=views.COLUMNS[2:], rows=tuple(replace(row, cells=row.cells[2:]) for row in views.ROWS)
    ),
    "texts": views.table(
        columns=(*views.COLUMNS[:3], Column("why", "", "text"), *views.COLUMNS[3:]),
        rows=tuple(replace(row, cells=(*row.cells[:3], Words("because"), *row.cells[3:])) for row in views.ROWS),
    ),
    "two comparisons": views.table(
        columns=(*views.COLUMNS, replace(views.COLUMNS[4], kind="change", title="fused against eager")),
        rows=tuple(replace(row, cells=(*row.cells, row.cells[4])) for row in views.ROWS),
    ),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_every_row_has_the_columns_of_the_head(name: str) -> None:
    assert len(set(columns_of(html.table(VARIANTS[name])))) == 1


def test_the_answer_comes_before_the_measured_values() -> None:
    head = re.findall(r"<th.*?</th>", html.table(views.table()))
    texts = [re.sub("<.*?>", "", cell) for cell in head[:5]]
    assert texts == [
        "rows / hidden",
        "Verdict",
        "eager ÷ fused time, 95 %, above 1 is faster",
        "eager time, µs median, 95 %",
        "fused time, µs median, 95 %",
    ]


@pytest.mark.parametrize("word", ["REJECTED", "CRASHED", "SKIPPED"])
def test_a_row_without_numbers_says_why(word: str) -> None:
    row = next(row for row in views.ROWS if row.absent and row.absent.outcome.upper() == word)
    text = parsed(html.table(views.table(rows=(row,)))).text
    assert f"{word}{row.absent.reason if row.absent else ''}" in text


def test_a_loss_is_marked_as_a_win_is() -> None:
    win, loss = (
        html.table(views.table(rows=(views.row("1", "1", *row.cells[2:]),))) for row in (views.ROWS[2], views.ROWS[0])
    )
    assert parsed(win).shape == parsed(loss).shape
    assert re.sub("better|BETTER", "", win).count("class") == re.sub("worse|WORSE", "", loss).count("class")


def test_a_table_carries_its_status_stance_and_evidence() -> None:
    view = views.table(banner=Banner("do_not_cite", "the prefix cache was on in one arm"))
    text = parsed(html.table(view)).text
    assert "Do not cite. the prefix cache was on" in text
    assert all(f"{label}{value}" in text for label, value in view.stance)
    assert view.evidence[0].sha256 in text
    assert view.evidence[0].command in text
    assert "gate passed, 36,864 of 36,864 elements · 2 limitations" in text


def test_every_log_has_its_fold() -> None:
    text = html.table(views.table(evidence=(views.evidence(), views.evidence(log="ops/other_synthetic_20261129"))))
    assert text.count("<details") == 2


def test_a_log_without_a_passed_gate_says_so() -> None:
    for gates in ((), (views.gate(state="failed"),), (views.gate(state="none"),)):
        assert "no passed gate" in html.table(views.table(evidence=(views.evidence(gates=gates),)))


def test_footnotes_are_lettered() -> None:
    rows = tuple(replace(views.ROWS[0], footnote=f"note {index}") for index in range(28))
    text = html.table(views.table(rows=rows))
    assert "<sup>a</sup> note 0" in text
    assert "<sup>z</sup> note 25" in text
    assert "<sup>ab</sup> note 27" in text


def test_links_start_at_the_root_of_the_site() -> None:
    links = parsed(html.table(views.table(), "../../")).links
    assert links == [
        "../../benchmark_logs/ops/qk_norm_synthetic_20261128/gate.txt",
        "../../benchmark_logs/ops/qk_norm_synthetic_20261128/record.json",
    ]


@pytest.mark.parametrize("text", ["6.342", "1,197.2", "8", "−0.50"])
def test_padding_aligns_points_and_leaves_a_number(text: str) -> None:
    padded = text + padding(text, 3)
    point = padded.replace("\u2008", ".").index(".")
    assert len(padded) - point == 4
    assert parse_number(padded) == parse_number(text)


def test_a_column_of_whole_numbers_is_not_padded() -> None:
    assert places(["8", "16"]) == 0
    assert padding("8", 0) == ""


def test_a_span_has_no_dash_that_reads_as_a_minus() -> None:
    assert span(Shown("1", "−1", "2")) == "−1 to 2"
    assert span(Shown("1", "1", "2")) == "1 – 2"
    assert span(Shown("1")) == ""


def test_one_axis_holds_every_interval_of_a_column() -> None:
    ratios = [views.ratio(Verdict.BETTER, 4, 0.5), views.ratio(Verdict.WORSE, 0.2, 0.1)]
    scale = ratio_scale(ratios)
    ends = [end for ratio in ratios if ratio.interval for end in (ratio.interval.low, ratio.interval.high)]
    assert all(0 < scale(end) < 1 for end in ends)
    assert scale(0.1) < scale(1 / 1.01) < scale(1) < scale(1.01)


def test_a_ratio_without_number_has_no_whisker() -> None:
    ratio = views.no_ratio(Verdict.REFUSED, "no passed gate")
    assert whisker(ratio, ratio_scale([ratio])) == ""


def test_an_empty_selection_is_still_a_table() -> None:
    view: Table = views.table(rows=(), columns=(views.COLUMNS[0],), footnotes=())
    assert "<tbody></tbody>" in html.table(view)
    assert "Row" not in html.table(replace(view, rows=(Row((Words("1"),)),)))


def test_a_reason_met_twice_in_a_row_is_told_once() -> None:
    crashed, skipped = Absent("crashed", "the kernel raised"), Absent("skipped", "it has no backward pass")
    row = Row((Words("2,048"), Words("1,024"), crashed, crashed, skipped))
    text = html.table(views.table(columns=views.COLUMNS[:5], rows=(row,)))
    assert (text.count("the kernel raised"), text.count("it has no backward pass")) == (1, 1)
    assert text.lower().count(">crashed<") == 2
