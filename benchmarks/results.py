"""Owns the table that a runner prints of a record: every cell, and how it compares with the baseline."""

from __future__ import annotations

from evidence.compare import Comparison, compare
from evidence.readings import Quantity, process_values
from evidence.schema import Cell, Crashed, Metric, Record, Rejected, Skipped, Timed
from evidence.statistics import Interval, location
from evidence.units import format_interval, format_ratio, format_value, scale_for, table_decimals, table_ratio_decimals

_OF_CELLS = ("iteration", "request", "process")


def results(record: Record) -> str:
    """Return the median over processes of each cell and metric, and how many times better than the baseline it is.

    A cell without timings says why, once; a metric that a cell does not have is left out.
    """
    from tabulate import tabulate

    baseline = next(arm.name for arm in record.arms if arm.role == "baseline")
    metrics = [metric for metric in record.metrics if metric.of in _OF_CELLS]
    rows = [row for metric in metrics for row in _rows(record, metric, baseline, is_first=metric is metrics[0])]
    heads = ["workload", "arm", "metric", "median", f"against {baseline}", "interval", "verdict", "why"]
    return tabulate(rows, headers=heads, disable_numparse=True)


def _rows(record: Record, metric: Metric, baseline: str, *, is_first: bool) -> list[list[str]]:
    quantity = Quantity(metric.name)
    comparisons = {
        (arm.name, entry.workload): entry
        for arm in record.arms
        if arm.name != baseline and metric.better != "neither"
        for entry in compare(record, baseline, arm.name, quantity)
    }
    rows = []
    for cell in record.cells:
        if isinstance(cell, Timed):
            if median := _median(record, cell, metric):
                found = _verdict(comparisons.get((cell.arm, cell.workload)))
                rows.append([cell.workload, cell.arm, metric.name, median, *found])
        elif is_first:
            rows.append([cell.workload, cell.arm, "", f"{cell.kind}: {_why(cell)}", "", "", "", ""])
    return rows


def _median(record: Record, cell: Timed, metric: Metric) -> str:
    values = process_values(record, cell, Quantity(metric.name))
    if not values:
        return ""
    middle = location(values) if len(values) > 1 else Interval(values[0], values[0], values[0])
    scale = scale_for(middle.value, metric.unit)
    return format_value(middle.value, scale, table_decimals(middle, scale))


def _why(cell: Cell) -> str:
    if isinstance(cell, Rejected):
        return cell.gate.message
    return cell.reason if isinstance(cell, Skipped) else cell.message if isinstance(cell, Crashed) else ""


def _verdict(comparison: Comparison | None) -> tuple[str, str, str, str]:
    if comparison is None:
        return ("", "", "", "")
    ratio = comparison.ratio
    if ratio is None:
        return ("", "", comparison.word, comparison.reason)
    decimals = table_ratio_decimals(ratio)
    shown = (format_ratio(ratio.value, decimals), format_interval(ratio, decimals))
    return (*shown, comparison.word, comparison.reason)
