"""Owns the recomputation of a claim or table from its records' bytes, step by step, up to the text that is printed.

Nothing is remembered from earlier runs and nothing is fetched: the files, the ledger and the lock are read anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from evidence import ledger, printed, statistics, units
from evidence.book import Book, Unrenderable
from evidence.compare import Comparison
from evidence.errors import EvidenceError, UnknownNameError
from evidence.evaluation import Reading, Value, compared, require_expected, value_of
from evidence.project import Project
from evidence.readings import Quantity, process_values, processes_of, unit_of
from evidence.schema import (
    AccuracyDetail,
    Cell,
    Crashed,
    Failed,
    Gate,
    NumericDetail,
    Outcome,
    Rejected,
    Skipped,
    TestsDetail,
    TokensDetail,
    gate_holds,
    series,
)
from evidence.schema.metrics import Unit
from evidence.stance import outcomes_of
from evidence.statistics import Interval
from evidence.store import Loaded, Store
from evidence.tables import Built


@dataclass(frozen=True, slots=True)
class Step:
    """One thing recomputed: what it is of, what was found, and whether it is as it should be."""

    name: str
    text: str
    holds: bool = True
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """The same, for machines."""


@dataclass(frozen=True, slots=True)
class Verified:
    """Everything recomputed of one claim or table."""

    id: str
    kind: str
    steps: tuple[Step, ...]

    @property
    def holds(self) -> bool:
        """Whether every step is as it should be."""
        return all(step.holds for step in self.steps)


def verify(project: Project, id_: str, *, log: str = "", cell: str = "") -> Verified:
    """Recompute a claim or table; of a cell, given as `arm/workload`, all that is printed of it.

    Args:
        project: Where claims, records and pages lie.
        id_: The claim or table.
        log: A log to recompute it from, instead of the one that its series stands on.
        cell: The only cell to recompute; empty for all.

    Raises:
        UnknownNameError: no such claim or table, log or cell.
        EvidenceError: a log does not load.
    """
    store = Store(project.logs)
    if log and log not in store:
        raise UnknownNameError("log", log, [entry.log for entry in store.entries])
    book = Book(project, store)
    if id_ not in book.ids:
        raise UnknownNameError("claim or table", id_, book.ids)
    if log:
        pins = {name: book.stand(name).log for name in book.series_of(id_) if name not in store and name != series(log)}
        book = Book(project, store, {**pins, series(log): log})
    one = _Verification(project, book, cell)
    is_table = id_ in book.claims.tables
    steps = tuple(one.table(id_) if is_table else one.claim(id_))
    if cell and not one.met:
        raise UnknownNameError("cell", cell, one.known)
    last = () if log or cell else tuple(one.printed(id_))
    return Verified(id_, "table" if is_table else "claim", (*one.files(), *steps, *last))


class _Verification:
    """One pass, with the files it stands on."""

    def __init__(self, project: Project, book: Book, cell: str) -> None:
        self.project, self.book, self.cell = project, book, cell
        self.logs: dict[str, Loaded] = {}
        self.known: dict[str, None] = {}
        self.met = False
        self.gated: set[tuple[str, str, str]] = set()
        self.documents: dict[str, Any] = {}

    def files(self) -> Iterator[Step]:
        """Yield each log's bytes against the ledger."""
        entries = ledger.read(self.project.logs)
        for log, loaded in self.logs.items():
            path = self.project.name(loaded.entry.path)
            digest = ledger.digest_of(loaded.entry.path)
            yield Step("file", f"{path}, {loaded.size:,} bytes", numbers={"path": path, "bytes": loaded.size})
            listed = entries.get(f"{log}/record.json")
            said = "as SHA256SUMS says" if listed == digest else f"SHA256SUMS says {listed or 'nothing'}"
            yield Step("sha256", f"{digest}, {said}", listed == digest, {"sha256": digest, "ledger": listed})

    def claim(self, id_: str) -> Iterator[Step]:
        """Yield the readings of a claim, each with its cells."""
        for name, reading in self.book.readings(id_).items():
            self.logs[reading.loaded.entry.log] = reading.loaded
            of = f"{reading.candidate} against {reading.baseline}" if reading.is_comparison else reading.candidate
            yield Step("reading", f"{f'{name}: ' if name else ''}{reading.quantity} of {of}")
            for workload in reading.workloads:
                arms = [arm for arm in (reading.baseline, reading.candidate) if arm]
                yield from self._cells(reading.loaded, arms, workload.name, reading.quantity)
                if reading.is_comparison and self._is_asked(reading.candidate, workload.name):
                    yield from self._comparison(reading, workload.name)
            if not self.cell:
                yield self._expected(reading)

    def table(self, id_: str) -> Iterator[Step]:
        """Yield the cells of a table with every quantity it shows of them."""
        try:
            built = self.book.built_table(id_)
        except Unrenderable as error:
            yield Step("table", error.message, holds=False)
            return
        for log in dict.fromkeys(one.log for one in built.view.evidence):
            self.logs[log] = self.book.log(log)
        for log, arm, workload in self._ordered(built):
            loaded = self.logs[log]
            for metric in sorted(metric for of, metric in built.quantities if of == log):
                yield from self._cells(loaded, [arm], workload, Quantity(metric))
                for of, baseline, candidate in sorted(built.pairs):
                    if (of, candidate) == (log, arm) and self._is_asked(arm, workload):
                        yield from self._pair(loaded, baseline, candidate, Quantity(metric), workload)

    def _ordered(self, built: Built) -> list[tuple[str, str, str]]:
        """Return the shown cells in the order of their records."""
        order = {
            (log, cell.arm, cell.workload): index
            for log, loaded in self.logs.items()
            for index, cell in enumerate(loaded.record.cells)
        }
        return sorted(
            (key for key in built.shown if key in order), key=lambda key: (list(self.logs).index(key[0]), order[key])
        )

    def _is_asked(self, arm: str, workload: str) -> bool:
        name = f"{arm}/{workload}"
        self.known[name] = None
        self.met |= name == self.cell
        return not self.cell or name == self.cell

    def _cells(self, loaded: Loaded, arms: Iterable[str], workload: str, quantity: Quantity) -> Iterator[Step]:
        for arm in arms:
            if self._is_asked(arm, workload):
                cell = loaded.cell(arm, workload)
                yield from self._gates(loaded, cell)
                yield from self._numbers(loaded, cell, quantity)

    def _gates(self, loaded: Loaded, cell: Cell) -> Iterator[Step]:
        key = (loaded.entry.log, cell.arm, cell.workload)
        if key in self.gated:
            return
        self.gated.add(key)
        gates = {gate.name: gate for gate in loaded.record.gates}
        for outcome in outcomes_of(cell):
            yield _gate(f"{cell.arm} on {cell.workload}", gates.get(outcome.gate), outcome)

    def _numbers(self, loaded: Loaded, cell: Cell, quantity: Quantity) -> Iterator[Step]:
        of = f"{cell.arm} on {cell.workload}"
        if isinstance(cell, Rejected | Crashed | Skipped):
            yield Step("cell", f"{of}: {cell.kind}, so it has no number")
            return
        values = process_values(loaded.record, cell, quantity)
        value = value_of(loaded, cell, quantity)
        if value is None:
            yield Step("cell", f"{of} has no {quantity}")
            return
        unit, _ = unit_of(loaded.record, quantity)
        counts = [
            sum(len(one.values) for one in process.samples if one.metric == quantity.metric)
            for process in processes_of(cell)
        ]
        if any(counts):
            yield self._samples(loaded, cell, quantity, values, counts)
        told = ", ".join(_value(number, unit) for number in values)
        yield Step("processes", f"{of}, {quantity} of each: {told}", numbers={"unit": unit, "values": list(values)})
        yield Step("value", f"{of}: {_interval_of(value, unit)}", numbers=_as_numbers(value.interval))

    def _samples(
        self, loaded: Loaded, cell: Cell, quantity: Quantity, values: tuple[float, ...], counts: list[int]
    ) -> Step:
        """Read the samples once more, from the bytes and without the schema, and take their medians."""
        log = loaded.entry.log
        if log not in self.documents:
            self.documents[log] = json.loads(loaded.entry.path.read_bytes())
        found = [
            one for one in self.documents[log]["cells"] if (one["arm"], one["workload"]) == (cell.arm, cell.workload)
        ]
        columns = [
            [column["values"] for column in process["samples"] if column["metric"] == quantity.metric]
            for one in found
            for process in one["processes"]
        ]
        text = f"{cell.arm} on {cell.workload}: {sum(counts):,} in {len(counts)} processes"
        is_plain = not (quantity.statistic or quantity.per) and all(len(column) == 1 for column in columns)
        if not is_plain:
            return Step("samples", text)
        medians = [median(column[0]) for column in columns]
        same = len(medians) == len(values) and all(_is_close(a, b) for a, b in zip(medians, values, strict=False))
        return Step("samples", f"{text}; their medians are {'those below' if same else medians}", same)

    def _comparison(self, reading: Reading, workload: str) -> Iterator[Step]:
        one = next(one for one in reading.all_comparisons if one.workload == workload)
        yield from _judged(one, reading.baseline, reading.candidate)

    def _pair(self, loaded: Loaded, baseline: str, candidate: str, quantity: Quantity, workload: str) -> Iterator[Step]:
        if unit_of(loaded.record, quantity)[1] != "neither":
            yield from _judged(compared(loaded, baseline, candidate, quantity, workload), baseline, candidate)

    def _expected(self, reading: Reading) -> Step:
        try:
            require_expected(reading)
        except EvidenceError as error:
            return Step("expect", error.message, holds=False)
        if reading.expect is None:
            return Step("expect", "one arm is read, and nothing compared")
        believed = reading.expect if isinstance(reading.expect, str) else dict(reading.expect)
        return Step("expect", f"{believed}, as the log says")

    def printed(self, id_: str) -> Iterator[Step]:
        """Yield each text made anew against the one in the lock, which is the one on the pages."""
        facts = printed.item_facts(self.book, id_)
        if not facts:
            yield Step("printed", "its logs do not bear it out, so nothing is printed", holds=False)
        locked = self.book.lock
        for (section, owner, name), text in facts.items():
            held = None if locked is None else locked.facts.get((section, owner, name))
            what = f"{section}.{owner}.{name}"
            if locked is None:
                yield Step("printed", f"{what}: {text}", numbers={"text": text})
            else:
                said = "equal to the lock" if held == text else f"the lock has {held or 'nothing'}"
                yield Step("printed", f"{what}: {text} — {said}", held == text, {"text": text, "lock": held})


