"""Foreign bytes to a Record, one format a file; found by the entry point group `evidence.importers`.

An importer is a pure function. The original bytes become an artifact of the log, so the caller saves both.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from evidence.schema import Record
from evidence.store import save


class Importer(Protocol):
    """Reads one format; raises RecordError, and nothing else, for bytes that are not of it."""

    def __call__(self, data: bytes, *, log: str | None = None) -> Record:
        """Return the record of `data`, under the name `log` where one is given."""


def files_of(record: Record, data: bytes) -> dict[str, bytes]:
    """Return the files to save beside an imported record: its original bytes, under the name it lists them by."""
    return {artifact.path: data for artifact in record.artifacts if artifact.role == "raw"}


def add(root: Path, data: bytes, importer: Importer, *, log: str | None = None) -> str:
    """Import bytes into the store at `root`, with the bytes themselves beside the record, and return the log's name.

    Raises:
        RecordError: the bytes are not of the importer's format, or make no sound record.
    """
    record = importer(data, log=log)
    return save(root, record, files_of(record, data))
