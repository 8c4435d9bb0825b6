"""Owns what the record rules share: views of one record, each computed once and only if a rule asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from evidence.readings import Quantity, process_values, processes_of
from evidence.schema import (
    Accelerator,
    Arm,
    DeviceConditions,
    EngineWorkload,
    Failed,
    Gate,
    Host,
    Imported,
    Method,
    Passed,
    Process,
    Record,
    Rejected,
    Stack,
    Timed,
    Workload,
)

IDLE = 0x1
"""NVML's bit for a device that does nothing: its clocks then say nothing of a run."""

Window: TypeAlias = tuple[float, float]
Device: TypeAlias = tuple[str, int, Accelerator]
"""Host, index and description of an accelerator."""


class Column(NamedTuple):
    """The samples of one metric in one process: the slowest rank of each iteration, in order and sorted."""

    process: Process
    values: tuple[float, ...]
    ordered: Sequence[float]
    median: float


class Facts:
    """Views of one record."""

    def __init__(self, record: Record) -> None:
        """Point at a record; nothing is computed before it is asked for."""
        self.record = record

    @cached_property
    def arms(self) -> dict[str, Arm]:
        """Arms by name."""
        return {arm.name: arm for arm in self.record.arms}

    @cached_property
    def workloads(self) -> dict[str, Workload]:
        """Workloads by name."""
        return {workload.name: workload for workload in self.record.workloads}

    @cached_property
    def methods(self) -> dict[str, Method]:
        """Methods by name."""
        return {method.name: method for method in self.record.methods}

    @cached_property
    def gates(self) -> dict[str, Gate]:
        """Gates by name."""
        return {gate.name: gate for gate in self.record.gates}

    @cached_property
    def stacks(self) -> dict[str, Stack]:
        """Stacks by name."""
        return {stack.name: stack for stack in self.record.stacks}

    @cached_property
    def hosts(self) -> dict[str, Host]:
        """Hosts by name."""
        return {host.name: host for host in self.record.hosts}

    @cached_property
    def timed(self) -> tuple[tuple[int, Timed], ...]:
        """Timed cells with their index."""
        return tuple([(index, cell) for index, cell in enumerate(self.record.cells) if isinstance(cell, Timed)])

    @cached_property
    def imported(self) -> tuple[tuple[int, Imported], ...]:
        """Imported cells with their index."""
        return tuple((index, cell) for index, cell in enumerate(self.record.cells) if isinstance(cell, Imported))

    @cached_property
    def served(self) -> bool:
        """Whether anything was asked of a server: a workload of requests, or a process that counts them."""
        return any(isinstance(workload, EngineWorkload) for workload in self.record.workloads) or any(
            process.requests is not None for cell in self.record.cells for process in processes_of(cell)[:1]
        )

    @cached_property
    def outcomes(self) -> tuple[tuple[tuple[str | int, ...], str, Passed | Failed], ...]:
        """Every outcome of a gate: the parts of its pointer, the arm's name, and itself."""
        found: list[tuple[tuple[str | int, ...], str, Passed | Failed]] = []
        for index, cell in enumerate(self.record.cells):
            if isinstance(cell, Timed) or isinstance(cell, Rejected):  # noqa: SIM101 - a union is slow, and this is hot
                found.append((("cells", index, "gate"), cell.arm, cell.gate))
                for at, outcome in enumerate(cell.further):
                    found.append((("cells", index, "further", at), cell.arm, outcome))
            elif isinstance(cell, Imported) and cell.outcome is not None:
                found.append((("cells", index, "outcome"), cell.arm, cell.outcome))
        return tuple(found)

    @cached_property
    def durations(self) -> frozenset[str]:
        """Names of the metrics measured in seconds for each iteration."""
        return frozenset(m.name for m in self.record.metrics if m.unit == "s" and m.of == "iteration")

    @cached_property
    def columns(self) -> dict[int, dict[str, tuple[Column, ...]]]:
        """Index of a timed cell -> metric -> one column a process."""
        return {index: _columns(cell.processes) for index, cell in self.timed}

    @cached_property
    def by_cell(self) -> dict[tuple[str, str], dict[str, tuple[Column, ...]]]:
        """Arm and workload of a timed cell -> metric -> one column a process."""
        return {(cell.arm, cell.workload): self.columns[index] for index, cell in self.timed}

    def by_process(self, arm: str, workload: str, quantity: Quantity) -> Sequence[float]:
        """Return a quantity of a cell by process, of the samples that are laid out already where it is theirs."""
        if not (quantity.statistic or quantity.per):
            columns = self.by_cell.get((arm, workload), {}).get(quantity.metric)
            if columns:
                return [one.median for one in columns]
        return process_values(self.record, self.record.cell(arm, workload), quantity)

    @cached_property
    def times(self) -> dict[int, float]:
        """Index of a timed cell -> the median over processes of its first duration; cells without one are not here."""
        found: dict[int, float] = {}
        for index, columns in self.columns.items():
            name = next((name for name in columns if name in self.durations), None)
            if name is not None:
                found[index] = median([column.median for column in columns[name]])
        return found

    @cached_property
    def spans(self) -> dict[int, tuple[float | None, ...]]:
        """Index of a cell with numbers -> by process, the span of its requests; None where it has none."""
        return {index: tuple(map(_span, processes_of(cell))) for index, cell in enumerate(self.record.cells)}

    @cached_property
    def windows(self) -> tuple[tuple[Window, int, int], ...]:
        """Window of each process with the index of its cell and its place in it, in order of start."""
        found = [
            ((process.started_s, process.ended_s), index, at)
            for index, cell in self.timed
            for at, process in enumerate(_processes(cell))
        ]
        found.sort()
        return tuple(found)

    @cached_property
    def devices(self) -> dict[str, tuple[Device, ...]]:
        """Name of an arm -> the accelerators it ran on."""
        return {
            arm.name: tuple(
                (rank.host, rank.device, self.hosts[rank.host].accelerators[rank.device])
                for rank in arm.ranks
                if rank.device is not None
            )
            for arm in self.record.arms
        }

    @cached_property
    def environment(self) -> int:
        """A hash of the machines and stacks: equal for records of one environment."""
        return hash((self.record.hosts, self.record.stacks))

    @cached_property
    def readings(self) -> dict[tuple[str, int], DeviceConditions]:
        """Host and device -> what was read of it during the run."""
        return {(c.host, c.device): c for c in self.record.conditions if isinstance(c, DeviceConditions)}

    @cached_property
    def clocks(self) -> dict[tuple[str, int], float]:
        """Host and device -> the highest SM clock read while it worked; left out where no such reading tells."""
        found: dict[tuple[str, int], float] = {}
        for device, columns in self.readings.items():
            if columns.sm_clock_hz is not None and columns.event_reasons is not None:
                rows = zip(columns.sm_clock_hz, columns.event_reasons, strict=True)
                if busy := [hz for hz, why in rows if not why & IDLE]:
                    found[device] = max(busy)
        return found