def _gate(of: str, gate: Gate | None, outcome: Outcome) -> Step:
    counts = _counts(outcome)
    if gate is None:
        return Step("gate", f"{of}: no gate {outcome.gate} in the record", holds=False)
    if isinstance(outcome, Failed):
        return Step("gate", f"{of}: {gate.name} failed: {outcome.message}")
    fault = gate_holds(gate, outcome)
    phase = f" ({outcome.phase})" if outcome.phase != "before" else ""
    return Step("gate", f"{of}{phase}: {gate.name}: {counts}: {fault or 'holds'}", not fault, {"counts": counts})


def _counts(outcome: Outcome) -> str:
    match outcome.detail:
        case NumericDetail(tensors=tensors):
            parts = (
                f"{one.name} {one.elements:,} elements, {one.mismatched:,} off, {one.non_finite:,} not finite"
                for one in tensors
            )
            return "; ".join(parts)
        case TestsDetail() as tests:
            return f"{tests.passed:,} of {tests.collected:,} tests"
        case TokensDetail() as tokens:
            return f"{tokens.agreed:,} of {tokens.compared:,} tokens"
        case AccuracyDetail() as accuracy:
            return f"{accuracy.measure} {accuracy.numerator:,} of {accuracy.denominator:,}"
    return "no counts"


