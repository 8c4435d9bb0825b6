"""Owns the exit codes of `benchmarks.ops.verify` and of what reads its results: one for each reason that blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum


class Exit(IntEnum):
    """What a command ended with. Everything but OK blocks a promotion; INCONCLUSIVE is to be measured again."""

    OK = 0
    USAGE = 2
    INCONCLUSIVE = 3
    UNSUITABLE = 4
    RED_GATE = 10
    NO_TEST_SELECTED = 11
    ALL_SKIPPED = 12
    GATE_MISSING = 13
    BENCHMARK_FAILED = 14
    BASELINE_UNAVAILABLE = 15
    REGRESSION = 16
    ENVIRONMENT = 17
    SUBSET_GATE = 18
    NO_GATE = 19
    GATE_CHANGED = 20
    LOST_ROW = 21
    NOT_A_NUMBER = 22
    DUPLICATE_ROW = 23
    UNMATCHED_SHAPE = 24
    INTERRUPTED = 130


MEANINGS = {
    Exit.OK: "measured, and nothing speaks against it",
    Exit.USAGE: "options that make no run, or a file that is no result",
    Exit.INCONCLUSIVE: "measured, and the interval decides nothing",
    Exit.UNSUITABLE: "this machine cannot run what was asked for",
    Exit.RED_GATE: "a test of the gate failed, or an output is wrong on the timed inputs",
    Exit.NO_TEST_SELECTED: "the selection matches no test of the gate",
    Exit.ALL_SKIPPED: "every test of the gate was skipped, or more than are allowed to be",
    Exit.GATE_MISSING: "the op has no gate file, or it cannot be collected",
    Exit.BENCHMARK_FAILED: "nothing was timed, or what was to be timed crashed",
    Exit.BASELINE_UNAVAILABLE: "the baseline cannot be had, is not what was imported, or fails its own gate",
    Exit.REGRESSION: "a workload is slower than under the baseline",
    Exit.ENVIRONMENT: "a variable that weakens gates is set, or the sides ran in other environments",
    Exit.SUBSET_GATE: "measured under a part of the gate: a signal, not evidence",
    Exit.NO_GATE: "measured without the frozen tests: a signal, not evidence",
    Exit.GATE_CHANGED: "a frozen file of the gate differs from the baseline's",
    Exit.LOST_ROW: "a row of one side is missing on the other",
    Exit.NOT_A_NUMBER: "a row holds no finite positive time",
    Exit.DUPLICATE_ROW: "two rows are about the same thing",
    Exit.UNMATCHED_SHAPE: "a row says another shape than its key, or the sides measured other shapes",
    Exit.INTERRUPTED: "interrupted",
}
_LAST = (Exit.SUBSET_GATE, Exit.NO_GATE, Exit.INCONCLUSIVE)
"""What is told only where nothing worse is."""


@dataclass(frozen=True, slots=True)
class Blocker:
    """One reason against a result."""

    code: Exit
    reason: str

    def __str__(self) -> str:
        """Return code, name and reason, as they are printed."""
        return f"{self.code.value} {self.code.name.lower().replace('_', '-')}: {self.reason}"


def first(blockers: Iterable[Blocker]) -> Exit:
    """Return the code of several reasons: the lowest; a partial gate or an open result only if nothing is worse."""
    codes = {blocker.code for blocker in blockers}
    worse = sorted(codes - {*_LAST})
    return worse[0] if worse else next((code for code in _LAST if code in codes), Exit.OK)
