"""Owns one reading evaluated: the cells it selects, their numbers or comparisons, and whether they are as expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from evidence import statistics
from evidence.compare import OTHER_ENVIRONMENT, Comparison, compare, word_of
from evidence.errors import ComparisonError, ItemError, UnknownNameError
from evidence.readings import Quantity, parse_quantity, process_values, processes_of, unit_of
from evidence.schema import Cell, Record, Timed, Workload
from evidence.schema.claims import CONTROL, Also, Claim, Expected
from evidence.schema.metrics import Unit
from evidence.selection import place_of, select
from evidence.statistics import Interval, Verdict
from evidence.store import Loaded

UNBACKED, CONTRADICTED, INCONCLUSIVE, UNEQUAL_WORK = "EV601", "EV602", "EV406", "EV404"
MALFORMED = "EV620"
MORE_THAN_ONE_AXIS, NOT_GATED, TOO_FEW, ENVIRONMENT_DIFFERS = "EV405", "EV412", "EV201", "EV402"
_ORDER = (Verdict.BETTER, Verdict.WORSE, Verdict.SAME, Verdict.INCONCLUSIVE, Verdict.INCOMPARABLE, Verdict.REFUSED)

Loader = Callable[[str], Loaded]
"""Series, or dated log, -> the log it stands on."""


class Value(NamedTuple):
    """One cell's number: an interval over processes, or an exact one."""

    workload: Workload
    interval: Interval
    is_exact: bool
    processes: int


@dataclass(frozen=True)
class Reading:
    """One metric in some cells of a log, of one arm or of two compared. `name` is empty for a claim's main reading."""

    name: str
    loaded: Loaded
    quantity: Quantity
    unit: Unit
    lower_is_better: bool
    workloads: tuple[Workload, ...]
    baseline: str
    candidate: str
    expect: Expected | Mapping[Expected, int] | None
    control: Reading | None = None
    """What holds this reading: its largest deviation is this one's least effect, and if it moved nothing is decided."""

    @property
    def is_comparison(self) -> bool:
        """Whether two arms are compared; else `candidate` is the one arm that is read."""
        return bool(self.baseline)

    @cached_property
    def all_comparisons(self) -> tuple[Comparison, ...]:
        """Every selected cell compared, identical configurations included."""
        found = tuple(
            compared(self.loaded, self.baseline, self.candidate, self.quantity, workload.name)
            for workload in self.workloads
        )
        return tuple(_held(one, self.control) for one in found) if self.control is not None else found

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The cells whose arms ran different configurations: the others are noise and leave every mean and tally."""
        return tuple(one for one in self.all_comparisons if not one.is_identical)

    @cached_property
    def identical(self) -> int:
        """How many cells were left out because both arms ran the same configuration."""
        return len(self.all_comparisons) - len(self.comparisons)

    @cached_property
    def moved(self) -> bool:
        """Whether any compared cell is beyond the noise, as no cell of a control should be."""
        return any(one.verdict in (Verdict.BETTER, Verdict.WORSE) for one in self.comparisons)

    @cached_property
    def ratios(self) -> tuple[Interval, ...]:
        """The ratio of each compared cell that has one."""
        return tuple(one.ratio for one in self.comparisons if one.ratio is not None)

    @cached_property
    def counts(self) -> dict[Verdict, int]:
        """How many cells have each verdict, the six verdicts in their order."""
        found = [one.verdict for one in self.comparisons]
        return {verdict: found.count(verdict) for verdict in _ORDER if verdict in found}

    @cached_property
    def verdict(self) -> Verdict:
        """The one verdict of all cells; of a mixed result that of the geometric mean, which the tally then explains."""
        if len(self.counts) == 1:
            return next(iter(self.counts))
        if not self.ratios:
            return Verdict.REFUSED
        effect = max((one.effect for one in self.comparisons), default=statistics.BASE_EFFECT)
        return statistics.judge(statistics.geometric_mean(self.ratios).interval, effect)

    @property
    def word(self) -> str:
        """The metric's own word for the verdict."""
        return word_of(self.verdict, self.unit)

    @property
    def effect(self) -> float:
        """The largest minimum effect applied to any cell."""
        return max((one.effect for one in self.comparisons), default=statistics.BASE_EFFECT)

    @property
    def processes(self) -> int:
        """The fewest processes behind any number of this reading."""
        counted = [min(one.processes) for one in self.comparisons] if self.is_comparison else []
        counted += [value.processes for value in self.values(self.candidate)] if not counted else []
        return min(counted, default=0)

    def values(self, arm: str) -> tuple[Value, ...]:
        """Return one arm's number in every selected cell that has one."""
        found = []
        for workload in self.workloads:
            value = value_of(self.loaded, self.loaded.cell(arm, workload.name), self.quantity)
            if value is not None:
                found.append(value)
        return tuple(found)

    def facts(self) -> dict[str, tuple[str, ...]]:
        """Return the values of every axis over the selected cells."""
        places = [place_of(self.loaded, workload) for workload in self.workloads]
        axes = dict.fromkeys(axis for place in places for axis in place)
        found = {axis: tuple(dict.fromkeys(place[axis] for place in places if axis in place)) for axis in axes}
        found["arm"] = (self.candidate,)
        found["date"] = (self.loaded.record.started_at.date().isoformat(),)
        return found


