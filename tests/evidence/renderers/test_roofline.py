"""The roofline plot: a point a cell that has a number, a line of data for every cell, and nothing out of the plot."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.renderers import html
from evidence.statistics import Interval
from evidence.views import Absent, Ceiling, Measured, Shown
from tests.evidence.renderers import views_factory as views
from tests.evidence.renderers.markup_checks import parsed

anything = st.floats(1e-9, 1e18)


def test_every_cell_has_its_line_and_those_with_a_number_their_point() -> None:
    document = parsed(html.roofline(views.roofline()))
    assert sum(attributes.get("scope") == "row" for _, attributes in document.elements) == 6
    drawn = [attributes.get("class") for name, attributes in document.elements if name == "svg" and "x" in attributes]
    assert (drawn.count("ev-arm-0"), drawn.count("ev-arm-1")) == (3, 2)
    assert "REJECTED: o: 41 of 1024 elements are beyond the tolerance" in document.text
    assert views.roofline().evidence[0].log in document.text


def test_ceilings_say_who_says_so_and_measured_ones_are_broken_lines() -> None:
    text = html.roofline(views.roofline())
    assert text.count('class="ceiling"') == 2
    assert text.count('class="ceiling ev-tinted"') == 2
    assert "datasheet ceiling 1.0 TB/s and 900.0 TFLOP/s (datasheet: Synthetic GPU A, dense, bf16)" in text
    assert "measured ceiling 900.0 GB/s and 700.0 TFLOP/s (the best of ops/limits_20261128, bf16)" in text


def test_those_who_do_not_see_it_are_told_ceilings_and_points() -> None:
    text = html.roofline(views.roofline())
    description = text.partition("<desc")[2].partition("</desc>")[0]
    assert "datasheet ceiling" in description
    assert "2048, fused: 305.0 [302.0 – 308.0] GFLOP/s at 0.75 FLOP a byte" in description
    assert "REJECTED" in description


def test_rows_that_lie_on_each_other_share_a_label() -> None:
    assert "#1, 2" in html.roofline(views.roofline())


def test_without_a_peak_it_says_so_and_draws_no_ceiling() -> None:
    text = html.roofline(views.roofline(ceilings=(), unknown=("Synthetic GPU B in bf16",)))
    assert "no peak of Synthetic GPU B in bf16 is known" in text
    assert 'class="ceiling' not in text


@pytest.mark.parametrize(("flop", "moved"), [(None, 1e12), (9e14, None)])
def test_a_ceiling_of_one_side_is_drawn_alone(flop: float | None, moved: float | None) -> None:
    text = html.roofline(views.roofline(ceilings=(Ceiling("measured", flop, moved, "a", "b", "c"),)))
    assert text.count('class="ceiling ev-tinted"') == 1


@given(st.lists(st.tuples(anything, anything), min_size=1, max_size=4), anything, anything)
def test_nothing_drawn_leaves_the_plot(cells: list[tuple[float, float]], flop: float, moved: float) -> None:
    points = tuple(
        views.point(str(index), "fused", x, Measured(Interval(y, 0.0, 2 * y), Shown("1", "0", "2")))
        for index, (x, y) in enumerate(cells)
    )
    ceiling = Ceiling("datasheet", flop, moved, "a", "b", "c")
    view = views.roofline(arms=(("fused", False),), points=points, ceilings=(ceiling,))
    document = parsed(html.roofline(view))
    found = [one for _, one in document.elements]
    shares = [one[key] for one in found for key in ("x", "x1", "x2") if (one.get(key) or "").endswith("%")]
    assert all(0 <= float(share[:-1]) <= 100 for share in shares if share)
    assert all(-30 <= float(one[key] or 0) <= 345 for one in found for key in ("y", "y1", "y2") if key in one)


def test_nothing_at_all_to_draw_is_still_a_figure_with_its_reasons() -> None:
    points = (views.point("1", "fused", None, Absent("crashed", "out of memory")),)
    document = parsed(html.roofline(views.roofline(arms=(("fused", False),), points=points, ceilings=())))
    assert "CRASHED: out of memory" in document.text
