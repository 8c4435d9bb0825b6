"""Owns what changed between two states of a site: each printed line, its numbers held to their noise, each verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from evidence import sentences, statistics
from evidence.book import Book, Unrenderable
from evidence.diagnostics import Finding
from evidence.errors import EvidenceError
from evidence.evaluation import Reading
from evidence.lock import Key, line_of
from evidence.printed import item_facts, row_keys
from evidence.statistics import BASE_EFFECT, Interval, Verdict
from evidence.tables import Built
from evidence.views import Column, Measured, Ratio, Row, Statement, Table, TableCell

Moved = Literal["moved", "not moved", "undecided"]
"""Beyond the noise of both sessions; equal within 1 %; or too noisy to tell."""


@dataclass(frozen=True, slots=True)
class Number:
    """One printed number, before and after."""

    what: str
    old: str
    new: str
    moved: Moved
    times: Interval | None
    """New over old; None where one of them is not positive."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A verdict that changed."""

    what: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Change:
    """One line of a lock: gone (`new` is None), new (`old` is None), or changed."""

    key: Key
    old: str | None
    new: str | None
    numbers: tuple[Number, ...] = ()
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """One state of a site: what is printed in it, and the book it was printed from."""

    facts: Mapping[Key, str]
    book: Book


def changes(before: Side, after: Side) -> tuple[Change, ...]:
    """Return every line that differs, in the order of the lock."""
    keys = {key for key in {*before.facts, *after.facts} if before.facts.get(key) != after.facts.get(key)}
    explained = _explained(before, after, {(key[0], key[1]) for key in keys if key[0] != "series"})
    found = []
    for key in sorted(keys, key=lambda key: line_of(key, "")):
        numbers, turns = explained.get(key, ((), ()))
        found.append(Change(key, before.facts.get(key), after.facts.get(key), tuple(numbers), tuple(turns)))
    return tuple(found)


def faults(before: Side, after: Side) -> tuple[tuple[str, Finding], ...]:
    """Return what no longer holds of claims and tables that held before, each with its rule."""
    found: list[tuple[str, Finding]] = []
    for id_ in after.book.ids:
        if after.book.shown(id_) is None and (id_ not in before.book.ids or before.book.shown(id_) is not None):
            try:
                after.book.built_table(id_) if id_ in after.book.claims.tables else after.book.statement(id_)
            except Unrenderable as error:
                found += error.findings
    return tuple(found)


_Explained = tuple[list[Number], list[Turn]]


def _explained(before: Side, after: Side, items: Iterable[tuple[str, str]]) -> dict[Key, _Explained]:
    """Return the numbers and verdicts behind the lines of these items, where both sides still say how they came."""
    found: dict[Key, _Explained] = {}
    sides = [(side.book, _by_owner(side.facts)) for side in (before, after)]
    for section, id_ in sorted(items):
        if not all(_is_as_printed(book, id_, own.get((section, id_), {})) for book, own in sides):
            continue
        if section == "tables":
            found |= _rows(before.book.shown(id_), after.book.shown(id_))
        else:
            found |= _readings(id_, before.book, after.book)
    return found


def _by_owner(facts: Mapping[Key, str]) -> dict[tuple[str, str], dict[Key, str]]:
    found: dict[tuple[str, str], dict[Key, str]] = {}
    for key, text in facts.items():
        found.setdefault((key[0], key[1]), {})[key] = text
    return found


def _is_as_printed(book: Book, id_: str, own: Mapping[Key, str]) -> bool:
    """Whether a book still prints these lines of an item: claims files may have changed since."""
    return bool(own) and id_ in book.ids and item_facts(book, id_) == own


def _rows(before: Statement | Built | None, after: Statement | Built | None) -> dict[Key, _Explained]:
    if not (isinstance(before, Built) and isinstance(after, Built)):
        return {}
    old, new = before.view, after.view
    rows = dict(zip(row_keys(old), old.rows, strict=True))
    return {
        ("tables", new.id, key): _cells(old, rows[key], new, row)
        for key, row in zip(row_keys(new), new.rows, strict=True)
        if key in rows
    }


def _cells(old: Table, before: Row, new: Table, after: Row) -> _Explained:
    numbers: list[Number] = []
    turns: list[Turn] = []
    cells = {_name(column): (column, cell) for column, cell in zip(old.columns, before.cells, strict=True)}
    effect = max([BASE_EFFECT, *(c.effect for c in (*before.cells, *after.cells) if isinstance(c, Ratio))])
    for column, cell in zip(new.columns, after.cells, strict=True):
        what = _name(column)
        if what not in cells:
            continue
        column_before, was = cells[what]
        number = _number(what, (column_before, was), (column, cell), effect)
        if number is not None and number.old != number.new:
            numbers.append(number)
        if isinstance(was, Ratio) and isinstance(cell, Ratio) and was.verdict is not cell.verdict:
            turns.append(Turn(what, was.word, cell.word))
    return numbers, turns


def _name(column: Column) -> str:
    metric = f" of {column.metric}" if column.kind in ("ratio", "change", "peak") and column.metric else ""
    return f"{column.title.rpartition(', ')[0] if column.unit and column.kind == 'value' else column.title}{metric}"


