"""Owns how a choice of study, model and workloads becomes a session's Plan."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import ROOT, capture, privacy
from benchmarks.capture import Probed
from benchmarks.engine import accuracy, environments, parity
from benchmarks.engine.features import FUSED_QK_NORM, Feature
from benchmarks.engine.selection import WORKER, Selection
from benchmarks.engine.study import TRANSFORMERS, EngineName, Side
from benchmarks.options import UnsuitableError
from benchmarks.plan import Plan
from benchmarks.standin import Facts
from benchmarks.timing import Rules
from evidence.importers.session_stream import Header, NotTried
from evidence.schema import Arm, Gate, Method, Provenance, Rank, Setting, Unavailable

CLOCK = "time.perf_counter"
RULES = Rules(minimum_samples=1, maximum_samples=1, target_spread=None, budget_s=None, warm_up_s=0.0)
"""One trial a process: the clock is the engine's own."""
_SHARED = (
    "one process of an arm measured all workloads in turn, each with an engine opened anew: they share its import, its "
    "model, its device context and its allocator"
)
_ONE_SERVER = "a server serves all workloads of its process in turn, as long as they have the same limits"
_MEASURED = (
    "engines/__init__.py",
    "accuracy.py",
    "features.py",
    "load.py",
    "models.py",
    "parity.py",
    "preparation.py",
    "quantization.py",
    "requests.py",
    "threads.py",
    "worker.py",
    "workloads.py",
)


_CLIENT = (
    "engines/http.py",
    "engines/server.py",
    "engines/spelling.py",
    "engines/sse.py",
    "goodput.py",
    "server_loads.py",
)
_OF_ENGINE: Mapping[EngineName, tuple[str, ...]] = {
    "static": ("engines/static.py",),
    "continuous": ("engines/continuous.py",),
    "transformers-server": (*_CLIENT, "engines/transformers_server.py"),
    "vllm": ("engines/vllm.py",),
    "vllm-server": (*_CLIENT, "engines/vllm.py", "engines/vllm_bench.py", "engines/vllm_server.py"),
}
_OF_FEATURE: Mapping[Feature, tuple[str, ...]] = {
    FUSED_QK_NORM: ("benchmarks/engine/qk_norm.py", "benchmarks/ops/kernels/qk_norm.py"),
}


def measured_paths(selection: Selection) -> tuple[str, ...]:
    """Return this repository's files that a measurement depends on."""
    study = selection.study.name.replace("-", "_") + ".py"
    sides = selection.arrangement.sides
    engines = {path for side in sides for path in _OF_ENGINE[side.engine]}
    own = (f"benchmarks/engine/{path}" for path in (*_MEASURED, *sorted(engines), f"studies/{study}"))
    features = dict.fromkeys(feature for side in sides for feature in side.features)
    return (*own, *(path for feature in features for path in _OF_FEATURE.get(feature, ())))


def _sharing(selection: Selection) -> tuple[str, ...]:
    """Return what workloads of one process share, as a limitation."""
    if selection.study.sharing != "arm":
        return ()
    return (_SHARED, _ONE_SERVER) if any(side.is_served for side in selection.arms) else (_SHARED,)


def _stacks(selection: Selection) -> tuple[str, ...]:
    return tuple(dict.fromkeys(side.stack for side in selection.arms))


def not_tried(selection: Selection) -> tuple[NotTried, ...]:
    """Return the cells in which a feature of the arm could not do anything."""
    return tuple(
        NotTried(arm=side.name, workload=load.name, reason=reason)
        for side in selection.arms
        for load in selection.loads
        if (reason := side.obstacle(load, selection.device)) is not None
    )


def interpreter(side: Side) -> Path:
    """Return the program that an arm's workers run under: that of its environment, where the engine is the worker."""
    return environments.place(side.stack) if side.is_elsewhere else Path(sys.executable)


def recorded_command(selection: Selection, side: Side) -> tuple[str, ...]:
    """Return an arm's worker's command as a record holds it."""
    return (privacy.program(str(interpreter(side)), ROOT), "-m", WORKER, *selection.words(side, is_recorded=True))


def arms(selection: Selection, device: int | None) -> tuple[Arm, ...]:
    """Return the arms on one device of the one host."""
    baseline = selection.arms[0]
    return tuple(
        Arm(
            name=side.name,
            role=side.role,
            control_of=baseline.name if side.role == "control" else None,
            implementation=side.implementation,
            source=side.source,
            ranks=(Rank(host=capture.HOST, device=device, stack=side.stack),),
            command=recorded_command(selection, side),
            switches=tuple(Setting(name=name, value=value) for name, value in side.switches),
            mechanism=side.mechanism,
            outputs=side.outputs,
        )
        for side in selection.arms
    )


