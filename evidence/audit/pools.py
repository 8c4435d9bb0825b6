"""Owns which rows a number can be of: those that answer to most of the labels it stands under.

Only labels that tell rows apart count. In a table the labels of the row decide first, then the head of the column,
then headings; a row that another line of the table fits better belongs to that line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from evidence.audit import words
from evidence.audit.documents import SUFFIXES
from evidence.audit.index import Index, column_key, fitting
from evidence.audit.pages import Cell, Printed, Table

_SMALLEST_NUMBER = 10
_FILE, _WHOLE_TEXT, _SETTING, _WORD = 6, 3, 2, 1
_FILES = tuple(sorted(SUFFIXES))


@dataclass(frozen=True, slots=True)
class Pool:
    """Rows as a set, and what made them one."""

    rows: int
    is_labelled: bool
    """Some label tells these rows from the others."""
    absent: str = ""
    """A label that no row answers to, although its column names a field of theirs."""


@dataclass(slots=True)
class Pools:
    """The rows of each number of the pages."""

    index: Index
    _tables: dict[int, list[Pool]] = field(default_factory=dict)
    _keys: dict[str, list[str]] = field(default_factory=dict)
    _contexts: dict[tuple[str, ...], list[tuple[int, int]]] = field(default_factory=dict)

    def of(self, printed: Printed, *, with_context: bool = True) -> Pool:
        """Return the rows that fit a number's labels best."""
        if printed.table is None:
            pool = self._in_prose(printed)
        else:
            row = self.of_row(printed.table, printed.row)
            if row.absent:
                return row
            pool = self._narrowed(row, self._word_demands((printed.head,), with_numbers=True))
        return self._narrowed(pool, self._context(printed.context)) if with_context else pool

    def of_row(self, table: Table, row: int) -> Pool:
        """Return the rows that fit one line of a table, whatever the column."""
        if id(table) not in self._tables:
            self._tables[id(table)] = self._lines(table)
        return self._tables[id(table)][row]

    def _lines(self, table: Table) -> list[Pool]:
        everything = self.index.everything
        reached = []
        absent = []
        for labels in table.rows:
            demands, missing = self._row_demands(labels)
            reached.append(fitting(demands, everything))
            absent.append(missing)
        highest: list[int] = []
        for levels in reached:
            for score, rows in enumerate(levels):
                if score == len(highest):
                    highest.append(0)
                highest[score] |= rows
        found = []
        for levels, missing in zip(reached, absent, strict=True):
            if missing:
                found.append(Pool(0, True, missing))
                continue
            theirs = 0
            for score, rows in enumerate(highest):
                theirs |= rows & ~levels[score] if score < len(levels) else rows
            best = levels[-1] & ~theirs or levels[-1]
            found.append(Pool(best, len(levels) > 1))
        return found

    def _row_demands(self, labels: Iterable[Cell]) -> tuple[list[tuple[int, int]], str]:
        index = self.index
        demands: list[tuple[int, int]] = []
        for label in sorted(labels, key=lambda one: not one.text.strip().lower().endswith(_FILES)):
            text = label.text.strip().lower()
            if text.endswith(_FILES):
                rows = index.rows_of_file(text)
                if not rows:
                    return [], f"{label.text.strip()} is not among the files"
                self._demand(demands, rows, _FILE)
            elif not text:
                self._demand(demands, index.empty.get(column_key(label.head), 0), _WORD)
            elif label.value is not None:
                fields = self._settings_named(label.head)
                rows = index.rows_with(label.value, fields) if fields else 0
                if not rows and self.is_known(label.head) and not index.rows_with_any(fields, label.value):
                    return [], f"no row has {label.head.strip()} {text}"
                self._demand(demands, rows or index.rows_with(label.value), _SETTING)
                self._demand(demands, index.by_text.get(text, 0), _WORD)
            else:
                self._demand(demands, index.by_text.get(text, 0), _WHOLE_TEXT)
                demands += self._word_demands((label.text,), with_numbers=True)
        return demands, ""

    def _settings_named(self, head: str) -> frozenset[str]:
        """Return the fields that a column of settings names beyond doubt."""
        if exact := self._by_key().get(column_key(head)):
            return frozenset(exact)
        return frozenset(
            one for one in self.index.fields if not words.is_metric(one) and words.agreement(head, one) == 1.0
        )

    def is_known(self, head: str) -> bool:
        """Whether a field has the very name of a column: then a value that no row has is no row's."""
        return column_key(head) in self._by_key()

    def _by_key(self) -> dict[str, list[str]]:
        if not self._keys:
            for one in self.index.fields:
                self._keys.setdefault(column_key(one), []).append(one)
        return self._keys

    def _demand(self, demands: list[tuple[int, int]], rows: int, weight: int) -> None:
        rows &= self.index.everything
        if rows and rows != self.index.everything:
            demands.append((rows, weight))

    def _word_demands(self, texts: Iterable[str], *, with_numbers: bool) -> list[tuple[int, int]]:
        demands: list[tuple[int, int]] = []
        for word in dict.fromkeys(word for text in texts for word in words.labels(text)):
            if not words.is_number(word):
                self._demand(demands, self.index.by_word.get(word, 0), _WORD)
            elif with_numbers and float(word) >= _SMALLEST_NUMBER:
                self._demand(demands, self.index.rows_with(float(word)), _WORD)
        return demands

    def _context(self, context: tuple[str, ...]) -> list[tuple[int, int]]:
        if context not in self._contexts:
            self._contexts[context] = self._word_demands(context, with_numbers=False)
        return self._contexts[context]

    def _narrowed(self, pool: Pool, demands: list[tuple[int, int]]) -> Pool:
        levels = fitting(demands, pool.rows)
        if len(levels) == 1 or levels[-1] == pool.rows:
            return pool
        return Pool(levels[-1], True)

    def _in_prose(self, printed: Printed) -> Pool:
        demands = self._word_demands((printed.head,), with_numbers=False)
        own = printed.quantity.value if printed.quantity else None
        for word in words.labels(printed.head):
            if word.isdigit() and float(word) >= _SMALLEST_NUMBER and float(word) != own:
                self._demand(demands, self.index.rows_with(float(word)), _WORD)
        return self._narrowed(Pool(self.index.everything, False), demands)
