"""Owns the texts of a table: its title, headings, notes and reasons, with their fields filled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from evidence.schema.claims import DerivedColumn, Note, Omission, TableSpec
from evidence.selection import ARM, matches, place_of
from evidence.sentences import with_facts
from evidence.statements import spoken
from evidence.store import Loaded


def with_texts(spec: TableSpec, logs: Sequence[Loaded]) -> TableSpec:
    """Return a specification whose texts are as they are shown.

    Raises:
        ItemError: a field that is no fact of what the table shows.
    """
    if not any("{" in text for _, text in free_texts(spec)):
        return spec
    facts = _facts(spec, logs)

    def filled(*parts: str | int) -> Callable[[str], str]:
        return lambda text: with_facts(text, facts, *parts)

    def reasons(key: str) -> tuple[Note | Omission, ...]:
        return tuple(
            one.model_copy(update={"why": filled(key, index, "why")(one.why)})
            for index, one in enumerate(getattr(spec, key))
        )

    columns = [
        _with_texts(one, index, filled) if isinstance(one, DerivedColumn) else one
        for index, one in enumerate(spec.columns)
    ]
    changed = {key: reasons(key) for key in ("notes", "omit", "not_covered")}
    status = spoken(spec.status, filled("status"))
    return spec.model_copy(
        update={"title": filled("title")(spec.title), "columns": tuple(columns), "status": status, **changed}
    )


def _with_texts(column: DerivedColumn, index: int, filled: Callable[..., Callable[[str], str]]) -> DerivedColumn:
    changed = {key: filled("columns", index, key)(text) for key in ("title", "text") if (text := getattr(column, key))}
    cells = {value: filled("columns", index, "cells", value)(text) for value, text in (column.cells or {}).items()}
    return column.model_copy(update={**changed, **({"cells": cells} if cells else {})})


def _facts(spec: TableSpec, logs: Sequence[Loaded]) -> Mapping[str, Sequence[str]]:
    """Return the values of every axis over what the table selects, and the dates of its logs."""
    wanted = {axis: values for axis, values in spec.where.items() if axis != ARM}
    found: dict[str, dict[str, None]] = {}
    for loaded in logs:
        for workload in loaded.record.workloads:
            place = place_of(loaded, workload)
            if matches(place, wanted):
                for axis, value in place.items():
                    found.setdefault(axis, {})[value] = None
        found.setdefault("date", {})[loaded.record.started_at.date().isoformat()] = None
    return {axis: tuple(values) for axis, values in found.items()}


def free_texts(spec: TableSpec) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield every text that an author writes in words and that is shown, with its place."""
    yield ("title",), spec.title
    for index, column in enumerate(spec.columns):
        if isinstance(column, DerivedColumn):
            for field in ("title", "text"):
                if text := getattr(column, field):
                    yield ("columns", index, field), text
            for value, text in (column.cells or {}).items():
                yield ("columns", index, "cells", value), text
    for key in ("notes", "omit", "not_covered"):
        for index, one in enumerate(getattr(spec, key)):
            yield (key, index, "why"), one.why
    if spec.status is not None and spec.status.why:
        yield ("status",), spec.status.why
