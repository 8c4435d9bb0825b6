"""Owns why a loop refuses, blocks or stops: a reason each, with an exit code of its own.

Codes that `benchmarks.ops.verify` has too mean the same there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from benchmarks.ops.exits import Exit
from evidence.errors import EvidenceError


class Reason(IntEnum):
    """What a command ended with. The first group blocks a promotion, the second refuses a row or a no-go."""

    OK = Exit.OK
    USAGE = Exit.USAGE
    INTERRUPTED = Exit.INTERRUPTED
    NOT_DECIDED = Exit.INCONCLUSIVE
    UNSUITABLE = Exit.UNSUITABLE
    RED_GATE = Exit.RED_GATE
    GATE_SKIPPED = Exit.ALL_SKIPPED
    GATE_MISSING = Exit.GATE_MISSING
    NOTHING_MEASURED = Exit.BENCHMARK_FAILED
    OTHER_BASELINE = Exit.BASELINE_UNAVAILABLE
    SLOWER = Exit.REGRESSION
    ENVIRONMENT = Exit.ENVIRONMENT
    SUBSET_GATE = Exit.SUBSET_GATE
    GATE_CHANGED = Exit.GATE_CHANGED
    LOST_ROW = Exit.LOST_ROW
    NOT_A_NUMBER = Exit.NOT_A_NUMBER
    DUPLICATE_ROW = Exit.DUPLICATE_ROW
    UNMATCHED_SHAPE = Exit.UNMATCHED_SHAPE
    TOLERANCE_CHANGED = 30
    ONE_SESSION = 31
    BELOW_TARGET = 32
    GUARD_SLOWER = 33
    NO_MECHANISM = 34
    DIRTY_SOURCE = 35
    OTHER_HARDWARE = 36
    WEAK_GATE = 37

    BROKEN_CHAIN = 40
    EDITED_ROW = 41
    FROZEN_CHANGED = 42
    NOT_ONE_CHANGE = 43
    STALLED = 44
    ENDED = 45
    UNFINISHED = 46


@dataclass(frozen=True, slots=True)
class Objection:
    """One reason against a decision."""

    reason: Reason
    text: str

    def __str__(self) -> str:
        """Return code, name and text, as they are printed."""
        return f"{self.reason.value} {self.reason.name.lower().replace('_', '-')}: {self.text}"


class LoopError(EvidenceError):
    """A row or a decision that is refused; carries its reason."""

    def __init__(self, reason: Reason, message: str, *, fix: str = "") -> None:
        """Carry the exit code beside the message."""
        super().__init__(message, fix=fix)
        self.reason = reason


def first(objections: Iterable[Objection]) -> Reason:
    """Return the code of several objections: that which says most, a result that is only undecided last."""
    codes = {one.reason for one in objections}
    return min(codes - {Reason.NOT_DECIDED}, default=Reason.NOT_DECIDED if codes else Reason.OK)
