"""Owns records as plain JSON values, and changes to them by pointer: what a hand or a bug would write."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable, Mapping
from typing import Any

from evidence.schema.text import dump
from tests.factories import engine_record, imported_record, outcomes_record, record

GONE = object()
"""Stands for a key that is taken out."""

_BASES: dict[str, Callable[[], Any]] = {
    "measured": record,
    "outcomes": outcomes_record,
    "engine": engine_record,
    "imported": imported_record,
}
BASES = tuple(_BASES)


@functools.cache
def text_of(base: str) -> bytes:
    """The bytes of one of the sound records."""
    return dump(_BASES[base]())


def document(base: str) -> Any:
    """A sound record as JSON values, fresh for each caller."""
    return json.loads(text_of(base))


def changed(base: str, changes: Mapping[str, Any]) -> Any:
    """A sound record with values put in at JSON pointers; a callable gets the old value, GONE takes the key out."""
    found = copy.deepcopy(document(base))
    for pointer, value in changes.items():
        *parts, last = pointer.split("/")[1:]
        holder: Any = found
        for part in parts:
            holder = holder[int(part)] if isinstance(holder, list) else holder[part]
        key: Any = int(last) if isinstance(holder, list) else last
        if value is GONE:
            del holder[key]
        else:
            holder[key] = value(holder[key]) if callable(value) else value
    return found


def encoded(value: Any) -> bytes:
    """JSON values as a file."""
    return json.dumps(value, indent=1).encode()
