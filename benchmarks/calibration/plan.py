"""Owns how a comparison of timers becomes a session's Plan, and its record one that names each arm's method."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from benchmarks import ROOT, capture, privacy
from benchmarks.calibration.nvbench import NVBENCH, PACKAGE
from benchmarks.calibration.selection import WORKER, Selection, short
from benchmarks.ops import gates
from benchmarks.ops.plan import METRICS, SHARED
from benchmarks.ops.workloads import named, workload
from benchmarks.options import UnsuitableError
from benchmarks.plan import Plan
from benchmarks.reading import UnreadableError
from benchmarks.standin import Facts
from benchmarks.timing import DO_BENCH, HELD_EVENTS, TORCH_TIMER, Choice, Rules
from evidence.importers.session_stream import Header
from evidence.schema import (
    Arm,
    Method,
    OpWorkload,
    PackageSource,
    Provenance,
    Rank,
    Record,
    Setting,
    Timed,
    Unavailable,
)

TIMER_AXIS = "timer"
_IMPLEMENTATIONS = {
    DO_BENCH: "benchmarks.timing:DoBench",
    HELD_EVENTS: "benchmarks.timing:HeldEvents",
    NVBENCH: "benchmarks.calibration.nvbench:NvBench",
    TORCH_TIMER: "benchmarks.timing:TorchTimer",
}
_MEASURED = ("benchmarks/device.py", "benchmarks/timing.py", "benchmarks/calibration/nvbench.py")
_METHOD = f"method of {short(NVBENCH)}"
"""How a record calls it where it does not have it."""
_LIMITATIONS = (
    "the arms are timers, whose source is this repository; what they time is of the packages that the workloads name",
)
_OF_NVBENCH = (
    "NVBench takes as many samples as the harness does and keeps those of a throttled device; by itself it samples "
    "until the noise is small or time is up, and discards them",
    "NVBench writes over the cache once and waits for the device before each call; the harness writes over more than "
    "twice the cache and does not wait",
)
_THREADS = 1


def refuse_uninstalled(selection: Selection) -> None:
    """Refuse a machine without what is compared.

    Raises:
        UnsuitableError: naming the first package that is not here.
    """
    for name in _packages(selection):
        try:
            capture.package_source(name)
        except UnreadableError as error:
            fix = "pip install 'cuda-bench[cu13]' or [cu12]" if name == PACKAGE else f"pip install {name}"
            raise UnsuitableError(str(error), fix=f"{fix}; --dry-run prints what would run") from None


def _packages(selection: Selection) -> tuple[str, ...]:
    timers = {DO_BENCH: "triton", HELD_EVENTS: "triton", NVBENCH: PACKAGE}
    return tuple(sorted({timers[timer] for timer in selection.timers if timer in timers} | {*selection.calls.packages}))


def build(
    selection: Selection,
    *,
    probed: capture.Probed,
    choice: Choice,
    facts: Facts | None,
    rules: Rules,
    further_warm_up_s: float,
    timeout_s: float,
    ends_by_s: float | None,
    provenance: Provenance,
    withheld: Sequence[Unavailable],
    environment: Mapping[str, str],
    domain: str,
    name: str,
    limitations: Sequence[str],
) -> Plan:
    """Capture the machine and return the plan of a session that starts now."""
    machine = capture.machine(probed)
    device = machine.devices[0] if selection.device == "cuda" else None
    started_at = datetime.now(UTC)
    is_nvbench = NVBENCH in selection.timers
    header = Header(
        log=capture.log_name(domain, name, capture.device_slug(machine.host, device), started_at),
        started_at=started_at,
        provenance=provenance,
        sources=(capture.git_source(ROOT, _measured(selection)), *_sources(selection)),
        hosts=(machine.host,),
        stacks=(capture.stack(probed, ROOT),),
        axes=(TIMER_AXIS, "implementation"),
        arms=_arms(selection, device),
        workloads=_workloads(selection, choice),
        metrics=METRICS,
        method=_method(selection, choice, rules),
        gates=tuple(
            gates.definition(case, environ=environment)
            for case in {gates.gate_name(call.case): call.case for call in selection.calls.timed}.values()
        ),
        unavailable=(
            *withheld,
            Unavailable(what="profile", reason="not taken in this run"),
            *((Unavailable(what=_METHOD, reason="it is told apart when the session ends"),) if is_nvbench else ()),
        ),
        limitations=(*limitations, *_LIMITATIONS, *(_OF_NVBENCH if is_nvbench else ()), SHARED),
        supersedes=(),
    )
    return Plan(
        header=header,
        commands={arm: (sys.executable, "-m", WORKER, *selection.words(timer)) for arm, _, timer in selection.arms},
        environment=environment,
        root=ROOT,
        rules=rules,
        threads=_THREADS,
        sharing="arm",
        start="fork" if selection.device == "cuda" else "spawn",
        nurseries=selection.nurseries,
        facts=facts,
        ends_by_s=ends_by_s,
        further_warm_up_s=further_warm_up_s,
        timeout_s=timeout_s,
    )


def _measured(selection: Selection) -> tuple[str, ...]:
    """Return this repository's files that a comparison depends on: the timers, the ops and its own kernels."""
    modules = {op.module for op in selection.calls.ops}
    entries = (call.implementation for call in selection.calls.timed)
    modules |= {entry.target.partition(":")[0] for entry in entries if entry.package is None}
    return tuple(sorted({*_MEASURED, *(module.replace(".", "/") + ".py" for module in modules)}))


