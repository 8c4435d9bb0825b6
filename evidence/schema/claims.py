"""Owns what authors write in docs/claims/*.yml: claims, tables and the status of logs. Configured, not measured."""

from __future__ import annotations

import datetime
import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from evidence.schema.descriptions import Described

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
"""Kebab-case; one namespace for claims and tables of all files, and the anchor on the page."""
Line = Annotated[str, StringConstraints(min_length=1, max_length=4000)]
Expected = Literal["better", "worse", "same", "inconclusive"]
Tally = Annotated[dict[Expected, Annotated[int, Field(strict=True, ge=0)]], Field(min_length=1)]
"""How many of the compared cells have each verdict."""
VERDICT_WORDS: tuple[Expected, ...] = ("better", "worse", "same", "inconclusive")
QUANTITIES = ("ratio", "change", "baseline", "candidate", "value", "verdict", "tally", "count", "identical")
REDUCERS = ("geomean", "min", "max", "range", "min.at", "max.at")
"""What a field of a statement may ask of a reading, and how it makes one number of several."""
Scalar = str | int | float | bool


class AuthorError(ValueError):
    """What an author wrote that does not go together: at `parts` below what is validated, with the thing to do."""

    def __init__(self, message: str, *parts: str | int, fix: str) -> None:
        """Carry the place and the fix."""
        super().__init__(message)
        self.parts = parts
        self.fix = fix


def _one_value(value: object) -> object:
    """Write a YAML scalar as the text axes are compared by."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def _values(value: object) -> object:
    return [_one_value(item) for item in value] if isinstance(value, list | tuple) else [_one_value(value)]


AxisValues = Annotated[
    tuple[Line, ...],
    Field(min_length=1),
    BeforeValidator(_values, json_schema_input_type=Scalar | list[Scalar]),
]
Where = dict[Line, AxisValues]


def _of_cells(where: Where | None) -> Where | None:
    if where and "arm" in where:
        message = "a reading names its arms by arm, or by baseline and candidate, not in where"
        raise AuthorError(message, fix="take arm out of where")
    return where


CellWhere = Annotated[Where, AfterValidator(_of_cells)]


class Configured(BaseModel):
    """Base of what authors write: closed and frozen; an absent key means what CLAIMS says it means."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Also(Configured):
    """A further reading: it inherits every key of the claim that it does not write, except `expect`."""

    series: Line | None = None
    metric: Line | None = None
    baseline: Line | None = None
    candidate: Line | None = None
    arm: Line | None = None
    where: CellWhere | None = None
    expect: Expected | Tally | None = None


class Mechanism(Configured):
    """Why, with what shows it; or what was tried, if nothing shows it."""

    text: Line | None = None
    evidence: Line | None = None
    """`roofline`, an artifact's role, or the name of a reading under `also`."""
    unknown: Line | None = None

    @model_validator(mode="after")
    def _known_or_unknown(self) -> Self:
        if (self.unknown is None) != (self.text is not None and self.evidence is not None):
            raise AuthorError(
                "a mechanism has text and evidence, or unknown alone",
                fix="write {text: why, evidence: what shows it}, or {unknown: what was tried}",
            )
        return self


class Status(Configured):
    """What a reader must know before the number: at most one of the three."""

    historical: Line | None = None
    do_not_cite: Line | None = None
    superseded_by: Id | None = None

    @property
    def why(self) -> str:
        """What an author wrote in words, which a banner prints; empty where another item is named."""
        return self.historical or self.do_not_cite or ""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if sum(value is not None for value in (self.historical, self.do_not_cite, self.superseded_by)) != 1:
            raise AuthorError(
                "a status has exactly one of historical, do_not_cite, superseded_by",
                fix="write one, as {historical: why}",
            )
        return self


class Waiver(Configured):
    """A finding accepted for a time, by somebody, for a reason."""

    rule: Annotated[str, StringConstraints(pattern=r"^EV[0-9]{3}$")]
    why: Line
    owner: Line
    until: datetime.date


