"""Where a pointer stands in a JSON text: the line an error names is the line a reader opens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.schema.places import line_of, pointer_of

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
KEYS = st.text(max_size=4) | st.sampled_from(['a"b', "a/b", "m~n", "\\", "{", "}", "[", "]", ":", ",", "0", "é\n"])
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
)


def written(value: Any, parts: tuple[str | int, ...], lines: list[str], ascii_only: bool) -> Iterator[tuple[str, int]]:
    """Write each key, scalar and bracket on a line of its own; yield every pointer with the line of its value."""
    if isinstance(value, dict | list) and value:
        lines.append("[" if isinstance(value, list) else "{")
        yield pointer_of(parts), len(lines)
        items = list(enumerate(value)) if isinstance(value, list) else list(value.items())
        for index, (key, child) in enumerate(items):
            if isinstance(value, dict):
                lines.append(json.dumps(key, ensure_ascii=ascii_only) + " :")
            yield from written(child, (*parts, key), lines, ascii_only)
            if index < len(items) - 1:
                lines.append(",")
        lines.append("]" if isinstance(value, list) else "}")
    else:
        lines.append(json.dumps(value, ensure_ascii=ascii_only))
        yield pointer_of(parts), len(lines)


@given(DOCUMENTS, st.booleans())
def test_every_pointer_is_found_on_the_line_of_its_value(document: Any, ascii_only: bool) -> None:
    lines: list[str] = []
    places = list(written(document, (), lines, ascii_only))
    text = "\n".join(lines)
    assert json.loads(text) == document
    for pointer, line in places:
        assert line_of(text, pointer) == (line if pointer else 1)


@given(DOCUMENTS, st.text(max_size=12))
def test_what_is_not_there_gives_the_line_of_what_holds_it(document: Any, name: str) -> None:
    lines: list[str] = []
    places = dict(written({"held": document}, (), lines, True))
    assert line_of("\n".join(lines), pointer_of(("held", "not there", name))) == places["/held"]


@given(DOCUMENTS, st.data())
def test_a_text_that_breaks_off_gives_the_same_lines_up_to_there(document: Any, data: st.DataObject) -> None:
    lines: list[str] = []
    places = list(written(document, (), lines, True))
    kept = data.draw(st.integers(1, len(lines)))
    for pointer, line in places[1:]:
        if line <= kept:
            assert line_of("\n".join(lines[:kept]), pointer) == line


def test_brackets_that_nobody_closes_are_read_once() -> None:
    assert line_of("[\n[" * 50_000, "/1") == 1


@given(st.text(max_size=40), st.lists(st.text(max_size=3), max_size=3))
def test_any_text_and_pointer_give_a_line_of_the_text(text: str, parts: list[str]) -> None:
    assert 1 <= line_of(text, pointer_of(tuple(parts))) <= text.count("\n") + 1


@pytest.mark.parametrize(
    ("text", "pointer", "line"),
    [
        ("", "/a", 1),
        ('{"a":\n1', "/a", 2),
        ('{"a":\n', "/a", 1),
        ('{"a": {"b":\n2}}', "/a/b/c/d", 2),
        ('{"a": [1,\n2,\n3]}', "/a/2", 3),
        ('{"a": [1,\n2]}', "/a/7", 1),
        ('{"a": [1, 2]}\n{"b": 1}', "/b", 2),
        ("]\n]", "/a", 1),
        ('{"a": 1, "a":\n2}', "/a", 1),
        ('{"\\u0061":\n\n1}', "/a", 3),
        ('{"\\q":\n1}', "/\\q", 2),
    ],
)
def test_lines_of_broken_and_odd_texts(text: str, pointer: str, line: int) -> None:
    assert line_of(text, pointer) == line


def test_pointers_escape_as_rfc_6901_says() -> None:
    assert pointer_of(()) == ""
    assert pointer_of(("a/b", 0, "m~n", "")) == "/a~1b/0/m~0n/"
