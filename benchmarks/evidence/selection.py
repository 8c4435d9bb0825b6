"""Owns what `benchmarks.evidence.run` is asked for: its options, and the suite and sizes they name. Nothing is run."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.evidence.suite import Side, Sizes, Suite, find, suites
from benchmarks.options import UsageError, add_places
from evidence.schema.arms import Role

NAME = "benchmarks.evidence.run"
WORKER = "benchmarks.evidence.worker"
DOMAIN = "evidence"


@dataclass(frozen=True, slots=True)
class Selection:
    """What was asked to be measured."""

    suite: Suite
    sizes: Sizes
    has_control: bool
    processes: int

    @property
    def arms(self) -> tuple[tuple[str, Role, Side], ...]:
        """Name, role and side of each arm, in the order of their turns: the control comes last."""
        arms: list[tuple[str, Role, Side]] = [(side.name, side.role, side) for side in self.suite.sides]
        if self.has_control:
            twin = self.suite.sides[0]
            arms.append((f"{twin.name}-again", "control", twin))
        return tuple(arms)


def parser() -> argparse.ArgumentParser:
    """Return the command's options; each suite has those of its sizes."""
    made = argparse.ArgumentParser(
        prog=f"python -m {NAME}",
        description="Gate and time the checker and the build in interleaved fresh processes.",
    )
    choice = made.add_subparsers(dest="suite", required=True, metavar="SUITE")
    for suite in suites().values():
        _add_options(choice.add_parser(suite.name, help=suite.summary, description=suite.summary), suite)
    return made


def _add_options(made: argparse.ArgumentParser, suite: Suite) -> None:
    for name, size in suite.sizes.items():
        made.add_argument(f"--{name}", type=int, default=size, help=f"of the inputs (default {size})")
    made.add_argument("--processes", type=int, default=6, help="fresh processes for each arm (default 6)")
    made.add_argument(
        "--timeout", type=float, default=900.0, metavar="SECONDS", help="the longest a worker may be silent"
    )
    made.add_argument("--no-control", action="store_true", help="leave out the baseline's A/A twin")
    made.add_argument("--dry-run", action="store_true", help="print the plan and the workers' commands")
    add_places(made, domain=DOMAIN, name="the suite")


def selection(options: argparse.Namespace) -> Selection:
    """Resolve the options.

    Raises:
        UsageError: they make no measurement.
    """
    suite = find(options.suite)
    sizes = {name: getattr(options, name) for name in suite.sizes}
    if options.processes < 1 or any(size < 1 for size in sizes.values()):
        raise UsageError("--processes and the sizes of the inputs are at least 1")
    return Selection(suite, sizes, has_control=not options.no_control, processes=options.processes)


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of workers: the caller's, with what a theme would otherwise print about itself off.

    Byte code is kept, as it is wherever nothing forbids it: else each command would compile all that changed anew.
    """
    kept = {name: value for name, value in environment.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "NO_MKDOCS_2_WARNING": "1", "PYTHONUNBUFFERED": "1"}
