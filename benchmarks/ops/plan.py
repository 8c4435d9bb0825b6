"""Owns how a choice of op, implementations and shapes becomes a session's Plan: arms, workloads, gates and the rest."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec

from benchmarks import ROOT, capture, privacy
from benchmarks.ops import autotuning, definitions, gates
from benchmarks.ops.inputs import MOST_DIGESTED_BYTES, drawn_bytes
from benchmarks.ops.selection import SLOWED, WORKER, Selection, Side, percent
from benchmarks.ops.workloads import workload
from benchmarks.options import UnsuitableError
from benchmarks.plan import Plan
from benchmarks.reading import UnreadableError
from benchmarks.standin import Facts
from benchmarks.timing import CUDA_GRAPH, DO_BENCH, HELD_EVENTS, TORCH_TIMER, Choice, Rules
from evidence.importers.session_stream import Header, NotTried
from evidence.schema import (
    Arm,
    Method,
    Metric,
    OpWorkload,
    PackageSource,
    Provenance,
    Rank,
    Setting,
    Source,
    Unavailable,
)
from evidence.schema.base import PositiveCount

_METHOD_NAMES = {DO_BENCH: "do-bench", HELD_EVENTS: "held-events", CUDA_GRAPH: "cuda-graph", TORCH_TIMER: "torch-timer"}
METRICS = (
    Metric(name="time", unit="s", better="lower", of="iteration", role="target"),
    Metric(name="peak_memory", unit="B", better="lower", of="process", role="guard"),
)
SHARED = (
    "one process of an arm measured all workloads in turn: they share its import, device context, allocator and warmth"
)


def refuse_uninstalled(selection: Selection) -> None:
    """Refuse implementations whose package is not here.

    Raises:
        UnsuitableError: naming the first.
    """
    if find_spec("torch") is None:
        raise UnsuitableError("torch is not installed", fix="install the `bench` extra")
    for entry in selection.entries:
        if entry.package is not None:
            try:
                capture.package_source(entry.package)
            except UnreadableError as error:
                fix = f"install it, or leave out --implementations {entry.name}"
                raise UnsuitableError(str(error), fix=fix) from None


def method(selection: Selection, choice: Choice, rules: Rules) -> Method:
    """Return the method as planned; the session completes what only measuring tells."""
    return Method(
        name=_METHOD_NAMES[choice.used],
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


def arms(selection: Selection, device: int | None) -> tuple[Arm, ...]:
    """Return the arms on one device of the one host; a control equals its twin in everything but its name."""
    program = privacy.program(sys.executable, ROOT)
    return tuple(
        Arm(
            name=side.name,
            role=side.role,
            control_of=selection.twin.name if side.role == "control" else None,
            implementation=target(selection, side),
            source=side.source,
            ranks=(Rank(host=capture.HOST, device=device, stack=capture.STACK),),
            command=(program, "-m", WORKER, *selection.words(side, is_recorded=True)),
            switches=(Setting(name=SLOWED, value=percent(side.slowed)),) if side.slowed else (),
            mechanism=(),
            outputs="same",
        )
        for side in selection.arms
    )


def target(selection: Selection, side: Side) -> str:
    """Return what an arm runs: the one target that all ops share, or the name that stands for one target an op.

    A record has room for one `module:name` an arm; where it stands for several, each cell says which one ran.
    """
    targets = {entry.target for entry in selection.named(side.implementation).values()}
    name = re.sub(r"\W", "_", side.implementation)
    return targets.pop() if len(targets) == 1 else f"{definitions.__name__}:{name}"


def workloads(selection: Selection, choice: Choice) -> tuple[OpWorkload, ...]:
    """Return one workload a case."""
    threads = (Setting(name="threads", value=str(selection.threads)),) if selection.device == "cpu" else ()
    return tuple(
        workload(
            case,
            name=selection.workload(case),
            role="guard" if case.shape.name in selection.guards or case.op not in selection.ops else "target",
            cache=choice.cache,
            settings=threads,
        )
        for case in selection.cases
    )


def not_tried(selection: Selection) -> tuple[NotTried, ...]:
    """Return the cells whose op an arm has no implementation of, or one that declares not to have the direction."""
    return tuple(
        NotTried(arm=side.name, workload=selection.workload(case), reason=reason)
        for side in selection.arms
        for case in selection.cases
        if (reason := selection.obstacle(side, case)) is not None
    )


def measured_paths(selection: Selection) -> tuple[str, ...]:
    """Return this repository's files that a measurement depends on: the ops' definitions and their own kernels."""
    modules = {op.module for op in selection.ops}
    modules |= {entry.target.partition(":")[0] for entry in selection.entries if entry.package is None}
    return tuple(sorted(module.replace(".", "/") + ".py" for module in modules))


def package_sources(selection: Selection) -> tuple[PackageSource, ...]:
    """Return the packages that implementations come from."""
    names = sorted({entry.package for entry in selection.entries if entry.package is not None})
    return tuple(capture.package_source(name) for name in names)


def undigested(selection: Selection) -> tuple[Unavailable, ...]:
    """Say which workloads' inputs are too large for their gate to take a digest."""
    large = [selection.workload(case) for case in selection.cases if drawn_bytes(case) > MOST_DIGESTED_BYTES]
    reason = f"more than {MOST_DIGESTED_BYTES >> 20} MiB would be copied to the host and hashed, of {', '.join(large)}"
    return (Unavailable(what="digests of inputs", reason=reason),) if large else ()


