"""Owns what a specification must keep before it is laid out: names that exist, one device, texts without numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from evidence.errors import ItemError, UnknownNameError
from evidence.evaluation import CONTRADICTED
from evidence.pages.numbers import typed_numbers
from evidence.readings import device_of
from evidence.schema import Record
from evidence.schema.claims import DerivedColumn, TableSpec
from evidence.selection import ARM, axes_in, matches, place_of
from evidence.sentences import UNKNOWN_FIELD, lint, require_plain
from evidence.store import Loaded
from evidence.tables.layout import MALFORMED, UNBACKED, Place, where_of
from evidence.tables.texts import free_texts

_AGAINST = re.compile(r"\b(?:than|against|versus|vs\.?|over)\s+(?:the\s+)?(\S*\w)", re.IGNORECASE)
MIXED_DEVICES, MIXED_STACKS = "EV607", "EV608"


_PEAKS = ("bandwidth", "flop_rate")
"""The metrics that a datasheet states a peak of."""


def require_layout(spec: TableSpec, columns: Sequence[DerivedColumn], logs: Sequence[Loaded]) -> None:
    """Refuse an axis in two places, a share of a peak that no datasheet has, and texts and baselines of nothing."""
    for index, axis in enumerate(spec.rows):
        if axis in spec.rows[:index]:
            raise ItemError(MALFORMED, f"{axis} stands twice in rows", "rows", index, fix="drop one of them")
    for name, listed in (("series", spec.series), ("columns", spec.columns)):
        for index, one in enumerate(listed):
            if one in listed[:index]:
                raise ItemError(MALFORMED, f"it stands twice in {name}", name, index, fix="drop one of them")
    if spec.across in spec.rows:
        message = f"{spec.across} is in rows and across: an axis has one place"
        raise ItemError(MALFORMED, message, "across", fix=f"drop across, or take {spec.across} out of rows")
    arms = list(dict.fromkeys(arm.name for loaded in logs for arm in loaded.record.arms))
    for key, chosen in [
        (("baseline",), spec.baseline),
        *((("columns", i, "vs"), one.vs) for i, one in enumerate(columns)),
    ]:
        for arm in chosen if isinstance(chosen, Mapping) else ():
            if arm not in arms:
                error = UnknownNameError("arm", arm, arms)
                raise ItemError(UNBACKED, error.message, *key, arm, fix=error.fix)
    for index, column in enumerate(columns):
        if column.peak is not None and column.peak.partition("/")[0].partition(".")[0] not in _PEAKS:
            message = f"no datasheet states a peak of {column.peak}"
            fix = f"write {{peak: {_PEAKS[0]}}} or {{peak: {_PEAKS[1]}}}"
            raise ItemError(UNBACKED, message, "columns", index, "peak", fix=fix)
        for value in column.cells or ():
            known = dict.fromkeys(one for loaded in logs for one in axes_in(loaded).get(column.by or "", ()))
            if value not in known:
                error = UnknownNameError(f"value of {column.by}", value, known)
                raise ItemError(UNBACKED, error.message, "columns", index, "cells", value, fix=error.fix)


def require_names(spec: TableSpec, columns: Sequence[DerivedColumn], logs: Sequence[Loaded]) -> None:
    """Refuse axes and values that no log has: a misspelt one would select nothing, or everything, without a word."""
    known: dict[str, set[str]] = {}
    for loaded in logs:
        for axis, found in axes_in(loaded).items():
            known.setdefault(axis, set()).update(found)
    asked: list[tuple[tuple[str | int, ...], str]] = [(("rows", index), axis) for index, axis in enumerate(spec.rows)]
    asked += [(("across",), spec.across)] if spec.across else []
    asked += [(("columns", index, "by"), column.by) for index, column in enumerate(columns) if column.by]
    selections: list[tuple[tuple[str | int, ...], Mapping[str, Sequence[str]]]] = [(("where",), spec.where)]
    selections += [(("notes", index, "where"), one.where) for index, one in enumerate(spec.notes)]
    selections += [(("omit", index, "where"), one.where) for index, one in enumerate(spec.omit)]
    asked += [((*key, axis), axis) for key, where in selections for axis in where]
    for key, axis in asked:
        if axis not in known:
            error = UnknownNameError("axis", axis, known)
            raise ItemError(UNBACKED, error.message, *key, fix=error.fix)
    for key, where in selections:
        for axis, values in where.items():
            for value in values:
                if value not in known[axis]:
                    error = UnknownNameError(f"value of {axis}", value, known[axis])
                    raise ItemError(UNBACKED, error.message, *key, axis, fix=error.fix)


def require_not_covered(spec: TableSpec, logs: Sequence[Loaded]) -> None:
    """Refuse a row said to be missing that a log has, or that no row of this table could be."""
    for index, one in enumerate(spec.not_covered):
        key = ("not_covered", index, "where")
        for axis in one.where:
            if axis not in spec.rows:
                raise ItemError(MALFORMED, f"{axis} is not in rows", *key, axis, fix=f"rows: {', '.join(spec.rows)}")
        for loaded in logs:
            for workload in loaded.record.workloads:
                for arm in loaded.record.arms:
                    if matches({**place_of(loaded, workload), ARM: arm.name}, one.where):
                        message = f"{loaded.entry.log} has {workload.name}, which is said not to be covered"
                        raise ItemError(MALFORMED, message, *key, fix="drop it, or name the values that were not run")


def require_one_device(spec: TableSpec, columns: Sequence[DerivedColumn], logs: Sequence[Loaded]) -> None:
    """Absolute numbers of two devices or stacks never stand in one table."""
    absolute = [index for index, column in enumerate(columns) if column.kind == "value"]
    devices = dict.fromkeys(device_of(one.record) for one in logs)
    if len(devices) > 1:
        if absolute or "device" not in spec.rows:
            fix = "put device into rows and show only ratio, change and peak columns, or write one table a device"
            raise ItemError(MIXED_DEVICES, f"absolute numbers of {', '.join(devices)} in one table", "series", fix=fix)
        return
    stacks = {tuple(sorted(stack.packages for stack in one.record.stacks)) for one in logs}
    if len(stacks) > 1 and absolute:
        raise ItemError(
            MIXED_STACKS,
            "absolute numbers of several software stacks in one table",
            "series",
            fix="write one table a stack",
        )


def require_notes(spec: TableSpec, places: Sequence[Place]) -> None:
    """Refuse a note on no row."""
    for index, note in enumerate(spec.notes):
        if not any(matches(where_of(place), note.where) for place in places):
            raise ItemError(UNBACKED, "it notes no row of the table", "notes", index, "where", fix="drop or widen it")


def lint_texts(spec: TableSpec, records: Sequence[Record]) -> None:
    """Hold every text that an author wrote to what a statement is held to.

    Raises:
        ItemError: digits that stand alone, a device name, an absolute word, or a heading that names another baseline.
    """
    devices = [device_of(record) for record in records]
    for parts, text in free_texts(spec):
        lint(text, devices, *parts)
    for index, waiver in enumerate(spec.waive):
        lint(waiver.why, devices, "waive", index, "why")
        require_plain(waiver.why, "waive", index, "why")
    for parts, value in _values_of_no_log(spec):
        if typed := next(typed_numbers(value), None):
            raise ItemError(
                UNKNOWN_FIELD, f"{typed.text!r} is no value of an axis", *parts, fix="name what was not run"
            )
    arms = {arm.name for record in records for arm in record.arms}
    for index, column in enumerate(spec.columns):
        if isinstance(column, DerivedColumn) and column.kind in ("ratio", "change") and column.title:
            than = _AGAINST.search(column.title)
            if than and than[1] in arms - _baselines(spec, column):
                message = f"the heading says {than[1]!r}, which this column does not compare with"
                fix = f"write `vs: {than[1]}`, or leave the arm out of the heading"
                raise ItemError(CONTRADICTED, message, "columns", index, "title", fix=fix)


def _values_of_no_log(spec: TableSpec) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the axis values that nothing but the author says there are."""
    for index, one in enumerate(spec.not_covered):
        for axis, values in one.where.items():
            for value in values:
                yield ("not_covered", index, "where", axis), value


def _baselines(spec: TableSpec, column: DerivedColumn) -> set[str]:
    against = column.vs or spec.baseline or ()
    return {against} if isinstance(against, str) else set(dict(against).values())
