"""Owns what `benchmarks.ops.verify` is asked for: its options, and how they resolve. Nothing is run.

Nothing here imports what measures, so that a command can be read, and built, where it could not run.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import ROOT
from benchmarks.ops import control
from benchmarks.ops.registry import Direction, Implementation, Op, find
from benchmarks.ops.selection import DOMAIN, Selection, add_measuring, device_of, refuse_none, refuse_repeats, start
from benchmarks.options import UsageError, add_places
from benchmarks.profile.collection import TOOLS, Tool
from evidence.errors import UnknownNameError

NAME = "benchmarks.ops.verify"
SIDES = ("candidate", "baseline")
MODES: Mapping[str, Direction] = {"fwd": "forward", "bwd": "backward", "fwdbwd": "forward-backward"}


@dataclass(frozen=True, slots=True)
class Profiling:
    """Which of what was timed is profiled, and by what."""

    tools: tuple[Tool, ...]
    workloads: tuple[str, ...]
    roles: tuple[str, ...]
    """Of arms."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What is to be verified, against what, and under which gate."""

    selection: Selection
    """Both sides' cases and settings; the sides themselves are known once their code is laid out."""
    implementation: Implementation
    base: str | None
    repository: Path | None
    test_file: Path
    gate_k: str | None
    has_tests: bool
    """Whether the frozen tests are run; the numeric gate always is."""
    has_mutants: bool
    profiling: Profiling | None
    """None: nothing is profiled."""

    @property
    def has_profile(self) -> bool:
        """Whether anything is profiled."""
        return self.profiling is not None

    @property
    def op(self) -> Op:
        """The op."""
        return self.selection.ops[0]


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    made = argparse.ArgumentParser(
        prog=f"python -m {NAME}",
        description="Run the frozen gate of an op, then time it, against a baseline if one is named.",
    )
    what = made.add_argument_group("what to verify")
    what.add_argument("--op", help="name of the op; --list shows all")
    what.add_argument("--backend", metavar="NAME", help="which of its implementations; the first unless given")
    what.add_argument("--base", metavar="REF", help="a git ref, or NAME==VERSION of a package; none unless given")
    what.add_argument(
        "--repo", metavar="PATH", help="a checkout that the code comes from, as it is there; --base is then a ref of it"
    )
    what.add_argument("--modes", nargs="+", choices=tuple(MODES), help="all that the op has unless given")
    what.add_argument("--shapes", nargs="+", metavar="SHAPE", help="the registered ones unless given")
    what.add_argument("--dtype", help="the op's first unless given")
    what.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="auto: where the op belongs")
    gate = made.add_argument_group("the gate")
    gate.add_argument("--gate-k", metavar="EXPRESSION", help="only the tests that it selects: a signal, never evidence")
    gate.add_argument("--test-file", metavar="FILE", help="tests/ops/test_OP.py unless given")
    gate.add_argument("--no-gate", action="store_true", help="leave out the frozen tests: a signal, never evidence")
    gate.add_argument("--mutants", action="store_true", help="count the faulty variants that the numeric gate refuses")
    add_measuring(made)
    _add_profiling(made)
    add_places(made, domain=DOMAIN, name="verify_OP")
    instead = made.add_argument_group("instead of measuring")
    instead.add_argument("--list", action="store_true", help="list the ops, without importing torch")
    instead.add_argument("--format", choices=("text", "json"), default="text", help="of --list")
    instead.add_argument("--dry-run", action="store_true", help="print what a run would do")
    return made


def _add_profiling(made: argparse.ArgumentParser) -> None:
    group = made.add_argument_group("the profile")
    group.add_argument("--profile", action="store_true", help="profile what was timed as well")
    group.add_argument("--profile-by", nargs="+", choices=TOOLS, help="all that the device has unless given")
    group.add_argument("--profile-shapes", nargs="+", metavar="SHAPE", help="all that are timed unless given")
    group.add_argument("--profile-sides", nargs="+", choices=SIDES, help="both unless given")


