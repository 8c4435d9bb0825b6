"""Owns which cells stand where: the rows and columns a specification asks for, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evidence.errors import ComparisonError, ItemError, UnknownNameError
from evidence.evaluation import Loader
from evidence.readings import Quantity, coordinates, device_of, parse_quantity, unit_of
from evidence.schema import Cell, Record, Workload
from evidence.schema.claims import DerivedColumn, TableSpec
from evidence.selection import ARM, axes_of, matches, select
from evidence.store import Loaded

UNBACKED, MALFORMED, MIXED_DEVICES, MIXED_STACKS = "EV601", "EV620", "EV607", "EV608"
CellKey = tuple[str, str, str]
"""Log, arm, workload."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One column: what it shows, of which arm, on which value of the `across` axis."""

    kind: Literal["value", "ratio", "change", "peak", "text"]
    quantity: Quantity | None
    spec: DerivedColumn
    arm: str = ""
    across: str = ""


@dataclass(frozen=True, slots=True)
class Place:
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


def require_axes(spec: TableSpec, logs: Sequence[Loaded]) -> None:
    """Refuse row and column axes that no log has."""
    known = {axis for one in logs for axis in axes_of(one.record)}
    asked = [("rows", index, axis) for index, axis in enumerate(spec.rows)]
    asked += [("across", 0, spec.across)] if spec.across else []
    for key, index, axis in asked:
        if axis not in known:
            error = UnknownNameError("axis", axis, known)
            raise ItemError(UNBACKED, error.message, key, index, fix=error.fix)


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


def arms_shown(spec: TableSpec, logs: Sequence[Loaded]) -> tuple[str, ...]:
    """Return the arms in the records' order: those `where` names, else all but controls, which are the noise floor."""
    names = dict.fromkeys(arm.name for one in logs for arm in one.record.arms if arm.role != "control")
    wanted = spec.where.get(ARM)
    if wanted is None:
        return tuple(names)
    every = {arm.name for one in logs for arm in one.record.arms}
    for name in wanted:
        if name not in every:
            error = UnknownNameError(ARM, name, every)
            raise ItemError(UNBACKED, error.message, "where", ARM, fix=error.fix)
    return tuple(wanted)


def places_of(spec: TableSpec, logs: Sequence[Loaded], arms: Sequence[str]) -> tuple[list[Place], list[CellKey]]:
    """Group the selected cells into rows, and list those that `omit` leaves out."""
    places: list[Place] = []
    omitted: list[CellKey] = []
    for loaded in logs:
        record = loaded.record
        try:
            workloads = select(record, {axis: values for axis, values in spec.where.items() if axis in axes_of(record)})
        except UnknownNameError as error:
            raise ItemError(UNBACKED, f"{loaded.entry.log}: {error.message}", "where", fix=error.fix) from None
        groups: dict[tuple[str, ...], dict[str, Workload]] = {}
        for workload in workloads:
            place = coordinates(record, workload)
            if any(
                matches(place, {k: v for k, v in one.where.items() if k != ARM}) and ARM not in one.where
                for one in spec.omit
            ):
                omitted += [(loaded.entry.log, arm.name, workload.name) for arm in record.arms]
                continue
            values = tuple(place.get(axis, "–") for axis in spec.rows if axis != ARM)
            across = place.get(spec.across, "–") if spec.across and spec.across != ARM else ""
            group = groups.setdefault(values, {})
            if across in group:
                raise _ambiguous(spec, record, group[across], workload)
            group[across] = workload
        for values, group in groups.items():
            for arm in arms if ARM in spec.rows else ("",):
                if not arm or any(one.name == arm for one in record.arms):
                    places.append(Place(loaded, _with_arm(spec, values, arm), arm, group))
    if not places:
        raise ItemError(UNBACKED, "no cell is selected", "where", fix="widen 'where'")
    return places, omitted


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
    record = place.loaded.record
    known = {arm.name for arm in record.arms}
    for workload in place.workloads.values():
        for arm in [place.arm] if place.arm else arms:
            if arm in known:
                yield record.cell(arm, workload.name)
