"""Owns what stands in a cell: numbers, comparisons and absences, with one unit a column and digits by row."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evidence import roofline, units
from evidence.compare import Comparison
from evidence.errors import ComparisonError, ItemError, UnknownNameError
from evidence.evaluation import compared, value_of
from evidence.readings import Quantity, coordinates, device_of, unit_of
from evidence.schema import Cell, Crashed, OpWorkload, Record, Rejected, Skipped
from evidence.schema.claims import Omission, TableSpec
from evidence.selection import ARM, matches
from evidence.statistics import Interval
from evidence.store import Loaded
from evidence.tables.layout import (
    MALFORMED,
    UNBACKED,
    CellKey,
    Place,
    Slot,
    baseline_of,
    is_own_baseline,
    where_of,
)
from evidence.units import Scale
from evidence.views import Absent, Measured, Ratio, Row, Shown, TableCell, Words

_PERCENT = Scale("%", -2)
_KEPT = 4096
"""Texts of numbers that are not made anew: tables of one log have cells in common."""
_PERCENT_DECIMALS = 1
"""A share of a datasheet's peak says no more: the sheet itself is rounded."""


@dataclass(slots=True)
class Number:
    """A number before its column's unit and digits are known."""

    interval: Interval
    is_exact: bool


class Origin(NamedTuple):
    """What one cell of a table is read from; `baseline` is empty where nothing is compared."""

    log: str
    arm: str
    baseline: str
    workload: str
    quantity: Quantity
    peak: float | None = None


@dataclass(slots=True)
class Grid:
    """Cells as computed, row by row, with what the whole column needs."""

    places: list[Place]
    slots: list[Slot]
    omitted: Mapping[CellKey, int]
    cells: dict[tuple[int, int], TableCell | Number] = field(default_factory=dict)
    comparisons: list[tuple[Loaded, Comparison]] = field(default_factory=list)


def cell_of(spec: TableSpec, place: Place, slot: Slot, arms: Sequence[str], grid: Grid) -> TableCell | Number:
    """Compute one cell; comparisons are noted in the grid for the tally and the footnotes."""
    workload = place.workloads.get(slot.across)
    if workload is None:
        return Absent("missing", "not in the log")
    record = place.loaded.record
    arm = slot.arm or place.arm or (arms[0] if len(arms) == 1 else "")
    if slot.kind == "text":
        where = {**coordinates(record, workload), ARM: arm}
        return Words((slot.spec.cells or {}).get(where.get(slot.spec.by or "", ""), ""))
    if all(one.name != arm for one in record.arms):
        return Absent("missing", f"no arm {arm} in this log")
    quantity = slot.quantity or Quantity("")
    cell = place.loaded.cell(arm, workload.name)
    if (place.loaded.entry.log, arm, workload.name) in grid.omitted:
        return Absent("missing", "left out")
    if slot.kind in ("value", "peak"):
        return _number(place.loaded, cell, quantity, slot.kind)
    index = grid.slots.index(slot)
    if is_own_baseline(spec, slot.spec, arm, index):
        return Words("baseline")
    baseline = baseline_of(spec, slot.spec, arm) or ""
    if all(one.name != baseline for one in record.arms):
        error = UnknownNameError(ARM, baseline, [one.name for one in record.arms])
        key = ("columns", spec.columns.index(slot.spec), "vs") if slot.spec.vs is not None else ("baseline",)
        raise ItemError(UNBACKED, f"{place.loaded.entry.log}: {error.message}", *key, fix=error.fix)
    return _comparison(place.loaded, cell, baseline, quantity, slot.kind, grid)