def _number(
    what: str, before: tuple[Column, TableCell], after: tuple[Column, TableCell], effect: float
) -> Number | None:
    """Return one cell before and after; None where either has no number."""
    old, new = _printed(*before), _printed(*after)
    if old is None or new is None or type(before[1]) is not type(after[1]):
        return None
    return _judged(what, old[0], new[0], old[1], new[1], effect)


def _printed(column: Column, cell: TableCell) -> tuple[str, Interval] | None:
    """Return a number as printed, with its interval in SI units."""
    if not isinstance(cell, Measured | Ratio) or cell.shown is None or cell.interval is None:
        return None
    return f"{cell.shown.value} {column.unit}".rstrip(), cell.interval


def _readings(id_: str, before: Book, after: Book) -> dict[Key, _Explained]:
    """Explain a claim: its sentence by the values it names, its note by the ratios and verdicts of its readings."""
    try:
        old, new = before.readings(id_), after.readings(id_)
        named = _named(after.claims.claims[id_].item.statement, new)
    except EvidenceError:
        return {}
    values: list[Number] = []
    noted: list[Number] = []
    turns: list[Turn] = []
    for name, reading in new.items():
        was = old.get(name)
        if was is None or _pair(was) != _pair(reading):
            continue
        for arm in filter(None, (reading.baseline, reading.candidate)):
            found = list(_values(name, arm, was, reading))
            values += found if (name, arm) in named else []
            noted += found if not reading.is_comparison else []
        if reading.is_comparison:
            noted += _ratios(name, was, reading)
            turns += _turns(name, was, reading)
    return {("claims", id_, "says"): (values, []), ("claims", id_, "note"): (noted, turns)}


def _pair(reading: Reading) -> tuple[object, ...]:
    return reading.baseline, reading.candidate, reading.quantity


def _named(statement: str, readings: Mapping[str, Reading]) -> set[tuple[str, str]]:
    """Return reading and arm of each value that a statement prints."""
    found: set[tuple[str, str]] = set()
    for field in sentences.fields_of(statement):
        asked = sentences.asked(field, readings)
        reading = readings[asked.reading]
        if asked.quantity == "baseline":
            found.add((asked.reading, reading.baseline))
        elif asked.quantity in ("candidate", "value"):
            found.add((asked.reading, reading.candidate))
    return found


def _values(name: str, arm: str, was: Reading, reading: Reading) -> Iterator[Number]:
    effect = max(was.effect, reading.effect) if reading.is_comparison else BASE_EFFECT
    old = {value.workload.name: value for value in was.values(arm)}
    for value in reading.values(arm):
        before = old.get(value.workload.name)
        if before is not None:
            what = " ".join(filter(None, [name, arm, f"on {value.workload.name}"]))
            one, other = (sentences.value_figure(side, of).text for side, of in ((before, was), (value, reading)))
            if one != other:
                yield _judged(what, one, other, before.interval, value.interval, effect)


def _turns(name: str, was: Reading, reading: Reading) -> Iterator[Turn]:
    """Yield the verdict of each cell that changed."""
    old = {one.workload: one for one in was.comparisons}
    for one in reading.comparisons:
        before = old.get(one.workload)
        if before is not None and before.verdict is not one.verdict:
            where = one.workload if len(reading.comparisons) > 1 else ""
            yield Turn(" ".join(filter(None, [name, where])), before.word, one.word)


def _ratios(name: str, was: Reading, reading: Reading) -> Iterator[Number]:
    old, new = _headline(was), _headline(reading)
    if old is None or new is None:
        return
    what = " ".join(filter(None, [name, "ratio" if len(reading.ratios) == 1 else "geometric mean"]))
    texts = sentences.ratio_text(old), sentences.ratio_text(new)
    if texts[0] != texts[1]:
        yield _judged(what, *texts, old, new, max(was.effect, reading.effect))


def _headline(reading: Reading) -> Interval | None:
    if not reading.ratios:
        return None
    return reading.ratios[0] if len(reading.ratios) == 1 else statistics.geometric_mean(reading.ratios).interval


def _judged(what: str, old: str, new: str, was: Interval, now: Interval, effect: float) -> Number:
    """Hold the quotient of two sessions to the larger of their least effects; exact numbers move if they differ."""
    if was.low <= 0 or now.low <= 0:
        apart = was.high < now.low or now.high < was.low or (_is_exact(was) and _is_exact(now) and was != now)
        return Number(what, old, new, "moved" if apart else "undecided", None)
    times = _quotient(now, was)
    if _is_exact(was) and _is_exact(now):
        return Number(what, old, new, "moved" if times.value != 1 else "not moved", times)
    verdict = statistics.judge(times, effect)
    moved: Moved = (
        "not moved" if verdict is Verdict.SAME else "undecided" if verdict is Verdict.INCONCLUSIVE else "moved"
    )
    return Number(what, old, new, moved, times)


def _is_exact(interval: Interval) -> bool:
    return interval.low == interval.high


def _quotient(now: Interval, was: Interval) -> Interval:
    """Return now over was, measured apart: the bounds add in quadrature on the log scale, each side by itself.

    The MOVER of Zou and Donner 2008, as for geometric means.
    """
    centre = math.log(now.value) - math.log(was.value)
    below = math.hypot(math.log(now.value / now.low), math.log(was.high / was.value))
    above = math.hypot(math.log(now.high / now.value), math.log(was.value / was.low))
    return Interval(math.exp(centre), math.exp(centre - below), math.exp(centre + above))
