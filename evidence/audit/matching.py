"""Owns the candidates of a number: which values become it by unit and rounding, and how likely that is by chance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from evidence.audit import quantities, words
from evidence.audit.documents import Kind
from evidence.audit.index import Index, Leaf, held, members
from evidence.audit.quantities import Quantity
from evidence.audit.verdicts import Source

_FEW_ROWS = 256
_MOST_ROWS_FOR_FIELDS = 400
_MOST_MATCHES = 4000
_NEAR = 1.5

Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Match:
    """A value that becomes the printed number when multiplied by a factor."""

    leaf: Leaf
    factor: float
    rank: tuple[int, int]
    """How far-fetched: the place of the factor among those possible, and how the value stands in its file."""

    @property
    def depth(self) -> int:
        """How deep its field lies: of a value that stands twice, the outer one is meant."""
        return self.leaf.field.count(".")

    @property
    def value(self) -> float:
        """The value in the printed unit, unrounded."""
        return self.leaf.value * self.factor

    @property
    def lane(self) -> tuple[str, float]:
        """What a column of such matches has in common."""
        return self.leaf.field, self.factor


@dataclass(slots=True)
class Matcher:
    """Finds the candidates of numbers in an index."""

    index: Index
    _fields: dict[int, frozenset[str]] = field(default_factory=dict)
    _leaves: dict[int, tuple[Leaf, ...]] = field(default_factory=dict)

    def source(self, leaf: Leaf) -> Source:
        """Return where a value stands."""
        row = self.index.rows[leaf.row]
        return Source(leaf.row, row.file, row.place, leaf.field, leaf.value)

    def leaves(self, row: int) -> tuple[Leaf, ...]:
        """Return the values of a row."""
        if row not in self._leaves:
            if len(self._leaves) > 50_000:
                self._leaves.clear()
            self._leaves[row] = tuple(self.index.leaves_of(row))
        return self._leaves[row]

    def matches(self, quantity: Quantity, rows: int, bounds: Bounds | None = None) -> list[Match]:
        """Return what becomes a number in a set of rows, the least far-fetched first.

        Args:
            quantity: The printed number.
            rows: Where to look.
            bounds: The interval to hit, in the printed unit, if not the number's own.
        """
        low, high = bounds or _bounds(quantity)
        found = list(self._matches(quantity, rows, low, high))
        found.sort(key=lambda match: (match.rank, match.depth))
        return found

    def _matches(self, quantity: Quantity, rows: int, low: float, high: float) -> Iterator[Match]:
        if not rows:
            return
        if rows.bit_count() <= _FEW_ROWS:
            for row in members(rows, _FEW_ROWS):
                for leaf in self.leaves(row):
                    for place, factor in enumerate(self._factors(quantity, leaf.field)):
                        if low <= leaf.value * factor <= high and _is_apt(quantity, leaf.value, factor):
                            yield Match(leaf, factor, (place, leaf.kind))
                            break
            return
        within = held(rows) if rows != self.index.everything else None
        left = _MOST_MATCHES
        for factor in _all_factors(quantity):
            for leaf in self.index.between(low / factor, high / factor, within):
                factors = self._factors(quantity, leaf.field)
                if factor in factors and _is_apt(quantity, leaf.value, factor):
                    yield Match(leaf, factor, (factors.index(factor), leaf.kind))
                    left -= 1
                    if not left:
                        return

    def _factors(self, quantity: Quantity, name: str) -> tuple[float, ...]:
        return quantities.factors(quantity, self.index.units[name])

    def fields_of(self, rows: int) -> frozenset[str]:
        """Return the fields of a set of rows, of the first few hundred if it is large."""
        if rows == self.index.everything:
            return frozenset(self.index.fields)
        if rows not in self._fields:
            if len(self._fields) > 500:
                self._fields.clear()
            chosen = members(rows, _MOST_ROWS_FOR_FIELDS)
            self._fields[rows] = frozenset(leaf.field for row in chosen for leaf in self.leaves(row))
        return self._fields[rows]

    def named(self, label: str, rows: int) -> frozenset[str]:
        """Return the fields of these rows that a head or a sentence names best."""
        return words.named(label, self.fields_of(rows))

    def chance(self, quantity: Quantity, rows: int, fields: frozenset[str] | None, far: int = 0) -> float:
        """Return how many values one would expect to become a number by chance, of some fields in some rows.

        Values near it in size are counted, distinct ones once, and the share of that stretch that the number's rounding
        covers is taken of them. `far` is how far-fetched the factor was that the match needed: all before it count.
        """
        size = abs(quantity.value)
        if size == 0:
            return float("inf") if fields is None else 0.5
        share = quantity.step / size / (2 * math.log(_NEAR))
        if rows.bit_count() <= _FEW_ROWS:
            near: set[float] = set()
            for row in members(rows, _FEW_ROWS):
                for leaf in self.leaves(row):
                    if leaf.kind is Kind.ELEMENT or (fields is not None and leaf.field not in fields):
                        continue
                    for factor in self._factors(quantity, leaf.field)[: far + 1]:
                        if size / _NEAR <= abs(leaf.value * factor) <= size * _NEAR:
                            near.add(leaf.value)
            return len(near) * share
        whole = self.index.count_near(quantity.value) * 1000 * 2 * math.log(_NEAR)
        part = rows.bit_count() / max(1, len(self.index.rows))
        if fields is not None:
            part *= min(1.0, len(fields) / max(1, len(self.index.fields)) * 4)
        return whole * part * share


def _is_apt(quantity: Quantity, value: float, factor: float) -> bool:
    """Whether a factor suits a value: a fraction may be printed as percent without its sign, a larger number not."""
    return factor != quantities.PERCENT or bool(quantity.unit) or abs(value) <= 1


def _bounds(quantity: Quantity) -> Bounds:
    slack = 1e-12 * max(abs(quantity.low), abs(quantity.high))
    return quantity.low - slack, quantity.high + slack


def _all_factors(quantity: Quantity) -> tuple[float, ...]:
    """Return every factor that any field could need."""
    units = (None, *((kind, unit) for kind, unit in quantities.FIELD_UNITS.values()), ("flops", 1.0), ("bytes/s", 1.0))
    return tuple(dict.fromkeys(factor for unit in units for factor in quantities.factors(quantity, unit)))


def plainest(matches: Sequence[Match]) -> list[Match]:
    """Keep the least far-fetched, and of equal values in one row the first: a mean repeated is one quantity."""
    if not matches:
        return []
    first = matches[0].rank
    kept: dict[tuple[int, str], Match] = {}
    for match in matches:
        if match.rank == first:
            kept.setdefault((match.leaf.row, f"{match.leaf.value:.12g}"), match)
    return list(kept.values())


def are_copies(matches: Iterable[Match]) -> bool:
    """Whether all are one value with enough digits that it was copied, not met twice."""
    values = [match.leaf.value for match in matches]
    first = values[0]
    return all(math.isclose(value, first, rel_tol=1e-12) for value in values) and len(f"{first:.15g}") >= 8
