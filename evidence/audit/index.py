"""Owns what the result files hold, indexed: values by size, and rows by the words and numbers that a page uses.

A number of a page is looked up by the decade and the first digits of its value, so the cost of a number does not grow
with the files. Sets of rows are whole numbers used as bits: the rows that fit most labels are found by a few
operations on them, however many rows there are.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evidence.audit import words
from evidence.audit.documents import Kind, Row
from evidence.audit.quantities import unit_of_field

_BUCKETS_A_DECADE = 2000
_MOST_TEXT_FOR_LABELS = 200
_NOTHING = re.compile(r"(?!)")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+[\w.+-]{0,40}")
_EMPTY_TEXTS = frozenset({"", "null", "none", "nan"})


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a page can refer to rows by: its words, its whole numbers, its cells' texts and its columns."""

    words: frozenset[str]
    numbers: frozenset[float]
    texts: frozenset[str]
    columns: frozenset[str]


class Leaf(NamedTuple):
    """One value of one row."""

    row: int
    field: str
    value: float
    kind: Kind


@dataclass(slots=True)
class Index:
    """Every row and value of the result files; add all rows, then `close` it."""

    vocabulary: Vocabulary
    rows: list[Row] = field(default_factory=list)
    by_word: dict[str, int] = field(default_factory=dict)
    by_number: dict[float, int] = field(default_factory=dict)
    by_setting: dict[tuple[str, float], int] = field(default_factory=dict)
    by_text: dict[str, int] = field(default_factory=dict)
    empty: dict[str, int] = field(default_factory=dict)
    by_file: dict[str, int] = field(default_factory=dict)
    fields: list[str] = field(default_factory=list)
    units: dict[str, tuple[str, float] | None] = field(default_factory=dict)
    _ids: dict[str, int] = field(default_factory=dict)
    _values: array[float] = field(default_factory=lambda: array("d"))
    _row_of: array[int] = field(default_factory=lambda: array("L"))
    _field_of: array[int] = field(default_factory=lambda: array("L"))
    _kinds: bytearray = field(default_factory=bytearray)
    _starts: array[int] = field(default_factory=lambda: array("L"))
    _buckets: dict[int, array[int]] = field(default_factory=dict)
    _pending: dict[str, dict[object, list[int]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    _like: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _by_value: dict[float, list[tuple[tuple[str, float], int]]] = field(default_factory=dict)
    versions: dict[str, dict[str, tuple[int, str]]] = field(default_factory=dict)
    """Of a word of the page: the versions that files hold of it, with a row and a field of each."""
    _valued: int = 0
    _pieces: re.Pattern[str] = _NOTHING
    _shapes: dict[tuple[str, ...], frozenset[str]] = field(default_factory=dict)
    _first: dict[str, float] = field(default_factory=dict)
    varying: set[str] = field(default_factory=set)
    """Fields with more than one value: only those tell rows apart, and those that are a text in some rows."""
    _worded: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Prepare what tells most words of the files from those of the page at once."""
        long = [re.escape(word) for word in self.vocabulary.words if words.may_be_a_piece(word)]
        self._pieces = re.compile("|".join(sorted(long))) if long else _NOTHING

    @property
    def everything(self) -> int:
        """The set of all rows that hold a value."""
        return self._valued

    def __len__(self) -> int:
        """How many values there are."""
        return len(self._values)

    def add(self, row: Row) -> None:
        """Take in one row."""
        number = len(self.rows)
        self.rows.append(row)
        if row.values:
            self._pending["valued"][""].append(number)
        self._starts.append(len(self._values))
        for name, value, kind in row.values:
            identity = self._ids.get(name)
            if identity is None:
                identity = self._ids[name] = len(self.fields)
                self.fields.append(name)
                self.units[name] = row.units.get(name) or unit_of_field(name)
            self._bucket(value).append(len(self._values))
            self._values.append(value)
            self._row_of.append(number)
            self._field_of.append(identity)
            self._kinds.append(kind)
            if self._first.setdefault(name, value) != value:
                self.varying.add(name)
        for name, value in row.settings.items():
            if self._first.setdefault(name, value) != value:
                self.varying.add(name)
        self._note(number, row)
        row.values = []

    def _bucket(self, value: float) -> array[int]:
        key = _key(value)
        found = self._buckets.get(key)
        if found is None:
            found = self._buckets[key] = array("L")
        return found

    def _note(self, number: int, row: Row) -> None:
        """Keep which of the page's labels this row answers to."""
        found: set[str] = set()
        self._pending["file"][row.file].append(number)
        names = tuple(name for name, _, _ in row.values)
        if names not in self._shapes:
            found_in_names = {one for name in names for word in words.labels(name) for one in self._answers(word)}
            self._shapes[names] = frozenset(found_in_names)
        for text in (row.file, *row.keys, *row.texts.values()):
            for one in words.labels(text[:_MOST_TEXT_FOR_LABELS]):
                found.update(self._answers(one))
        for one in found | self._shapes[names]:
            self._pending["word"][one].append(number)
        numbers = {float(one) for one in found if words.is_number(one)}
        self._note_numbers(number, row, numbers)
        for key in row.keys:
            for plain in {key.lower(), key.lower().rpartition(".")[0]} & self.vocabulary.texts:
                self._pending["text"][plain].append(number)
        self._worded.update(row.texts)
        for name, text in row.texts.items():
            self._note_versions(number, name, text)
        for name, text in row.texts.items():
            plain = text.strip().lower()
            if plain in self.vocabulary.texts:
                self._pending["text"][plain].append(number)
            if plain in _EMPTY_TEXTS and column_key(name) in self.vocabulary.columns:
                self._pending["empty"][column_key(name)].append(number)

    def _note_numbers(self, number: int, row: Row, numbers: set[float]) -> None:
        for name, value, kind in row.values:
            if kind is Kind.SCALAR and value in self.vocabulary.numbers and not words.is_metric(name):
                self._pending["setting"][name, value].append(number)
        for name, value in row.settings.items():
            if value in self.vocabulary.numbers:
                self._pending["setting"][name, value].append(number)
        for value in numbers & self.vocabulary.numbers:
            self._pending["number"][value].append(number)

    def _note_versions(self, number: int, name: str, text: str) -> None:
        """Keep which version of what a row ran with: a field that holds one, or a list of packages."""
        if _VERSION.fullmatch(text):
            pairs = [(word, text) for word in words.labels(name)]
        elif "==" in text:
            pairs = [(one.partition("==")[0].lower(), one.partition("==")[2]) for one in text.split() if "==" in one]
        else:
            return
        for word, version in pairs:
            for answered in self._answers(word):
                self.versions.setdefault(answered, {}).setdefault(version, (number, name))

    def _answers(self, word: str) -> tuple[str, ...]:
        found = self._like.get(word)
        if found is None:
            exact = (word,) if word in self.vocabulary.words else ()
            pieces: Iterable[str] = ()
            if self._pieces.search(word) and not words.is_number(word):
                pieces = (one for one in self.vocabulary.words if words.is_like(one, word))
            found = self._like[word] = tuple(dict.fromkeys((*exact, *pieces)))
        return found

    def close(self) -> None:
        """Turn lists of rows into sets."""
        self._starts.append(len(self._values))
        size = (len(self.rows) + 8) // 8
        for kind, target in (
            ("word", self.by_word),
            ("number", self.by_number),
            ("setting", self.by_setting),
            ("text", self.by_text),
            ("empty", self.empty),
            ("file", self.by_file),
        ):
            for key, numbers in self._pending[kind].items():
                target[key] = bits(numbers, size)  # type: ignore[index]
        self._valued = bits(self._pending["valued"][""], size)
        self._pending.clear()
        for key, rows in self.by_setting.items():
            self._by_value.setdefault(key[1], []).append((key, rows))

    def leaf(self, number: int) -> Leaf:
        """Return a value by its number."""
        name = self.fields[self._field_of[number]]
        return Leaf(self._row_of[number], name, self._values[number], Kind(self._kinds[number]))

    def leaves_of(self, row: int) -> Iterator[Leaf]:
        """Yield the values of a row."""
        for number in range(self._starts[row], self._starts[row + 1]):
            yield self.leaf(number)

    def between(self, low: float, high: float, within: bytes | None = None) -> Iterator[Leaf]:
        """Yield the values in a closed interval, of a set of rows (see `held`) or of all."""
        if low <= 0 <= high:
            keys: Iterable[int] = [key for key in self._buckets if key == 0 or _touches(key, low, high)]
        else:
            ends = sorted((_key(low), _key(high)))
            keys = range(ends[0], ends[1] + 1)
        for key in keys:
            for number in self._buckets.get(key, ()):
                if low <= self._values[number] <= high:
                    row = self._row_of[number]
                    if within is None or (row >> 3 < len(within) and within[row >> 3] >> (row & 7) & 1):
                        yield self.leaf(number)

    def rows_with(self, value: float, fields: Iterable[str] | None = None) -> int:
        """Return the rows in which a setting that varies has a value, or whose names hold that number."""
        found = 0 if fields is not None else self.by_number.get(value, 0)
        for (name, _), rows in self._by_value.get(value, ()):
            if (name in self.varying or name in self._worded) and (fields is None or name in fields):
                found |= rows
        return found

    def rows_of_file(self, name: str) -> int:
        """Return the rows of the files whose name ends like this."""
        found = 0
        for file, rows in self.by_file.items():
            if file.lower().endswith(name):
                found |= rows
        return found

    def rows_with_any(self, fields: Iterable[str], value: float) -> bool:
        """Whether a value stands in any of these fields, of one value or not, or as a text."""
        return any((name, value) in self.by_setting for name in fields) or f"{value:g}" in self.by_text

    def count_near(self, value: float) -> float:
        """Return how many values there are for each thousandth of a value's size: the density round it."""
        middle = _key(value)
        reach = int(_BUCKETS_A_DECADE * math.log10(1.5))
        found: int = sum(len(self._buckets.get(key, ())) for key in range(middle - reach, middle + reach + 1))
        density: float = found / (2 * math.log(1.5) * 1000)
        return density


def _key(value: float) -> int:
    """Return the bucket of a value: its decade and first digits, with its sign."""
    size = abs(value)
    if size < 1e-300:
        return 0
    found = math.floor(math.log10(size) * _BUCKETS_A_DECADE) + 400 * _BUCKETS_A_DECADE
    return found if value > 0 else -found


def _value(key: int) -> float:
    if key == 0:
        return 0.0
    power = (abs(key) - 400 * _BUCKETS_A_DECADE) / _BUCKETS_A_DECADE
    size: float = 10.0 ** min(power, 307.9)
    return size if key > 0 else -size


def _touches(key: int, low: float, high: float) -> bool:
    ends = sorted((_value(key), _value(key + 1 if key > 0 else key - 1)))
    return ends[0] <= high and low <= ends[1]


def column_key(name: str) -> str:
    """Return the name of a column or field without case and signs, as far as empty cells are matched by it."""
    return "".join(word for word in words.words(name.rsplit(".", 1)[-1]))


def bits(numbers: Iterable[int], size: int) -> int:
    """Return a set of rows from their numbers."""
    flags = bytearray(size)
    for number in numbers:
        flags[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(flags, "little")


def held(rows: int) -> bytes:
    """Return a set of rows in the form that `Index.between` asks for."""
    return rows.to_bytes((rows.bit_length() + 7) // 8, "little")


def members(rows: int, most: int) -> Iterator[int]:
    """Yield the numbers in a set, the lowest first, up to a limit."""
    for place, byte in enumerate(held(rows)):
        while byte and most:
            lowest = byte & -byte
            yield place * 8 + lowest.bit_length() - 1
            byte ^= lowest
            most -= 1
        if not most:
            return


def fitting(demands: Sequence[tuple[int, int]], within: int) -> list[int]:
    """Return by score the rows of a set that reach it: `found[k]` are those whose labels weigh k or more.

    Args:
        demands: Sets of rows that answer to a label, and what the label weighs.
        within: The rows to choose from.
    """
    reached = [within]
    for rows, weight in demands:
        rows &= within
        for _ in range(weight):
            reached.append(0)
            for score in range(len(reached) - 1, 0, -1):
                reached[score] |= reached[score - 1] & rows
    while len(reached) > 1 and not reached[-1]:
        reached.pop()
    return reached