def _tuned(selection: Selection) -> tuple[str, ...]:
    """Say how autotuners chose, where not as Triton has them choose."""
    if selection.gate_processes == 1 or selection.device == "cpu":
        return ()
    spent = f"{autotuning.WARM_UP_MS} ms of warm-up and {autotuning.REPETITIONS_MS} ms of repetitions a configuration"
    return (f"autotuners of Triton chose before the gates, by {spent}",)


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
    is_every_process_rechecked: bool,
    sources: Sequence[Source] | None = None,
    axes: Sequence[str] = ("implementation",),
    mutations: Mapping[str, gates.Mutation] | None = None,
) -> Plan:
    """Capture the machine and return the plan of a session that starts now.

    `sources` are those of the arms, where they are not what is installed here; this repository is one in any case.

    Raises:
        UnsuitableError: the op needs an accelerator that torch does not see.
    """
    machine = capture.machine(probed)
    device: PositiveCount | None = None
    if selection.device == "cuda":
        if not machine.devices:
            raise UnsuitableError("torch sees no accelerator here", fix="run on a machine with one, or use --dry-run")
        device = machine.devices[0]
    started_at = datetime.now(UTC)
    shared = (SHARED,) if selection.sharing == "arm" else ()
    header = Header(
        log=capture.log_name(domain, name, capture.device_slug(machine.host, device), started_at),
        started_at=started_at,
        provenance=provenance,
        sources=(
            capture.git_source(ROOT, measured_paths(selection)),
            *(package_sources(selection) if sources is None else sources),
        ),
        hosts=(machine.host,),
        stacks=(capture.stack(probed, ROOT),),
        axes=(*axes, *((SLOWED,) if selection.slowed else ())),
        arms=arms(selection, device),
        workloads=workloads(selection, choice),
        metrics=METRICS,
        method=method(selection, choice, rules),
        gates=tuple(
            {
                gates.gate_name(case): gates.definition(
                    case, mutation=(mutations or {}).get(gates.gate_name(case)), environ=environment
                )
                for case in selection.cases
            }.values()
        ),
        unavailable=(
            *withheld,
            Unavailable(what="profile", reason="not taken in this run"),
            *undigested(selection),
        ),
        limitations=(*limitations, *shared, *_tuned(selection)),
        supersedes=(),
    )
    return Plan(
        header=header,
        commands={side.name: (sys.executable, "-m", WORKER, *selection.words(side)) for side in selection.arms},
        environment=environment,
        root=ROOT,
        rules=rules,
        threads=selection.threads,
        not_tried=not_tried(selection),
        sharing=selection.sharing,
        start=selection.start,
        nurseries=selection.nurseries,
        gate_processes=selection.gate_processes,
        is_in_turn=selection.is_in_turn,
        facts=facts,
        ends_by_s=ends_by_s,
        further_warm_up_s=further_warm_up_s,
        is_every_process_rechecked=is_every_process_rechecked,
        timeout_s=timeout_s,
    )
