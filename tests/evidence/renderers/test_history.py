"""The plot of a history: a row a log, whatever it holds, and nothing of a log's text runs."""

from __future__ import annotations

from evidence.renderers import html
from evidence.statistics import Interval, Verdict
from evidence.views import Absent, History, Measured, Moment, Ratio, Shown
from tests.evidence.renderers import views_factory as views
from tests.evidence.renderers.markup_checks import parsed

FASTER = Ratio(Verdict.BETTER, "FASTER", Interval(1.2, 1.1, 1.3), Shown("1.20×", "1.10", "1.30"), 0.01)
REFUSED = Ratio(Verdict.REFUSED, "REFUSED", None, None, 0.01, "two processes")
TIME = Measured(Interval(1e-3, 0.9e-3, 1.1e-3), Shown("1.00", "0.90", "1.10"))


def moment(cell: Measured | Ratio | Absent, relative: Interval | None, *, run: str = "", level: str = "") -> Moment:
    return Moment(f"kernels/toy_20260901{run}", "2026-09-01", "torch 2.13.0", cell, relative, level)


def view(*moments: Moment, **changes: str) -> History:
    title = changes.get("title", "time of fused")
    return History("gain-0", title, "ms", moments, "no change", views.table().evidence)


def test_every_log_has_its_row_and_its_line_of_data() -> None:
    text = html.history(
        [
            view(
                moment(FASTER, FASTER.interval),
                moment(REFUSED, None, run="-2"),
                moment(Absent("crashed", "out of memory"), None, run="-3"),
            )
        ]
    )
    document = parsed(text)
    assert "1.20×" in document.text
    assert "2026-09-01 -2" in document.text
    assert "CRASHED: out of memory" in document.text
    assert text.count("<tbody><tr>") == 1
    assert views.table().evidence[0].log in document.text


def test_a_change_of_level_is_drawn_where_it_begins() -> None:
    relative = Interval(1.2, 1.1, 1.3)
    text = html.history([view(moment(TIME, Interval(1.0, 0.9, 1.1)), moment(TIME, relative, run="-2", level="+20 %"))])
    assert "+20 % from here" in text
    assert "against the first log" in text


def test_nothing_drawn_leaves_the_plot_and_no_text_of_a_log_is_markup() -> None:
    far = Interval(1e-9, 1e-12, 1e9)
    hostile = "<script>alert(1)</script>\u202e"
    text = html.history([view(moment(TIME, far), moment(Absent("missing", hostile), None), title=hostile)])
    document = parsed(text)
    assert not {"script"} & {name for name, _ in document.elements}
    assert "\u202e" not in text
    places = [attributes.get(key) for _, attributes in document.elements for key in ("x", "x1", "x2")]
    shares = [float(place[:-1]) for place in places if place and place.endswith("%")]
    assert shares
    assert all(0 <= share <= 100 for share in shares)
