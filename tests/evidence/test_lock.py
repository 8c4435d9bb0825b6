"""Tests of the form of the lock: it reads back whatever is in it, TOML readers agree, and damage is named by line."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence import lock
from evidence.lock import HEADER, Key, Section
from tests.evidence.checker import sites

IDS = st.from_regex(r"[a-z0-9]+(-[a-z0-9]+){0,2}", fullmatch=True)
HOSTILE = st.one_of(
    st.text(max_size=20),
    st.text(alphabet='"\\ \t\n\r\x00\x1f\x7f\x85\u2028\u202e\u200b\ufeff=.#[]é×\U000e0001\U0001f600', max_size=12),
)
KEYS: st.SearchStrategy[Key] = st.one_of(
    st.tuples(st.just("claims"), IDS, st.sampled_from(["note", "says"])),
    st.tuples(st.just("series"), HOSTILE, st.sampled_from(["log", "sha256", "stance"])),
    st.tuples(st.just("tables"), IDS, HOSTILE),
)
FACTS = st.dictionaries(KEYS, HOSTILE, max_size=12)
EXAMPLE: dict[Key, str] = {
    ("claims", "splitkv", "note"): "5 faster, 1 slower",
    ("series", "kernels/splitkv_l4", "log"): "20261105",
    ("tables", "splitkv-l4", "1 / 8192"): "118.4 µs | 108.8 µs | 1.09× FASTER",
}


@given(facts=FACTS)
def test_it_reads_back(facts: dict[Key, str]) -> None:
    held = lock.parse(lock.dump(facts))
    assert (held.facts, held.faults) == (facts, ())


@given(facts=FACTS)
def test_the_standard_library_reads_the_same(facts: dict[Key, str]) -> None:
    document: dict[str, Any] = tomllib.loads(lock.dump(facts))
    found = {
        (s, o, w): text for s, owners in document.items() for o, held in owners.items() for w, text in held.items()
    }
    assert found == facts


@given(facts=FACTS)
def test_each_fact_is_a_line_in_order_and_every_character_can_be_seen(facts: dict[Key, str]) -> None:
    text = lock.dump(facts)
    header, *rest = text.removesuffix("\n").split("\n")
    lines = [line for line in rest if line]
    assert header == HEADER
    assert len(lines) == len(facts)
    assert len(rest) - len(lines) == len({key[:2] for key in facts})
    assert lines == sorted(lines, key=lambda line: line.encode())
    assert not lock.UNSEEN.search(text.replace("\n", ""))


@given(facts=FACTS, key=KEYS, text=HOSTILE)
def test_a_change_moves_no_other_line(facts: dict[Key, str], key: Key, text: str) -> None:
    before, after = (set(lock.dump(side).split("\n")) - {""} for side in (facts, {**facts, key: text}))
    assert len(before - after) <= 1
    assert len(after - before) <= 1


@given(facts=FACTS)
def test_the_line_of_each_fact_is_known(facts: dict[Key, str]) -> None:
    text = lock.dump(facts)
    held = lock.parse(text)
    for key, number in held.lines.items():
        assert text.split("\n")[number - 1] == lock.line_of(key, facts[key])


def test_half_a_surrogate_pair_is_no_character() -> None:
    assert lock.line_of(("claims", "a", "says"), "\ud800") == 'claims.a.says = "�"'


def test_lines_as_a_pull_request_shows_them() -> None:
    assert lock.dump(EXAMPLE) == (
        f"{HEADER}\n\n"
        'claims.splitkv.note = "5 faster, 1 slower"\n\n'
        'series."kernels/splitkv_l4".log = "20261105"\n\n'
        'tables.splitkv-l4."1 / 8192" = "118.4 µs | 108.8 µs | 1.09× FASTER"\n'
    )
    assert lock.parse(lock.dump(EXAMPLE)).pins == {"kernels/splitkv_l4": "kernels/splitkv_l4_20261105"}


def test_a_row_called_log_is_no_pin() -> None:
    assert lock.parse(lock.dump({("tables", "series", "log"): "20260101"})).pins == {}


LINES = [line for line in lock.dump(EXAMPLE).split("\n") if line]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "first line"),
        ("\n".join(["# mine", *LINES[1:]]), 1, "first line"),
        ("\n".join([LINES[0], " ", *LINES[1:]]), 2, "not as `evidence update` writes it"),
        ("\n".join([LINES[0], LINES[2], LINES[1], ""]), 3, "out of order"),
        ("\n".join([LINES[0], LINES[1], LINES[1], ""]), 3, "stands here and on line 2"),
        ("\n".join([LINES[0], "claims.a.text = 'x'", ""]), 2, "not as"),
        ("\n".join([LINES[0], 'claims.a.says  = "x"', ""]), 2, "not as"),
        ("\n".join([LINES[0], 'claims.a.says = "\\u00e9"', ""]), 2, "not as"),
        ("\n".join([LINES[0], 'claims.a.says = "\u202e"', ""]), 2, "not as"),
        ("\n".join([LINES[0], 'claims.a.says = "\\x"', ""]), 2, "not as"),
        ("\n".join([LINES[0], 'claims.a.says = "\\U99999999"', ""]), 2, "not as"),
        ("\n".join([LINES[0], 'claims.a.says = "x" # why', ""]), 2, "not as"),
        ("\n".join([LINES[0], "[claims]", ""]), 2, "not as"),
    ],
)
def test_what_is_no_fact_is_named_with_its_line(text: str, line: int, message: str) -> None:
    held = lock.parse(text)
    (fault,) = held.faults
    assert fault.line == line
    assert message in fault.message
    assert not held.is_void


@pytest.mark.parametrize("mark", ["<<<<<<< HEAD", "=======", ">>>>>>> topic", "||||||| merged common ancestors"])
def test_the_marks_of_a_merge_void_it_and_are_one_fault(mark: str) -> None:
    held = lock.parse("\n".join([*LINES[:2], mark, *LINES[2:]]))
    (fault,) = held.faults
    assert (fault.line, held.is_void, held.facts) == (3, True, {})
    assert "git checkout --ours or --theirs" in fault.fix


def test_there_may_be_none_and_it_may_be_no_text(tmp_path: Path) -> None:
    assert lock.read(tmp_path / lock.FILE_NAME) is None
    (tmp_path / lock.FILE_NAME).write_bytes(b"\xff\xfe")
    held = lock.read(tmp_path / lock.FILE_NAME)
    assert held is not None
    assert held.is_void


def test_a_checkout_with_other_line_ends_is_read(tmp_path: Path) -> None:
    path = tmp_path / lock.FILE_NAME
    path.write_bytes(lock.dump(EXAMPLE).replace("\n", "\r\n").encode())
    held = lock.read(path)
    assert held is not None
    assert (held.facts, held.faults) == (EXAMPLE, ())


def test_two_branches_that_moved_different_series_merge_by_themselves(tmp_path: Path) -> None:
    """In a real repository: neighbours in the file, changed on either side."""
    owners: tuple[tuple[Section, str, str], ...] = (
        ("claims", "a", "says"),
        ("claims", "a", "note"),
        ("tables", "a", "1"),
        ("tables", "a", "2"),
        ("series", "kernels/a", "log"),
        ("series", "kernels/a", "sha256"),
        ("series", "kernels/a", "stance"),
    )
    every = {key: "old" for one in owners for key in (one, (one[0], one[1].replace("a", "b"), one[2]))}
    path = tmp_path / lock.FILE_NAME

    def side(branch: str, ends: str) -> None:
        sites.git(tmp_path, "checkout", "--quiet", "-b", branch, "main")
        moved = {key: "new" if key[1].endswith(ends) else text for key, text in every.items()}
        path.write_text(lock.dump(moved), encoding="utf-8")
        sites.commit(tmp_path)

    sites.git(tmp_path, "init", "--quiet", "--initial-branch=main")
    path.write_text(lock.dump(every), encoding="utf-8")
    sites.commit(tmp_path)
    side("one", "a")
    side("other", "b")
    sites.git(tmp_path, "merge", "--quiet", "--no-edit", "one")
    held = lock.read(path)
    assert held is not None
    assert (set(held.facts.values()), held.faults) == ({"new"}, ())
    assert path.read_text(encoding="utf-8") == lock.dump(held.facts)
