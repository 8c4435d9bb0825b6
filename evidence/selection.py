"""Owns which cells an author's `where` selects, and how the values of an axis are written in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evidence.errors import UnknownNameError
from evidence.readings import coordinates
from evidence.schema import Record, Workload
from evidence.store import Loaded

ARM = "arm"


def axes_of(record: Record) -> dict[str, tuple[str, ...]]:
    """Return every axis of a record with its values, in the record's order. `arm` is an axis like any other."""
    values: dict[str, dict[str, None]] = {ARM: dict.fromkeys(arm.name for arm in record.arms)}
    for workload in record.workloads:
        for axis, value in coordinates(record, workload).items():
            values.setdefault(axis, {})[value] = None
    return {axis: tuple(found) for axis, found in values.items()}


def axes_in(loaded: Loaded) -> Mapping[str, tuple[str, ...]]:
    """Return the axes of a log's record, found once for all who ask."""
    return loaded.once("axes", lambda: axes_of(loaded.record))


def place_of(loaded: Loaded, workload: Workload) -> Mapping[str, str]:
    """Return where a workload of a log stands on every axis, found once for all who ask."""
    return loaded.once(("place", workload.name), lambda: coordinates(loaded.record, workload))


def select(loaded: Loaded, where: Mapping[str, Sequence[str]]) -> tuple[Workload, ...]:
    """Return the workloads on the named values; an axis not named keeps all of its own. `arm` is left to the caller.

    Raises:
        UnknownNameError: no such axis, or no such value on it.
    """
    axes = axes_in(loaded)
    for axis, values in where.items():
        if axis not in axes:
            raise UnknownNameError("axis", axis, axes)
        for value in values:
            if value not in axes[axis]:
                raise UnknownNameError(f"value of {axis}", value, axes[axis])
    wanted = {axis: values for axis, values in where.items() if axis != ARM}
    return tuple(one for one in loaded.record.workloads if matches(place_of(loaded, one), wanted))


def matches(place: Mapping[str, str], where: Mapping[str, Sequence[str]]) -> bool:
    """Whether a place lies on one of the named values of every axis."""
    return all(place.get(axis) in values for axis, values in where.items())


def in_words(values: Iterable[str]) -> str:
    """Write the values of an axis: `8`, `1, 8 and 64`, or `1–4096 (12 values)` for many numbers."""
    found = list(dict.fromkeys(values))
    if len(found) > 4 and all(value.isdecimal() for value in found):
        numbers = sorted(map(int, found))
        return f"{numbers[0]}–{numbers[-1]} ({len(numbers)} values)"
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} and {found[-1]}"
