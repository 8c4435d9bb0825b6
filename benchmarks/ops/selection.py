"""Owns what `benchmarks.ops.run` is asked for: its options, and how they resolve against the registry. Nothing is run.

Nothing here imports what measures, so that a command can be read where it could not run.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from benchmarks.ops import fitting, workloads
from benchmarks.ops.registry import Case, Device, Implementation, Op, Shape, find
from benchmarks.options import UnsuitableError, UsageError, add_places
from evidence.errors import UnknownNameError
from evidence.schema.arms import Role

NAME = "benchmarks.ops.run"
WORKER = "benchmarks.ops.worker"
DOMAIN = "kernels"
TIMERS = ("do-bench", "held-events", "cuda-graph", "torch-timer")
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
    implementation: str
    """Name of the implementation that it runs of each op."""
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

    ops: tuple[Op, ...]
    implementations: tuple[str, ...]
    """Names, each of an implementation of one op at least and from one source."""
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
    gate_processes: int = 1
    is_in_turn: bool = False
    """How many gates may run at once."""
    slowed: float = 0.0
    """The share by which one more arm, which runs the baseline, is slower on purpose; 0 adds none."""

    sides: tuple[Side, ...] = ()
    """The arms but for the control, where they are not one an implementation from where it is installed."""

    @property
    def arms(self) -> tuple[Side, ...]:
        """The arms in the order of their turns: the control comes last, and equals its twin in all but its name."""
        arms = list(self.sides) or [self._side(name) for name in self.implementations]
        twin = self.twin
        if self.slowed:
            arms.append(replace(twin, name=f"{twin.name}-slowed", role="alternative", slowed=self.slowed))
        if self.has_control:
            arms.append(replace(twin, name=f"{twin.name}-again", role="control"))
        return tuple(arms)

    @property
    def twin(self) -> Side:
        """The baseline, which a control repeats."""
        return next((side for side in self.sides if side.role == "baseline"), None) or self._side(self.baseline)

    def _side(self, name: str) -> Side:
        other: Role = "alternative" if name in self.alternatives else "candidate"
        source = next(iter(self.named(name).values())).source
        return Side(name, "baseline" if name == self.baseline else other, name, source)

    @property
    def entries(self) -> tuple[Implementation, ...]:
        """Every implementation that runs, of every op."""
        return tuple(entry for name in self.implementations for entry in self.named(name).values())

    def named(self, name: str) -> Mapping[str, Implementation]:
        """Return the implementation of that name of each op that has one, by op."""
        return fitting.named(self.ops, name)

    def obstacle(self, side: Side, case: Case) -> str | None:
        """Return why an arm is not tried on a case, or None; what is timed beside the ops runs in every arm."""
        if case.op not in self.ops:
            return None
        entry = self.named(side.implementation).get(case.op.name)
        missing = f"{case.op.name} has no implementation {side.implementation!r}"
        return missing if entry is None else entry.obstacle(case.direction)

    def workload(self, case: Case) -> str:
        """Return the name of a case's workload."""
        return workloads.named(case, self.ops) if case.op in self.ops else case.name

    @property
    def title(self) -> str:
        """The ops, as one text."""
        return ", ".join(op.name for op in self.ops)

    @property
    def seed(self) -> int:
        """The seed that inputs of every op are drawn from."""
        return self.ops[0].seed

    def words(self, side: Side, *, is_recorded: bool = False) -> tuple[str, ...]:
        """Return a worker's arguments; as a record holds them, the name of a source stands for its folder."""
        named = ("--op", *(op.name for op in self.ops), "--implementation", side.implementation)
        proved = ("--prove", side.proved, "--source", side.source) if side.proved else ()
        origin = ("--origin", side.source if is_recorded else side.origin) if side.origin else ()
        slowed = ("--slowed", f"{side.slowed:g}") if side.slowed else ()
        return (*named, "--dtype", self.dtype, "--device", self.device, *proved, *origin, *slowed)


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    made = argparse.ArgumentParser(
        prog=f"python -m {NAME}", description="Gate and time implementations of ops in interleaved processes."
    )
    what = made.add_argument_group("what to measure")
    add_what(what)
    what.add_argument("--baseline", metavar="NAME", help="what the others are compared with; the first unless given")
    what.add_argument("--alternatives", nargs="+", default=[], metavar="NAME", help="implementations shown for context")
    add_measuring(made)
    made.add_argument("--no-control", action="store_true", help="leave out the baseline's A/A twin")
    made.add_argument(
        "--slowed",
        type=float,
        default=0.0,
        metavar="PERCENT",
        help="add an arm that is the baseline, slower by so much on purpose: what the harness must find",
    )
    add_places(made, domain=DOMAIN, name="the op, where it is one,")
    instead = made.add_argument_group("instead of measuring")
    instead.add_argument("--list", action="store_true", help="list the ops, without importing torch")
    instead.add_argument("--format", choices=("text", "json"), default="text", help="of --list")
    instead.add_argument("--dry-run", action="store_true", help="print the plan and the workers' commands")
    return made


class _Adding(Protocol):
    """A parser, or a group of its options."""

    def add_argument(self, *names: str, **what: Any) -> argparse.Action:
        """Add one option."""


