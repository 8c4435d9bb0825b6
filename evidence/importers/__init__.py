"""Foreign bytes to a Record, one format a file; found by the entry point group `evidence.importers`.

An importer is a pure function. The original bytes become an artifact of the log, so the caller saves both.
"""

from __future__ import annotations

from typing import Protocol

from evidence.schema import Record


class Importer(Protocol):
    """Reads one format; raises RecordError, and nothing else, for bytes that are not of it."""

    def __call__(self, data: bytes, *, log: str | None = None) -> Record:
        """Return the record of `data`, under the name `log` where one is given."""


def files_of(record: Record, data: bytes) -> dict[str, bytes]:
    """Return the files to save beside an imported record: its original bytes, under the name it lists them by."""
    return {artifact.path: data for artifact in record.artifacts if artifact.role == "raw"}
