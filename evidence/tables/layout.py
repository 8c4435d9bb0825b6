"""Owns which cells stand where: the rows and columns a specification asks for, before anything is computed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from evidence.errors import ComparisonError, ItemError, UnknownNameError
from evidence.evaluation import Loader
from evidence.readings import Quantity, coordinates, parse_quantity, unit_of
from evidence.schema import Cell, Record, Workload
from evidence.schema.claims import DerivedColumn, TableSpec
from evidence.selection import ARM, matches, place_of
from evidence.store import Loaded

UNBACKED, MALFORMED = "EV601", "EV620"
CellKey = tuple[str, str, str]
"""Log, arm, workload."""


class Slot(NamedTuple):
    """One column: what it shows, of which arm, on which value of the `across` axis."""

    kind: Literal["value", "ratio", "change", "peak", "text"]
    quantity: Quantity | None
    spec: DerivedColumn
    arm: str = ""
    across: str = ""


class Place(NamedTuple):
    """One row: a log, its values on the row axes, its arm if rows name one, and a workload for each value across."""

    loaded: Loaded
    values: tuple[str, ...]
    arm: str
    workloads: Mapping[str, Workload]


def load_log(load: Loader, series: str, index: int) -> Loaded:
    """Return the log of one series."""
    try:
        return load(series)
    except UnknownNameError as error:
        raise ItemError(UNBACKED, error.message, "series", index, fix=error.fix) from None


def omitted_cells(spec: TableSpec, logs: Sequence[Loaded]) -> dict[CellKey, int]:
    """Return the cells that `omit` leaves out, each with the first omission that names it."""
    found: dict[CellKey, int] = {}
    for index, one in enumerate(spec.omit):
        named = [
            (loaded.entry.log, arm.name, workload.name)
            for loaded in logs
            for workload in loaded.record.workloads
            for arm in loaded.record.arms
            if matches({**place_of(loaded, workload), ARM: arm.name}, one.where)
        ]
        if not named:
            raise ItemError(UNBACKED, "it leaves out no cell", "omit", index, "where", fix="drop it, or widen it")
        for key in named:
            found.setdefault(key, index)
    return found


def arms_shown(spec: TableSpec, logs: Sequence[Loaded], omitted: Collection[CellKey]) -> tuple[str, ...]:
    """Return the arms in the records' order: those `where` names, else all but controls, which are the noise floor.

    An arm that `omit` leaves out everywhere has no column either.
    """
    wanted = spec.where.get(ARM)
    names = dict.fromkeys(
        wanted or (arm.name for one in logs for arm in one.record.arms if arm.role != "control"),
    )
    every = [
        (loaded.entry.log, arm.name, w.name)
        for loaded in logs
        for arm in loaded.record.arms
        for w in loaded.record.workloads
    ]
    left = {arm for log, arm, workload in every if (log, arm, workload) not in omitted}
    return tuple(name for name in names if name in left)


def places_of(
    spec: TableSpec, logs: Sequence[Loaded], arms: Sequence[str], omitted: Collection[CellKey]
) -> list[Place]:
    """Group the selected cells into rows; a row whose every cell is left out is none."""
    places: list[Place] = []
    wanted = {axis: values for axis, values in spec.where.items() if axis != ARM}
    for loaded in logs:
        record = loaded.record
        own = [arm for arm in arms if any(one.name == arm for one in record.arms)]

        def is_left(names: Iterable[str], workloads: Iterable[Workload], log: str = loaded.entry.log) -> bool:
            return any((log, name, workload.name) not in omitted for name in names for workload in workloads)

        groups: dict[tuple[str, ...], dict[str, Workload]] = {}
        for workload in record.workloads:
            place = place_of(loaded, workload)
            if not matches(place, wanted) or not is_left(own, [workload]):
                continue
            values = tuple(place.get(axis, "–") for axis in spec.rows if axis != ARM)
            across = place.get(spec.across, "–") if spec.across and spec.across != ARM else ""
            group = groups.setdefault(values, {})
            if across in group:
                raise _ambiguous(spec, record, group[across], workload)
            group[across] = workload
        for values, group in groups.items():
            if ARM not in spec.rows:
                places.append(Place(loaded, _with_arm(spec, values, ""), "", group))
                continue
            for arm in own:
                if is_left([arm], group.values()):
                    places.append(Place(loaded, _with_arm(spec, values, arm), arm, group))
    if not places:
        raise ItemError(UNBACKED, "no cell is selected", "where", fix="widen 'where'")
    return places


def where_of(place: Place) -> dict[str, str]:
    """Return a row's place on every axis, for notes to select it by."""
    return {**place_of(place.loaded, next(iter(place.workloads.values()))), ARM: place.arm}


