"""Owns which rows are the same measurement made again: files of one name but for the date, rows of one setting."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

from evidence.audit import words
from evidence.audit.documents import Row
from evidence.audit.index import Index, Leaf
from evidence.audit.verdicts import Source

_DATE = re.compile(
    r"(?<!\d)(20\d{2})[-_]?(\d{2})[-_]?(\d{2})(?:[-_T ]?(\d{2})[-_:]?(\d{2})(?:[-_:]?(\d{2}))?|-([1-9]\d?))?(?!\d)"
)
_RUN = re.compile(r"[-_](?:rerun|old|new|before|after)(?=\.[a-z.]+$|/record\.json$)")
_TIMES = words.listed("date time timestamp start end started ended test created at utc epoch")
_IDENTITIES = words.listed("commit sha hash id uuid build version log file source packages git revision run")


@dataclass(slots=True)
class Twins:
    """Finds the newer measurement of a row."""

    index: Index
    _by_key: dict[tuple[object, ...], list[int]] = field(default_factory=dict)
    _is_ready: bool = False

    def newer(self, leaf: Leaf) -> Source | None:
        """Return the same field in the newest file that measures the same again, if the row is not in it itself."""
        self._prepare()
        row = self.index.rows[leaf.row]
        mine = _date(row)
        best: tuple[str, Leaf] | None = None
        for other in self._by_key.get(self._key(leaf.row), ()):
            there = self.index.rows[other]
            date = _date(there)
            if there.file == row.file or not date or date <= mine or (best and date <= best[0]):
                continue
            found = next((one for one in self.index.leaves_of(other) if one.field == leaf.field), None)
            if found is not None:
                best = date, found
        if best is None:
            return None
        there = self.index.rows[best[1].row]
        return Source(best[1].row, there.file, there.place, leaf.field, best[1].value)

    def _prepare(self) -> None:
        if self._is_ready:
            return
        self._is_ready = True
        names: dict[str, set[str]] = defaultdict(set)
        for row in self.index.rows:
            names[_undated(row.file)].add(row.file)
        for number, row in enumerate(self.index.rows):
            if len(names[_undated(row.file)]) > 1:
                self._by_key.setdefault(self._key(number), []).append(number)

    def _key(self, number: int) -> tuple[object, ...]:
        row = self.index.rows[number]
        texts = tuple(sorted((name, text) for name, text in row.texts.items() if _tells(name, text)))
        settings = tuple(
            (leaf.field, leaf.value)
            for leaf in self.index.leaves_of(number)
            if leaf.value == int(leaf.value) and words.is_setting(leaf.field) and _tells(leaf.field, "")
        )
        return _undated(row.file), row.keys, texts, settings


def _tells(name: str, text: str) -> bool:
    """Whether a field says what was measured, and not when or by which build."""
    found = set(words.words(name))
    return found.isdisjoint(_IDENTITIES) and found.isdisjoint(_TIMES) and not _DATE.search(text)


def _undated(file: str) -> str:
    return _RUN.sub("", _DATE.sub("", file))


def _date(row: Row) -> str:
    """Return when a row was measured, as far as its file's name or a field of it says."""
    for text in (row.file, *(text for name, text in row.texts.items() if not _TIMES.isdisjoint(words.words(name)))):
        if found := _DATE.search(text):
            return "".join((part or "0").rjust(2, "0") for part in found.groups())
    return ""