def _held(one: Comparison, control: Reading) -> Comparison:
    """Hold a decided comparison to a control; what it is the same as is decided by the base effect alone."""
    if one.ratio is None or one.verdict not in (Verdict.BETTER, Verdict.WORSE):
        return one
    if control.moved:
        return one._replace(verdict=Verdict.INCONCLUSIVE, reason="the control moved")
    effect = max([one.effect, *(statistics.minimum_effect(ratio) for ratio in control.ratios)])
    verdict = statistics.judge(one.ratio, effect)
    reason = "within what the control strays" if verdict is Verdict.INCONCLUSIVE else one.reason
    return one._replace(verdict=verdict, effect=effect, reason=reason)


def compared(loaded: Loaded, baseline: str, candidate: str, quantity: Quantity, workload: str) -> Comparison:
    """Return two arms of a record compared on one workload, as `compare` does, once for all who ask."""
    key = ("compared", baseline, candidate, quantity, workload)

    def numbers(_: Record, cell: Cell, quantity: Quantity) -> tuple[float, ...]:
        return numbers_of(loaded, cell, quantity)

    return loaded.once(key, lambda: compare(loaded.record, baseline, candidate, quantity, [workload], numbers)[0])


def numbers_of(loaded: Loaded, cell: Cell, quantity: Quantity) -> tuple[float, ...]:
    """Return a cell's number in each process, as `process_values` does, read once for all who ask."""
    key = ("numbers", cell.arm, cell.workload, quantity)
    return loaded.once(key, lambda: process_values(loaded.record, cell, quantity))


def value_of(loaded: Loaded, cell: Cell, quantity: Quantity) -> Value | None:
    """Return a cell's number with its interval over processes; exact where every process has the same."""
    return loaded.once(("value", cell.arm, cell.workload, quantity), lambda: _value_of(loaded, cell, quantity))


def _value_of(loaded: Loaded, cell: Cell, quantity: Quantity) -> Value | None:
    numbers = numbers_of(loaded, cell, quantity)
    if not numbers:
        return None
    workload = loaded.record.workload(cell.workload)
    if len(numbers) == 1 or min(numbers) == max(numbers):
        return Value(workload, Interval(numbers[0], numbers[0], numbers[0]), True, len(numbers))
    return Value(workload, statistics.location(numbers), False, len(numbers))


def readings_of(claim: Claim, load: Loader) -> dict[str, Reading]:
    """Evaluate a claim's main reading (named by an empty text) and every one under `also`.

    Raises:
        ItemError: a series, metric, arm, axis or value that is not there, naming the nearest one that is.
    """
    found = {"": _reading("", claim, None, load)}
    for name, also in claim.also.items():
        found[name] = _reading(name, claim, also, load)
    control = found.get(CONTROL)
    if control is not None and control.is_comparison and found[""].is_comparison:
        found[""] = replace(found[""], control=control)
    return found


def _reading(name: str, claim: Claim, also: Also | None, load: Loader) -> Reading:
    def key(field: str) -> tuple[str, ...]:
        own = also is not None and getattr(also, field) is not None
        return ("also", name, field) if own else (field,)

    def inherited(field: str) -> str | None:
        own: str | None = getattr(also, field) if also is not None else None
        return own if own is not None else getattr(claim, field)

    # An arm of its own drops the claim's comparison; a comparison of its own drops the claim's arm.
    arm = inherited("arm")
    if also is not None and also.arm is None and (also.baseline or also.candidate):
        arm = None
    baseline = None if also is not None and also.arm is not None else inherited("baseline")
    candidate = None if also is not None and also.arm is not None else inherited("candidate")
    where = also.where if also is not None and also.where is not None else claim.where
    series = inherited("series") or ""
    try:
        loaded = load(series)
    except UnknownNameError as error:
        raise ItemError(UNBACKED, error.message, *key("series"), fix=error.fix) from None
    record = loaded.record
    try:
        quantity = parse_quantity(inherited("metric") or "")
        unit, better = unit_of(record, quantity)
    except (UnknownNameError, ComparisonError) as error:
        raise ItemError(UNBACKED, f"{loaded.entry.log}: {error.message}", *key("metric"), fix=error.fix) from None
    arms = [one.name for one in record.arms]
    for field, value in (("arm", arm), ("baseline", baseline), ("candidate", candidate)):
        if value is not None and value not in arms:
            unknown = UnknownNameError("arm", value, arms)
            raise ItemError(UNBACKED, f"{loaded.entry.log}: {unknown.message}", *key(field), fix=unknown.fix)
    try:
        workloads = select(loaded, where)
    except UnknownNameError as error:
        axis = error.name if error.kind == "axis" else error.kind.removeprefix("value of ")
        raise ItemError(UNBACKED, f"{loaded.entry.log}: {error.message}", *key("where"), axis, fix=error.fix) from None
    if not workloads:
        raise ItemError(UNBACKED, f"{loaded.entry.log}: 'where' selects no cell", *key("where"), fix="widen it")
    if baseline is not None and better == "neither":
        message = f"{quantity} has no direction, so no ratio of it is better or worse"
        raise ItemError(UNBACKED, message, *key("metric"), fix="read one arm, or compare a metric with a direction")
    if name in (hidden := {*place_of(loaded, workloads[0]), "arm", "date"}):
        others = ", ".join(sorted(hidden))
        message = f"a reading called {name!r} hides the {name} of the log, which {{{name}}} asks for"
        raise ItemError(MALFORMED, message, "also", name, fix=f"give it a name that is none of {others}")
    return Reading(
        name=name,
        loaded=loaded,
        quantity=quantity,
        unit=unit,
        lower_is_better=better == "lower",
        workloads=workloads,
        baseline=baseline or "",
        candidate=candidate or arm or "",
        expect=also.expect if also is not None else claim.expect,
    )


