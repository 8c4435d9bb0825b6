"""Owns what a record says of a task: its gate, how the candidate stands to its baseline and to the best so far.

Everything here is computed from records whenever it is asked for; a journal's numbers are held to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Literal

from benchmarks.loop.contract import OWN_TREE, Contract
from benchmarks.loop.reasons import Objection, Reason
from evidence import roofline, statistics
from evidence.compare import Comparison, compare
from evidence.evaluation import value_of
from evidence.readings import Quantity, device_of
from evidence.roofline import Bound
from evidence.schema import (
    Cell,
    Crashed,
    Gate,
    GitSource,
    OpWorkload,
    Record,
    Rejected,
    Skipped,
    Timed,
    gate_holds,
)
from evidence.statistics import Interval, Verdict
from evidence.store import Loaded

GateState = Literal["green", "red", "skipped", "partial", "missing"]
TIME = Quantity("time")


def measured(contract: Contract, record: Record) -> Iterator[tuple[str, Cell]]:
    """Yield the candidate's cells on targets and guards; those that the record does not have are left to `missing`."""
    found = {(cell.arm, cell.workload): cell for cell in record.cells}
    for name in (*contract.workloads, *contract.guards):
        if (contract.candidate, name) in found:
            yield name, found[contract.candidate, name]


def missing(contract: Contract, record: Record) -> tuple[str, ...]:
    """Return the workloads of the contract that a record does not measure."""
    return tuple(name for name in (*contract.workloads, *contract.guards) if not _has(record, name))


def _has(record: Record, workload: str) -> bool:
    return any(one.name == workload for one in record.workloads)


def gate_of(contract: Contract, record: Record) -> GateState:
    """Return what came of the gate over all the candidate's cells: the worst of them."""
    cells = [cell for _, cell in measured(contract, record)]
    if not cells:
        return "missing"
    if any(isinstance(cell, Rejected | Crashed) for cell in cells):
        return "red"
    timed = [cell for cell in cells if isinstance(cell, Timed)]
    if len(timed) < len(cells):
        return "skipped"
    gates = {gate.name: gate for gate in record.gates}
    outcomes = [(gates[one.gate], one) for cell in timed for one in (cell.gate, *cell.further)]
    if any(gate_holds(gate, one) for gate, one in outcomes):
        return "red"
    return "partial" if any(gate.scope == "partial" for gate, _ in outcomes) else "green"


def comparisons(contract: Contract, record: Record, names: Sequence[str]) -> tuple[Comparison, ...]:
    """Compare candidate and baseline by time on those workloads that the record has."""
    known = [name for name in names if _has(record, name)]
    return compare(record, contract.baseline, contract.candidate, TIME, known)


def by(contract: Contract, record: Record, quantity: Quantity) -> tuple[Comparison, ...]:
    """Compare candidate and baseline by another quantity on every workload of the contract that the record has."""
    known = [name for name in (*contract.workloads, *contract.guards) if _has(record, name)]
    return compare(record, contract.baseline, contract.candidate, quantity, known)


def bounds(contract: Contract, record: Record) -> tuple[Bound, ...]:
    """Return the roofline of each target; none where work or peak of any is not known."""
    found = []
    for name in contract.workloads:
        workload = record.workload(name) if _has(record, name) else None
        if not isinstance(workload, OpWorkload):
            return ()
        work = {amount.of: amount.count for amount in workload.work}
        peak = roofline.peak(device_of(record), workload.dtype)
        if peak is None or not {"flop", "bytes"} <= work.keys():
            return ()
        found.append(roofline.bound(work["flop"], work["bytes"], peak))
    return tuple(found)


def speedup(contract: Contract, record: Record) -> Interval | None:
    """Return how many times faster the candidate is on the targets: a geometric mean; None if a target has no ratio."""
    found = [one.ratio for one in comparisons(contract, record, contract.workloads)]
    ratios = [one for one in found if one is not None and one.low > 0]
    if len(ratios) < len(contract.workloads):
        return None
    return statistics.geometric_mean(ratios).interval


def effect(contract: Contract, *records: Record) -> float:
    """Return the least effect that counts over the targets of these records, from their A/A arms."""
    found = [one.effect for record in records for one in comparisons(contract, record, contract.workloads)]
    return max(found, default=statistics.BASE_EFFECT)


def against(contract: Contract, now: Record, best: Record) -> Interval | None:
    """Return how many times faster the candidate is than the best one so far: above 1 is faster.

    Each was compared with the baseline in its own session, so the quotient of both speed-ups is free of what differs
    between sessions; its bounds add in quadrature on the log scale.
    """
    one, other = speedup(contract, now), speedup(contract, best)
    if one is None or other is None:
        return None
    centre = math.log(one.value / other.value)
    below = math.hypot(math.log(one.value / one.low), math.log(other.high / other.value))
    above = math.hypot(math.log(one.high / one.value), math.log(other.value / other.low))
    return Interval(math.exp(centre), math.exp(centre - below), math.exp(centre + above))


def attained(contract: Contract, loaded: Loaded) -> float | None:
    """Return the least share of the roofline over the targets; None where work or peak is not known."""
    limits = bounds(contract, loaded.record)
    values = [value_of(loaded, loaded.cell(contract.candidate, name), TIME) for name in contract.workloads]
    known = [value.interval.value for value in values if value is not None] if limits else []
    if len(known) < len(limits) or not limits:
        return None
    return min(limit.share(seconds) for limit, seconds in zip(limits, known, strict=True))


