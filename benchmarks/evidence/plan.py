"""Owns how a suite, its inputs and its sizes become a session's Plan: arms, the workload, gates and the rest."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import entry_points
from pathlib import Path

from benchmarks import ROOT, capture, privacy
from benchmarks.evidence.gauge import TIMER
from benchmarks.evidence.selection import WORKER, Selection
from benchmarks.evidence.suite import Sizes, Suite
from benchmarks.evidence.worker import words
from benchmarks.options import UnsuitableError
from benchmarks.plan import Plan
from benchmarks.timing import Rules
from evidence.importers.session_stream import Header
from evidence.ledger import digest_of
from evidence.schema import (
    Arm,
    ForeignWorkload,
    FrozenPath,
    Gate,
    Method,
    Provenance,
    Rank,
    Setting,
    Unavailable,
)

_RULES = Rules(minimum_samples=1, maximum_samples=1, budget_s=None, warm_up_s=0.0)
"""One fresh process is one sample."""
_NO_TORCH = capture.Probed(None, "nothing here runs on an accelerator", ())


def refuse_uninstalled() -> None:
    """Refuse a machine that lacks what the sides run.

    Raises:
        UnsuitableError: naming the first.
    """
    if shutil.which("git") is None:
        raise UnsuitableError("git is not installed", fix="install git: the check asks it for commits")
    if not entry_points(group="mkdocs.plugins", name="evidence"):
        raise UnsuitableError("the package is not installed", fix="pip install -e .")


def build(
    selection: Selection,
    inputs: Path,
    *,
    provenance: Provenance,
    withheld: Sequence[Unavailable],
    environment: Mapping[str, str],
    timeout_s: float,
    domain: str,
    name: str,
    limitations: Sequence[str],
) -> Plan:
    """Capture the machine and return the plan of a session that starts now, on inputs that are there."""
    suite = selection.suite
    machine = capture.machine(_NO_TORCH)
    started_at = datetime.now(UTC)
    header = Header(
        log=capture.log_name(domain, name, capture.device_slug(machine.host, None), started_at),
        started_at=started_at,
        provenance=provenance,
        sources=(capture.git_source(ROOT, _files(suite.measured)),),
        hosts=(machine.host,),
        stacks=(capture.stack(_NO_TORCH, ROOT),),
        axes=suite.axes,
        arms=_arms(selection),
        workloads=tuple(_workload(suite, name, inputs, selection.sizes) for name in suite.workloads),
        metrics=suite.metrics,
        method=_method(selection),
        gates=_gates(suite),
        unavailable=(*withheld, Unavailable(what="profile", reason="not taken in this run")),
        limitations=(*suite.limitations, *limitations),
        supersedes=(),
    )
    return Plan(
        header=header,
        commands={
            name: (sys.executable, "-m", WORKER, *words(suite, side.name, selection.sizes), "--inputs", str(inputs))
            for name, _, side in selection.arms
        },
        environment=environment,
        root=ROOT,
        rules=_RULES,
        timeout_s=timeout_s,
    )


def _files(patterns: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({path.relative_to(ROOT).as_posix() for one in patterns for path in ROOT.glob(one)}))


def _arms(selection: Selection) -> tuple[Arm, ...]:
    program = privacy.program(sys.executable, ROOT)
    return tuple(
        Arm(
            name=name,
            role=role,
            control_of=side.name if role == "control" else None,
            implementation=side.implementation,
            source=capture.REPOSITORY,
            ranks=(Rank(host=capture.HOST, device=None, stack=capture.STACK),),
            command=(program, "-m", WORKER, *words(selection.suite, side.name, selection.sizes)),
            switches=side.switches,
            mechanism=(),
            outputs="same",
        )
        for name, role, side in selection.arms
    )


def _workload(suite: Suite, name: str, inputs: Path, sizes: Sizes) -> ForeignWorkload:
    found = suite.settings(suite.inputs_of(name, inputs), sizes)
    return ForeignWorkload(
        name=name,
        role="target",
        work=(),
        settings=tuple(Setting(name=key, value=value) for key, value in found.items()),
    )


def _method(selection: Selection) -> Method:
    return Method(
        name="fresh-process",
        timer_requested=TIMER,
        timer_used=TIMER,
        fallback_reason=None,
        timer_overhead_s=None,
        warm_up_s=0.0,
        warm_up_calls=0,
        flush_bytes=0,
        allocates_outputs=True,
        minimum_samples=1,
        maximum_samples=1,
        target_spread=None,
        budget_s=None,
        processes=selection.processes,
        order="interleaved",
    )


def _gates(suite: Suite) -> tuple[Gate, ...]:
    frozen = tuple(FrozenPath(path=path, sha256=digest_of(ROOT / path)) for path in suite.gates)
    return tuple(
        Gate(
            name=name,
            kind="tests",
            command=(),
            scope="full",
            selection=None,
            reference=None,
            tolerances=(),
            frozen=frozen,
            variables=(),
            log=None,
            mutants=None,
            mutants_killed=None,
        )
        for name in dict.fromkeys(side.gate_name for side in suite.sides)
    )
