"""Tests of what moved: quotients held to their noise, exact numbers, verdicts, and lines that claims files changed."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evidence import movement
from evidence.book import Book
from evidence.movement import Moved, Side, changes, faults
from evidence.printed import facts_of
from evidence.statistics import Interval
from evidence.store import Store
from tests import factories
from tests.evidence import splitkv

POSITIVE = st.floats(1e-9, 1e9)


def around(value: float, share: float) -> Interval:
    return Interval(value, value * (1 - share), value * (1 + share))


@pytest.mark.parametrize(
    ("old", "new", "effect", "moved"),
    [
        (around(1.0, 0.002), around(1.1, 0.002), 0.01, "moved"),
        (around(1.1, 0.002), around(1.0, 0.002), 0.01, "moved"),
        (around(1.0, 0.002), around(1.1, 0.002), 0.15, "undecided"),
        (around(1.0, 0.002), around(1.001, 0.002), 0.01, "not moved"),
        (around(1.0, 0.2), around(1.1, 0.2), 0.01, "undecided"),
        (around(1.0, 0.0), around(1.0, 0.0), 0.01, "not moved"),
        (around(1920.0, 0.0), around(1921.0, 0.0), 0.01, "moved"),
        (Interval(0, 0, 0), Interval(3, 3, 3), 0.01, "moved"),
        (Interval(-1, -2, 1), Interval(0, -1, 2), 0.01, "undecided"),
        (Interval(-1, -2, -0.5), Interval(4, 3, 5), 0.01, "moved"),
    ],
)
def test_a_number_moves_if_its_quotient_lies_beyond_the_noise(
    old: Interval, new: Interval, effect: float, moved: Moved
) -> None:
    assert movement._judged("time", "a", "b", old, new, effect).moved == moved


@given(value=POSITIVE, other=POSITIVE, share=st.floats(0, 0.5))
def test_back_and_forth_are_inverse(value: float, other: float, share: float) -> None:
    one, two = around(value, share), around(other, share / 2)
    assume(one.low > 0 and two.low > 0)
    there, back = movement._quotient(one, two), movement._quotient(two, one)
    assert math.isclose(there.value * back.value, 1, rel_tol=1e-9)
    assert math.isclose(there.low * back.high, 1, rel_tol=1e-9)
    assert math.isclose(there.high * back.low, 1, rel_tol=1e-9)


def sides(root: Path, claims: str = splitkv.CLAIMS, later: str | None = None) -> tuple[Side, Side]:
    """The example before and after its second session, with claims files that may have changed between."""
    first, second = splitkv.splitkv(), splitkv.splitkv(splitkv.SECOND, splitkv.SLOWER)
    before = factories.book(root, claims, first, second)
    project = factories.project(root)
    old = Book(project, Store(project.logs), pins={splitkv.SERIES: splitkv.FIRST})
    old_facts = facts_of(old)
    if later is not None:
        (project.claims / "page.yml").write_text(later, encoding="utf-8")
        old = Book(project, Store(project.logs), pins={splitkv.SERIES: splitkv.FIRST})
        before = Book(project, Store(project.logs))
    return Side(old_facts, old), Side(facts_of(before), before)


def test_the_lines_that_change_are_those_of_the_example(tmp_path: Path) -> None:
    before, after = sides(tmp_path)
    found = {change.key: change for change in changes(before, after)}
    note = found["claims", "splitkv", "note"]
    assert (note.old or "").startswith("5 faster, 1 slower, 3 with identical configuration left out")
    assert (note.new or "").startswith("4 faster, 2 slower, 3 with identical configuration left out")
    assert [(turn.what, turn.old, turn.new) for turn in note.turns] == [("b1-t8192", "FASTER", "SLOWER")]
    assert found["series", splitkv.SERIES, "log"].new == "20261128"
    row = found["tables", "splitkv-l4", "1 / 8192"]
    assert (row.old, row.new) == ("118.62 µs | 108.80 µs | 1.091× FASTER", "118.46 µs | 122.20 µs | 0.970× SLOWER")
    moved = {number.what: number.moved for number in row.numbers}
    assert moved == {"whole time": "not moved", "split time": "moved", "whole ÷ split of time": "moved"}
    assert [key for key in found if key[0] == "series"] == [
        ("series", splitkv.SERIES, "log"),
        ("series", splitkv.SERIES, "sha256"),
    ]


def test_what_no_longer_holds_is_told_with_its_rule_and_place(tmp_path: Path) -> None:
    before, after = sides(tmp_path)
    ((code, finding),) = faults(before, after)
    assert code == "EV602"
    assert finding.at.path == "docs/claims/page.yml"
    assert "{better: 4, worse: 2}" in finding.message
    assert faults(before, before) == ()


def test_a_number_of_claims_that_changed_since_is_not_judged(tmp_path: Path) -> None:
    later = splitkv.CLAIMS.replace("columns: [time, {ratio: time}]", "columns: [{ratio: time}]")
    found = {change.key: change for change in changes(*sides(tmp_path, later=later))}
    row = found["tables", "splitkv-l4", "1 / 8192"]
    assert row.new == "0.970× SLOWER"
    assert row.numbers == ()


def test_a_sentence_is_explained_by_the_values_it_names(tmp_path: Path) -> None:
    said = "It takes {candidate.max} and {ratio.range}, where {before} was read."
    claims = splitkv.CLAIMS.replace("Splitting the cache gives {ratio.geomean} on {device} ({tally}).", said)
    claims += "    also: {before: {arm: whole, where: {B: 1, T: 8192}}}\n"
    found = {change.key: change for change in changes(*sides(tmp_path, claims))}
    assert {number.what.split(" on ")[0] for number in found["claims", "splitkv", "says"].numbers} == {
        "split",
        "before whole",
    }


def test_lines_that_come_and_go(tmp_path: Path) -> None:
    before, after = sides(tmp_path)
    fewer = Side({key: text for key, text in before.facts.items() if key[0] != "tables"}, before.book)
    found = {change.key: change for change in changes(fewer, after)}
    assert found["tables", "splitkv-l4", "1 / 8192"].old is None
    gone = {change.key: change for change in changes(after, fewer)}
    assert gone["tables", "splitkv-l4", "1 / 8192"].new is None
