"""Owns what is read off a record: numbers by process, the facts a cell stands for, and what work and conditions it saw.

Pure functions from a record to plain values. Means, percentiles, rates and agreements exist only here; none is stored.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from evidence.errors import ComparisonError, UnknownNameError
from evidence.schema import (
    RESERVED,
    AccuracyDetail,
    Arm,
    Cell,
    DeviceConditions,
    EngineWorkload,
    ForeignWorkload,
    Imported,
    OpWorkload,
    Process,
    Record,
    Requests,
    Timed,
    TokensDetail,
    Workload,
)
from evidence.schema.metrics import Better, Unit
from evidence.statistics import quantile

Condition = Literal["power-capped", "throttled", "shared"]

_QUANTITY = re.compile(r"([a-z][a-z0-9_]*)(?:\.([a-z]+[0-9.]*))?(?:/([a-z_]+))?")
_STATISTIC = re.compile(r"median|mean|min|max|p[0-9]{1,2}(\.[0-9]+)?")
_REQUEST_METRICS = ("ttft", "tpot", "latency", "throughput", "request_throughput")
_WORK_OF_RATE = {"bandwidth": "bytes", "flop_rate": "flop"}
_RATES = ("1/s", "token/s", "B/s", "FLOP/s")


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number a process: a metric, which statistic of its values, and a count to divide by.

    `statistic` is empty for the metric's own (the median of samples and requests); `per` is empty, `accelerators`,
    or a kind of work such as `output_tokens`.
    """

    metric: str
    statistic: str = ""
    per: str = ""

    def __str__(self) -> str:
        """Write it as authors do: `ttft.p50`, `wall_time/output_tokens`."""
        return f"{self.metric}{'.' if self.statistic else ''}{self.statistic}{'/' if self.per else ''}{self.per}"


def parse_quantity(text: str) -> Quantity:
    """Read `name[.statistic][/count]`.

    Raises:
        ComparisonError: it is not of that form.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None or (match[2] and not _STATISTIC.fullmatch(match[2])):
        raise ComparisonError(
            f"{text!r} is not a metric", fix="write name, name.median, name.p90, name.mean/min/max, or name/count"
        )
    return Quantity(match[1], match[2] or "", match[3] or "")


def unit_of(record: Record, quantity: Quantity) -> tuple[Unit, Better]:
    """Return the unit and direction of a metric the record declares, or of a reserved one that derives from it.

    Raises:
        UnknownNameError: neither, or nothing in the record counts what is divided by.
    """
    if quantity.per and quantity.per not in (counts := known_counts(record)):
        raise UnknownNameError("count", quantity.per, counts)
    declared = record.metric(quantity.metric)
    if declared is not None:
        return declared.unit, declared.better
    if quantity.metric in RESERVED and quantity.metric in known_metrics(record):
        return RESERVED[quantity.metric]
    raise UnknownNameError("metric", quantity.metric, known_metrics(record))


def known_metrics(record: Record) -> tuple[str, ...]:
    """Return the names a reading of this record may use: declared ones, and what derives from what is stored."""
    names = {metric.name for metric in record.metrics}
    work = {amount.of for workload in record.workloads for amount in workload.work}
    if "time" in names:
        names.update(rate for rate, of in _WORK_OF_RATE.items() if of in work)
    if any(process.requests is not None for cell in record.cells for process in processes_of(cell)):
        names.update(_REQUEST_METRICS)
    return tuple(sorted(names))


def known_counts(record: Record) -> tuple[str, ...]:
    """Return what a metric of this record may be divided by: accelerators, and every kind of work some process did."""
    work = {of for cell in record.cells for process in processes_of(cell) for of, _ in _work(record, cell, process)}
    return ("accelerators", *sorted(of.replace("-", "_") for of in work))


def processes_of(cell: Cell) -> tuple[Process, ...]:
    """Return a cell's processes; none for one without numbers."""
    return cell.processes if isinstance(cell, Timed | Imported) else ()


def samples(process: Process, metric: str) -> tuple[float, ...]:
    """Return one metric's samples in order; of several ranks, the slowest of each iteration."""
    columns = [column.values for column in process.samples if column.metric == metric]
    if len(columns) == 1:
        return columns[0]
    return tuple(max(values) for values in zip(*columns, strict=True)) if columns else ()


