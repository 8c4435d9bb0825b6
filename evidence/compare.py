"""Owns comparisons: two arms of one record on one workload, judged; what cannot be compared says why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from evidence import statistics
from evidence.errors import ComparisonError
from evidence.readings import (
    Quantity,
    differing,
    environment_apart,
    gate_value,
    is_rate,
    process_values,
    ran_identically,
    unit_of,
    work_done,
)
from evidence.schema import Cell, Record, Timed
from evidence.schema.metrics import Unit
from evidence.statistics import Interval, Verdict, quantile

MINIMUM_PROCESSES = 6
"""Fewer processes a side can never separate two arms by ranks at the 5 % level with room to spare."""
TIMERS_AGREE_WITHIN = 0.05
OTHER_ENVIRONMENT = "the arms ran in other environments"
ENVIRONMENT = frozenset({"host", "stack", "ranks"})
"""The built-in axes that are about where an arm ran."""

Read: TypeAlias = Callable[[Record, Cell, Quantity], tuple[float, ...]]
"""How the numbers of a cell are come by, one a process."""

_WORDS: dict[Unit, tuple[str, str]] = {
    "s": ("FASTER", "SLOWER"),
    "token/s": ("FASTER", "SLOWER"),
    "1/s": ("FASTER", "SLOWER"),
    "B/s": ("FASTER", "SLOWER"),
    "FLOP/s": ("FASTER", "SLOWER"),
    "B": ("SMALLER", "LARGER"),
}


def word_of(verdict: Verdict, unit: Unit) -> str:
    """Return the metric's own word for a verdict: FASTER for times and rates, SMALLER for bytes."""
    better, worse = _WORDS.get(unit, ("BETTER", "WORSE"))
    return {Verdict.BETTER: better, Verdict.WORSE: worse}.get(verdict, verdict.value.upper())


class Comparison(NamedTuple):
    """One workload under two arms.

    `ratio` is how many times better the candidate is, `change` the metric's own signed change; both None where the
    verdict is INCOMPARABLE or REFUSED. `effect` is the minimum effect applied, `noise` the A/A ratio it came from.
    `reason` says why there is no ratio or what would decide.
    """

    workload: str
    baseline: Cell
    candidate: Cell
    unit: Unit
    verdict: Verdict
    ratio: Interval | None
    change: Interval | None
    processes: tuple[int, int]
    effect: float
    noise: Interval | None
    reason: str
    is_identical: bool
    is_exact: bool
    """Whether the metric is a ratio of a gate's counts, which no second measuring moves: it has no `noise`."""

    @property
    def word(self) -> str:
        """The metric's own word for the verdict."""
        return word_of(self.verdict, self.unit)


def compare(
    record: Record,
    baseline: str,
    candidate: str,
    quantity: Quantity,
    workloads: Sequence[str] | None = None,
    read: Read = process_values,
) -> tuple[Comparison, ...]:
    """Compare two arms on every workload of a record, or on those named; none is left out.

    Who compares much of one record may give a `read` that remembers.

    Raises:
        ComparisonError: the metric has no direction, so no ratio of it is better or worse.
        UnknownNameError: no such metric.
    """
    if unit_of(record, quantity)[1] == "neither":
        raise ComparisonError(
            f"{quantity} has no direction, so no ratio of it is better or worse", fix="show its value"
        )
    names = workloads if workloads is not None else [workload.name for workload in record.workloads]
    return tuple(
        _compare(record, record.cell(baseline, name), record.cell(candidate, name), quantity, read) for name in names
    )


