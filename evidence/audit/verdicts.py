"""Owns what an audit says, as data: the verdict on a number, the fields it comes from, and the counts of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from evidence.audit.documents import Problem
from evidence.audit.pages import Printed
from evidence.diagnostics import Location


class Verdict(StrEnum):
    """What was found out about a number."""

    BOUND = "bound"
    CONFIGURATION = "configuration"
    AMBIGUOUS = "ambiguous"
    STALE = "stale"
    ROUNDING = "wrong-rounding"
    ANOTHER_ROW = "another-row"
    OPERANDS = "operands-differ"
    MIXED_DEVICES = "mixed-devices"
    NOT_RENDERED = "not-rendered"
    NOWHERE = "nowhere"

    @property
    def is_finding(self) -> bool:
        """Whether somebody has to look at the page."""
        return self not in (Verdict.BOUND, Verdict.CONFIGURATION)


MEANINGS = {
    Verdict.BOUND: "comes from the field named, by the change named",
    Verdict.CONFIGURATION: "says how something was measured, and is no result",
    Verdict.AMBIGUOUS: "several fields or rows fit it equally, or it fits by chance",
    Verdict.STALE: "the field it is of holds another value now",
    Verdict.ROUNDING: "the field it is of does not round to it",
    Verdict.ANOTHER_ROW: "is the value of a row, or of a field, that its labels do not name",
    Verdict.OPERANDS: "is not what the numbers printed beside it make",
    Verdict.MIXED_DEVICES: "stands in a table whose numbers come from several devices",
    Verdict.NOT_RENDERED: "a cell without a number where one belongs",
    Verdict.NOWHERE: "is in none of the files",
}


@dataclass(frozen=True, slots=True)
class Source:
    """One field of one row, and its value as stored."""

    row: int
    file: str
    place: str
    field: str
    value: float
    text: str = ""
    """What it holds instead, where that is no number."""

    def __str__(self) -> str:
        """Write it as reports do."""
        return " ".join(filter(None, (self.file, self.place, self.field, "=", self.text or f"{self.value:.12g}")))


@dataclass(frozen=True, slots=True)
class Judged:
    """A number, the verdict on it, and why."""

    printed: Printed
    verdict: Verdict
    sources: tuple[Source, ...] = ()
    how: str = ""
    """What turns the source into what is printed: a change of unit, rounding, a ratio."""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Mixed:
    """A table whose numbers come from several devices, and which of its labels do not say so."""

    at: Location
    devices: tuple[tuple[str, Source], ...]


@dataclass(frozen=True, slots=True)
class Audit:
    """Everything one run found."""

    judged: tuple[Judged, ...]
    mixed: tuple[Mixed, ...]
    problems: tuple[Problem, ...]
    files: int
    rows: int
    values: int

    def counts(self) -> dict[Verdict, int]:
        """Return how many numbers have each verdict, the zeros too."""
        found = Counter(one.verdict for one in self.judged)
        found[Verdict.MIXED_DEVICES] = len(self.mixed)
        return {verdict: found[verdict] for verdict in Verdict}

    @property
    def is_clean(self) -> bool:
        """Whether every number is bound and every file was read."""
        return not self.problems and not self.mixed and not any(one.verdict.is_finding for one in self.judged)


def listed(sources: Sequence[Source], most: int = 3) -> str:
    """Write a few sources in one line."""
    more = f" and {len(sources) - most} more" if len(sources) > most else ""
    return "; ".join(map(str, sources[:most])) + more
