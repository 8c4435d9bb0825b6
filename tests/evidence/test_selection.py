"""Which cells a `where` selects, and the values of an axis in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.errors import UnknownNameError
from evidence.selection import axes_of, in_words, matches, select
from tests.factories import engine_record, held, imported_record, sweep

SWEEP = sweep({"eager": {1: 1e-3, 8: 2e-3, 64: 3e-3}, "fused": {1: 1e-3, 8: 1e-3, 64: 1e-3}})


def test_axes_have_their_values_in_the_record_s_order() -> None:
    axes = axes_of(SWEEP)
    assert axes["arm"] == ("eager", "fused", "eager-again")
    assert axes["N"] == ("1", "8", "64")
    assert axes["device"] == ("Synthetic GPU A",)
    assert axes_of(engine_record())["scenario"] == ("skewed", "even")
    assert axes_of(imported_record())["batch"] == ("4",)


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ({}, ["n1", "n8", "n64"]),
        ({"N": ("8",)}, ["n8"]),
        ({"N": ("64", "1")}, ["n1", "n64"]),
        ({"N": ("64", "1"), "dtype": ("bf16",)}, ["n1", "n64"]),
        ({"N": ("8",), "workload": ("n1",)}, []),
        ({"arm": ("fused",)}, ["n1", "n8", "n64"]),
    ],
)
def test_cells_on_the_named_values(where: dict[str, tuple[str, ...]], names: list[str]) -> None:
    assert [workload.name for workload in select(held(SWEEP), where)] == names


@pytest.mark.parametrize(
    ("where", "message", "nearest"),
    [
        ({"n": ("8",)}, "no axis 'n'", None),
        ({"dtyp": ("bf16",)}, "no axis 'dtyp'", "dtype"),
        ({"dtype": ("bf17",)}, "no value of dtype 'bf17'", "bf16"),
        ({"N": ("8", "9")}, "no value of N '9'", None),
        ({"arm": ("fuse",)}, "no value of arm 'fuse'", "fused"),
    ],
)
def test_names_that_are_not_there(where: dict[str, tuple[str, ...]], message: str, nearest: str | None) -> None:
    with pytest.raises(UnknownNameError) as caught:
        select(held(SWEEP), where)
    assert caught.value.message == message
    assert caught.value.nearest == nearest


def test_a_place_without_the_axis_does_not_match() -> None:
    assert matches({"a": "1"}, {})
    assert matches({"a": "1"}, {"a": ("1", "2")})
    assert not matches({"a": "3"}, {"a": ("1", "2")})
    assert not matches({}, {"a": ("1",)})


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["8"], "8"),
        (["8", "8"], "8"),
        (["1", "8"], "1 and 8"),
        (["1", "8", "64"], "1, 8 and 64"),
        (["1", "8", "64", "512"], "1, 8, 64 and 512"),
        (["512", "1", "8", "64", "4096"], "1–4096 (5 values)"),
        (["a", "b", "c", "d", "e"], "a, b, c, d and e"),
        (["1", "2", "3", "4", "x"], "1, 2, 3, 4 and x"),
        (["0.5", "1", "2", "3", "4"], "0.5, 1, 2, 3 and 4"),
    ],
)
def test_values_in_words(values: list[str], words: str) -> None:
    assert in_words(values) == words


@given(st.lists(st.integers(0, 10**6).map(str), min_size=1))
def test_words_name_every_value_or_the_ends_and_the_count(values: list[str]) -> None:
    words = in_words(values)
    distinct = set(values)
    if len(distinct) > 4:
        numbers = sorted(map(int, distinct))
        assert words == f"{numbers[0]}–{numbers[-1]} ({len(numbers)} values)"
    else:
        assert all(value in words for value in distinct)
