"""Owns what `benchmarks.ops.run` is asked for: its options, and how they resolve against the registry. Nothing is run.

Nothing here imports what measures, so that a command can be read where it could not run.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from benchmarks.ops.registry import Case, Device, Implementation, Op, find
from benchmarks.options import UnsuitableError, UsageError, add_places
from evidence.errors import UnknownNameError
from evidence.schema.arms import Role

NAME = "benchmarks.ops.run"
WORKER = "benchmarks.ops.worker"
DOMAIN = "kernels"
TIMERS = ("do-bench", "cuda-graph", "torch-timer")
SLOWED = "slowed"
"""The switch of an arm that is slower on purpose."""
MOST_SLOWED_PERCENT = 100


def percent(share: float) -> str:
    """Return a share as that switch shows it."""
    return f"{100 * share:g} %"


@dataclass(frozen=True, slots=True)
class Side:
    """One arm before anything is captured: what runs, in which role, and from where its code is imported."""

    name: str
    role: Role
    implementation: Implementation
    source: str
    """Name of the source its code comes from, in the record."""
    proved: str = ""
    """The package whose loaded files are to be proved; empty: not asked."""
    origin: str = ""
    """The folder that package is imported from; empty: where it is installed."""
    slowed: float = 0.0
    """The share by which timed calls are lengthened on purpose, see `benchmarks.ops.planted`."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What was asked to be measured, resolved against the registry and refused where it makes no comparison."""

    op: Op
    implementations: tuple[Implementation, ...]
    baseline: str
    alternatives: tuple[str, ...]
    cases: tuple[Case, ...]
    guards: tuple[str, ...]
    """Names of shapes that must not get slower."""
    dtype: str
    device: Device
    has_control: bool
    processes: int
    threads: int
    sharing: Literal["cell", "arm"]
    start: Literal["spawn", "fork"]
    nurseries: int
    slowed: float = 0.0
    """The share by which one more arm, which runs the baseline, is slower on purpose; 0 adds none."""

    sides: tuple[Side, ...] = ()
    """The arms but for the control, where they are not one an implementation from where it is installed."""

    @property
    def arms(self) -> tuple[Side, ...]:
        """The arms in the order of their turns: the control comes last, and equals its twin in all but its name."""
        arms = list(self.sides)
        for entry in () if self.sides else self.implementations:
            other: Role = "alternative" if entry.name in self.alternatives else "candidate"
            role = "baseline" if entry.name == self.baseline else other
            arms.append(Side(entry.name, role, entry, entry.source))
        twin = self.twin
        if self.slowed:
            arms.append(replace(twin, name=f"{twin.name}-slowed", role="alternative", slowed=self.slowed))
        if self.has_control:
            arms.append(replace(twin, name=f"{twin.name}-again", role="control"))
        return tuple(arms)

    @property
    def twin(self) -> Side:
        """The baseline, which a control repeats."""
        return next((side for side in self.sides if side.role == "baseline"), None) or next(
            Side(entry.name, "baseline", entry, entry.source)
            for entry in self.implementations
            if entry.name == self.baseline
        )

    def words(self, side: Side, *, is_recorded: bool = False) -> tuple[str, ...]:
        """Return a worker's arguments; as a record holds them, the name of a source stands for its folder."""
        named = ("--op", self.op.name, "--implementation", side.implementation.name)
        proved = ("--prove", side.proved, "--source", side.source) if side.proved else ()
        origin = ("--origin", side.source if is_recorded else side.origin) if side.origin else ()
        slowed = ("--slowed", f"{side.slowed:g}") if side.slowed else ()
        return (*named, "--dtype", self.dtype, "--device", self.device, *proved, *origin, *slowed)


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    made = argparse.ArgumentParser(
        prog=f"python -m {NAME}", description="Gate and time implementations of one op in interleaved processes."
    )
    what = made.add_argument_group("what to measure")
    what.add_argument("--op", help="name of the op; --list shows all")
    what.add_argument(
        "--implementations", nargs="+", metavar="NAME", help="which of its implementations; all unless given"
    )
    what.add_argument("--baseline", metavar="NAME", help="what the others are compared with; the first unless given")
    what.add_argument("--alternatives", nargs="+", default=[], metavar="NAME", help="implementations shown for context")
    what.add_argument(
        "--shapes", nargs="+", metavar="SHAPE", help="such as b1-t512-h4-d64; the registered ones unless given"
    )
    what.add_argument("--guards", nargs="+", default=[], metavar="SHAPE", help="shapes that must not get slower")
    what.add_argument("--directions", nargs="+", metavar="NAME", help="forward, forward-backward; all unless given")
    what.add_argument("--dtype", help="the op's first unless given")
    what.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="auto: where the op belongs")
    add_measuring(made)
    made.add_argument("--no-control", action="store_true", help="leave out the baseline's A/A twin")
    made.add_argument(
        "--slowed",
        type=float,
        default=0.0,
        metavar="PERCENT",
        help="add an arm that is the baseline, slower by so much on purpose: what the harness must find",
    )
    add_places(made, domain=DOMAIN, name="the op")
    instead = made.add_argument_group("instead of measuring")
    instead.add_argument("--list", action="store_true", help="list the ops, without importing torch")
    instead.add_argument("--format", choices=("text", "json"), default="text", help="of --list")
    instead.add_argument("--dry-run", action="store_true", help="print the plan and the workers' commands")
    return made