def _sources(selection: Selection) -> tuple[PackageSource, ...]:
    return tuple(capture.package_source(name) for name in _packages(selection))


def _arms(selection: Selection, device: int | None) -> tuple[Arm, ...]:
    program = privacy.program(sys.executable, ROOT)
    return tuple(
        Arm(
            name=name,
            role=role,
            control_of=short(timer) if role == "control" else None,
            implementation=_IMPLEMENTATIONS[timer],
            source=capture.REPOSITORY,
            ranks=(Rank(host=capture.HOST, device=device, stack=capture.STACK),),
            command=(program, "-m", WORKER, *selection.words(timer)),
            switches=(Setting(name=TIMER_AXIS, value=timer),),
            mechanism=(),
            outputs="same",
        )
        for name, role, timer in selection.arms
    )


def _workloads(selection: Selection, choice: Choice) -> tuple[OpWorkload, ...]:
    threads = Setting(name="threads", value=str(_THREADS))
    return tuple(
        workload(
            call.case,
            name=named(call.case, selection.calls.ops),
            role="target",
            cache=choice.cache,
            settings=(*call.settings, threads),
        )
        for call in selection.calls.timed
    )


def _method(selection: Selection, choice: Choice, rules: Rules) -> Method:
    """Return the method of the harness's own timer, as planned."""
    return Method(
        name=short(choice.used),
        timer_requested=choice.requested,
        timer_used=choice.used,
        fallback_reason=choice.fallback_reason,
        timer_overhead_s=choice.overhead_s,
        warm_up_s=rules.warm_up_s,
        warm_up_calls=2,
        flush_bytes=choice.flush_bytes,
        allocates_outputs=True,
        minimum_samples=rules.minimum_samples,
        maximum_samples=rules.maximum_samples,
        target_spread=rules.target_spread,
        budget_s=rules.budget_s,
        processes=selection.processes,
        order="interleaved",
    )


def with_methods(record: Record) -> tuple[Record, Mapping[str, bytes]]:
    """Tell the method of NVBench's cells apart from the harness's: a session knows one method only."""
    (method,) = record.methods
    arm = next(arm for arm in record.arms if Setting(name=TIMER_AXIS, value=NVBENCH) in arm.switches)
    rank = arm.ranks[0]
    host = next(host for host in record.hosts if host.name == rank.host)
    cache_bytes = host.accelerators[rank.device].l2_bytes if rank.device is not None else None
    other = method.model_copy(
        update={
            "name": short(NVBENCH),
            "timer_requested": NVBENCH,
            "timer_used": NVBENCH,
            "fallback_reason": None,
            "flush_bytes": cache_bytes or 0,
        }
    )
    cells = tuple(
        cell.model_copy(update={"method": other.name}) if isinstance(cell, Timed) and cell.arm == arm.name else cell
        for cell in record.cells
    )
    unavailable = tuple(entry for entry in record.unavailable if entry.what != _METHOD)
    changes = {"methods": (method, other), "cells": cells, "unavailable": unavailable}
    return record.model_copy(update=changes), {}