def _judged(one: Comparison, baseline: str, candidate: str) -> Iterator[Step]:
    of = f"{candidate} against {baseline} on {one.workload}"
    if one.ratio is None:
        yield Step("verdict", f"{of}: {one.word}: {one.reason}", numbers={"verdict": str(one.verdict)})
        return
    yield Step(
        "ratio",
        f"{of}: {_ratio(one.ratio)}, from {one.processes[0]} and {one.processes[1]} processes",
        numbers=_as_numbers(one.ratio),
    )
    by = f"the A/A ratio {_ratio(one.noise)}" if one.noise is not None else "no A/A arm"
    yield Step("least effect", f"{100 * one.effect:.3g} %, by {by}", numbers={"effect": one.effect})
    again = statistics.judge(one.ratio, one.effect)
    reason = f": {one.reason}" if one.reason else ""
    yield Step(
        "verdict", f"{of}: {one.word}{reason}", again is one.verdict or bool(one.reason), {"verdict": str(one.verdict)}
    )


def _ratio(ratio: Interval) -> str:
    return f"{ratio.value:.4f}× (95 % {ratio.low:.4f}–{ratio.high:.4f})"


def _value(number: float, unit: Unit) -> str:
    scale = units.scale_for(number, unit)
    return units.format_value(number, scale, 3)


def _interval_of(value: Value, unit: Unit) -> str:
    if value.is_exact:
        return f"{_value(value.interval.value, unit)} (exact)"
    scale = units.scale_for(value.interval.value, unit)
    shown = units.format_interval(value.interval, 3, scale)
    return f"median {units.format_value(value.interval.value, scale, 3)} (95 % {shown})"


def _as_numbers(interval: Interval) -> dict[str, float]:
    return {"value": interval.value, "low": interval.low, "high": interval.high}


def _is_close(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-12 * max(abs(one), abs(other))