def median(values: Sequence[float]) -> float:
    """Return the median of a few numbers that are known to be finite."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return (ordered[half] + ordered[~half]) / 2


def _span(process: Process) -> float | None:
    """Return seconds from the first enqueue to the last token of completed requests."""
    requests = process.requests
    if requests is None or requests.enqueued_s is None:
        return None
    rows = zip(requests.enqueued_s, requests.latency_s, strict=True)
    ends = [start + took for start, took in rows if took is not None]
    return max(ends) - min(requests.enqueued_s) if ends else None


def _processes(cell: Timed) -> tuple[Process, ...]:
    if not cell.cross_checks:
        return cell.processes
    return (*cell.processes, *(process for check in cell.cross_checks for process in check.processes))


def _columns(processes: Sequence[Process]) -> dict[str, tuple[Column, ...]]:
    found: dict[str, list[Column]] = {}
    for process in processes:
        if len(process.samples) == 1:
            alone = process.samples[0]
            found.setdefault(alone.metric, []).append(_column(process, alone.values))
            continue
        by_metric: dict[str, list[tuple[float, ...]]] = {}
        for samples in process.samples:
            by_metric.setdefault(samples.metric, []).append(samples.values)
        for metric, ranks in by_metric.items():
            values = ranks[0] if len(ranks) == 1 else tuple(map(max, zip(*ranks, strict=False)))
            found.setdefault(metric, []).append(_column(process, values))
    return {metric: tuple(columns) for metric, columns in found.items()}


def _column(process: Process, values: tuple[float, ...]) -> Column:
    ordered = sorted(values)
    half = len(ordered) // 2
    return Column(process, values, ordered, (ordered[half] + ordered[~half]) / 2)
