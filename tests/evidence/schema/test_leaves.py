"""The leaves of a record are those of its document: every text, and as many strings as there are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evidence.errors import RecordError
from evidence.schema import Record
from evidence.schema.leaves import leaves
from evidence.schema.text import dump, parse, read
from tests import factories

RECORDS = (factories.record(), factories.engine_record(), factories.outcomes_record(), factories.imported_record())


def _strings(value: Any) -> list[str]:
    """Return keys and texts of a document, as the standard library reads it."""
    if isinstance(value, dict):
        return [*value, *(text for child in value.values() for text in _strings(child))]
    if isinstance(value, list):
        return [text for child in value for text in _strings(child)]
    return [value] if isinstance(value, str) else []


def _texts(value: Any) -> list[str]:
    """Return the texts of a document but its two times."""
    if isinstance(value, dict):
        times = ("started_at", "ended_at")
        return [text for key, child in value.items() if key not in times for text in _texts(child)]
    if isinstance(value, list):
        return [text for child in value for text in _texts(child)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("record", RECORDS)
def test_every_text_and_every_string(record: Record) -> None:
    document = json.loads(dump(record))
    texts, strings = leaves(Record.model_validate_json(dump(record)))
    assert strings == len(_strings(document))
    assert sorted(texts) == sorted(_texts(document))
    assert read(dump(record)) == (record, texts)
    assert sorted(leaves(record)[0]) == sorted(texts)


def _twice(document: Any, skip: int) -> tuple[str, int]:
    """Return the document with one key of one object written twice, and how many objects it has."""
    seen = 0

    def write(value: Any) -> str:
        nonlocal seen
        if isinstance(value, list):
            return f"[{', '.join(map(write, value))}]"
        if not isinstance(value, dict):
            return json.dumps(value)
        mine, seen = seen, seen + 1
        items = [f"{json.dumps(key)}: {write(child)}" for key, child in value.items()]
        return "{" + ", ".join([items[-1], *items] if mine == skip and items else items) + "}"

    return write(document), seen


@pytest.mark.parametrize("record", RECORDS)
def test_a_key_that_stands_twice_anywhere_is_refused(record: Record) -> None:
    document = json.loads(dump(record))
    _, objects = _twice(document, -1)
    for at in range(objects):
        text, _ = _twice(document, at)
        with pytest.raises(RecordError, match="duplicate"):
            parse(text.encode())


@pytest.mark.parametrize("version", ["true", "1.0", "1e0", '"1"', "0", "2"])
def test_only_the_number_one_is_version_one(version: str) -> None:
    text = dump(RECORDS[0]).decode().replace('"schema_version": 1', f'"schema_version": {version}', 1)
    with pytest.raises(RecordError):
        parse(text.encode())
