from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.errors import ChartError
from evidence.renderers import html
from evidence.renderers.axes import ratio_ticks, tick_text, value_ticks
from evidence.renderers.bars import arm_classes
from evidence.renderers.charts import Kind, panels
from evidence.renderers.panel import finding
from evidence.renderers.standalone import standalone, style
from evidence.renderers.svg import Scale, fit, fit_start, number, width_of
from evidence.statistics import Interval, Verdict
from evidence.views import Absent, Banner, Column, Ratio, Shown
from tests.evidence.renderers import views_factory as views
from tests.evidence.renderers.markup_checks import parsed

STYLESHEET = Path(__file__).parents[3] / "docs" / "stylesheets" / "evidence.css"


def test_the_title_counts_losses_and_gaps_beside_wins() -> None:
    assert finding([row.absent or row.cells[4] for row in views.ROWS], "fused") == (
        "fused is faster in 2 of 10 rows, slower in 1, the same in 1, inconclusive in 1, incomparable in 1; "
        "2 crashed, 1 rejected, 1 skipped"
    )


def test_a_title_without_wins_starts_with_the_loss() -> None:
    assert finding([views.ratio(Verdict.WORSE, 0.9, 0.01)], "fused") == "fused is slower in 1 of 1 row"
    assert finding([views.ratio(Verdict.WORSE, 0.9, 0.01)], "") == "slower in 1 of 1 row"
    assert finding([Absent("crashed", "")], "fused") == "fused: no ratio in 1 row, 1 crashed"


@pytest.mark.parametrize("kind", ["forest", "bars"])
def test_every_row_keeps_its_place(kind: Kind) -> None:
    (panel,) = panels(views.table(), kind)
    labels = [part for part in panel.canvas.parts if 'class="ev-row n"' in part or 'class="n b"' in part]
    assert len(labels) == len(views.ROWS)
    assert panel.data.count("<tr>") == 1 + len(views.ROWS)


def test_what_has_no_number_is_not_drawn_at_one() -> None:
    (panel,) = panels(views.table(rows=(views.gone("1", "1", "crashed", "oom"),)), "forest")
    (mark,) = [part for part in panel.canvas.parts if "ev-crashed" in part]
    assert 'x="0%"' in mark


def test_a_chart_has_a_name_words_and_its_numbers_as_a_table() -> None:
    document = parsed(html.chart(views.latency(), "bars", "../"))
    (plot,) = [attributes for tag, attributes in document.elements if attributes.get("role") == "img"]
    assert plot["aria-labelledby"] == "ev-ttft-bars-1-title ev-ttft-bars-1-description"
    assert "8: static 61 [59 – 63], continuous 58 [56 – 60]" in document.text
    assert "— CRASHED: out of memory, process 2" in document.text


def test_a_chart_carries_the_status_and_the_evidence_of_its_table() -> None:
    view = views.table(banner=Banner("historical", "before the fix"))
    text = parsed(html.chart(view, "forest")).text
    assert "Historical. before the fix" in text
    assert view.evidence[0].sha256 in text


def test_each_ratio_and_each_metric_has_its_plot() -> None:
    more = views.table(
        columns=(*views.COLUMNS, replace(views.COLUMNS[4], title="eager ÷ other", arm="other")),
        rows=tuple(replace(row, cells=(*row.cells, row.cells[4])) for row in views.ROWS),
    )
    assert [panel.title.split()[0] for panel in panels(more, "forest")] == ["fused", "other"]
    document = parsed(html.chart(more, "forest"))
    assert len(document.ids) == len(set(document.ids))
    assert len(panels(more, "bars")) == 1


def test_bars_without_a_comparison_claim_none() -> None:
    (panel,) = panels(views.latency(), "bars")
    assert panel.title == "ttft: 4 rows, 3 arms"


def test_bars_start_at_zero_and_end_on_the_page() -> None:
    (panel,) = panels(views.latency(), "bars")
    bars = [part for part in panel.canvas.parts if 'class="bar' in part]
    assert len(bars) == 11
    assert all('x="0%"' in part for part in bars)
    widths = [float(part.split('width="')[1].split("%")[0]) for part in bars]
    assert max(widths) < 76


@pytest.mark.parametrize(
    ("view", "kind"),
    [
        (views.latency(), "forest"),
        (views.table(rows=()), "forest"),
        (views.table(rows=(views.ROWS[-1],)), "bars"),
        (views.table(), "pie"),
    ],
)
def test_nothing_to_draw_is_an_error_with_a_fix(view: object, kind: object) -> None:
    with pytest.raises(ChartError) as caught:
        panels(view, kind)  # type: ignore[arg-type]
    assert caught.value.fix


