"""Owns what differs between two logs: where and how each ran, its gates, and every cell they share, judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evidence import statistics, units
from evidence.compare import MINIMUM_PROCESSES, word_of
from evidence.errors import ComparisonError
from evidence.evaluation import Value, value_of
from evidence.readings import Quantity, device_of, is_rate, process_values, work_done
from evidence.schema import Metric, Record, is_same_workload
from evidence.schema.metrics import Unit
from evidence.stance import command_of, environment_of, evidence_of, stance_of
from evidence.statistics import BASE_EFFECT, Interval, Verdict
from evidence.store import Loaded
from evidence.tables.numbers import absence

NOTHING = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that differs round the numbers. A side that does not have it is empty."""

    what: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Shared:
    """One metric of one cell that both logs measured. `ratio` is how many times better the second log is."""

    workload: str
    arm: str
    metric: str
    old: str
    new: str
    ratio: Interval | None
    verdict: Verdict | None
    """None for a metric without a direction."""
    word: str
    reason: str
    """Why there is no ratio."""


@dataclass(frozen=True, slots=True)
class Unshared:
    """A cell that has numbers in one log at most: what it is in each; empty where a log does not have it."""

    workload: str
    arm: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class LogDifference:
    """Two logs side by side."""

    old: str
    new: str
    facts: tuple[Fact, ...]
    shared: tuple[Shared, ...]
    unshared: tuple[Unshared, ...]


def difference(old: Loaded, new: Loaded) -> LogDifference:
    """Compare two logs, the first the baseline. Their cells are matched by arm and workload, their metrics by name."""
    shared: list[Shared] = []
    unshared: list[Unshared] = []
    cells = dict.fromkeys((cell.workload, cell.arm) for cell in (*old.record.cells, *new.record.cells))
    for workload, arm in cells:
        states = tuple(_state(one, arm, workload) for one in (old, new))
        if states == ("timed", "timed"):
            shared += _metrics(old, new, arm, workload)
        else:
            unshared.append(Unshared(workload, arm, *states))
    return LogDifference(old.entry.log, new.entry.log, tuple(_facts(old, new)), tuple(shared), tuple(unshared))


def _state(loaded: Loaded, arm: str, workload: str) -> str:
    """Return `timed`, why the cell has no number, or nothing if the log does not have it."""
    try:
        cell = loaded.cell(arm, workload)
    except KeyError:
        return NOTHING
    gone = absence(cell)
    return "timed" if gone is None else f"{gone.outcome}: {gone.reason}"


def _metrics(old: Loaded, new: Loaded, arm: str, workload: str) -> Iterator[Shared]:
    for metric in old.record.metrics:
        other = new.record.metric(metric.name)
        if other is None or other.unit != metric.unit:
            continue
        quantity = Quantity(metric.name)
        values = [value_of(one, one.cell(arm, workload), quantity) for one in (old, new)]
        if values[0] is None or values[1] is None:
            continue
        texts = tuple(_text(value, metric.unit) for value in values if value is not None)
        ratio, verdict, reason = _judged(old, new, arm, workload, metric)
        word = word_of(verdict, metric.unit) if verdict is not None else ""
        yield Shared(workload, arm, metric.name, texts[0], texts[1], ratio, verdict, word, reason)


def _judged(
    old: Loaded, new: Loaded, arm: str, workload: str, metric: Metric
) -> tuple[Interval | None, Verdict | None, str]:
    """Judge a metric across two sessions, beyond what either session's own control strays."""
    if metric.better == "neither":
        return None, None, ""
    quantity = Quantity(metric.name)
    devices = [device_of(one.record) for one in (old, new)]
    if devices[0] != devices[1]:
        return None, Verdict.INCOMPARABLE, "another device"
    if not is_same_workload(old.record.workload(workload), new.record.workload(workload)):
        return None, Verdict.INCOMPARABLE, "another workload of that name"
    cells = [one.cell(arm, workload) for one in (old, new)]
    work = [work_done(one.record, cell) for one, cell in zip((old, new), cells, strict=True)]
    if work[0] != work[1] and metric.of != "gate" and not is_rate(metric.unit, quantity):
        return None, Verdict.INCOMPARABLE, "unequal work"
    values = [process_values(one.record, cell, quantity) for one, cell in zip((old, new), cells, strict=True)]
    if metric.of != "gate" and min(map(len, values)) < MINIMUM_PROCESSES:
        return None, Verdict.REFUSED, f"{min(map(len, values))} of {MINIMUM_PROCESSES} processes"
    try:
        # One number of a gate has no spread: it stands for itself twice.
        sides = [side * 2 if len(side) == 1 else side for side in values]
        ratio = statistics.gain(sides[0], sides[1], metric.better == "lower")
    except ComparisonError as error:
        return None, Verdict.REFUSED, error.message
    effect = max(_noise(one.record, workload, metric) for one in (old, new))
    return ratio, statistics.judge(ratio, effect), ""


def _noise(record: Record, workload: str, metric: Metric) -> float:
    """Return the least effect that a log's own A/A arms allow on a workload."""
    quantity, lower = Quantity(metric.name), metric.better == "lower"
    effect = BASE_EFFECT
    for arm in record.arms:
        if arm.control_of is not None:
            pair = [
                process_values(record, record.cell(name, workload), quantity) for name in (arm.control_of, arm.name)
            ]
            if min(map(len, pair)) >= MINIMUM_PROCESSES and min(map(min, pair)) > 0:
                effect = max(effect, statistics.minimum_effect(statistics.gain(pair[0], pair[1], lower)))
    return effect


def _text(value: Value, unit: Unit) -> str:
    interval = value.interval
    scale = units.scale_for(interval.value, unit)
    if value.is_exact:
        whole = interval.value.is_integer() and not scale.power
        return units.format_value(interval.value, scale, 0 if whole else units.table_decimals(interval, scale))
    decimals = units.table_decimals(interval, scale)
    ends = units.format_interval(interval, decimals, scale)
    return f"{units.format_value(interval.value, scale, decimals)} ({ends})"


def _facts(old: Loaded, new: Loaded) -> Iterator[Fact]:
    """Yield what differs round the numbers: stance, command, machine, packages, gates, limitations."""
    sides = [_described(one) for one in (old, new)]
    for what in dict.fromkeys((*sides[0], *sides[1])):
        texts = [side.get(what, NOTHING) for side in sides]
        if texts[0] != texts[1]:
            yield Fact(what, texts[0], texts[1])


def _described(loaded: Loaded) -> Mapping[str, str]:
    record = loaded.record
    found = dict(stance_of((loaded,), [(loaded, cell) for cell in record.cells]))
    found["command"] = command_of(record)
    lines: dict[str, list[str]] = {}
    for label, text in environment_of(record):
        if label != "Stack":
            lines.setdefault(label.lower(), []).append(text)
    found |= {label: "; ".join(texts) for label, texts in lines.items()}
    for stack in record.stacks:
        for package in stack.packages:
            name, _, version = package.partition("==")
            key = f"package {name}"
            found[key] = ", ".join(dict.fromkeys(filter(None, (found.get(key, ""), version))))
    for gate in evidence_of(loaded).gates:
        found[f"gate {gate.name}"] = f"{gate.state}, {gate.counts}, {gate.text}"
    found["limitations"] = "; ".join(record.limitations)
    return found