_ARMS = "write either arm, or baseline and candidate"
_EXPECT = "write expect: better, worse, same or inconclusive; or a tally such as {better: 3, worse: 1}"
CONTROL = "control"
"""A reading of this name selects cells that the change cannot touch: how far it strays, the main one may stray too."""


class Claim(Configured):
    """A sentence over one main reading and any number of others."""

    statement: Line
    series: Line
    metric: Line
    baseline: Line | None = None
    candidate: Line | None = None
    arm: Line | None = None
    where: CellWhere = {}
    expect: Expected | Tally | None = None
    also: dict[Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")], Also] = {}
    mechanism: Mechanism | None = None
    limitations: tuple[Line, ...] = ()
    status: Status | None = None
    waive: tuple[Waiver, ...] = ()

    @model_validator(mode="after")
    def _reads_or_compares(self) -> Self:
        compares = self.baseline is not None or self.candidate is not None
        if compares and (self.baseline is None or self.candidate is None):
            only, other = ("baseline", "candidate") if self.candidate is None else ("candidate", "baseline")
            raise AuthorError(
                f"{only} is named without {other}", only, fix=f"write {other}: the arm it is compared with"
            )
        if compares and self.arm is not None:
            raise AuthorError("one arm is read, and two are compared", "arm", fix=_ARMS)
        if not compares and self.arm is None:
            raise AuthorError("no arm is named", fix=_ARMS)
        if compares and self.baseline == self.candidate:
            raise AuthorError("baseline and candidate are one arm", "candidate", fix="compare arms that differ")
        if compares and self.expect is None:
            message = "expect is missing: what you believe the two arms compare as, before the data say it"
            raise AuthorError(message, fix=_EXPECT)
        if self.expect is not None and not compares:
            raise AuthorError(
                "expect is about two arms, and one is read", "expect", fix="drop expect, or compare two arms"
            )
        return self

    @model_validator(mode="after")
    def _readings_say_what_they_expect(self) -> Self:
        for name, also in self.also.items():
            at = ("also", name)
            if name in QUANTITIES or name in REDUCERS:
                message = f"a reading cannot be called {name}: fields of a statement mean something else by it"
                raise AuthorError(message, *at, fix="give it another name")
            if also.arm is not None and (also.baseline is not None or also.candidate is not None):
                raise AuthorError("one arm is read, and two are compared", *at, "arm", fix=_ARMS)
            compares = also.arm is None and (
                self.arm is None or also.baseline is not None or also.candidate is not None
            )
            baseline, candidate = also.baseline or self.baseline, also.candidate or self.candidate
            if compares and not (baseline and candidate):
                only, other = ("baseline", "candidate") if candidate is None else ("candidate", "baseline")
                raise AuthorError(
                    f"{only} is named without {other}", *at, only, fix=f"write {other}: the arm it is compared with"
                )
            if compares and baseline == candidate:
                own = "candidate" if also.candidate is not None else "baseline"
                raise AuthorError(f"{baseline} is compared with itself", *at, own, fix="compare arms that differ")
            if compares and also.expect is None:
                raise AuthorError(
                    "expect is missing: each comparison has its own, and none is inherited", *at, fix=_EXPECT
                )
            if also.expect is not None and not compares:
                message = "expect is about two arms, and one is read"
                raise AuthorError(message, *at, "expect", fix="drop expect, or compare two arms")
            if name == CONTROL and self.arm is None and not compares:
                message = "a control is a comparison that should show no effect, and this reads one arm"
                raise AuthorError(
                    message, *at, "arm", fix="write where: cells the change cannot touch, and expect: same"
                )
        return self


class DerivedColumn(Configured):
    """A column that is more than one metric's value."""

    value: Line | None = None
    ratio: Line | None = None
    change: Line | None = None
    peak: Line | None = None
    text: Line | None = None
    vs: Line | dict[Line, Line] | None = None
    unit: Line | None = None
    title: Line | None = None
    by: Line | None = None
    cells: dict[Line, Line] | None = None

    @property
    def kind(self) -> Literal["value", "ratio", "change", "peak", "text"]:
        """Which of the five forms it is."""
        for kind in ("value", "ratio", "change", "peak", "text"):
            if getattr(self, kind) is not None:
                return kind
        raise AssertionError("a column without a form does not validate")

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        forms = [kind for kind in ("value", "ratio", "change", "peak", "text") if getattr(self, kind) is not None]
        if len(forms) != 1:
            message = "a column has exactly one of value, ratio, change, peak, text"
            raise AuthorError(message, fix="write one column for each, as {ratio: time}")
        kind = forms[0]
        if (kind == "text") != (self.by is not None and self.cells is not None):
            message = "a text column has by and cells, and no other column does"
            raise AuthorError(message, fix="write {text: title, by: axis, cells: {value: text}}")
        for key, kinds in (("vs", ("ratio", "change")), ("unit", ("value",))):
            if getattr(self, key) is not None and kind not in kinds:
                raise AuthorError(f"{key} means nothing in a {kind} column", key, fix=f"drop {key}")
        return self


class Omission(Configured):
    """Cells left out of a table, or never declared by its log, and why."""

    where: Where
    why: Line


class Note(Configured):
    """A footnote on the rows it selects."""

    where: Where
    why: Line


def _several(value: object) -> object:
    return [value] if isinstance(value, str) else value


class TableSpec(Configured):
    """All cells of one or more series."""

    title: Line
    series: Annotated[
        tuple[Line, ...], Field(min_length=1), BeforeValidator(_several, json_schema_input_type=Line | list[Line])
    ]
    rows: Annotated[tuple[Line, ...], Field(min_length=1)]
    columns: Annotated[tuple[Line | DerivedColumn, ...], Field(min_length=1)]
    across: Line | None = None
    baseline: Line | dict[Line, Line] | None = None
    where: Where = {}
    notes: tuple[Note, ...] = ()
    omit: tuple[Omission, ...] = ()
    not_covered: tuple[Omission, ...] = ()
    status: Status | None = None
    waive: tuple[Waiver, ...] = ()


class Sentence(Configured):
    """A sentence of a page without macros that is held to a claim by its own words, without any markup."""

    page: Annotated[
        tuple[Line, ...], Field(min_length=1), BeforeValidator(_several, json_schema_input_type=Line | list[Line])
    ]
    """Path from the project's root of a Markdown file, or of several."""
    pattern: Line
    """The words as they stand there, with the fields of a statement in the place of the values."""
    claim: Id

    @model_validator(mode="after")
    def _has_a_value(self) -> Self:
        if "{" not in self.pattern:
            message = "the pattern has no field, so nothing in it would be held to the claim"
            raise AuthorError(message, "pattern", fix="write a field such as {ratio} where the value stands")
        return self


class ClaimsFile(Configured):
    """One docs/claims/*.yml."""

    tables: dict[Id, TableSpec] = {}
    claims: dict[Id, Claim] = {}
    logs: dict[Line, Status] = {}
    sentences: tuple[Sentence, ...] = ()


def claims_schema() -> dict[str, Any]:
    """Return the JSON Schema that editors complete and check claims files with."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **ClaimsFile.model_json_schema(schema_generator=Described),
    }


_UNITS = r"x|ns|us|µs|ms|s|kB|MB|GB|TB|KiB|MiB|GiB|B|J|kJ|W|GHz|MHz|tok"
STANDALONE_DIGITS = re.compile(rf"(?<![\w.])(?<!\w-)\.?[0-9][0-9.,]*(?:(?:{_UNITS})\b|(?![\w-]))")
"""Digits that are a number, with a unit glued to them or not: `3.5x` and `-5 %`, but neither `fp8` nor `8-bit`."""
ABSOLUTE_WORDS = re.compile(r"\b(always|never|any|every|universally)\b", re.IGNORECASE)