def test_the_baseline_is_grey_and_no_two_of_ten_arms_look_alike() -> None:
    columns = [Column(str(index), "", "value", is_baseline=index == 4) for index in range(10)]
    classes = arm_classes(columns)
    assert classes[4] == "ev-arm-0"
    assert len(set(classes)) == 10


@given(st.floats(0.01, 0.999), st.floats(1.001, 100))
def test_ratio_ticks_are_few_on_the_axis_and_hold_one(low: float, high: float) -> None:
    scale = Scale(low * 0.95, high * 1.05, is_log=True)
    ticks = ratio_ticks(scale)
    assert 1.0 in ticks
    assert 1 <= len(ticks) <= 5
    assert all(scale.low <= tick <= scale.high for tick in ticks)
    assert len({tick_text(tick, ticks) for tick in ticks}) == len(ticks)


@given(st.floats(1e-9, 1e15))
def test_value_ticks_start_at_zero_and_end_on_the_axis(highest: float) -> None:
    ticks = value_ticks(highest)
    assert ticks[0] == 0
    assert 3 <= len(ticks) <= 9
    assert ticks[-1] <= highest * 1.001
    assert len({tick_text(tick, ticks) for tick in ticks}) == len(ticks)


@given(st.text(), st.floats(30, 300))
def test_a_fitted_text_fits(text: str, pixels: float) -> None:
    for fitted in (fit(text, pixels), fit_start(text, pixels)):
        assert width_of(fitted) <= pixels or len(fitted) <= 2
        assert "\n" not in fitted


def test_a_label_loses_its_middle() -> None:
    assert fit("a-very-long-model-name / 8 / 16,384", 148).endswith("/ 16,384")


@given(st.floats(-1e6, 1e6))
def test_coordinates_are_short_numbers(value: float) -> None:
    assert abs(float(number(value)) - value) <= 0.0051
    assert "e" not in number(value)
    assert not number(value).startswith("-0") or float(number(value)) < 0


@given(st.floats(1e-300, 1e300), st.floats(0, 0.5), st.floats(1e-9, 10))
def test_any_ratio_can_be_drawn(value: float, spread: float, effect: float) -> None:
    interval = Interval(value, value * (1 - spread), value * (1 + spread))
    ratio = Ratio(Verdict.BETTER, "FASTER", interval, Shown("1.0×", "1.0", "1.0"), effect)
    view = views.table(rows=(views.row("1", "1", views.measured(1, 0), views.measured(1, 0), ratio),))
    for text in (html.table(view), html.chart(view, "forest"), html.claim(views.statement(headline=ratio))):
        assert "nan" not in text
        assert "inf" not in text.replace("info", "")


@pytest.mark.parametrize("kind", ["forest", "bars"])
def test_a_picture_stands_alone_in_both_schemes(kind: Kind) -> None:
    picture = standalone(views.table(), kind, STYLESHEET.read_text(encoding="utf-8"))
    root = ElementTree.fromstring(picture)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "prefers-color-scheme:dark" in picture
    used = set(re_vars(picture))
    defined = {part.split(":")[0].strip("{ ;") for part in picture.replace("{", ";").split(";") if "--ev-" in part}
    assert used - {"--ev-v", "--ev-a", "--md-text-font-family"} <= {name for name in defined if name.startswith("--")}
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")


def re_vars(text: str) -> list[str]:
    return [part.split(")")[0].split(",")[0] for part in text.split("var(")[1:]]


def test_a_foreign_stylesheet_is_refused() -> None:
    with pytest.raises(ChartError):
        style("body { color: red }")


def luminance(colour: str) -> float:
    parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


TEXT = ("ink", "muted", "focus", "better", "worse", "same", "inconclusive", "incomparable", "refused")
MARKS = ("axis", "color-0", "color-1", "color-2", "color-3")


def tokens(scheme: str) -> dict[str, str]:
    sheet = STYLESHEET.read_text(encoding="utf-8").split(f"/* tokens: {scheme} */")[1].split("}")[0]
    lines = [line.strip().rstrip(";") for line in sheet.splitlines() if line.strip().startswith("--ev-")]
    return {name.removeprefix("--ev-"): colour.strip() for name, _, colour in (line.partition(":") for line in lines)}


@pytest.mark.parametrize(("scheme", "token"), [*itertools.product(("light", "dark"), TEXT + MARKS)])
def test_every_colour_can_be_told_from_paper(scheme: str, token: str) -> None:
    colours = tokens(scheme)
    least = 4.5 if token in TEXT else 3.0
    assert contrast(colours[token], colours["paper"]) >= least
    if token in TEXT:
        assert contrast(colours[token], colours["well"]) >= 4.5


def test_print_has_the_light_scheme_again() -> None:
    printed = STYLESHEET.read_text(encoding="utf-8").split("@media print")[1].replace("#fff;", "#ffffff;")
    for name, colour in tokens("light").items():
        assert f"--ev-{name}: {colour};" in printed