def origins_of(spec: TableSpec, place: Place, slots: Sequence[Slot], arms: Sequence[str]) -> Iterator[Origin | None]:
    """Yield what each number of a row is read from; None for a text, and for a cell that its log does not have."""
    record = place.loaded.record
    for slot in slots:
        workload = place.workloads.get(slot.across)
        arm = slot.arm or place.arm or (arms[0] if len(arms) == 1 else "")
        if slot.quantity is None or workload is None or all(one.name != arm for one in record.arms):
            yield None
            continue
        baseline = (baseline_of(spec, slot.spec, arm) or "") if slot.kind in ("ratio", "change") else ""
        cell = place.loaded.cell(arm, workload.name)
        peak = _peak(record, cell, slot.quantity) if slot.kind == "peak" else None
        yield Origin(place.loaded.entry.log, arm, baseline, workload.name, slot.quantity, peak)


def _number(loaded: Loaded, cell: Cell, quantity: Quantity, kind: str) -> TableCell | Number:
    if absent := absence(cell):
        return absent
    value = value_of(loaded, cell, quantity)
    if value is None:
        return Absent("missing", f"no {quantity}")
    if kind == "value":
        return Number(value.interval, value.is_exact)
    top = _peak(loaded.record, cell, quantity)
    if top is None:
        return Absent("missing", f"no datasheet peak for {device_of(loaded.record)}")
    share = Interval(value.interval.value / top, value.interval.low / top, value.interval.high / top)
    return Number(share, value.is_exact)


def _peak(record: Record, cell: Cell, quantity: Quantity) -> float | None:
    workload = record.workload(cell.workload)
    if not isinstance(workload, OpWorkload):
        return None
    peak = roofline.peak(device_of(record), workload.dtype)
    if peak is None:
        return None
    return (
        peak.bytes_per_s
        if quantity.metric == "bandwidth"
        else peak.flop_per_s
        if quantity.metric == "flop_rate"
        else None
    )


def absence(cell: Cell) -> Absent | None:
    """Return why a cell has no number, in one line; None for a cell that has some."""
    match cell:
        case Rejected():
            return Absent("rejected", f"gate failed: {cell.gate.message}")
        case Crashed():
            return Absent(
                "crashed", f"{'out of memory' if cell.cause == 'oom' else cell.cause} in {cell.phase}: {cell.message}"
            )
        case Skipped():
            return Absent("skipped", cell.reason)
        case _:
            return None


def _comparison(loaded: Loaded, cell: Cell, baseline: str, quantity: Quantity, kind: str, grid: Grid) -> TableCell:
    try:
        one = compared(loaded, baseline, cell.arm, quantity, cell.workload)
    except ComparisonError as error:
        raise ItemError(UNBACKED, error.message, "columns", fix=error.fix) from None
    grid.comparisons.append((loaded, one))
    if absent := absence(cell):
        return absent
    key = ("ratio", kind, baseline, cell.arm, quantity, cell.workload)
    return loaded.once(key, lambda: ratio_of(one, kind))


def ratio_of(one: Comparison, kind: str = "ratio") -> Ratio:
    """Return a comparison as a cell shows it: its ratio, or for the kind `change` the metric's own signed change."""
    note = "both arms ran the same configuration" if one.is_identical else one.reason
    if one.ratio is None or one.change is None:
        return Ratio(one.verdict, one.word, None, None, one.effect, note)
    if kind == "ratio":
        decimals = units.table_ratio_decimals(one.ratio)
        low, high = (units.format_number(end, decimals) for end in (one.ratio.low, one.ratio.high))
        return Ratio(
            one.verdict,
            one.word,
            one.ratio,
            Shown(units.format_ratio(one.ratio.value, decimals), low, high),
            one.effect,
            note,
        )
    decimals = units.table_change_decimals(one.change)
    low, high = (units.format_change(end, decimals) for end in (one.change.low, one.change.high))
    return Ratio(
        one.verdict,
        one.word,
        one.ratio,
        Shown(units.format_change(one.change.value, decimals), low, high),
        one.effect,
        note,
    )


def group_of(slot: Slot) -> tuple[str, str, str]:
    """Columns of one quantity share a unit and, by row, their digits: they are read against each other."""
    return (slot.kind, str(slot.quantity), slot.spec.unit or "")