def process_values(record: Record, cell: Cell, quantity: Quantity) -> tuple[float, ...]:
    """Return one number a process, in order of process.

    A `gate` metric has one number for the cell: a ratio of counts. Empty: the cell holds no such numbers.

    Raises:
        UnknownNameError: no such metric.
    """
    unit_of(record, quantity)
    gated = gate_value(cell, quantity.metric)
    if gated is not None:
        return (gated,)
    found = [_process_value(record, cell, process, quantity) for process in processes_of(cell)]
    values = tuple(value for value in found if value is not None)
    return values if len(values) == len(found) else ()


def gate_value(cell: Cell, metric: str) -> float | None:
    """Return a metric that is a ratio of a gate's counts: token_agreement, or an accuracy measure by its name."""
    outcomes = (cell.gate, *cell.further) if isinstance(cell, Timed) else ()
    for outcome in outcomes:
        detail = outcome.detail
        if isinstance(detail, TokensDetail) and metric == "token_agreement":
            return detail.agreed / detail.compared
        if isinstance(detail, AccuracyDetail) and metric == detail.measure:
            return detail.numerator / detail.denominator
    return None


def _process_value(record: Record, cell: Cell, process: Process, quantity: Quantity) -> float | None:
    value = _undivided(record, cell, process, quantity)
    if value is None or not quantity.per:
        return value
    divisor = _divisor(record, cell, process, quantity.per)
    return value / divisor if divisor else None


def _undivided(record: Record, cell: Cell, process: Process, quantity: Quantity) -> float | None:
    metric = quantity.metric
    if metric in _WORK_OF_RATE:
        amount = next(
            (work.count for work in record.workload(cell.workload).work if work.of == _WORK_OF_RATE[metric]), 0
        )
        times = samples(process, "time")
        return amount / _reduce(times, "median") if amount and times else None
    if metric == "energy":
        return _energy(record, record.arm(cell.arm), process)
    values = samples(process, metric)
    if not values and process.requests is not None and metric in _REQUEST_METRICS:
        if metric in ("throughput", "request_throughput"):
            return _rate(process.requests, tokens=metric == "throughput")
        values = _request_values(process.requests, metric)
    return _reduce(values, quantity.statistic or "median") if values else None


def _reduce(values: Sequence[float], statistic: str) -> float:
    match statistic:
        case "mean":
            return math.fsum(values) / len(values)
        case "min":
            return min(values)
        case "max":
            return max(values)
        case "median":
            return quantile(values, 0.5)
        case _:
            return quantile(values, float(statistic[1:]) / 100)


def _request_values(requests: Requests, metric: str) -> tuple[float, ...]:
    """Return one value a completed request. TPOT is over the same request's own tokens after the first."""
    if metric == "ttft":
        return tuple(value for value in requests.ttft_s if value is not None)
    if metric == "latency":
        return tuple(value for value in requests.latency_s if value is not None)
    rows = zip(requests.ttft_s, requests.latency_s, requests.output_tokens, strict=True)
    return tuple((b - a) / (n - 1) for a, b, n in rows if a is not None and b is not None and n > 1)


def _rate(requests: Requests, *, tokens: bool) -> float | None:
    """Return output tokens (or requests) of completed requests over first enqueue to last token, per second."""
    if requests.enqueued_s is None:
        return None
    rows = zip(requests.enqueued_s, requests.latency_s, requests.output_tokens, strict=True)
    done = [(start, start + latency, count) for start, latency, count in rows if latency is not None]
    if not done:
        return None
    span = max(end for _, end, _ in done) - min(requests.enqueued_s)
    if span <= 0:  # a clock so far on that a latency is lost in its last digit
        return None
    return (sum(count for *_, count in done) if tokens else len(done)) / span


def _energy(record: Record, arm: Arm, process: Process) -> float | None:
    """Return joules drawn by the arm's devices round one process, from the counter at its boundaries."""
    total = 0.0
    for rank in arm.ranks:
        columns = _device_conditions(record, rank.host, rank.device)
        if columns is None or columns.energy_j is None:
            return None
        before = [e for t, e in zip(columns.at_s, columns.energy_j, strict=True) if t <= process.started_s]
        after = [e for t, e in zip(columns.at_s, columns.energy_j, strict=True) if t >= process.ended_s]
        if not before or not after:
            return None
        total += after[0] - before[-1]
    return total or None


def _divisor(record: Record, cell: Cell, process: Process, per: str) -> float:
    if per == "accelerators":
        return sum(rank.device is not None for rank in record.arm(cell.arm).ranks)
    return dict(_work(record, cell, process)).get(per.replace("_", "-"), 0)


