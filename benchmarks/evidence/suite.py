"""Owns what a suite of this benchmark is: sides that run one command each in a fresh process, and what they must do.

A side is gated by checks of its own before it is timed, and the timed process is held to what it printed and wrote.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.evidence.gauge import Gauged, gauge
from evidence.discovery import instances
from evidence.errors import UnknownNameError
from evidence.schema import Metric, Setting
from evidence.schema.arms import Role

WALL_TIME, CPU_TIME, PEAK_MEMORY = "wall_time", "cpu_time", "peak_memory"

Sizes = Mapping[str, int]
"""How large the inputs are, by the name of the option that says so; `seed` is one of them."""


class Check(NamedTuple):
    """Something that had to hold, and how it does not; an empty text where it does."""

    what: str
    fault: str


@dataclass(frozen=True, slots=True)
class Ran:
    """One process that ran to its end: what it was given, what it wrote and said, and how it ended."""

    inputs: Path
    written: Path
    """The folder that it was told to write into, if it writes anything."""
    said: str
    code: int


Command = Callable[[Path, Path], tuple[str, ...]]
"""From the inputs and an empty folder for what is written to the arguments of the interpreter."""
Hold = Callable[[Ran, Sizes], Iterator[Check]]
Variables = Callable[[Path, Path], Mapping[str, str]]
"""From the same to the variables that the process is given beside its own."""
GateChecks = Callable[[Path, Path, Sizes], Iterator[Check]]
"""From the inputs, an empty folder and the sizes to what has to hold before a side may be timed."""


@dataclass(frozen=True, slots=True)
class Side:
    """One arm: its command, its gate, and what every timed process must have done."""

    name: str
    role: Role
    implementation: str
    command: Command
    gate_name: str
    gate: GateChecks
    hold: Hold
    switches: tuple[Setting, ...] = ()
    variables: Variables = lambda inputs, written: {}


@dataclass(frozen=True, slots=True)
class Suite:
    """One question with its inputs and its sides. `module` is the defining module's `__name__`."""

    name: str
    module: str
    summary: str
    sizes: Sizes
    """The usual ones; their names are the options."""
    prepare: Callable[[Path, Sizes], Path]
    """Makes the inputs below a folder, unless they are there, and returns where they are."""
    warmed: Callable[[Path], tuple[Path, ...]]
    """The files of the inputs that are read once before the clock starts."""
    settings: Callable[[Path, Sizes], Mapping[str, str]]
    """What a record says of the inputs, their digest among it."""
    sides: tuple[Side, ...]
    axes: tuple[str, ...]
    metrics: tuple[Metric, ...]
    measured: tuple[str, ...]
    """Patterns of this repository's files that the question is about."""
    gates: tuple[str, ...]
    """Files that say what the gates ask: they are frozen with them."""
    limitations: tuple[str, ...]
    parts: tuple[str, ...] = ()
    """Workloads, whose inputs are folders of these names below the inputs; empty: the suite is one workload."""
    counts: Callable[[Ran], Mapping[str, float]] | None = None
    """What a process counted itself, by metric."""

    @property
    def workloads(self) -> tuple[str, ...]:
        """The names of its workloads."""
        return self.parts or (self.name,)

    def inputs_of(self, workload: str, inputs: Path) -> Path:
        """Return where the inputs of a workload are."""
        return inputs / workload if self.parts else inputs

    def side(self, name: str) -> Side:
        """Return the side of that name.

        Raises:
            UnknownNameError: there is none; it names the nearest.
        """
        for side in self.sides:
            if side.name == name:
                return side
        raise UnknownNameError(f"side of {self.name}", name, [side.name for side in self.sides])


@functools.cache
def suites() -> Mapping[str, Suite]:
    """Return every suite by name."""
    return {suite.name: suite for suite in instances("benchmarks.evidence.suites", Suite)}


def find(name: str) -> Suite:
    """Return the suite of that name.

    Raises:
        UnknownNameError: there is none; it names the nearest.
    """
    known = suites()
    if name not in known:
        raise UnknownNameError("suite", name, known)
    return known[name]


def run_timed(side: Side, inputs: Path, scratch: Path, root: Path) -> tuple[Gauged, Ran]:
    """Run a side's command once, gauged, from the repository's top; `scratch` is an empty folder."""
    printed, written = scratch / "printed.txt", scratch / "written"
    environment = {**os.environ, **side.variables(inputs, written)}
    command = (sys.executable, *side.command(inputs, written))
    gauged = gauge(command, directory=root, output=printed, environment=environment)
    said = printed.read_text(encoding="utf-8", errors="replace")
    return gauged, Ran(inputs, written, said, gauged.code)


def run_untimed(
    arguments: tuple[str, ...], root: Path, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the interpreter once, for a gate, and return what it said."""
    command, environment = [sys.executable, *arguments], {**os.environ, **(variables or {})}
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env=environment)


def metric(name: str, role: str) -> Metric:
    """Return one of the three metrics of a process, with its role."""
    unit = "B" if name == PEAK_MEMORY else "s"
    return Metric.model_validate({"name": name, "unit": unit, "better": "lower", "of": "process", "role": role})


def exits_clean(ran: Ran) -> Check:
    """Check that a process ended with exit code 0."""
    last = (ran.said.strip().splitlines() or ["it said nothing"])[-1]
    return Check("exit code", f"{ran.code}: {last}" if ran.code else "")
