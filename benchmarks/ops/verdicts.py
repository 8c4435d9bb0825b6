"""Owns what a finished session says for or against a change: reasons with their codes, from the record alone."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.ops.control import CONTROL
from benchmarks.ops.exits import Blocker, Exit
from benchmarks.ops.origins import PROVED
from evidence.compare import compare
from evidence.readings import Quantity, process_values
from evidence.schema import Arm, Cell, Crashed, OpWorkload, Record, Rejected, Skipped, Timed, Workload
from evidence.statistics import Verdict, quantile

TIME = Quantity("time")


def blockers(record: Record) -> tuple[Blocker, ...]:
    """Return everything in a record that speaks against its candidate, or against what a baseline alone measured."""
    baseline = next(arm for arm in record.arms if arm.role == "baseline")
    candidate = next((arm for arm in record.arms if arm.role == "candidate"), None)
    found = list(_of_cells(record, baseline, candidate))
    if not any(isinstance(cell, Timed) for cell in record.cells if not is_control(record.workload(cell.workload))):
        found.append(Blocker(Exit.BENCHMARK_FAILED, "nothing was timed"))
    if candidate is not None:
        found += _of_code(record, baseline, candidate)
        found += _of_times(record, baseline, candidate)
    found += _of_controls(record, baseline)
    return tuple(found)


def is_control(workload: Workload) -> bool:
    """Whether a workload is that of the control op."""
    return isinstance(workload, OpWorkload) and workload.op == CONTROL.name


def _of_cells(record: Record, baseline: Arm, candidate: Arm | None) -> Iterator[Blocker]:
    for workload in record.workloads:
        before = record.cell(baseline.name, workload.name)
        if candidate is None:
            yield from _of_cell(before, Exit.RED_GATE, Exit.BENCHMARK_FAILED)
            continue
        after = record.cell(candidate.name, workload.name)
        lost = Exit.LOST_ROW if isinstance(before, Timed) else Exit.BENCHMARK_FAILED
        yield from _of_cell(after, Exit.RED_GATE, lost)
        yield from _of_cell(before, Exit.BASELINE_UNAVAILABLE, Exit.BASELINE_UNAVAILABLE)


def _of_cell(cell: Cell, red: Exit, lost: Exit) -> Iterator[Blocker]:
    where = f"{cell.arm} on {cell.workload}"
    if isinstance(cell, Rejected):
        yield Blocker(red, f"{where}: {cell.gate.message}")
    elif isinstance(cell, Crashed):
        yield Blocker(lost, f"{where} crashed in {cell.phase}: {cell.message}")
    elif isinstance(cell, Skipped):
        yield Blocker(lost, f"{where} was not tried: {cell.reason}")


def _of_code(record: Record, baseline: Arm, candidate: Arm) -> Iterator[Blocker]:
    """Hold each side to one proof of which files it loaded."""
    for arm in (baseline, candidate):
        proofs = {
            setting.value
            for cell in record.cells
            if isinstance(cell, Timed) and cell.arm == arm.name
            for setting in cell.ran
            if setting.name == PROVED
        }
        if torn := sorted(proof for proof in proofs if " | " in proof):
            yield Blocker(Exit.BASELINE_UNAVAILABLE, f"processes of {arm.name} loaded different code: {torn[0]}")


def _of_times(record: Record, baseline: Arm, candidate: Arm) -> Iterator[Blocker]:
    for found in compare(record, baseline.name, candidate.name, TIME):
        if not (isinstance(found.baseline, Timed) and isinstance(found.candidate, Timed)):
            continue
        if is_control(record.workload(found.workload)):
            if found.verdict in (Verdict.BETTER, Verdict.WORSE):
                ratio = "" if found.ratio is None else f" ({found.ratio.value:.3f})"
                reason = f"the control, the same code on both sides, is {found.word}{ratio}: something else differs"
                yield Blocker(Exit.INCONCLUSIVE, reason)
        elif found.verdict is Verdict.WORSE:
            ratio = "" if found.ratio is None else f": {found.ratio.value:.3f} of the baseline's speed"
            yield Blocker(Exit.REGRESSION, f"{found.workload} is SLOWER{ratio}")
        elif found.verdict is Verdict.INCOMPARABLE:
            yield Blocker(Exit.ENVIRONMENT, f"{found.workload} is INCOMPARABLE: {found.reason}")
        elif found.verdict in (Verdict.INCONCLUSIVE, Verdict.REFUSED):
            yield Blocker(Exit.INCONCLUSIVE, f"{found.workload} is {found.word}: {found.reason}")


def _of_controls(record: Record, baseline: Arm) -> Iterator[Blocker]:
    for arm in record.arms:
        if arm.control_of != baseline.name:
            continue
        for found in compare(record, baseline.name, arm.name, TIME):
            if found.verdict in (Verdict.BETTER, Verdict.WORSE):
                reason = (
                    f"{arm.name}, the baseline's code again, is {found.word} on {found.workload}: the machine drifts"
                )
                yield Blocker(Exit.INCONCLUSIVE, reason)


def median_s(record: Record, cell: Cell) -> float:
    """Return the median over processes of a cell's time."""
    return quantile(process_values(record, cell, TIME), 0.5)
