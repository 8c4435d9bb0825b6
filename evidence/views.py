"""Owns what a page shows, as data: tables, statements and the evidence under them; no markup, nothing left to compute.

Numbers come twice: as the interval (SI) a chart draws, and as the text every renderer prints. Text is untrusted: it may
hold anything a record held, and each renderer escapes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evidence.statistics import Interval, Verdict

CellOutcome = Literal["rejected", "crashed", "skipped", "missing"]
"""Why a cell has no number: outcomes of a cell, not verdicts of a comparison. `missing`: never declared by the log."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A number as printed: its value and the ends of its 95 % interval, in the column's unit. Empty ends: exact."""

    value: str
    low: str = ""
    high: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """A quantity of one cell. `interval` is in SI units."""

    interval: Interval
    shown: Shown


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times better the candidate is, with its verdict; above 1 is always better.

    `word` is the metric's own word for the verdict (FASTER, SMALLER, …). `effect` is the minimum effect that was
    applied: 0.01 is 1 %. `note` says what would decide, or what differs. Without a verdict to give a number for
    (INCOMPARABLE, REFUSED), `interval` and `shown` are None.
    """

    verdict: Verdict
    word: str
    interval: Interval | None
    shown: Shown | None
    effect: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """A cell of text."""

    text: str


@dataclass(frozen=True, slots=True)
class Absent:
    """A cell without a number, and why."""

    outcome: CellOutcome
    reason: str


TableCell = Measured | Ratio | Words | Absent


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `arm` is set where the column belongs to one arm; `vs` names the other side of a ratio."""

    title: str
    subtitle: str
    kind: Literal["axis", "value", "ratio", "change", "peak", "text"]
    metric: str = ""
    unit: str = ""
    arm: str = ""
    vs: str = ""
    is_baseline: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a cell for each column. If every number of the row is absent for one reason, `absent` says so once."""

    cells: tuple[TableCell, ...]
    absent: Absent | None = None
    footnote: str = ""


@dataclass(frozen=True, slots=True)
class GateLine:
    """One gate of a log, counted over its cells."""

    name: str
    state: Literal["passed", "failed", "partly", "none"]
    counts: str
    """Such as `36,864 of 36,864 elements`."""
    text: str
    """Kind, scope, reference, tolerances, tree under test."""
    log: str
    """Site path of the gate's output below benchmark_logs, or empty."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What stands in the fold under every table and statement, for one log. No view can be built without one."""

    log: str
    sha256: str
    bytes: int
    raw: str
    """Path of record.json below docs/, for a link: `benchmark_logs/<log>/record.json`."""
    command: str
    """The command as run, quoted for a shell, from the repository's root."""
    environment: tuple[tuple[str, str], ...]
    """Label and text, such as (`Accelerator`, `NVIDIA H200, ECC on, …`)."""
    gates: tuple[GateLine, ...]
    limitations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Banner:
    """A status that must be seen before the thing it stands on."""

    status: Literal["historical", "do_not_cite", "superseded"]
    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """All cells a table's selection names, with what every table carries by itself."""

    id: str
    title: str
    tally: str
    """Such as `3 faster · 1 slower · 1 rejected`; empty for a table without ratios."""
    stance: tuple[tuple[str, str], ...]
    """The nine facts above the table, label and text."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    footnotes: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    banner: Banner | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """One log in the history of a quantity.

    `relative` is its number over that of the history's first log, or the ratio itself where two arms are compared.
    """

    log: str
    date: str
    software: str
    cell: Measured | Ratio | Absent
    relative: Interval | None
    level: str = ""
    """The change of level that begins with it, such as `+12 %`; empty if none does."""


@dataclass(frozen=True, slots=True)
class History:
    """One quantity over every log of a series, in order of time."""

    id: str
    title: str
    unit: str
    moments: tuple[Moment, ...]
    changes: str
    """What is to be said of its changes of level, in a sentence."""
    evidence: tuple[Evidence, ...]
    """Of every log that gives it a number."""


@dataclass(frozen=True, slots=True)
class Point:
    """One cell of a table under a roofline: how much work a byte pays for, and how fast the work was done.

    `intensity` is FLOP a byte of compulsory traffic, the same for every arm of a workload; `rate` is in FLOP/s.
    """

    row: str
    """What names its row of the table."""
    arm: str
    log: str
    workload: str
    intensity: float | None
    intensity_text: str
    rate: Measured | Absent


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most that a device reaches: a slope of bytes up to a flat top of FLOP. A side that is not known is None."""

    kind: Literal["datasheet", "measured"]
    flop_per_s: float | None
    bytes_per_s: float | None
    flop_text: str
    bytes_text: str
    source: str


@dataclass(frozen=True, slots=True)
class Roofline:
    """The cells of a table, each under the ceilings of its device."""

    id: str
    title: str
    unit: str
    arms: tuple[tuple[str, bool], ...]
    """Each arm, and whether it is the baseline."""
    points: tuple[Point, ...]
    ceilings: tuple[Ceiling, ...]
    unknown: tuple[str, ...]
    """Devices and dtypes of which no peak is known."""
    evidence: tuple[Evidence, ...]
    banner: Banner | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """One rendered field of a sentence. `verdict` is set where it stands for a comparison."""

    text: str
    interval: str = ""
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Labelled:
    """A number that is no evidence for a sentence, and why: it is only ever shown with its label."""

    figure: Figure
    reasons: tuple[str, ...]
    logs: tuple[str, ...]

    @property
    def label(self) -> str:
        """What stands beside the number."""
        return f"diagnostic: {'; '.join(self.reasons)}" if self.reasons else "diagnostic"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure: an image that was drawn from logs, with the sentence of its claim as its text."""

    id: str
    source: str
    """Path of the image below docs/."""
    text: str
    caption: str
    stance: tuple[tuple[str, str], ...]
    evidence: tuple[Evidence, ...]
    banner: Banner | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim as shown: its sentence, verdict, note, and evidence."""

    id: str
    sentence: tuple[str | Figure, ...]
    verdict: Verdict
    word: str
    headline: Ratio | None
    """The main comparison, where it is one number; None for a reading of one arm."""
    note: str
    """Verdict, interval, n, cells, minimum effect if raised, and every other reading."""
    short_note: str
    """The main verdict, its interval, and every reading that is worse."""
    stance: tuple[tuple[str, str], ...]
    mechanism: str
    """Why, with what shows it; empty for same and inconclusive."""
    kind: str
    """Domain of its main log, such as `kernels`."""
    device: str
    date: str
    evidence: tuple[Evidence, ...]
    banner: Banner | None = None

    @property
    def text(self) -> str:
        """The sentence as plain text."""
        return "".join(part if isinstance(part, str) else part.text for part in self.sentence)
