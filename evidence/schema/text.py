"""Owns the two directions between a record and its bytes: `parse` and `dump`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import jiter
from pydantic import ValidationError

from evidence.errors import RecordError
from evidence.schema.json_schema import structural_errors
from evidence.schema.leaves import leaves
from evidence.schema.migrations import migrate
from evidence.schema.places import line_of, pointer_of
from evidence.schema.record import SCHEMA_VERSION, Record

_VERSION = re.compile(rb'"schema_version"\s*:\s*%d\s*[,}]' % SCHEMA_VERSION)
_PLACE = re.compile(r"([a-z_]+(?:/[\w.-]+)*): ")
_JITER_LINE = re.compile(r" at line (\d+) column \d+$")


def parse(data: bytes) -> Record:
    """Read a record of any known version.

    Raises:
        RecordError: the bytes are not one record; the error says where and why.
        UnknownVersionError: the record is newer than this package.
    """
    return read(data)[0]


def read(data: bytes) -> tuple[Record, Sequence[str]]:
    """Read a record of any known version, with every text in it.

    Raises:
        RecordError: the bytes are not one record; the error says where and why.
        UnknownVersionError: the record is newer than this package.
    """
    record = _straight(data)
    if record is not None:
        texts, strings = leaves(record)
        if 2 * strings == data.count(b'"'):
            return record, texts
    record = _with_care(data)
    return record, leaves(record)[0]


def _straight(data: bytes) -> Record | None:
    """Read what this package writes, if it holds no escape; None for all else, which has to be read with care."""
    if b"\\" in data or _VERSION.search(data) is None:
        return None
    try:
        data.decode()
        return Record.model_validate_json(data)
    except (UnicodeDecodeError, ValidationError):
        return None


def _with_care(data: bytes) -> Record:
    document = _document(data)
    version = document.get("schema_version")
    try:
        if type(version) is int and version == SCHEMA_VERSION:
            return Record.model_validate_json(data)
        document = migrate(document)
        return Record.model_validate_json(json.dumps(document))
    except ValidationError as error:
        raise _explain(error, document, data) from None
    except RecordError as error:
        error.line = line_of(data.decode(errors="replace"), error.pointer)
        raise


def _document(data: bytes) -> dict[str, Any]:
    """Parse JSON once for what pydantic lets pass: byte order mark, duplicate keys, a root that is no object."""
    if not data.strip():
        raise RecordError("the file is empty", fix="restore it from version control")
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise RecordError("the file starts with a byte order mark", fix="store it as UTF-8 without a byte order mark")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RecordError(f"not UTF-8 at byte {error.start}", line=line, fix="store it as UTF-8") from None
    try:
        document = jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        text = str(error)
        match = _JITER_LINE.search(text)
        raise RecordError(
            f"not JSON: {text[:300]}",
            line=int(match[1]) if match else 1,
            fix="restore it from version control; records are never edited",
        ) from None
    if not isinstance(document, dict):
        raise RecordError("the root is not an object", fix="a record is one JSON object")
    return document


def _explain(error: ValidationError, document: dict[str, Any], data: bytes) -> RecordError:
    """Turn a validation error into one with a pointer, a line and a message; structure before meaning."""
    pointer, message = next(structural_errors(document), ("", ""))
    if not message:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        pointer, message = _pointer(first["loc"], document), str(first["msg"]).removeprefix("Value error, ")
        if not pointer and (place := _PLACE.match(message)):
            pointer, message = f"/{place[1]}", message[place.end() :]
    return RecordError(
        f"{pointer or 'record'}: {message}",
        pointer=pointer,
        line=line_of(data.decode(), pointer),
        fix="rerun the benchmark, or restore the file; a record is never edited by hand",
    )


def _pointer(location: tuple[int | str, ...], document: object) -> str:
    """Drop from a pydantic location what is not in the document: the tags of unions.

    A tag stands first after the object it belongs to, and may be the name of one of its keys too (`op`, `device`).
    """
    parts: list[str | int] = []
    here = document
    is_entered = True
    for part in location:
        if isinstance(here, dict) and isinstance(part, str):
            is_tag = is_entered and part in (here.get(key) for key in ("kind", "outcome", "origin"))
            is_entered = False
            if part in here and not is_tag:
                here, is_entered = here[part], True
                parts.append(part)
        elif isinstance(here, list) and isinstance(part, int) and part < len(here):
            here, is_entered = here[part], True
            parts.append(part)
    return pointer_of(tuple(parts))


def dump(record: Record) -> bytes:
    """Write a record the one way it is stored: a container of scalars on one line, the rest indented by one.

    A process's samples then stand on a line of their own, so that a diff of two records reads.
    """
    return (_lines(record.model_dump(mode="json"), 0) + "\n").encode()


def _lines(value: object, depth: int) -> str:
    if not isinstance(value, dict | list) or not any(isinstance(v, dict | list) for v in _children(value)):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    pad = "\n" + " " * (depth + 1)
    if isinstance(value, dict):
        items = (f"{json.dumps(key, ensure_ascii=False)}: {_lines(child, depth + 1)}" for key, child in value.items())
        return "{" + pad + f",{pad}".join(items) + "\n" + " " * depth + "}"
    return "[" + pad + f",{pad}".join(_lines(child, depth + 1) for child in value) + "\n" + " " * depth + "]"


def _children(value: dict[str, object] | list[object]) -> list[object]:
    return list(value.values()) if isinstance(value, dict) else value
