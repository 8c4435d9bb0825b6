"""Owns the trials that a harness is judged by, as verdicts on committed records: equal code, and slowdowns put in.

An A/A trial compares a baseline with its control, which is the same code: any verdict of better or worse is false. A
planted trial compares a baseline with itself slowed on purpose: a verdict of worse is a find, any other a miss.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from benchmarks.ops.planted import OWN, PLANTED
from benchmarks.ops.selection import SLOWED
from evidence.compare import Comparison, compare
from evidence.readings import Quantity
from evidence.schema import Arm, Record, Skipped, Timed
from evidence.statistics import Interval, Verdict, incomplete_beta, minimum_effect

Kind = Literal["a-a", "planted"]
QUANTITY = Quantity("time")
_CALLED = (Verdict.BETTER, Verdict.WORSE)
_JUDGED = (*_CALLED, Verdict.SAME, Verdict.INCONCLUSIVE)
_PERCENT = re.compile(r"([0-9.]+) %")
_HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Trial:
    """One comparison of a baseline with what is the same, or slower by a known share."""

    kind: Kind
    log: str
    workload: str
    arm: str
    comparison: Comparison
    asked: float | None
    """The share that was to be planted; None where nothing was."""
    planted: float | None
    """The share that was, as the processes measured it; None where nothing was, or where they do not say."""

    @property
    def ratio(self) -> Interval | None:
        """How many times better the other arm is."""
        return self.comparison.ratio

    def is_judged(self, least_processes: int) -> bool:
        """Whether it has a verdict from enough processes a side."""
        return self.comparison.verdict in _JUDGED and min(self.comparison.processes) >= least_processes

    @property
    def said(self) -> str:
        """The verdict in the metric's own word; where there is none, why."""
        one = self.comparison
        return one.word if one.verdict in _JUDGED else f"{one.word}: {one.reason}"

    @property
    def is_called(self) -> bool:
        """Whether the verdict is that the arms differ."""
        return self.comparison.verdict in _CALLED

    @property
    def is_found(self) -> bool:
        """Whether the verdict is worse: what a planted slowdown is."""
        return self.comparison.verdict is Verdict.WORSE


def trials(log: str, record: Record) -> Iterator[Trial]:
    """Yield the trial of each cell of a control, and of each cell of an arm that was slowed on purpose.

    A cell that was not tried, because the arm has no such implementation, is none.
    """
    for arm in record.arms:
        if (kind := _kind(arm)) is None:
            continue
        tried = [cell.workload for cell in record.cells if cell.arm == arm.name and not isinstance(cell, Skipped)]
        for one in compare(record, _twin(record, arm), arm.name, QUANTITY, tried):
            yield Trial(
                kind=kind,
                log=log,
                workload=one.workload,
                arm=arm.name,
                comparison=one,
                asked=_asked(arm),
                planted=_planted(record, arm.name, one.workload),
            )


def cells_on_trial(record: Record) -> tuple[tuple[str, str], ...]:
    """Return the arm and workload of each cell that a trial is owed, counted from the cells themselves."""
    owed = {arm.name for arm in record.arms if arm.role == "control" or _asked(arm) is not None}
    tried = (cell for cell in record.cells if not isinstance(cell, Skipped))
    return tuple((cell.arm, cell.workload) for cell in tried if cell.arm in owed)


def not_tried(record: Record, kind: Kind) -> int:
    """Return how many cells of a kind's arms were not tried, so that no trial is owed for them."""
    arms = {arm.name for arm in record.arms if _kind(arm) == kind}
    return sum(isinstance(cell, Skipped) for cell in record.cells if cell.arm in arms)


def _kind(arm: Arm) -> Kind | None:
    """Return which trial an arm is for; None where it is neither a control nor slowed."""
    if arm.control_of is not None:
        return "a-a"
    return None if _asked(arm) is None else "planted"


def _twin(record: Record, arm: Arm) -> str:
    """Return the arm that a control or a slowed arm is compared with."""
    return arm.control_of or next(other.name for other in record.arms if other.role == "baseline")


def _asked(arm: Arm) -> float | None:
    value = next((switch.value for switch in arm.switches if switch.name == SLOWED), None)
    match = _PERCENT.fullmatch(value or "")
    return float(match[1]) / 100 if match else None


def _planted(record: Record, arm: str, workload: str) -> float | None:
    """Return the median over processes of what was added, over the median of the call's own time."""
    cell = record.cell(arm, workload)
    told = {setting.name: setting.value for setting in cell.ran} if isinstance(cell, Timed) else {}
    if not {PLANTED, OWN} <= told.keys():
        return None
    # A setting that differs between processes names every value it had.
    added, own = (median(float(value) for value in told[name].split(" | ")) for name in (PLANTED, OWN))
    return added / own


def least_effect(trial: Trial) -> float | None:
    """Return the smallest measured effect that would have been called in the place of this A/A trial, as a share.

    An interval as wide as this one must lie beyond the minimum effect, which the same A/A interval raises: so
    (1 + effect) exp(half-width on the log scale) - 1. None without an interval.
    """
    ratio = trial.ratio
    if ratio is None or ratio.low <= 0:
        return None
    half = (math.log(ratio.high) - math.log(ratio.low)) / 2
    return (1 + minimum_effect(ratio)) * math.exp(half) - 1


def highest_rate(hits: int, tried: int) -> float:
    """Return the upper end of the exact 95 % interval of a rate (Clopper and Pearson 1934), one-sided at 97.5 %.

    The largest p at which `hits` or fewer have a chance of 2.5 %: the quantile of a beta distribution.
    """
    if hits >= tried:
        return 1.0
    return _quantile(0.975, hits + 1, tried - hits)


def lowest_rate(hits: int, tried: int) -> float:
    """Return the lower end of that interval."""
    return 1 - highest_rate(tried - hits, tried)


def _quantile(p: float, a: float, b: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if incomplete_beta(a, b, middle) < p else (low, middle)
    return (low + high) / 2


@dataclass(frozen=True, slots=True)
class Tally:
    """What the trials of one kind came to. Those without a verdict from enough processes are unusable, and counted."""

    judged: tuple[Trial, ...]
    unusable: tuple[Trial, ...]

    def count(self, *verdicts: Verdict) -> int:
        """Return how many have one of these verdicts."""
        return sum(trial.comparison.verdict in verdicts for trial in self.judged)


def tally(found: Sequence[Trial], kind: Kind, least_processes: int) -> Tally:
    """Return the tally of the trials of one kind."""
    of_kind = [trial for trial in found if trial.kind == kind]
    judged = tuple(trial for trial in of_kind if trial.is_judged(least_processes))
    return Tally(judged, tuple(trial for trial in of_kind if not trial.is_judged(least_processes)))