def require_expected(reading: Reading) -> None:
    """Hold a reading to its `expect`: every compared cell, or the exact tally.

    Raises:
        ItemError: the log says otherwise; the rule names why (no number, unequal work, undecided, contradicted).
    """
    if reading.expect is None:  # one arm is read, and nothing compared
        for workload in reading.workloads:
            cell = reading.loaded.cell(reading.candidate, workload.name)
            if value_of(reading.loaded, cell, reading.quantity) is None:
                kind = f"holds no {reading.quantity}" if processes_of(cell) else f"is {cell.kind}"
                message = f"{cell.arm} on {cell.workload} {kind}"
                raise ItemError(UNBACKED, message, *_key(reading)[:-1], fix="narrow 'where' to the cells that have one")
        return
    if not reading.comparisons:
        message = f"all {reading.identical} cells ran identical configurations"
        raise ItemError("EV407", message, *_key(reading), fix="compare arms that differ")
    wanted = reading.expect if isinstance(reading.expect, Mapping) else {reading.expect: len(reading.comparisons)}
    actual = {str(verdict): count for verdict, count in reading.counts.items()}
    if actual == {word: count for word, count in wanted.items() if count}:
        return
    for one in reading.comparisons:
        if one.verdict is Verdict.INCOMPARABLE:
            code = MORE_THAN_ONE_AXIS
            if one.reason.startswith("unequal work"):
                code = UNEQUAL_WORK
            elif one.reason.startswith(OTHER_ENVIRONMENT):
                code = ENVIRONMENT_DIFFERS
            fix = (
                f"compare a rate: {reading.quantity.metric}/{_kind_of_work(one.reason)}"
                if code == UNEQUAL_WORK
                else "declare the axis, or fix the arms"
            )
            raise ItemError(code, f"{one.workload}: {one.reason}", *_key(reading), fix=fix)
        if one.verdict is Verdict.REFUSED:
            code = (
                NOT_GATED if not isinstance(one.baseline, Timed) else TOO_FEW if "processes" in one.reason else UNBACKED
            )
            raise ItemError(code, f"{one.workload}: {one.reason}", *_key(reading), fix="claim a cell that was measured")
    said = _braced(actual)
    believed = reading.expect if isinstance(reading.expect, str) else _braced(reading.expect)
    message = f"expect is {believed}, the log says {said} ({tally(reading)})"
    undecided = Verdict.INCONCLUSIVE in reading.counts and not wanted.get("inconclusive")
    single = next(iter(actual)) if len(actual) == 1 else said
    fix = f"if the log is right: expect: {single}; then reread the statement"
    raise ItemError(INCONCLUSIVE if undecided else CONTRADICTED, message, *_key(reading), fix=fix)


def _kind_of_work(reason: str) -> str:
    """Return what the arms did unequal amounts of, as a metric is divided by it."""
    return reason.rsplit(", ", 1)[0].split()[-1].replace("-", "_")


def _braced(counts: Mapping[str, int] | Mapping[Expected, int]) -> str:
    return "{" + ", ".join(f"{word}: {count}" for word, count in counts.items()) + "}"


def _key(reading: Reading) -> tuple[str, ...]:
    return ("also", reading.name, "expect") if reading.name else ("expect",)


def tally(reading: Reading) -> str:
    """Return `5 faster, 1 slower, 3 with identical configuration left out`."""
    words = [f"{count} {word_of(verdict, reading.unit).lower()}" for verdict, count in reading.counts.items()]
    if reading.identical:
        words.append(f"{reading.identical} with identical configuration left out")
    return ", ".join(words)
