"""Laws of the audit: true pages are bound, shuffled and invented numbers mostly are not."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.audit import quantities, report
from evidence.audit.auditing import judge
from evidence.audit.documents import rows_of
from evidence.audit.index import Index, bits, fitting, members
from evidence.audit.pages import read, vocabulary
from evidence.audit.verdicts import Audit, Verdict
from tests.evidence.audit.pairs import audited, kernel_logs, kernel_page, speeds

_RESULT = re.compile(r"(?<=\| )\d+\.\d\d(?= \|)")


@pytest.mark.parametrize("seed", range(6))
def test_shuffled_numbers_of_a_page_are_mostly_not_bound(tmp_path: Path, seed: int) -> None:
    logs, page = kernel_logs(tmp_path), kernel_page(tmp_path)
    text = page.read_text(encoding="utf-8")
    printed = _RESULT.findall(text)
    shuffled = printed.copy()
    random.Random(seed).shuffle(shuffled)
    stayed = sum(old == new for old, new in zip(printed, shuffled, strict=True)) / len(printed)
    moved = iter(shuffled)
    page.write_text(_RESULT.sub(lambda match: next(moved), text), encoding="utf-8")
    judged = [
        one for one in audited(page, logs).judged if _RESULT.fullmatch(f"{one.printed.text}") or "." in one.printed.text
    ]
    results = [
        one for one in judged if one.printed.table is not None and one.printed.head in ("HIP", "old-mfma", "wide-tile")
    ]
    bound = sum(one.verdict is Verdict.BOUND for one in results) / len(results)
    assert len(results) == len(printed)
    assert bound <= stayed + 0.1


@pytest.mark.parametrize("seed", range(6))
def test_invented_numbers_are_mostly_not_bound(tmp_path: Path, seed: int) -> None:
    drawn = random.Random(seed)
    invented = {key: value * drawn.uniform(1.2, 3.0) for key, value in speeds().items()}
    audit = audited(kernel_page(tmp_path, invented), kernel_logs(tmp_path))
    results = [one for one in audit.judged if one.printed.head in ("HIP", "old-mfma", "wide-tile", "Δ%")]
    bound = sum(one.verdict is Verdict.BOUND for one in results)
    assert bound <= len(results) * 0.03


@pytest.mark.parametrize("seed", range(8))
def test_one_changed_digit_is_found(tmp_path: Path, seed: int) -> None:
    logs, page = kernel_logs(tmp_path), kernel_page(tmp_path)
    text = page.read_text(encoding="utf-8")
    drawn = random.Random(seed)
    chosen = drawn.choice(list(_RESULT.finditer(text)))
    place = chosen.start() + drawn.choice([n for n, letter in enumerate(chosen[0]) if letter.isdigit()])
    changed = str((int(text[place]) + drawn.randint(1, 9)) % 10)
    page.write_text(text[:place] + changed + text[place + 1 :], encoding="utf-8")
    line = text.count("\n", 0, place) + 1
    found = [one for one in audited(page, logs).judged if one.verdict.is_finding]
    assert found
    assert {one.printed.at.line for one in found} == {line}


@pytest.mark.parametrize("digits", [2, 3])
def test_short_numbers_without_labels_are_not_bound(tmp_path: Path, digits: int) -> None:
    logs = kernel_logs(tmp_path)
    drawn = random.Random(digits)
    lines = [f"Then it took {drawn.uniform(10, 100):.{digits - 2}f} ms." for _ in range(200)]
    page = tmp_path / "page.md"
    page.write_text("\n\n".join(lines), encoding="utf-8")
    bound = sum(one.verdict is Verdict.BOUND for one in audited(page, logs).judged)
    assert bound <= 10


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=0, max_value=10**6), st.integers(0, 3))
def test_a_value_rounded_any_way_is_held(value: object, places: int) -> None:
    number = float(str(value))
    quantity = quantities.read(f"{number:.{places}f}")
    assert quantity is not None
    assert quantity.holds(number)
    assert not quantity.holds(number + 1.5 * 10.0**-places)


@given(st.sets(st.integers(0, 400)))
def test_a_set_of_rows_has_its_members(numbers: set[int]) -> None:
    assert list(members(bits(numbers, 64), 1000)) == sorted(numbers)


@given(st.lists(st.tuples(st.integers(0, 2**40 - 1), st.integers(1, 3)), max_size=6))
def test_rows_are_ranked_by_the_weight_of_their_labels(demands: list[tuple[int, int]]) -> None:
    everything = 2**40 - 1
    levels = fitting(demands, everything)
    for row in range(40):
        weight = sum(held for rows, held in demands if rows >> row & 1)
        assert all(bool(level >> row & 1) is (score <= weight) for score, level in enumerate(levels))


@given(st.text(max_size=300))
def test_any_text_is_a_page(text: str) -> None:
    page = read(text.encode("utf-8", "surrogatepass").decode("utf-8", "ignore").encode(), "page.md")
    lines = text.count("\n") + text.count("\r") + 1
    assert all(1 <= one.at.line <= lines for one in page.numbers)


@given(st.text(alphabet="|-: \n\t0123456789.%x*`ab>#", max_size=200))
def test_any_table_is_a_page(text: str) -> None:
    page = read(text.encode(), "page.md")
    assert all(one.at.line >= 1 for one in page.numbers)


_TOKENS = st.sampled_from(
    [
        "emu",
        "rhea",
        "batch",
        "64",
        "1.5",
        "3.25x",
        "12 %",
        "nan",
        "",
        "0",
        "-7",
        "2,048",
        "1.5e300",
        "~550",
        "±",
        "|",
        "ms",
        "->",
    ]
)
_ROWS = st.lists(
    st.dictionaries(
        st.sampled_from(["model", "batch", "time_ms", "tok_s", "ratio", "samples"]),
        st.sampled_from(["emu", "rhea", 64, 1.5, 3.25, 0, -7, 2048, None, "nan", 1e308, [1.5, 2.5], {"a": 1, "b": 64}]),
        min_size=1,
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(_TOKENS, min_size=1, max_size=5), min_size=1, max_size=6), st.text(max_size=40), _ROWS)
def test_any_page_against_any_file_gives_each_number_one_verdict(
    grid: list[list[str]], words: str, rows: list[dict[str, object]]
) -> None:
    table = ["| " + " | ".join(cells) + " |" for cells in grid]
    table.insert(1, "|---" * len(grid[0]) + "|")
    text = "\n".join(["# emu", words, "", *table, "", " ".join(token for cells in grid for token in cells)])
    page = read(text.encode("utf-8", "replace"), "page.md")
    index = Index(vocabulary([page]))
    for row in rows_of(json.dumps(rows).encode(), "run.json", []):
        index.add(row)
    index.close()
    judged, _ = judge([page], index)
    assert [one.printed for one in judged] == list(page.numbers)
    audit = Audit(judged, (), (), 1, len(index.rows), len(index))
    assert report.text(audit)
    assert json.loads(report.json_text(audit))
