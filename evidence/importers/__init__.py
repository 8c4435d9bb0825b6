"""Foreign bytes to a Record, one format a file; found by the entry point group `evidence.importers`.

An importer is a pure function. The original bytes become an artifact of the log, so the caller saves both.
"""

from __future__ import annotations

from typing import Protocol

from evidence.errors import DuplicateNameError
from evidence.schema import Record


class Importer(Protocol):
    """Reads one format; raises RecordError, and nothing else, for bytes that are not of it."""

    def __call__(self, data: bytes, *, log: str | None = None) -> Record:
        """Return the record of `data`, under the name `log` where one is given."""


def installed() -> dict[str, Importer]:
    """Return the importers that are installed, by name.

    Raises:
        DuplicateNameError: two packages bring one of the same name.
    """
    from importlib.metadata import entry_points

    found: dict[str, Importer] = {}
    places: dict[str, str] = {}
    for point in entry_points(group="evidence.importers"):
        if point.name in places and places[point.name] != point.value:
            raise DuplicateNameError("importer", point.name, (places[point.name], point.value))
        found[point.name], places[point.name] = point.load(), point.value
    return found


def files_of(record: Record, data: bytes) -> dict[str, bytes]:
    """Return the files to save beside an imported record: its original bytes, under the name it lists them by."""
    return {artifact.path: data for artifact in record.artifacts if artifact.role == "raw"}
