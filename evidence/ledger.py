"""Owns SHA256SUMS, the list of every file under benchmark_logs: text that `sha256sum -c` accepts, and only grows."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from evidence.errors import LedgerError

FILE_NAME = "SHA256SUMS"
PENDING_NAME = ".SHA256SUMS.pending"
"""Lines of a save that was cut short between its two renames; they count, and the next save folds them in."""

_LINE = re.compile(r"([0-9a-f]{64})  ([^\\\x00-\x1f\x7f]+)")


def parse(text: str) -> dict[str, str]:
    """Read ledger text as path -> digest.

    Raises:
        LedgerError: a line is not `digest  path`, or a path stands twice.
    """
    entries: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line:
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise LedgerError("not `<sha256>  <path>`", line=number, fix="restore the file from version control")
        digest, path = match.groups()
        if path in entries:
            raise LedgerError(f"{path} stands twice", line=number, fix="restore the file from version control")
        entries[path] = digest
    return entries


def dump(entries: Mapping[str, str]) -> str:
    """Write entries as ledger text, sorted by path, so that two branches merge line by line."""
    return "".join(f"{digest}  {path}\n" for path, digest in sorted(entries.items()))


def line_of(text: str, path: str) -> int:
    """Return the line of a path in ledger text, 1 if it has none."""
    lines = text.split("\n")
    return next((number for number, line in enumerate(lines, start=1) if line[66:] == path), 1)


def read(root: Path) -> dict[str, str]:
    """Read the ledger of a store, with what a cut-short save left pending; empty if there is none.

    Raises:
        LedgerError: the file is malformed.
    """
    entries = _parse_file(root / FILE_NAME)
    found = _parse_file(root / PENDING_NAME)
    return {path: digest for path, digest in found.items() if (root / path).is_file()} | entries


def _parse_file(path: Path) -> dict[str, str]:
    """Read bytes as they are: `sha256sum` would take a carriage return for part of a path."""
    if not path.is_file():
        return {}
    data = path.read_bytes()
    try:
        return parse(data.decode())
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LedgerError("not UTF-8", line=line, fix="restore the file from version control") from None


def digest_of(path: Path) -> str:
    """Return the sha256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
