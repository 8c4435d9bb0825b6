"""Owns what a run of pytest told of itself, as data: the report that `benchmarks.ops.watching` writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from benchmarks.ops.gates import WEAKENING_VARIABLES
from evidence.schema import Model, Setting

WEAKENING_TESTS = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
"""Variables that change what pytest runs without a word on its command line."""
DENIED = tuple(sorted({*WEAKENING_VARIABLES, *WEAKENING_TESTS}))
"""What may not be set where an op is verified."""


class TestOutcome(Model):
    """What became of one test; of a test that fails while it is taken down, that."""

    __test__ = False

    id: str
    outcome: Literal["passed", "failed", "skipped"]
    reason: str


class Report(Model):
    """What one run of pytest did."""

    exit_code: int
    collected: tuple[str, ...]
    deselected: tuple[str, ...]
    uncollectable: tuple[str, ...]
    """Files that could not be collected, each with the last line of why."""
    skipped_files: tuple[str, ...]
    tests: tuple[TestOutcome, ...]
    optimized: Annotated[int, Field(ge=0)]
    """`sys.flags.optimize`: above zero, asserts do nothing."""
    weakening: tuple[Setting, ...]
    poisoned_allocations: Annotated[int, Field(ge=0)]
    code: Setting | None
    """Which files of the package under test were loaded; null: none was asked about, or none was loaded."""


def weakening(environment: Mapping[str, str]) -> tuple[Setting, ...]:
    """Return what is set of the variables that weaken a gate, the numeric one or the tests."""
    return tuple(Setting(name=name, value=environment[name]) for name in DENIED if environment.get(name))
