"""Owns how the frozen tests get into a record: beside the cells of the code they ran on, or instead of timings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from benchmarks.capture import Watch
from benchmarks.ops import frozen, verdicts
from benchmarks.ops.frozen import Judged
from benchmarks.plan import Plan
from evidence.importers.session_stream import Ended, Gated, Header, NotTried, Reading, read
from evidence.schema import Artifact, Gate, Outcome, Record, Rejected, Timed

TESTS = "frozen tests"
"""How a record calls them where it does not have them."""
_NOT_TRIED = "the frozen tests did not pass, so nothing was timed"


def with_tests(record: Record, judged: Judged | None) -> tuple[Record, Mapping[str, bytes]]:
    """Add the tests to a session's record: the gate, its outcome in each cell of what they ran on, and its report."""
    if judged is None:
        return record, {}
    outcome, tested = judged.outcome, arms_tested(record)
    cells = tuple(
        cell.model_copy(update={"further": (*cell.further, outcome)})
        if isinstance(cell, Timed | Rejected)
        and cell.arm in tested
        and cell.gate.gate != outcome.gate
        and not verdicts.is_control(record.workload(cell.workload))
        else cell
        for cell in record.cells
    )
    artifacts, files = _report(judged)
    changes = {
        "gates": (*(gate for gate in record.gates if gate.name != judged.gate.name), judged.gate),
        "cells": cells,
        "artifacts": (*record.artifacts, *artifacts),
        "unavailable": tuple(entry for entry in record.unavailable if entry.what != TESTS),
    }
    return record.model_copy(update=changes), files


def _report(judged: Judged) -> tuple[tuple[Artifact, ...], Mapping[str, bytes]]:
    if judged.log is None:
        return (), {}
    sha256, size = hashlib.sha256(judged.log).hexdigest(), len(judged.log)
    artifact = Artifact(path=frozen.LOG, role="gate-log", sha256=sha256, bytes=size, arms=(), workloads=())
    return (artifact,), {frozen.LOG: judged.log}


def arms_tested(record: Record | Header) -> frozenset[str]:
    """Return the arms whose code the tests ran: the candidate, or where there is none what is measured alone."""
    candidates = frozenset(arm.name for arm in record.arms if arm.role == "candidate")
    return candidates or frozenset(arm.name for arm in record.arms)


def rejected(plan: Plan, judged: Judged) -> tuple[Record, Mapping[str, bytes]]:
    """Return the record of a run that ended at its tests: what they ran on is rejected, and nothing else was tried.

    The gate's report is named by the record only once the record has it, so the stream's gate names none.
    """
    header = plan.header
    gate = judged.gate.model_copy(update={"log": None})
    told = header.model_copy(update={"gates": (*header.gates, gate)})
    events = [told, Watch(()).read(0.0, ()), *_events(header, gate, judged.outcome), Ended(ended_at=datetime.now(UTC))]
    record = read("".join(event.model_dump_json() + "\n" for event in events).encode())
    return with_tests(record, judged)


def _events(header: Header, gate: Gate, outcome: Outcome) -> Iterator[Gated | NotTried | Reading]:
    tested = arms_tested(header)
    for workload in header.workloads:
        for arm in header.arms:
            if arm.name in tested and not verdicts.is_control(workload):
                yield Gated(arm=arm.name, workload=workload.name, phase="before", outcome=outcome)
            else:
                yield NotTried(arm=arm.name, workload=workload.name, reason=_NOT_TRIED)