def add_what(what: _Adding) -> None:
    """Add the options that choose ops, and which of their implementations, shapes and directions."""
    what.add_argument(
        "--op", nargs="+", metavar="NAME", help="name of the op, or of several for one session; --list shows all"
    )
    what.add_argument(
        "--implementations", nargs="+", metavar="NAME", help="which of their implementations; all unless given"
    )
    what.add_argument(
        "--shapes",
        nargs="+",
        metavar="SHAPE",
        help="such as b1-t512-h4-d64, each for the ops whose dimensions it has; the registered ones unless given",
    )
    what.add_argument("--guards", nargs="+", default=[], metavar="SHAPE", help="shapes that must not get slower")
    what.add_argument("--directions", nargs="+", metavar="NAME", help="forward, forward-backward; all unless given")
    what.add_argument("--dtype", help="the first of the ops unless given")
    what.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="auto: where the ops belong")


def add_measuring(made: argparse.ArgumentParser) -> None:
    """Add the options that say how cells are measured, which every command that measures ops has."""
    how = made.add_argument_group("how")
    how.add_argument("--processes", type=int, default=9, help="fresh processes for each arm and workload (default 9)")
    how.add_argument("--threads", type=int, default=1, help="threads inside torch (default 1)")
    how.add_argument(
        "--timer",
        choices=TIMERS,
        help="do-bench on an accelerator, torch-timer on a processor; held-events leaves out what launches take",
    )
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
        "--gate-processes",
        type=int,
        default=1,
        metavar="NUMBER",
        help="gates that may run at once; above 1, kernels are compiled side by side and tuned alone first (default 1)",
    )
    how.add_argument(
        "--in-turn",
        action="store_true",
        help="import, then wait until no other session of this machine that was told so gates or measures",
    )
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
        UnsuitableError: an op does not run on the device asked for.
    """
    if not options.op:
        raise UsageError("no op is named", fix="give --op NAME; --list shows all")
    ops = tuple(find(name) for name in options.op)
    refuse_repeats("op", options.op)
    names = fitting.implementations(ops, options.implementations or ())
    baseline = options.baseline or names[0]
    for name in (baseline, *options.alternatives):
        if name not in names:
            raise UnknownNameError("chosen implementation", name, names)
    refuse_repeats("implementation", names)
    if baseline in options.alternatives:
        raise UsageError(f"{baseline!r} is the baseline and an alternative")
    refuse_none(options)
    if not 0 <= options.slowed <= MOST_SLOWED_PERCENT:
        raise UsageError(f"--slowed is from 0 to {MOST_SLOWED_PERCENT} percent")
    fitting.agreed("seed", {op.name: op.seed for op in ops})
    device = fitting.agreed("device", {op.name: device_of(op, options.device) for op in ops}, "give --device")
    dtype = options.dtype or fitting.agreed("first dtype", {op.name: op.dtypes[0] for op in ops}, "give --dtype")
    guards = fitting.guards(ops, options.guards)
    cases = _cases(ops, options, guards, dtype)
    refuse_repeats("workload", [workloads.named(case, ops) for case in cases])
    return Selection(
        ops=ops,
        implementations=names,
        baseline=baseline,
        alternatives=tuple(options.alternatives),
        cases=cases,
        guards=tuple(dict.fromkeys(shape.name for shapes in guards.values() for shape in shapes)),
        dtype=dtype,
        device=device,
        has_control=not options.no_control,
        processes=options.processes,
        threads=options.threads,
        sharing=options.sharing,
        start=options.start or start(device),
        nurseries=options.nurseries,
        gate_processes=options.gate_processes,
        is_in_turn=options.in_turn,
        slowed=options.slowed / 100,
    )


def _cases(
    ops: Sequence[Op], options: argparse.Namespace, guards: Mapping[str, Sequence[Shape]], dtype: str
) -> tuple[Case, ...]:
    """Return the cases of each op in turn, those of its guards last."""
    shapes = fitting.shapes(ops, options.shapes or ())
    ways = fitting.directions(ops, options.directions or ())
    return tuple(
        op.case(shape, dtype, way)
        for op in ops
        for shape in (*shapes[op.name], *(guard for guard in guards[op.name] if guard not in shapes[op.name]))
        for way in ways[op.name]
    )


def log_title(options: argparse.Namespace, chosen: Selection) -> str:
    """Return the second part of the log's name.

    Raises:
        UsageError: several ops have no name in common, and none is given.
    """
    if options.name:
        return str(options.name)
    if len(chosen.ops) > 1:
        raise UsageError("a session of several ops has no name", fix="give --name NAME")
    return chosen.ops[0].name


def start(device: Device) -> Literal["spawn", "fork"]:
    """Return how processes begin on a device unless it is said.

    Forks of one process share its hash seed and address-space layout, see `benchmarks.plan.Plan`. On a processor both
    reach what is timed, through caches and branch predictors, so the strict way is the usual one. On an accelerator a
    device's clock times the kernels, and what differs between starts is made after the fork: context, allocator,
    placement on the device, clocks. There fresh interpreters cost several times what measuring does and buy nothing
    but host code's share in calls so short that launches show, for which `--start spawn` is there.
    """
    return "fork" if device == "cuda" else "spawn"


def refuse_none(options: argparse.Namespace) -> None:
    """Refuse numbers of processes that measure nothing.

    Raises:
        UsageError: one is below 1.
    """
    if min(options.processes, options.threads, options.nurseries, options.gate_processes) < 1:
        raise UsageError("--processes, --threads, --nurseries and --gate-processes are at least 1")


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
