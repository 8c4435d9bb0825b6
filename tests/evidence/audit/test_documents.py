"""Files of any tool, and files that are none: what is read, and what is told of what is not."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.audit.documents import Kind, Problem, Row, files_below, rows_of
from evidence.audit.documents import read as read_file
from evidence.schema.text import dump
from tests.factories import imported_record


def read(data: bytes | str, name: str = "run.json") -> tuple[list[Row], list[Problem]]:
    problems: list[Problem] = []
    rows = list(rows_of(data.encode() if isinstance(data, str) else data, name, problems))
    return rows, problems


def scalars(row: Row) -> dict[str, float]:
    return {name: value for name, value, kind in row.values if kind is Kind.SCALAR}


def test_objects_side_by_side_are_rows_and_inherit_what_encloses_them() -> None:
    rows, problems = read('{"gpu": "T7", "batch": 8, "runs": [{"name": "a", "ms": 1.5}, {"name": "b", "ms": 2.5}]}')
    assert not problems
    assert [(row.place, scalars(row)) for row in rows[1:]] == [("/runs/0", {"ms": 1.5}), ("/runs/1", {"ms": 2.5})]
    assert rows[1].texts["gpu"] == "T7"
    assert rows[1].settings == {"batch": 8.0}


def test_siblings_of_one_shape_are_rows_named_by_their_keys() -> None:
    rows, _ = read('{"ttft": {"unit": "ms", "avg": 5.5}, "itl": {"unit": "ms", "avg": 2.5}, "note": "x"}')
    assert [row.keys for row in rows if row.values] == [("ttft",), ("itl",)]


def test_what_stands_once_is_part_of_its_row() -> None:
    rows, _ = read('{"mode": "pp", "bench": {"avg": 3.5, "inner": {"n": 4}}}')
    assert [scalars(row) for row in rows] == [{"bench.avg": 3.5, "bench.inner.n": 4.0}]


def test_lines_of_json_by_any_name_and_a_label_between_them() -> None:
    rows, problems = read('torch:\n{"ms": 1.5}\n{"ms": 2.5}\nte:\n{"ms": 3.5}\n', "run.csv.json")
    assert [(row.place, row.texts["label"]) for row in rows] == [
        ("line 2", "torch"),
        ("line 3", "torch"),
        ("line 5", "te"),
    ]
    assert [problem.place for problem in problems] == ["line 1", "line 4"]


def test_csv_with_a_mark_crlf_two_tables_and_a_column_twice() -> None:
    text = "\ufeffname,ms,ms\r\na,1.5,2.5\r\n\r\nMetric,Value\r\nrate,7.25\r\n"
    rows, problems = read(text.encode(), "run.csv")
    assert not problems
    assert [(row.place, scalars(row)) for row in rows] == [
        ("line 2", {"ms": 1.5, "ms [2]": 2.5}),
        ("line 5", {"Value": 7.25}),
    ]


def test_packed_and_utf16_files_are_read() -> None:
    text = '{"ms": 1.5}'
    assert scalars(read(gzip.compress(text.encode()), "run.json.gz")[0][0]) == {"ms": 1.5}
    assert scalars(read(text.encode("utf-16"))[0][0]) == {"ms": 1.5}


def test_numbers_that_are_none_are_kept_as_texts() -> None:
    rows, _ = read('{"a": NaN, "b": Infinity, "c": null, "d": true, "e": "7.5", "f": 1.5}')
    assert scalars(rows[0]) == {"e": 7.5, "f": 1.5}
    assert [rows[0].texts[key] for key in "abcd"] == ["nan", "inf", "null", "true"]


@pytest.mark.parametrize(
    ("data", "name", "place", "words"),
    [
        (b"", "run.json", "", "empty"),
        (b'{"ms": 1.5', "run.json", "line 1", "not JSON"),
        (b'{"ms": 1.5}\xff', "run.json", "line 1", "not UTF-8 at byte 11"),
        ('{"ms": 1.5}'.encode("utf-16-le"), "run.json", "line 1", "zero bytes"),
        (b'{\n"ms": 1.5, "ms": 2.5}', "run.json", "line 2", "uplicate key"),
        (b"[" * 100_000, "run.json", "line 1", "not JSON"),
        (b'name,ms\na,"1.5\n', "run.csv", "line 2", "not CSV"),
        (b'name,ms\n"a"b,1.5\n', "run.csv", "line 2", "not CSV"),
        (b"1.5,2.5\n3.5,4.5\n", "run.csv", "line 1", "without a header"),
        (b"name,ms\na,1.5,7\n", "run.csv", "line 2", "3 cells"),
        (b"\x1f\x8bbroken", "run.json.gz", "", "unpacked"),
        (b"\x80\x04pickled", "run.json", "line 1", "not UTF-8"),
        (b"plain words\n", "run.jsonl", "line 1", "not JSON"),
    ],
)
def test_what_is_no_result_file_is_told_with_its_place(data: bytes, name: str, place: str, words: str) -> None:
    _, problems = read(data, name)
    assert problems
    assert (problems[0].file, problems[0].place) == (name, place)
    assert words in problems[0].message


def test_of_two_keys_the_last_is_read() -> None:
    assert scalars(read('{"ms": 1.5, "ms": 2.5}')[0][0]) == {"ms": 2.5}


def test_huge_numbers_and_texts_break_nothing() -> None:
    rows, problems = read('{"big": ' + "9" * 400 + ', "ms": 1.5, "text": "' + "x" * 1_000_000 + '", "e": 1e400}')
    assert scalars(rows[0])["ms"] == 1.5
    assert len(rows[0].texts["text"]) <= 200
    assert not problems


def test_a_number_beyond_reading_is_told() -> None:
    rows, problems = read('{"ms": 1.5,\n"big": ' + "9" * 6000 + "}")
    assert not rows
    assert problems[0].place.startswith("line ")
    assert "not JSON" in problems[0].message


def test_deep_nesting_that_parses_is_walked() -> None:
    rows, problems = read('{"a": ' * 150 + '{"ms": 1.5}' + "}" * 150)
    assert not problems
    assert len(rows) == 1


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["a.json", "a.jsonl", "a.csv", "a.json.gz"]))
def test_any_bytes_are_rows_or_problems(data: bytes, name: str) -> None:
    rows, _ = read(data, name)
    assert all(math.isfinite(value) for row in rows for _, value, _ in row.values)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(_JSON)
def test_any_json_is_rows(document: object) -> None:
    rows, _ = read(json.dumps(document))
    assert all(math.isfinite(value) for row in rows for _, value, _ in row.values)


def test_files_are_found_in_order_without_links_hidden_ones_and_the_page(tmp_path: Path) -> None:
    for name in ("b.json", "a/c.csv", ".git/d.json", "notes.txt", "page.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    (tmp_path / "link.json").symlink_to(tmp_path / "b.json")
    found = [path.relative_to(tmp_path).as_posix() for path, _ in files_below([tmp_path], [tmp_path / "page.csv"])]
    assert found == ["a/c.csv", "b.json"]


def test_what_is_no_record_is_read_as_any_json_and_told() -> None:
    rows, problems = read('{"schema_version": 1, "log": "a/b_20260101", "arms": [], "cells": [], "ms": 1.5}')
    assert scalars(rows[0])["ms"] == 1.5
    assert "no record, so read as any JSON" in problems[0].message


def test_an_imported_record_has_what_its_file_reported() -> None:
    rows, problems = read(dump(imported_record()))
    assert not problems
    assert scalars(rows[0])["latency.p50"] == 0.125
    assert rows[0].cell is not None


def test_many_lines_that_are_no_json_are_counted() -> None:
    _, problems = read('{"ms": 1.5}\n' * 40 + "words\n" * 30)
    assert "10 more lines" in problems[-1].message


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    problems: list[Problem] = []
    assert not list(read_file(tmp_path / "gone.json", "gone.json", problems))
    assert "cannot be read" in problems[0].message


def test_beside_a_record_nothing_else_is_read(tmp_path: Path) -> None:
    for name in ("a_20260101/record.json", "a_20260101/raw.json", "b/record.json", "b/other.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    (tmp_path / "a_20260101/record.json").write_bytes(dump(imported_record()))
    found = [path.relative_to(tmp_path).as_posix() for path, _ in files_below([tmp_path])]
    assert found == ["a_20260101/record.json", "b/other.json", "b/record.json"]


def test_attributes_are_values_of_what_holds_them() -> None:
    state = {"ttft": {"unit": "ms", "value": 5.5}, "itl": {"unit": "ms", "value": "2.5"}}
    rows, _ = read(json.dumps([{"name": "a", "metrics": state}, {"name": "b", "metrics": state}]))
    assert [scalars(row) for row in rows] == [{"metrics.ttft.value": 5.5, "metrics.itl.value": 2.5}] * 2
    listed = [{"name": name, **held} for name, held in state.items()]
    rows, _ = read(json.dumps({"run": 1, "summaries": listed}))
    assert scalars(rows[0]) == {"run": 1.0, "summaries.ttft.value": 5.5, "summaries.itl.value": 2.5}


def test_values_of_one_name_are_rows() -> None:
    rows, _ = read('{"summaries": [{"name": "a", "value": 1.5}, {"name": "a", "value": 2.5}]}')
    assert [row.place for row in rows] == ["/summaries/0", "/summaries/1"]