def gates(selection: Selection) -> tuple[Gate, ...]:
    """Return what is asked of the arms: all of their tokens, or the share that is allowed those that may differ.

    A study that assesses logits asks of all arms how far they may be from the model before anything was done to it.
    """
    source = capture.REPOSITORY
    shares = dict.fromkeys(1.0 if side.outputs == "same" else selection.agreement for side in selection.arms)
    of_tokens = tuple(parity.definition(selection.dtype, agreement=share, source=source) for share in shares)
    if not selection.study.is_assessed:
        return of_tokens
    measure = accuracy.passages(selection.model).measure
    return (*of_tokens, accuracy.definition(measure, selection.dtype, source=source))


def method(selection: Selection) -> Method:
    """Return the method as planned; warm-up is completed by what was done."""
    return Method(
        name="engine-clock",
        timer_requested=CLOCK,
        timer_used=CLOCK,
        fallback_reason=None,
        timer_overhead_s=None,
        warm_up_s=RULES.warm_up_s,
        warm_up_calls=min(load.warm_up_requests for load in selection.loads),
        flush_bytes=0,
        allocates_outputs=True,
        minimum_samples=RULES.minimum_samples,
        maximum_samples=RULES.maximum_samples,
        target_spread=None,
        budget_s=None,
        processes=selection.processes,
        order="interleaved",
    )


def build(
    selection: Selection,
    *,
    probed: Probed,
    facts: Facts | None,
    timeout_s: float,
    ends_by_s: float | None,
    provenance: Provenance,
    withheld: Sequence[Unavailable],
    environment: Mapping[str, str],
    domain: str,
    label: str,
    limitations: Sequence[str],
) -> Plan:
    """Capture the machine and return the plan of a session that starts now.

    Raises:
        UnsuitableError: an accelerator is needed, and torch sees none.
    """
    machine = capture.machine(probed)
    device = device_of(selection, machine)
    others = [environments.captured(name, probed) for name in _stacks(selection) if name != capture.STACK]
    started_at = datetime.now(UTC)
    weights, vocabulary = selection.model.weights, selection.model.vocabulary
    threads = (Setting(name="threads", value=str(selection.threads)),) if device is None else ()
    header = Header(
        log=capture.log_name(domain, label, capture.device_slug(machine.host, device), started_at),
        started_at=started_at,
        provenance=provenance,
        sources=(
            capture.git_source(ROOT, measured_paths(selection)),
            capture.package_source(TRANSFORMERS),
            *(one.source for one in others),
        ),
        hosts=(machine.host,),
        stacks=(capture.stack(probed, ROOT), *(one.stack for one in others)),
        axes=selection.arrangement.axes,
        arms=arms(selection, device),
        workloads=tuple(
            load.described(weights, selection.dtype, vocabulary, settings=threads) for load in selection.loads
        ),
        metrics=selection.study.metrics,
        method=method(selection),
        gates=gates(selection),
        unavailable=(*withheld, Unavailable(what="profile", reason="not taken in this run")),
        limitations=(*limitations, *_sharing(selection)),
        supersedes=(),
    )
    told = ("--timeout", f"{timeout_s:g}")
    return Plan(
        header=header,
        commands={
            side.name: (str(interpreter(side)), "-m", WORKER, *selection.words(side), *told) for side in selection.arms
        },
        environment=environment,
        root=ROOT,
        rules=RULES,
        threads=selection.threads,
        not_tried=not_tried(selection),
        sharing=selection.study.sharing,
        start=selection.start,
        nurseries=selection.nurseries,
        facts=facts,
        ends_by_s=ends_by_s,
        gate_processes=selection.gate_processes,
        is_tuned=False,
        is_in_turn=selection.is_in_turn,
        timeout_s=timeout_s,
    )


def keeping(plan: Plan, timelines: Path) -> Plan:
    """Return the plan whose workers keep the times of single tokens in a folder; records do not name it."""
    told = ("--timelines", str(timelines))
    return replace(plan, commands={arm: (*command, *told) for arm, command in plan.commands.items()})


def device_of(selection: Selection, machine: capture.Machine) -> int | None:
    """Return which of the host's accelerators is used; None for its processor.

    Raises:
        UnsuitableError: an accelerator is needed, and torch sees none.
    """
    if selection.device == "cpu":
        return None
    if not machine.devices:
        raise UnsuitableError("torch sees no accelerator here", fix="leave out --device cuda, or use --dry-run")
    return machine.devices[0]
