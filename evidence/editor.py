"""Owns the claims schema that also knows a store: editors complete and check series, arms, metrics, axes and values.

It is the plain schema with conditions: what an item may say follows from the series it names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evidence.readings import known_counts, known_metrics
from evidence.schema import Record
from evidence.schema.claims import claims_schema
from evidence.selection import ARM, axes_of

FILE_NAME = "claims-store.schema.json"
_STATISTIC = r"median|mean|min|max|p[0-9]{1,2}(\.[0-9]+)?"

Schema = dict[str, Any]


def store_schema(records: Mapping[str, Record], logs: Sequence[str]) -> Schema:
    """Return the schema of claims files over a store.

    Args:
        records: Series -> the record to take its names from.
        logs: Every log, which an item with a status may name by its date.
    """
    schema = claims_schema()
    definitions = schema["$defs"]
    named = {"enum": [*records, *logs]}
    claim, also, table = (definitions[name] for name in ("Claim", "Also", "TableSpec"))
    claim["properties"]["series"] = named
    also["properties"]["series"] = {"anyOf": [named, {"type": "null"}]}
    table["properties"]["series"] = {"anyOf": [named, {"type": "array", "items": named, "minItems": 1}]}
    schema["properties"]["logs"]["propertyNames"] = {"enum": list(logs)}
    claim["allOf"] = [_if_series(series, _claim(record)) for series, record in records.items()]
    also["allOf"] = [_if_series(series, _reading(record)) for series, record in records.items()]
    table["allOf"] = [_if_series(series, _table(record)) for series, record in records.items()]
    return schema


def _if_series(series: str, then: Schema) -> Schema:
    return {"if": {"properties": {"series": {"const": series}}, "required": ["series"]}, "then": then}


def _claim(record: Record) -> Schema:
    inheriting = {"if": {"not": {"required": ["series"]}}, "then": _reading(record)}
    return {"properties": {**_reading(record)["properties"], "also": {"additionalProperties": inheriting}}}


def _reading(record: Record) -> Schema:
    arm = {"enum": [*(one.name for one in record.arms), None]}
    places = {axis: values for axis, values in axes_of(record).items() if axis != ARM}
    return {
        "properties": {
            "metric": {"anyOf": [*_metric(record), {"type": "null"}]},
            "arm": arm,
            "baseline": arm,
            "candidate": arm,
            "where": {"anyOf": [_where(places), {"type": "null"}]},
        }
    }


def _table(record: Record) -> Schema:
    axes = axes_of(record)
    arm = {"enum": [one.name for one in record.arms]}
    metric = {"anyOf": _metric(record)}
    vs = {"anyOf": [arm, {"type": "object", "propertyNames": arm, "additionalProperties": arm}, {"type": "null"}]}
    nullable = {"anyOf": [*_metric(record), {"type": "null"}]}
    derived = {name: nullable for name in ("value", "ratio", "change", "peak")}
    column = {"anyOf": [metric, {"type": "object", "properties": {**derived, "vs": vs}}]}
    return {
        "properties": {
            "rows": {"items": {"enum": list(axes)}},
            "across": {"enum": [*axes, None]},
            "baseline": vs,
            "columns": {"items": column},
            "where": _where(axes),
        }
    }


def _metric(record: Record) -> list[Schema]:
    """A metric by name, which editors can offer; or one of these with a statistic, a count to divide by, or both."""
    names, counts = known_metrics(record), known_counts(record)
    pattern = rf"^({'|'.join(names)})(\.({_STATISTIC}))?(/({'|'.join(counts)}))?$"
    return [{"enum": list(names)}, {"type": "string", "pattern": pattern}]


def _where(axes: Mapping[str, Iterable[str]]) -> Schema:
    properties = {}
    for axis, values in axes.items():
        one = {"enum": [form for value in values for form in _forms(value)]}
        properties[axis] = {"anyOf": [one, {"type": "array", "items": one}]}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _forms(value: str) -> tuple[object, ...]:
    """A value as text, and as the number that YAML makes of it."""
    try:
        number = int(value) if value.lstrip("-").isdecimal() else float(value)
    except ValueError:
        return (value,)
    return (value, number) if str(number) == value else (value,)