def add_measuring(made: argparse.ArgumentParser) -> None:
    """Add the options that say how cells are measured, which every command that measures ops has."""
    how = made.add_argument_group("how")
    how.add_argument("--processes", type=int, default=9, help="fresh processes for each arm and workload (default 9)")
    how.add_argument("--threads", type=int, default=1, help="threads inside torch (default 1)")
    how.add_argument("--timer", choices=TIMERS, help="do-bench on an accelerator, torch-timer on a processor")
    how.add_argument(
        "--sharing",
        choices=("cell", "arm"),
        default="cell",
        help="cell: a process an arm and workload; arm: a process measures all workloads of an arm in turn, cheaper",
    )
    how.add_argument(
        "--start",
        choices=("spawn", "fork"),
        help="spawn: every process imports everything; fork: from processes that did, see start() (default fork on an "
        "accelerator, spawn on a processor)",
    )
    how.add_argument("--nurseries", type=int, default=3, help="processes an arm is forked from in turn (default 3)")
    how.add_argument(
        "--deadline",
        type=float,
        metavar="SECONDS",
        help="end this long after the command began, with as many whole rounds of processes as fit",
    )
    how.add_argument("--minimum-samples", type=int, default=10)
    how.add_argument("--maximum-samples", type=int, default=50)
    how.add_argument("--target-spread", type=float, help="stop a process at this coefficient of variation")
    how.add_argument(
        "--budget", type=float, default=10.0, metavar="SECONDS", help="sampling of one process and workload"
    )
    how.add_argument("--warm-up", type=float, default=1.0, metavar="SECONDS", help="before a process's first workload")
    how.add_argument(
        "--further-warm-up", type=float, metavar="SECONDS", help="before its others; as --warm-up unless given"
    )
    how.add_argument(
        "--timeout", type=float, default=600.0, metavar="SECONDS", help="the longest a worker may be silent"
    )
    how.add_argument(
        "--recheck", choices=("first", "every"), default="first", help="whose timed outputs are judged again"
    )


def selection(options: argparse.Namespace) -> Selection:
    """Resolve the options against the registry.

    Raises:
        UsageError: they make no measurement.
        UnknownNameError: a name that is none; it names the nearest.
        UnsuitableError: the op does not run on the device asked for.
    """
    if options.op is None:
        raise UsageError("no op is named", fix="give --op NAME; --list shows all")
    op = find(options.op)
    chosen = tuple(op.implementation(name) for name in options.implementations or [e.name for e in op.implementations])
    names = [entry.name for entry in chosen]
    baseline = options.baseline or names[0]
    for name in (baseline, *options.alternatives):
        if name not in names:
            raise UnknownNameError("chosen implementation", name, names)
    refuse_repeats("implementation", names)
    if baseline in options.alternatives:
        raise UsageError(f"{baseline!r} is the baseline and an alternative")
    if min(options.processes, options.threads, options.nurseries) < 1:
        raise UsageError("--processes, --threads and --nurseries are at least 1")
    if not 0 <= options.slowed <= MOST_SLOWED_PERCENT:
        raise UsageError(f"--slowed is from 0 to {MOST_SLOWED_PERCENT} percent")
    device = device_of(op, options.device)
    dtype = options.dtype or op.dtypes[0]
    shapes = [op.shape(text) for text in options.shapes] if options.shapes else list(op.shapes)
    guards = [op.shape(text) for text in options.guards]
    shapes += [shape for shape in guards if shape not in shapes]
    cases = tuple(op.case(shape, dtype, way) for shape in shapes for way in options.directions or op.directions)
    refuse_repeats("workload", [case.name for case in cases])
    return Selection(
        op=op,
        implementations=chosen,
        baseline=baseline,
        alternatives=tuple(options.alternatives),
        cases=cases,
        guards=tuple(shape.name for shape in guards),
        dtype=dtype,
        device=device,
        has_control=not options.no_control,
        processes=options.processes,
        threads=options.threads,
        sharing=options.sharing,
        start=options.start or start(device),
        nurseries=options.nurseries,
        slowed=options.slowed / 100,
    )


def start(device: Device) -> Literal["spawn", "fork"]:
    """Return how processes begin on a device unless it is said.

    Forks of one process share its hash seed and address-space layout, see `session.Plan.start`. On a processor both
    reach what is timed, through caches and branch predictors, so the strict way is the usual one. On an accelerator a
    device's clock times the kernels, and what differs between starts is made after the fork: context, allocator,
    placement on the device, clocks. There fresh interpreters cost several times what measuring does and buy nothing
    but host code's share in calls so short that launches show, for which `--start spawn` is there.
    """
    return "fork" if device == "cuda" else "spawn"


def refuse_repeats(kind: str, names: Sequence[str]) -> None:
    """Refuse names that are given twice.

    Raises:
        UsageError: naming the first.
    """
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"{kind} {repeated[0]!r} is given twice")


def device_of(op: Op, asked: str) -> Device:
    """Return where an op runs.

    Raises:
        UnsuitableError: it does not run on what is asked for.
    """
    if asked == "cpu" and op.device == "cuda":
        raise UnsuitableError(f"{op.name} has no implementation for a processor", fix="leave out --device")
    return "cuda" if "cuda" in (asked, op.device) else "cpu"


def variables(selection: Selection, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of workers: the caller's, with threads pinned.

    Autotuning results are kept on disk unless the caller says otherwise, so that every process runs what the gate ran.
    """
    threads = str(selection.threads)
    pinned = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads)
    tuning = {"TRITON_CACHE_AUTOTUNING": "1"} if selection.device == "cuda" else {}
    return {**tuning, **environment, **pinned, "PYTHONUNBUFFERED": "1"}
