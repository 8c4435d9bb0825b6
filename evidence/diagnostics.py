"""Owns what is wrong, as data: where (Location), what a rule yields (Finding), and what is reported (Diagnostic)."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Severity(enum.StrEnum):
    """How much it matters: an error always fails, a warning fails a strict check."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a file: path from the project's root, line from 1, and a JSON pointer where the file is JSON."""

    path: str
    line: int = 1
    pointer: str = ""

    def __str__(self) -> str:
        """Write it as editors and terminals link it."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule found at one place. The rule's code is not repeated here.

    `fix` is empty where the rule's own first fix paragraph says enough. `cited` are the places that print numbers
    from what is wrong: a reader of the page should hear of it there. `severity` is set where it depends on what was
    found; None means the rule's own.
    """

    at: Location
    message: str
    fix: str = ""
    cited: tuple[Location, ...] = ()
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding with its rule: what every output format prints."""

    code: str
    name: str
    severity: Severity
    at: Location
    message: str
    fix: str
    cited: tuple[Location, ...] = ()