def _work(record: Record, cell: Cell, process: Process) -> frozenset[tuple[str, int]]:
    """Return what one process did: its own count, its completed requests, or the workload's declared work."""
    if process.work:
        return frozenset((amount.of, amount.count) for amount in process.work)
    requests = process.requests
    if requests is not None:
        done = [index for index, latency in enumerate(requests.latency_s) if latency is not None]
        return frozenset(
            {
                ("requests", len(done)),
                ("prompt-tokens", sum(requests.prompt_tokens[index] for index in done)),
                ("output-tokens", sum(requests.output_tokens[index] for index in done)),
            }
        )
    return frozenset((amount.of, amount.count) for amount in record.workload(cell.workload).work)


def work_done(record: Record, cell: Cell) -> frozenset[tuple[str, int]]:
    """Return the work every process of a cell did, with counts that vary between processes listed each.

    Two cells with unequal sets may be compared by rates only.
    """
    return frozenset().union(*(_work(record, cell, process) for process in processes_of(cell)))


def is_rate(unit: Unit, quantity: Quantity) -> bool:
    """Whether a quantity already divides by work or time, so that unequal work may be compared by it."""
    return unit in _RATES or bool(quantity.per) or quantity.metric in ("ttft", "tpot", "itl")


def differing(a: Arm, b: Arm) -> frozenset[str]:
    """Return the axes in which two arms differ; those outside the record's `axes` make them incomparable.

    Another implementation brings its own source with it.
    """
    axes: set[str] = set()
    if a.implementation != b.implementation:
        axes.add("implementation")
    elif a.source != b.source:
        axes.add("source")
    if len(a.ranks) != len(b.ranks) or [rank.device for rank in a.ranks] != [rank.device for rank in b.ranks]:
        axes.add("ranks")
    if {rank.host for rank in a.ranks} != {rank.host for rank in b.ranks}:
        axes.add("host")
    if {rank.stack for rank in a.ranks} != {rank.stack for rank in b.ranks}:
        axes.add("stack")
    switches_a, switches_b = ({switch.name: switch.value for switch in arm.switches} for arm in (a, b))
    names = switches_a.keys() | switches_b.keys()
    axes.update(name for name in names if switches_a.get(name) != switches_b.get(name))
    return frozenset(axes)


def environment_apart(record: Record, a: Arm, b: Arm) -> tuple[str, ...]:
    """Name what differs between the machines and stacks that two arms ran on: `driver 580.0 and 535.1`."""
    one, other = (_environment_of(record, arm) for arm in (a, b))
    return tuple(
        f"{name} {one[name] or 'none'} and {other[name] or 'none'}" for name in one if one[name] != other[name]
    )


def _environment_of(record: Record, arm: Arm) -> dict[str, str]:
    hosts = [host for host in record.hosts if any(rank.host == host.name for rank in arm.ranks)]
    stacks = [stack for stack in record.stacks if any(rank.stack == stack.name for rank in arm.ranks)]
    named = {host.name: host for host in record.hosts}
    models = [
        named[rank.host].cpu_model if rank.device is None else named[rank.host].accelerators[rank.device].model
        for rank in arm.ranks
    ]
    every = {package.partition("==")[0] for stack in record.stacks for package in stack.packages}
    pinned = dict(package.partition("==")[::2] for stack in stacks for package in stack.packages)
    return {
        "host": _joined(host.name for host in hosts),
        "device": _joined(f"{rank.device}" for rank in arm.ranks),
        "model": _joined(model or "unknown" for model in models),
        "driver": _joined(host.driver or "" for host in hosts),
        "os": _joined(host.os or "" for host in hosts),
        "python": _joined(stack.python for stack in stacks),
        "runtime": _joined(stack.runtime or "" for stack in stacks),
        **{name: pinned.get(name, "") for name in sorted(every)},
    }


def _joined(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(filter(None, texts)))


def ran_identically(record: Record, a: Cell, b: Cell) -> bool:
    """Whether two arms resolved to the same configuration of one implementation: a ratio of noise.

    What one arm's mechanism counted and the other's did not is no noise, though no configuration tells of it. An arm
    against its own control is noise too, but asked for as such.
    """
    if not (isinstance(a, Timed) and isinstance(b, Timed)):
        return False
    one, other = record.arm(a.arm), record.arm(b.arm)
    if other.name in (one.name, one.control_of) or other.control_of == one.name:
        return one.name == other.name
    if one.implementation != other.implementation or not a.ran or set(a.ran) != set(b.ran):
        return False
    mechanisms = {*one.mechanism, *other.mechanism}
    return _counted(a, mechanisms) == _counted(b, mechanisms)