def objections(contract: Contract, record: Record, base: Record | None) -> Iterator[Objection]:
    """Yield what keeps one record from being evidence for the candidate, whatever it measured."""
    if names := missing(contract, record):
        yield Objection(Reason.UNMATCHED_SHAPE, f"{record.log} does not measure {', '.join(names)}")
    directions = {one.direction for one in record.workloads if isinstance(one, OpWorkload)}
    if lacking := [mode for mode in contract.modes if mode not in directions]:
        yield Objection(Reason.UNMATCHED_SHAPE, f"{record.log} does not measure {', '.join(lacking)}")
    if (device := device_of(record)) != contract.hardware:
        yield Objection(Reason.OTHER_HARDWARE, f"{record.log} ran on {device}, not on {contract.hardware}")
    dirty = [one.name for one in record.sources if isinstance(one, GitSource) and one.is_dirty is not False]
    if dirty:
        yield Objection(Reason.DIRTY_SOURCE, f"{record.log}: {', '.join(dirty)} is not what is committed")
    if fault := _baseline_fault(contract, record):
        yield Objection(Reason.OTHER_BASELINE, f"{record.log}: {fault}")
    yield from _of_cells(contract, record)
    yield from _of_gates(contract, record, base)


def _baseline_fault(contract: Contract, record: Record) -> str:
    """Return how the baseline of a record is not the one that was agreed on; empty if it is."""
    arm = next((one for one in record.arms if one.name == contract.baseline), None)
    source = next((one for one in record.sources if arm is not None and one.name == arm.source), None)
    if arm is None or source is None:
        return f"there is no arm {contract.baseline}"
    if contract.baseline_source == OWN_TREE:
        return "" if source.name == OWN_TREE else f"the baseline is from {source.name}, not from this tree"
    if isinstance(source, GitSource):
        is_it = contract.baseline_commit is not None and source.commit == contract.baseline_commit
        return "" if is_it else f"the baseline is commit {source.commit}, not {contract.baseline_source}"
    return "" if source.package == contract.baseline_source else f"the baseline is {source.package}"


def _of_cells(contract: Contract, record: Record) -> Iterator[Objection]:
    for name in (*contract.workloads, *contract.guards):
        for arm in (contract.baseline, contract.candidate):
            cell = next((one for one in record.cells if (one.arm, one.workload) == (arm, name)), None)
            where = f"{record.log}: {arm} on {name}"
            if isinstance(cell, Rejected):
                yield Objection(Reason.RED_GATE, f"{where}: {cell.gate.message}")
            elif isinstance(cell, Skipped):
                yield Objection(Reason.GATE_SKIPPED, f"{where} was not tried: {cell.reason}")
            elif isinstance(cell, Crashed):
                yield Objection(Reason.LOST_ROW, f"{where} crashed in {cell.phase}: {cell.message}")
            elif cell is None and _has(record, name):
                yield Objection(Reason.LOST_ROW, f"{where} has no row")


def _of_gates(contract: Contract, record: Record, base: Record | None) -> Iterator[Objection]:
    gates = {gate.name: gate for gate in record.gates}
    used = dict.fromkeys(
        one.gate
        for _, cell in measured(contract, record)
        if isinstance(cell, Timed)
        for one in (cell.gate, *cell.further)
    )
    for name in used:
        yield from _of_gate(contract, record, gates[name], base)
    if contract.criteria.frozen_tests and not any(gates[name].kind == "tests" for name in used):
        yield Objection(Reason.GATE_MISSING, f"{record.log} holds no outcome of the frozen tests")


def _of_gate(contract: Contract, record: Record, gate: Gate, base: Record | None) -> Iterator[Objection]:
    where = f"{record.log}: gate {gate.name}"
    if gate.scope == "partial":
        yield Objection(Reason.SUBSET_GATE, f"{where} ran on {gate.selection} only")
    if gate.variables:
        names = ", ".join(f"{one.name}={one.value}" for one in gate.variables)
        yield Objection(Reason.ENVIRONMENT, f"{where} ran with {names}, which weakens it")
    before = next((one for one in base.gates if one.name == gate.name), None) if base is not None else None
    if before is not None and before.tolerances != gate.tolerances:
        yield Objection(Reason.TOLERANCE_CHANGED, f"{where} has other tolerances than at the base")
    kept = {one.path: one.sha256 for one in contract.frozen}
    if other := sorted(one.path for one in gate.frozen if kept.get(one.path, one.sha256) != one.sha256):
        yield Objection(Reason.GATE_CHANGED, f"{where}: {other[0]} is not as it was frozen")
    least = contract.criteria.mutants_killed
    if least and gate.kind == "numeric":
        share = gate.mutants_killed / gate.mutants if gate.mutants and gate.mutants_killed is not None else None
        if share is None or share < least:
            told = "no mutants were tried" if share is None else f"{gate.mutants_killed} of {gate.mutants} mutants died"
            yield Objection(Reason.WEAK_GATE, f"{where}: {told}")


def is_slower(one: Comparison) -> bool:
    """Whether a comparison says that the candidate is worse."""
    return one.verdict is Verdict.WORSE