def _with_arm(spec: TableSpec, values: tuple[str, ...], arm: str) -> tuple[str, ...]:
    rest = iter(values)
    return tuple(arm if axis == ARM else next(rest) for axis in spec.rows)


def _ambiguous(spec: TableSpec, record: Record, one: Workload, other: Workload) -> ItemError:
    here, there = coordinates(record, one), coordinates(record, other)
    axes = [axis for axis in here if here[axis] != there.get(axis) and axis not in ("workload", "shape")]
    what = ", ".join(axes) or "workload"
    message = f"{one.name} and {other.name} share a row: {what} varies and is in no row, column or where"
    return ItemError(
        MALFORMED, message, "rows", fix=f"add {axes[0] if axes else 'workload'} to rows, or narrow 'where'"
    )


def slots_of(
    spec: TableSpec, columns: Sequence[DerivedColumn], arms: Sequence[str], places: Sequence[Place]
) -> Iterator[Slot]:
    """Yield the columns: one for each arm or value across, in the order written."""
    across = list(dict.fromkeys(value for place in places for value in place.workloads)) or [""]
    for index, column in enumerate(columns):
        kind = column.kind
        if kind == "text":
            yield Slot("text", None, column)
            continue
        try:
            quantity = parse_quantity(getattr(column, kind))
        except ComparisonError as error:
            raise ItemError(UNBACKED, error.message, "columns", index, fix=error.fix) from None
        _require_metric(quantity, places, index)
        for value in across:
            if ARM in spec.rows:
                yield Slot(kind, quantity, column, "", value)
                continue
            shown = [arm for arm in arms if kind in ("value", "peak") or not is_own_baseline(spec, column, arm, index)]
            if not shown:
                message = f"no arm is left to compare: {', '.join(arms)} is the baseline"
                raise ItemError(MALFORMED, message, "columns", index, fix="widen 'where', or drop the column")
            if len(shown) > 1 and spec.across != ARM:
                fix = "add arm to rows, or write across: arm, or name one arm in 'where'"
                raise ItemError(
                    MALFORMED,
                    f"{', '.join(shown)} share a column: arm is in no row, column or where",
                    "columns",
                    index,
                    fix=fix,
                )
            for arm in shown:
                yield Slot(kind, quantity, column, arm, value)


def _require_metric(quantity: Quantity, places: Sequence[Place], index: int) -> None:
    for place in places:
        try:
            unit_of(place.loaded.record, quantity)
        except UnknownNameError as error:
            raise ItemError(
                UNBACKED, f"{place.loaded.entry.log}: {error.message}", "columns", index, fix=error.fix
            ) from None


def baseline_of(spec: TableSpec, column: DerivedColumn, arm: str) -> str | None:
    """Return the arm that a column compares `arm` with, if it names one."""
    chosen = column.vs if column.vs is not None else spec.baseline
    return chosen.get(arm) if isinstance(chosen, Mapping) else chosen


def is_own_baseline(spec: TableSpec, column: DerivedColumn, arm: str, index: int) -> bool:
    """Whether an arm is what the column compares with, and so has no ratio of its own."""
    chosen = column.vs if column.vs is not None else spec.baseline
    if chosen is None:
        raise ItemError(
            "EV401", f"a {column.kind} column without a baseline", "columns", index, fix="write baseline: an arm, or vs"
        )
    baseline = baseline_of(spec, column, arm)
    return baseline is None or baseline == arm


def keys_of(places: Iterable[Place], arms: Sequence[str]) -> Iterator[CellKey]:
    """Yield the key of every cell of these rows."""
    for place in places:
        for cell in cells_of(place, arms):
            yield (place.loaded.entry.log, cell.arm, cell.workload)


def cells_of(place: Place, arms: Sequence[str]) -> Iterator[Cell]:
    """Yield the cells of one row."""
    known = {arm.name for arm in place.loaded.record.arms}
    for workload in place.workloads.values():
        for arm in [place.arm] if place.arm else arms:
            if arm in known:
                yield place.loaded.cell(arm, workload.name)