def _counted(cell: Timed, names: Collection[str]) -> frozenset[str]:
    """Return which of these counters some process of a cell counted."""
    every = (counter for process in cell.processes for counter in process.counters)
    return frozenset(counter.name for counter in every if counter.count and counter.name in names)


def device_of(record: Record) -> str:
    """Return the model of the accelerators or CPUs that arms ran on, each once."""
    hosts = {host.name: host for host in record.hosts}
    names: list[str] = []
    for arm in record.arms:
        for rank in arm.ranks:
            host = hosts[rank.host]
            model = host.cpu_model if rank.device is None else host.accelerators[rank.device].model
            names.append(model or "unknown CPU")
    return ", ".join(dict.fromkeys(names)) or "not recorded"


def coordinates(record: Record, workload: Workload) -> dict[str, str]:
    """Return the axes of a workload and where it stands on each, as text. `arm` is an axis too, added by callers."""
    found: dict[str, str] = {"workload": workload.name, "device": device_of(record)}
    if isinstance(workload, OpWorkload):
        found |= {"op": workload.op, "dtype": workload.dtype, "direction": workload.direction, "cache": workload.cache}
        found["shape"] = " × ".join(f"{dimension.name}{dimension.size}" for dimension in workload.shape)
        found |= {dimension.name: str(dimension.size) for dimension in workload.shape}
        found |= {parameter.name: parameter.value for parameter in workload.parameters}
    elif isinstance(workload, EngineWorkload):
        found |= {"scenario": workload.name, "model": workload.weights.model, "dtype": workload.dtype}
        found |= {"requests": str(workload.requests), "prefix_cache": workload.prefix_cache}
        found |= {"arrival": workload.arrival.kind, "concurrency": _concurrency(workload)}
        found |= {setting.name: setting.value for setting in (*workload.sampling, *workload.parameters)}
    elif isinstance(workload, ForeignWorkload):
        found |= {setting.name: setting.value for setting in workload.settings}
    return found


def _concurrency(workload: EngineWorkload) -> str:
    if workload.arrival.kind == "at-once":
        return f"{workload.requests} at once"
    most = None if workload.arrival.kind == "paced" else workload.arrival.concurrency
    return str(most or "unbounded")


def _device_conditions(record: Record, host: str, device: int | None) -> DeviceConditions | None:
    for columns in record.conditions:
        if isinstance(columns, DeviceConditions) and (columns.host, columns.device) == (host, device):
            return columns
    return None


def conditions_of(record: Record, host: str, device: int, window: tuple[float, float]) -> frozenset[Condition]:
    """Return what a device suffered in a window (seconds from the record's start); empty means clean.

    Violation counters are cumulative, so a positive difference over the readings round the window proves it.
    """
    columns = _device_conditions(record, host, device)
    if columns is None:
        return frozenset()
    rows = _rows_round(columns.at_s, window)
    found: set[Condition] = set()
    if _grew(columns.thermal_violation_ns, rows):
        found.add("throttled")
    if _grew(columns.power_violation_ns, rows):
        found.add("power-capped")
    if columns.foreign_processes is not None and any(columns.foreign_processes[row] for row in rows):
        found.add("shared")
    return frozenset(found)


def _rows_round(at_s: Sequence[float], window: tuple[float, float]) -> range:
    """Return the readings from the last one before a window to the first one after it."""
    first = max(0, bisect_right(at_s, window[0]) - 1)
    last = min(bisect_left(at_s, window[1]), len(at_s) - 1)
    return range(first, last + 1)


def _grew(counter: tuple[int, ...] | None, rows: range) -> bool:
    if counter is None:
        return False
    return any(after > before for before, after in pairwise(counter[row] for row in rows))


def conditions_of_cells(record: Record, cells: Iterable[Cell]) -> frozenset[Condition]:
    """Return what any process of these cells suffered on any of its devices."""
    found: set[Condition] = set()
    for cell in cells:
        for rank in record.arm(cell.arm).ranks:
            if rank.device is not None:
                for process in processes_of(cell):
                    window = (process.started_s, process.ended_s)
                    found |= conditions_of(record, rank.host, rank.device, window)
    return frozenset(found)
