"""Owns what stands round the cells: column heads that name their quotient, the tally and the footnotes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from evidence import roofline, statistics, units
from evidence.compare import word_of
from evidence.evaluation import compared
from evidence.readings import device_of, parse_quantity, unit_of
from evidence.schema import OpWorkload
from evidence.schema.claims import DerivedColumn, TableSpec
from evidence.schema.metrics import Better, Unit
from evidence.selection import ARM
from evidence.statistics import Interval, Verdict
from evidence.store import Loaded
from evidence.tables.layout import CellKey, Slot, baseline_of
from evidence.tables.numbers import Grid, absence, group_of
from evidence.units import Scale
from evidence.views import Absent, Column


def axis_columns(spec: TableSpec) -> Iterator[Column]:
    """Yield the head of each row axis."""
    for axis in spec.rows:
        yield Column(axis, "", "axis")


def column_of(spec: TableSpec, grid: Grid, index: int, scales: Mapping[tuple[str, str, str], Scale]) -> Column:
    """Return the head of one column: its arm and quantity with the unit, or the quotient and its sense."""
    slot = grid.slots[index]
    if slot.kind == "text" or slot.quantity is None:
        return Column(slot.spec.text or "", "", "text")
    unit, better = unit_of(grid.places[0].loaded.record, slot.quantity)
    quantity = str(slot.quantity)
    own = " ".join(filter(None, [slot.arm if spec.across == ARM else slot.across, slot.spec.title or quantity]))
    baseline = baseline_of(spec, slot.spec, slot.arm) or ""
    match slot.kind:
        case "value":
            suffix = scales[group_of(slot)].suffix
            is_baseline = bool(slot.arm) and baseline_of(spec, slot.spec, slot.arm) in (None, slot.arm)
            title = f"{own}, {suffix}" if suffix else own
            statistic = "median, 95 %" if not slot.quantity.statistic else "95 %"
            return Column(title, statistic, "value", quantity, suffix, slot.arm, is_baseline=is_baseline)
        case "peak":
            return Column(f"{own}, share of peak", _peak_source(grid, slot), "peak", quantity, "%", slot.arm)
        case _:
            title, subtitle = _quotient(slot, unit, better, baseline)
            return Column(slot.spec.title or title, subtitle, slot.kind, quantity, "", slot.arm, baseline)


def _quotient(slot: Slot, unit: Unit, better: Better, baseline: str) -> tuple[str, str]:
    """Name the quotient and its sense, so that no reader has to guess which way is up."""
    across = f" ({slot.across})" if slot.across else ""
    word = word_of(Verdict.BETTER, unit).lower()
    if slot.kind == "change":
        return f"{slot.arm or 'arm'} against {baseline or 'its baseline'}{across}", f"change of {slot.quantity}, 95 %"
    above, below = (
        (baseline or "baseline", slot.arm or "arm")
        if better == "lower"
        else (slot.arm or "arm", baseline or "baseline")
    )
    return f"{above} ÷ {below}{across}", f"{slot.quantity}, 95 %, above 1 is {word}"


def _peak_source(grid: Grid, slot: Slot) -> str:
    for place in grid.places:
        workload = place.workloads.get(slot.across)
        if isinstance(workload, OpWorkload) and slot.quantity is not None:
            peak = roofline.peak(device_of(place.loaded.record), workload.dtype)
            if peak is not None:
                top = peak.bytes_per_s if slot.quantity.metric == "bandwidth" else peak.flop_per_s
                unit = "B/s" if slot.quantity.metric == "bandwidth" else "FLOP/s"
                return f"of {units.format_value(top, units.scale_for(top, unit), 1)}, {peak.source}"
    return "no peak known"


def tally_of(grid: Grid) -> str:
    """Return `3 faster · 1 slower · 1 rejected`: verdicts first, then the cells that have none."""
    verdicts = Counter(one.word.lower() for _, one in grid.comparisons if one.ratio is not None)
    absent: Counter[str] = Counter()
    seen: set[tuple[int, str]] = set()
    for (row, index), cell in grid.cells.items():
        if isinstance(cell, Absent) and cell.outcome != "missing":
            arm = grid.slots[index].arm or grid.places[row].arm
            if (row, f"{arm}/{grid.slots[index].across}") not in seen:
                seen.add((row, f"{arm}/{grid.slots[index].across}"))
                absent[cell.outcome] += 1
    refused = Counter(
        one.word.lower() for _, one in grid.comparisons if one.ratio is None and not absence(one.candidate)
    )
    return " · ".join(f"{count} {word}" for word, count in [*verdicts.items(), *refused.items(), *absent.items()])


def footnotes_of(
    spec: TableSpec, columns: Sequence[DerivedColumn], logs: Sequence[Loaded], grid: Grid
) -> Iterator[str]:
    """Yield what a reader must know of the whole table: noise floor, omissions, rows of identical configuration."""
    noise = [one.noise for _, one in grid.comparisons if one.noise is not None]
    if noise:
        low, high = min(one.low for one in noise), max(one.high for one in noise)
        floor = Interval((low + high) / 2, low, high)
        ends = units.format_interval(floor, 3)
        effect = max(one.effect for _, one in grid.comparisons)
        raised = effect > statistics.BASE_EFFECT
        text = f"Noise floor: the baseline against itself, measured alike, gives {ends} (95 %)"
        yield f"{text}; the minimum effect is {'up to ' if raised else ''}{units.format_number(100 * effect, 1)} %."
    for index, omission in enumerate(spec.omit):
        keys = [key for key, by in grid.omitted.items() if by == index]
        rows = len({(log, workload) for log, _, workload in keys})
        arms = f"{', '.join(omission.where[ARM])} in " if ARM in omission.where else ""
        verdicts = _verdicts_left_out(spec, columns, logs, keys)
        told = f" ({', '.join(f'{count} {word}' for word, count in verdicts.items())})" if verdicts else ""
        yield f"Left out: {arms}{rows} {'row' if rows == 1 else 'rows'}{told}: {omission.why}"
    identical = sum(one.is_identical for _, one in grid.comparisons)
    if identical:
        noun = "row" if identical == 1 else "rows"
        yield f"{identical} {noun} ran the same configuration under both arms: noise, not an effect."


def _verdicts_left_out(
    spec: TableSpec, columns: Sequence[DerivedColumn], logs: Sequence[Loaded], keys: Sequence[CellKey]
) -> Counter[str]:
    """Count what the columns would have said of cells that are left out: a reason must not hide a loss."""
    by_name = {one.entry.log: one for one in logs}
    found: Counter[str] = Counter()
    for column in columns:
        if column.kind not in ("ratio", "change"):
            continue
        quantity = parse_quantity(getattr(column, column.kind))
        for log, arm, workload in keys:
            baseline = baseline_of(spec, column, arm)
            if baseline in (None, arm) or by_name[log].record.arm(arm).role == "control":
                continue
            found[compared(by_name[log], baseline or "", arm, quantity, workload).word.lower()] += 1
    return found