def resolve(options: argparse.Namespace) -> Verification:
    """Resolve the options against the registry.

    Raises:
        UsageError: they make no run.
        UnknownNameError: a name that is none; it names the nearest.
        UnsuitableError: the op does not run on the device asked for.
    """
    if options.op is None:
        raise UsageError("no op is named", fix="give --op NAME; --list shows all")
    op = find(options.op)
    implementation = op.implementation(options.backend) if options.backend else op.implementations[0]
    if options.no_gate and (options.gate_k or options.test_file):
        raise UsageError("--no-gate leaves out what --gate-k and --test-file choose", fix="give one or the other")
    return Verification(
        selection=_selection(options, op, implementation),
        implementation=implementation,
        base=options.base,
        repository=Path(options.repo).resolve() if options.repo else None,
        test_file=_test_file(options.test_file, op.name),
        gate_k=options.gate_k,
        has_tests=not options.no_gate,
        has_mutants=options.mutants,
        profiling=_profiling(options, op),
    )


def gate_file(op: str) -> Path:
    """Return where the frozen tests of an op stand, if it has some."""
    return ROOT / "tests" / "ops" / f"test_{op}.py"


def _test_file(given: str | None, op: str) -> Path:
    if given is None:
        return gate_file(op)
    path = Path(given).resolve()
    if not path.is_relative_to(ROOT):
        raise UsageError(
            "--test-file lies outside the repository", fix="name a file below it, so that it can be frozen"
        )
    return path


def _selection(options: argparse.Namespace, op: Op, implementation: Implementation) -> Selection:
    refuse_none(options)
    device = device_of(op, options.device)
    dtype = options.dtype or op.dtypes[0]
    shapes = [op.shape(text) for text in options.shapes] if options.shapes else list(op.shapes)
    directions = [MODES[mode] for mode in options.modes] if options.modes else list(op.directions)
    cases = tuple(op.case(shape, dtype, way) for shape in shapes for way in directions)
    refuse_repeats("workload", [case.name for case in cases])
    beside = (control.case(dtype, device),) if options.base else ()
    return Selection(
        ops=(op,),
        implementations=(implementation.name,),
        baseline=implementation.name,
        alternatives=(),
        cases=(*cases, *beside),
        guards=(),
        dtype=dtype,
        device=device,
        has_control=True,
        processes=options.processes,
        threads=options.threads,
        sharing=options.sharing,
        start=options.start or start(device),
        nurseries=options.nurseries,
        gate_processes=options.gate_processes,
        is_in_turn=options.in_turn,
    )


def _profiling(options: argparse.Namespace, op: Op) -> Profiling | None:
    narrowed = [options.profile_by, options.profile_shapes, options.profile_sides]
    if not options.profile:
        if any(narrowed):
            raise UsageError("what to profile is said, and not that anything is", fix="give --profile")
        return None
    timed = {shape.name for shape in ([op.shape(text) for text in options.shapes] if options.shapes else op.shapes)}
    wanted = [op.shape(text).name for text in options.profile_shapes or sorted(timed)]
    for name in wanted:
        if name not in timed:
            raise UnknownNameError("shape that is timed", name, sorted(timed))
    modes = [MODES[mode] for mode in options.modes] if options.modes else list(op.directions)
    device = device_of(op, options.device)
    return Profiling(
        tools=tuple(options.profile_by or (TOOLS if device == "cuda" else TOOLS[:1])),
        workloads=tuple(op.case(name, options.dtype or op.dtypes[0], mode).name for name in wanted for mode in modes),
        roles=tuple(options.profile_sides or SIDES),
    )


def mode_of(direction: str) -> str:
    """Return the mode that a direction is called on the command line.

    Raises:
        UnknownNameError: there is no such direction.
    """
    for mode, known in MODES.items():
        if known == direction:
            return mode
    raise UnknownNameError("direction", direction, list(MODES.values()))
