"""Between a record and its bytes: one way each, and nothing but a record or an error from any bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.errors import RecordError
from evidence.schema import Record
from evidence.schema.text import dump, parse
from tests.evidence.schema.documents import text_of
from tests.evidence.schema.strategies import JSON, broken_bytes, broken_documents, records
from tests.factories import record

GOLDEN = Path(__file__).parents[2] / "golden/records"


@given(records())
def test_what_is_written_reads_back(one: Record) -> None:
    data = dump(one)
    again = parse(data)
    assert again == one
    assert hash(again) == hash(one)
    assert dump(again) == data


def record_or_error(data: bytes) -> Record | RecordError:
    try:
        return parse(data)
    except RecordError as error:
        found = error
    assert 1 <= found.line <= data.count(b"\n") + 1
    assert found.message
    assert len(found.message) < 3000
    return found


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_any_bytes_are_an_error(data: bytes) -> None:
    assert isinstance(record_or_error(data), RecordError)


@given(JSON | st.dictionaries(st.sampled_from(sorted(Record.model_fields)), JSON, max_size=4))
def test_any_json_is_an_error(value: Any) -> None:
    assert isinstance(record_or_error(json.dumps(value).encode()), RecordError)


@given(broken_documents())
def test_a_record_with_other_values_is_a_record_or_an_error(data: bytes) -> None:
    found = record_or_error(data)
    if isinstance(found, Record):
        assert parse(dump(found)) == found


@given(broken_bytes())
def test_a_record_with_other_bytes_is_a_record_or_an_error(data: bytes) -> None:
    found = record_or_error(data)
    if isinstance(found, Record):
        assert parse(dump(found)) == found


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("v1-*.json")), ids=lambda path: path.stem)
def test_every_record_of_version_1_loads_and_is_written_byte_for_byte(path: Path) -> None:
    data = path.read_bytes()
    assert dump(parse(data)) == data


def test_there_are_golden_records() -> None:
    names = {path.stem for path in GOLDEN.glob("v1-*.json")}
    assert names == {"v1-measured", "v1-outcomes", "v1-engine", "v1-imported"}


def test_the_file_is_utf_8_with_one_line_for_each_row_of_samples() -> None:
    data = dump(record(limitations=("größer als 8 µs\nzweite Zeile",)))
    assert "größer als 8 µs\\nzweite Zeile" in data.decode()
    assert data.endswith(b"}\n")
    lines = data.decode().splitlines()
    assert sum(line.strip().startswith('"values": [') and line.endswith("]") for line in lines) == 27
    assert not any(line.endswith(" ") for line in lines)


def test_layout_and_order_of_keys_do_not_matter() -> None:
    value = json.loads(text_of("measured"))
    turned = {key: value[key] for key in sorted(value, reverse=True)}
    assert parse(json.dumps(turned, separators=(",", ":")).encode()) == parse(text_of("measured"))


def test_durations_read_back_as_they_were_measured() -> None:
    values = (2069504 / 1e9, 5e-324, 1.7976931348623157e308, 0.1 + 0.2)
    cells = record().cells
    first = cells[0].processes[0]  # type: ignore[union-attr]
    changed = first.model_copy(update={"samples": (first.samples[0].model_copy(update={"values": values}),)})
    one = record(cells=(cells[0].model_copy(update={"processes": (changed,)}), *cells[1:]))
    again = parse(dump(one)).cells[0].processes[0].samples[0].values  # type: ignore[union-attr]
    assert again == values
