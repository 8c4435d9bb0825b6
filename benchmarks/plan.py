"""Owns what a session is asked for: what to measure and how, and what a record says of the way its processes ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.standin import Facts
from benchmarks.timing import Rules
from evidence.importers.session_stream import Header, NotTried


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure and how.

    `sharing` says what one operating system process is used for. `cell`: one arm on one workload, once; nothing is
    shared but the caches on disk. `arm`: one arm once over all workloads, in the header's order, each in a window of
    its own; then the import, the device's context, its allocator and its warmth are shared by the workloads of a
    process, and never by two arms, so that arms stay comparable while the workloads of one process are not independent.

    `start` says how processes begin. `spawn`: each is a fresh interpreter that imports everything again; nothing is
    shared. `fork`: `nurseries` processes an arm import once, before the first window, without touching a device, and
    each process is a fork of one of them, in turn by round. A fork has a process id, streams, device context,
    allocator, compiled kernels and random numbers of its own. Forks of one nursery share the hash seed, the layout of
    the address space and the pages that imports filled, so what differs between fresh starts is seen in as many
    instances as there are nurseries, not processes. No two arms share a nursery, so a control's distance from its twin
    still holds it. An arm whose nursery refuses is spawned, and the record says why.
    """

    header: Header
    commands: Mapping[str, tuple[str, ...]]
    """By arm: the worker's real command. The one that is recorded names no path."""
    environment: Mapping[str, str]
    root: Path
    """Where workers run."""
    rules: Rules
    threads: int = 1
    not_tried: tuple[NotTried, ...] = ()
    sharing: Literal["cell", "arm"] = "cell"
    start: Literal["spawn", "fork"] = "spawn"
    nurseries: int = 3
    """For each arm, where processes are forked."""
    facts: Facts | None = None
    """What nurseries are told that devices say, where imports ask; see `benchmarks.standin`."""
    ends_by_s: float | None = None
    """The `time.monotonic()` by which the session is to end: no round begins that would end later, judged by the rounds
    so far; the first begins if any time is left. Rounds that began are finished, what precedes them is cut short."""
    gate_processes: int = 1
    """How many gates may run at once, see `benchmarks.gating`."""
    is_tuned: bool = True
    """Whether gates compile and tune kernels that are timed: then that is done before several gates run at once."""
    is_in_turn: bool = False
    """Whether it waits, once all is imported, until no other such session of this machine gates or measures."""
    further_warm_up_s: float = 1.0
    """Warm-up of a process's workloads after its first."""
    is_every_process_rechecked: bool = False
    """Whether the outputs of timed calls are judged in every process of a cell, or in its first only."""
    timeout_s: float = 600.0
    """The longest a worker may be silent."""
    is_progress_shown: bool = True


def said_of_forks(arms: Sequence[str], plan: Plan, *, is_all: bool) -> str:
    """Return what the forked processes of these arms share, as a limitation."""
    whose = "each arm" if is_all else " and ".join(arms)
    text = (
        f"the processes of {whose} were forked in turn from {plan.nurseries} that had imported its code, others for "
        "each arm and for the control: those of one share its hash seed, the layout of its address space and the "
        "memory its imports filled; each had a device context, allocator and compiled kernels of its own"
    )
    if plan.facts is not None:
        text += "; what imports asked of the device was answered with what it had said in another process"
    return text


def said_of_gates(plan: Plan) -> str:
    """Return what gates that ran at once mean for what was timed, as a limitation."""
    first = "; before them every arm called each workload once with nothing beside it" if plan.is_tuned else ""
    return f"up to {plan.gate_processes} gates ran at once{first}, and what failed beside others was gated again alone"
