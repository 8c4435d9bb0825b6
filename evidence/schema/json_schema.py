"""Owns the published JSON Schema (2020-12) of the record, and readable errors from it."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evidence.schema.descriptions import Described
from evidence.schema.places import pointer_of
from evidence.schema.record import SCHEMA_VERSION, Record

if TYPE_CHECKING:
    from jsonschema import ValidationError

FILE_NAME = f"record-v{SCHEMA_VERSION}.schema.json"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


@functools.cache
def record_schema() -> dict[str, Any]:
    """Return the JSON Schema of the current record version.

    Python gives discriminator tags a default; a file must write them, so the schema asks for every key but those that
    records were first written without.
    """
    schema = Record.model_json_schema(mode="validation", schema_generator=Described)
    for definition in (schema, *schema.get("$defs", {}).values()):
        if "properties" in definition:
            fields = definition["properties"].items()
            definition["required"] = sorted(
                name for name, field in fields if "default" not in field or "const" in field
            )
    return {"$schema": _DIALECT, **schema}


def schema_text() -> str:
    """Return the file as committed under docs/schemas/."""
    return json.dumps(record_schema(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def structural_errors(document: object) -> Iterator[tuple[str, str]]:
    """Yield (JSON pointer, message) of what breaks the schema, nearest to the root first."""
    from jsonschema import Draft202012Validator  # slow to import, and needed only when something is wrong

    errors = sorted(
        Draft202012Validator(record_schema()).iter_errors(document), key=lambda error: len(error.absolute_path)
    )
    for error in errors:
        for leaf in _leaves(error):
            yield pointer_of(tuple(leaf.absolute_path)), _message(leaf)


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    """Follow a union into the branch its tag chose; without this every branch would complain."""
    if error.validator not in ("oneOf", "anyOf") or not error.context:
        yield error
        return
    branches: dict[object, list[ValidationError]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).append(inner)
    tagged = [b for b in branches.values() if not any(e.validator == "const" and len(e.path) == 1 for e in b)]
    fitting = [b for b in tagged if not any(e.validator == "type" and not e.path for e in b)]
    if len(fitting) != 1:
        yield error
        return
    for inner in fitting[0]:
        yield from _leaves(inner)


def _message(error: ValidationError) -> str:
    if error.validator == "additionalProperties":
        return error.message.replace("Additional properties are not allowed", "unknown keys")
    if error.validator in ("oneOf", "anyOf"):
        tags = sorted(
            str(branch["properties"][key]["const"])
            for branch in _definitions(error)
            for key in ("kind", "outcome", "origin")
            if "const" in branch["properties"].get(key, {})
        )
        return f"fits none of its forms{': ' + ', '.join(tags) if tags else ''}"
    text = error.message
    return text if len(text) <= 300 else f"{text[:150]} … {text[-150:]}"


def _definitions(error: ValidationError) -> list[dict[str, Any]]:
    definitions = record_schema()["$defs"]
    branches: list[dict[str, Any]] = list(error.validator_value)  # type: ignore[arg-type]
    return [definitions[branch["$ref"].rsplit("/", 1)[-1]] for branch in branches if "$ref" in branch]