def _compare(record: Record, before: Cell, after: Cell, quantity: Quantity, read: Read) -> Comparison:
    unit, better = unit_of(record, quantity)
    values = (read(record, before, quantity), read(record, after, quantity))
    blank = Comparison(
        workload=before.workload,
        baseline=before,
        candidate=after,
        unit=unit,
        verdict=Verdict.REFUSED,
        ratio=None,
        change=None,
        processes=(len(values[0]), len(values[1])),
        effect=statistics.BASE_EFFECT,
        noise=None,
        reason="",
        is_identical=ran_identically(record, before, after),
        is_exact=gate_value(before, quantity.metric) is not None,
    )
    if undeclared := sorted(differing(record.arm(before.arm), record.arm(after.arm)) - set(record.axes)):
        reason = f"the arms also differ in {', '.join(undeclared)}"
        if not ENVIRONMENT.isdisjoint(undeclared):
            fields = ", ".join(environment_apart(record, record.arm(before.arm), record.arm(after.arm)))
            reason = f"{OTHER_ENVIRONMENT}: {fields or ', '.join(undeclared)}"
        return blank._replace(verdict=Verdict.INCOMPARABLE, reason=reason)
    for cell, found in zip((before, after), values, strict=True):
        if reason := _why_no_number(cell, found, quantity, 1 if blank.is_exact else MINIMUM_PROCESSES):
            return blank._replace(reason=reason)
    work = (work_done(record, before), work_done(record, after))
    if work[0] != work[1] and not (blank.is_exact or is_rate(unit, quantity)):
        return blank._replace(verdict=Verdict.INCOMPARABLE, reason=_unequal(before.arm, after.arm, *work))
    if blank.is_exact:
        return _judge_counts(blank, values[0][0], values[1][0], lower_is_better=better == "lower")
    try:
        ratio = statistics.gain(*values, better == "lower")
    except ComparisonError as error:
        return blank._replace(reason=error.message)
    noise = _noise(record, before, after, quantity, read)
    effect = statistics.minimum_effect(noise)
    verdict, reason = statistics.judge(ratio, effect), ""
    if apart := timers_apart(record, before, quantity) or timers_apart(record, after, quantity):
        verdict, reason = Verdict.INCONCLUSIVE, apart
    elif verdict is Verdict.INCONCLUSIVE:
        reason = _what_would_decide(ratio, effect, min(blank.processes))
    change = statistics.change(ratio, better == "lower")
    return blank._replace(verdict=verdict, ratio=ratio, change=change, effect=effect, noise=noise, reason=reason)


def _why_no_number(cell: Cell, values: Sequence[float], quantity: Quantity, needed: int) -> str:
    if not isinstance(cell, Timed):
        return f"{cell.arm} is {cell.kind}"
    if not values:
        return f"{cell.arm} has no {quantity}"
    return f"{cell.arm} has {len(values)} of {needed} processes" if len(values) < needed else ""


def _judge_counts(blank: Comparison, before: float, after: float, *, lower_is_better: bool) -> Comparison:
    """Judge two ratios of counts: exact numbers, so the interval is the number itself."""
    if before <= 0 or after <= 0:
        return blank._replace(reason="a count of zero has no ratio")
    times = before / after if lower_is_better else after / before
    ratio = Interval(times, times, times)
    change = statistics.change(ratio, lower_is_better)
    return blank._replace(verdict=statistics.judge(ratio, blank.effect), ratio=ratio, change=change)


def _unequal(before: str, after: str, work: frozenset[tuple[str, int]], other: frozenset[tuple[str, int]]) -> str:
    kinds = sorted({kind for kind, _ in work ^ other})
    kind = kinds[0]

    def counts(amounts: frozenset[tuple[str, int]]) -> str:
        return " to ".join(f"{count:,}" for count in sorted({c for k, c in amounts if k == kind})) or "none"

    return f"unequal work: {before} did {counts(work)} {kind}, {after} {counts(other)}"


def _noise(record: Record, before: Cell, after: Cell, quantity: Quantity, read: Read) -> Interval | None:
    """Return the A/A ratio of the baseline and its control on this workload, the wider one of several.

    A control that is itself the candidate does not set the bar it is held to.
    """
    values, lower_is_better = read(record, before, quantity), unit_of(record, quantity)[1] == "lower"
    found: list[Interval] = []
    for arm in record.arms:
        if arm.control_of == before.arm and arm.name != after.arm:
            control = read(record, record.cell(arm.name, before.workload), quantity)
            if len(control) >= MINIMUM_PROCESSES and min(control) > 0:
                found.append(statistics.gain(values, control, lower_is_better))
    return max(found, key=statistics.minimum_effect, default=None)


def timers_apart(record: Record, cell: Cell, quantity: Quantity) -> str:
    """Return how a cell's second timer disagrees with its first by more than 5 %; empty if it does not."""
    if not isinstance(cell, Timed) or not cell.cross_checks:
        return ""
    first = quantile(process_values(record, cell, quantity), 0.5)
    for check in cell.cross_checks:
        values = process_values(record, cell.model_copy(update={"processes": check.processes}), quantity)
        apart = quantile(values, 0.5) / first - 1 if values and first else 0.0
        if abs(apart) > TIMERS_AGREE_WITHIN:
            return f"{cell.arm}: {check.method} is {apart:+.0%} from {cell.method}"
    return ""


def _what_would_decide(ratio: Interval, effect: float, processes: int) -> str:
    more = statistics.processes_needed(ratio, effect, processes)
    if more is None:
        return "no number of processes would decide: the effect lies near the least that counts"
    return f"about {more:,} more {'process' if more == 1 else 'processes'} a side would decide"
