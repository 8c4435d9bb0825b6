"""Owns the exceptions: what is raised when work cannot go on. Bad evidence is not an exception but a diagnostic.

EvidenceError
├── RecordError              a record cannot be read, or is not one
│   └── UnknownVersionError  its schema version is newer than this package
├── LedgerError              SHA256SUMS cannot be read
├── ProjectError             the folder is not a documentation project
├── ItemError                a claim or table that its logs do not bear out; carries the rule
├── ChartError               a table has nothing to draw, or a picture has no style
├── ComparisonError          numbers that cannot be compared or reduced
├── UnknownNameError         a name that refers to nothing; carries the nearest one
└── DuplicateNameError       two things of one name
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class EvidenceError(Exception):
    """Root of every error this package raises; `fix` is the one thing to do about it."""

    def __init__(self, message: str, *, fix: str = "") -> None:
        """Keep the message and the fix apart, so that each renderer can lay them out."""
        super().__init__(message)
        self.message = message
        self.fix = fix


class RecordError(EvidenceError):
    """A record that cannot be read: `pointer` is the JSON pointer of the place, `line` its line where known."""

    def __init__(self, message: str, *, pointer: str = "", line: int = 1, fix: str = "") -> None:
        """Carry the place beside the reason."""
        super().__init__(message, fix=fix)
        self.pointer = pointer
        self.line = line


class UnknownVersionError(RecordError):
    """The record's schema version is not one this package knows."""


class LedgerError(EvidenceError):
    """SHA256SUMS has a line that is not `digest  path`."""

    def __init__(self, message: str, *, line: int, fix: str = "") -> None:
        """Carry the line of the ledger."""
        super().__init__(message, fix=fix)
        self.line = line


class ProjectError(EvidenceError):
    """The folder holds no documentation project that can be checked."""


class ItemError(EvidenceError):
    """A claim or table that its logs do not bear out: `code` is the rule, `parts` the key of the item at fault."""

    def __init__(self, code: str, message: str, *parts: str | int, fix: str = "") -> None:
        """Carry the rule and the place inside the item."""
        super().__init__(message, fix=fix)
        self.code = code
        self.parts = parts


class ChartError(EvidenceError):
    """A table with nothing to draw, or a stylesheet that a picture cannot take its style from."""


class ComparisonError(EvidenceError):
    """Numbers that cannot be compared or reduced: too few, not finite, not positive."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like `name`, or None if none is close."""
    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return matches[0] if matches else None


class UnknownNameError(EvidenceError):
    """A name that refers to nothing, with the nearest known one in its fix."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        """Name the kind of thing looked for and list what there is."""
        self.kind, self.name, self.known = kind, name, tuple(sorted(known))
        self.nearest = nearest(name, self.known)
        listed = ", ".join(self.known[:12]) + (", …" if len(self.known) > 12 else "")
        hint = f"did you mean {self.nearest!r}? " if self.nearest else ""
        super().__init__(f"no {kind} {name!r}", fix=f"{hint}known: {listed or 'none'}")


class DuplicateNameError(EvidenceError):
    """Two things of one kind have one name."""

    def __init__(self, kind: str, name: str, places: Iterable[str]) -> None:
        """Name both places."""
        self.kind, self.name, self.places = kind, name, tuple(places)
        super().__init__(f"two {kind}s are named {name!r}: {', '.join(self.places)}", fix="rename one of them")
