"""Change points: levels that are there are found where they begin, and noise has none."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.change_points import LEAST, Change, change_points
from evidence.statistics import Interval


def numbers(*values: float, half: float = 0.002) -> list[Interval]:
    return [Interval(value, value * (1 - half), value * (1 + half)) for value in values]


def noisy(levels: list[tuple[float, int]], spread: float = 0.004, seed: int = 0) -> list[Interval]:
    rng = random.Random(seed)
    return numbers(*(level * math.exp(rng.gauss(0, spread)) for level, count in levels for _ in range(count)))


def test_a_step_is_found_at_its_first_number() -> None:
    (change,) = change_points(noisy([(1.0, 6), (1.2, 6)]))
    assert change.index == 6
    assert change.factor == pytest.approx(1.2, rel=0.01)
    assert change.before == pytest.approx(1.0, rel=0.01)


def test_two_steps_are_found_in_order() -> None:
    found = change_points(noisy([(1.0, 5), (0.5, 5), (0.8, 5)]))
    assert [change.index for change in found] == [5, 10]


def test_one_number_that_stands_alone_is_no_level() -> None:
    assert change_points(numbers(1.0, 1.001, 0.999, 1.5, 1.0, 1.002, 0.998)) == ()


def test_a_step_below_the_least_effect_is_none() -> None:
    steady = numbers(*[1.0] * 8, *[1.008] * 8, half=1e-5)
    assert change_points(steady) == ()


def test_a_step_within_wide_intervals_is_none() -> None:
    assert change_points(numbers(1.0, 1.0, 1.05, 1.05, half=0.2)) == ()


@pytest.mark.parametrize("count", range(LEAST))
def test_too_few_numbers_show_nothing(count: int) -> None:
    assert change_points(numbers(*[1.0, 2.0, 3.0][:count])) == ()


def test_a_number_that_is_not_positive_has_no_logarithm() -> None:
    with pytest.raises(ValueError, match=r"math domain|positive"):
        change_points(numbers(1.0, 0.0, 1.0, 1.0))


@pytest.mark.parametrize("count", [6, 12, 30])
def test_noise_seldom_has_a_change_and_a_step_of_four_deviations_often(count: int) -> None:
    def share(*levels: tuple[float, int]) -> float:
        return sum(bool(change_points(noisy([*levels], spread=0.02, seed=seed))) for seed in range(100)) / 100

    assert share((1.0, count)) <= 0.06
    assert share((1.0, count // 2), (math.exp(0.08), count // 2)) >= 0.6


@given(
    st.lists(st.floats(1e-6, 1e6), min_size=LEAST, max_size=30),
    st.floats(1e-3, 1e3),
)
def test_changes_do_not_depend_on_the_unit(values: list[float], factor: float) -> None:
    one, other = (change_points(numbers(*(value * by for value in values))) for by in (1.0, factor))
    assert [change.index for change in one] == [change.index for change in other]
    assert all(math.isclose(a.factor, b.factor, rel_tol=1e-6) for a, b in zip(one, other, strict=True))


@given(st.lists(st.floats(1e-3, 1e3), min_size=LEAST, max_size=30))
def test_levels_are_at_least_two_long_and_apart(values: list[float]) -> None:
    found = change_points(numbers(*values))
    edges = [0, *(change.index for change in found), len(values)]
    assert all(after - before >= 2 for before, after in itertools.pairwise(edges))
    assert all(isinstance(change, Change) and abs(math.log(change.factor)) >= math.log1p(0.01) for change in found)
