"""Owns what a pass over the records remembers: little of each, so that ten thousand fit, and so that halves merge."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from evidence.readings import processes_of
from evidence.schema import Imported, Record, series
from evidence.standing import Outline, outline_of
from evidence.store import Loaded

_LEAST_VALUES = 6


class Tree(NamedTuple):
    """What a record says of a commit that it was measured at."""

    number: int
    """Of the source, among those of its record."""
    source: str
    commit: str
    sha256: str | None
    """Digest of its files; None if those that were measured, or its own, could not be digested."""


@dataclass(slots=True)
class Memory:
    """What rules over the whole store need of the records that have gone by."""

    seen: dict[str, str] = field(default_factory=dict)
    """Log -> digest of its record."""
    outlines: dict[str, Outline] = field(default_factory=dict)
    """Log -> what decides which log of a series is cited."""
    prints: dict[str, array[int]] = field(default_factory=dict)
    """Log -> a print of each of its columns of values."""
    shapes: dict[str, array[int]] = field(default_factory=dict)
    """Log -> a print of a column of each cell that neither order nor a factor changes."""
    repeated: dict[str, int] = field(default_factory=dict)
    """Log -> how many of its columns stand in it once more."""
    artifacts: dict[str, str] = field(default_factory=dict)
    """Path below the store -> digest, as the records list their files."""
    digests: dict[str, str | None] = field(default_factory=dict)
    """Path of a file -> digest of its bytes; None: there is no such file."""
    imported: set[str] = field(default_factory=set)
    """Logs whose record was read from a foreign file."""
    unread: set[str] = field(default_factory=set)
    """Logs whose record does not load."""
    superseded: set[str] = field(default_factory=set)
    """Logs that a later one of their own series names as replaced by it."""
    partial: set[str] = field(default_factory=set)
    """Logs with a gate that ran on a selection only."""

    trees: dict[str, tuple[Tree, ...]] = field(default_factory=dict)
    """Log -> the commits of this repository that it was measured at."""
    committed: dict[str, str] = field(default_factory=dict)
    """Commit -> digest of its files."""

    def add(self, loaded: Loaded) -> None:
        """Keep what is needed of a record."""
        log, record = loaded.entry.log, loaded.record
        self.seen[log] = loaded.sha256
        self.outlines[log] = outline_of(record)
        prints = list(prints_of(record))
        different = set(prints)
        self.prints[log] = array("q", sorted(different))
        self.shapes[log] = array("q", sorted(set(shapes_of(record))))
        if len(different) < len(prints):
            self.repeated[log] = len(prints) - len(different)
        for artifact in record.artifacts:
            self.artifacts[f"{log}/{artifact.path}"] = artifact.sha256
        for old in record.supersedes:
            if series(old.log) == loaded.entry.series:
                self.superseded.add(old.log)
        for gate in record.gates:
            if gate.scope == "partial":
                self.partial.add(log)
        if record.origin is not None:
            self.imported.add(log)

    def merge(self, other: Memory) -> None:
        """Add what another pass remembers of other records."""
        for each in fields(self):
            getattr(self, each.name).update(getattr(other, each.name))


def prints_of(record: Record) -> Iterator[int]:
    """Yield hashes of the columns of values that could stand in no other log by chance."""
    for cell in record.cells:
        if isinstance(cell, Imported) and cell.reported:
            values = tuple([one.value for one in cell.reported])
            if len(set(values)) >= _LEAST_VALUES:
                yield hash(values)
        for process in processes_of(cell):
            for column in process.samples:
                values = column.values
                if len(values) >= _LEAST_VALUES and values.count(values[0]) < len(values):
                    yield hash(values)
            if process.requests is not None and len(set(process.requests.latency_s)) >= _LEAST_VALUES:
                yield hash(process.requests.latency_s)


def shapes_of(record: Record) -> Iterator[int]:
    """Yield hashes of one column of each cell, sorted and scaled to its largest value.

    A copy whose samples were shuffled or multiplied has them all; one alone may agree by chance under a coarse timer.
    """
    for cell in record.cells:
        for process in processes_of(cell)[:1]:
            columns = [column.values for column in process.samples if len(column.values) >= _LEAST_VALUES]
            if process.requests is not None and None not in process.requests.latency_s:
                columns.append(process.requests.latency_s)  # type: ignore[arg-type]
            for values in columns:
                largest = max(values)
                if largest > 0 and len(set(values)) >= _LEAST_VALUES:
                    yield hash(tuple(sorted([round(value / largest, 6) for value in values])))