def scales_of(spec: TableSpec, grid: Grid) -> dict[tuple[str, str, str], Scale]:
    """Return the unit of each group of columns, from its smallest value or as the author chose."""
    scales: dict[tuple[str, str, str], Scale] = {}
    groups = [group_of(slot) for slot in grid.slots]
    for slot, group in zip(grid.slots, groups, strict=True):
        if slot.kind == "peak":
            scales[group] = _PERCENT
        if slot.kind != "value" or slot.quantity is None:
            continue
        unit, _ = unit_of(grid.places[0].loaded.record, slot.quantity)
        try:
            chosen = units.scale_named(slot.spec.unit, unit) if slot.spec.unit else None
        except ValueError as error:
            raise ItemError(MALFORMED, str(error), "columns", fix="drop the unit, or write one that fits") from None
        numbers = [
            cell.interval.value
            for (_, column), cell in grid.cells.items()
            if groups[column] == group and isinstance(cell, Number)
        ]
        scales[group] = chosen or units.scale_for(min(map(abs, numbers), default=0.0), unit)
    return scales


def row_of(spec: TableSpec, grid: Grid, row: int, scales: Mapping[tuple[str, str, str], Scale]) -> Row:
    """Lay out one row, its numbers with the digits their intervals allow.

    Numbers that are read against each other have the same decimals, but none more than one beyond its own interval.
    """
    place = grid.places[row]
    most: dict[tuple[str, str, str], int] = {}
    grouped = [(grid.cells[row, index], group_of(slot)) for index, slot in enumerate(grid.slots)]
    own = [_decimals(cell, scales[group]) if isinstance(cell, Number) else 0 for cell, group in grouped]
    for (_, group), decimals in zip(grouped, own, strict=True):
        most[group] = max(decimals, most.get(group, 0))
    cells: list[TableCell] = [Words(value) for value in place.values]
    for (cell, group), decimals in zip(grouped, own, strict=True):
        shown = min(most[group], decimals + 1)
        cells.append(measured_of(cell, scales[group], shown) if isinstance(cell, Number) else cell)
    notes = "; ".join(note.why for note in spec.notes if matches(where_of(place), note.where))
    return Row(tuple(cells), _one_absence(cells[len(place.values) :]), notes)


def _decimals(number: Number, scale: Scale) -> int:
    if number.is_exact and not scale.power and number.interval.value.is_integer():
        return 0
    decimals = _table_decimals(number.interval, scale)
    return min(decimals, _PERCENT_DECIMALS) if scale is _PERCENT else decimals


def measured_of(number: Number, scale: Scale, decimals: int) -> Measured:
    """Return a number as a cell shows it, in a unit and with so many decimals."""
    return Measured(number.interval, _shown(number.interval, number.is_exact, scale.power, decimals))


@functools.lru_cache(maxsize=_KEPT)
def _table_decimals(interval: Interval, scale: Scale) -> int:
    return units.table_decimals(interval, scale)


@functools.lru_cache(maxsize=_KEPT)
def _shown(interval: Interval, is_exact: bool, power: int, decimals: int) -> Shown:
    bounds = (interval.value,) if is_exact else (interval.value, interval.low, interval.high)
    return Shown(*(units.format_value(bound, Scale("", power), decimals) for bound in bounds))


def _one_absence(cells: Sequence[TableCell]) -> Absent | None:
    """Return the reason all numbers of a row share for not being there."""
    numeric = [cell for cell in cells if not isinstance(cell, Words)]
    absent = [cell for cell in numeric if isinstance(cell, Absent)]
    return absent[0] if absent and len(absent) == len(numeric) and len(set(absent)) == 1 else None


def uncovered(spec: TableSpec, one: Omission, columns: int) -> Row:
    """Return a row that the log never declared, with the reason."""
    absent = Absent("missing", one.why)
    values = [Words(", ".join(one.where.get(axis, ("–",)))) for axis in spec.rows]
    return Row((*values, *[absent] * columns), absent)
