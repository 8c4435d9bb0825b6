"""Owns what authors write in docs/claims/*.yml: claims, tables and the status of logs. Configured, not measured."""

from __future__ import annotations

import datetime
import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
"""Kebab-case; one namespace for claims and tables of all files, and the anchor on the page."""
Line = Annotated[str, StringConstraints(min_length=1, max_length=4000)]
Expected = Literal["better", "worse", "same", "inconclusive"]
VERDICT_WORDS: tuple[Expected, ...] = ("better", "worse", "same", "inconclusive")
QUANTITIES = ("ratio", "change", "baseline", "candidate", "value", "verdict", "tally", "count", "identical")
REDUCERS = ("geomean", "min", "max", "range", "min.at", "max.at")
"""What a field of a statement may ask of a reading, and how it makes one number of several."""
Scalar = str | int | float | bool


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
        raise ValueError("a reading names its arms by arm, or by baseline and candidate, not in where")
    return where


CellWhere = Annotated[Where, AfterValidator(_of_cells)]


class Configured(BaseModel):
    """Base of what authors write: closed and frozen; an absent key means what CLAIMS says it means."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


class Also(Configured):
    """A further reading: it inherits every key of the claim that it does not write, except `expect`."""

    series: Line | None = None
    metric: Line | None = None
    baseline: Line | None = None
    candidate: Line | None = None
    arm: Line | None = None
    where: CellWhere | None = None
    expect: Expected | dict[Expected, int] | None = None


class Mechanism(Configured):
    """Why, with what shows it; or what was tried, if nothing shows it."""

    text: Line | None = None
    evidence: Line | None = None
    """`roofline`, an artifact's role, or the name of a reading under `also`."""
    unknown: Line | None = None

    @model_validator(mode="after")
    def _known_or_unknown(self) -> Self:
        if (self.unknown is None) != (self.text is not None and self.evidence is not None):
            raise ValueError("write either text and evidence, or unknown")
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
            raise ValueError("write exactly one of historical, do_not_cite, superseded_by")
        return self


class Waiver(Configured):
    """A finding accepted for a time, by somebody, for a reason."""

    rule: Annotated[str, StringConstraints(pattern=r"^EV[0-9]{3}$")]
    why: Line
    owner: Line
    until: datetime.date


class Claim(Configured):
    """A sentence over one main reading and any number of others."""

    statement: Line
    series: Line
    metric: Line
    baseline: Line | None = None
    candidate: Line | None = None
    arm: Line | None = None
    where: CellWhere = {}
    expect: Expected | dict[Expected, int] | None = None
    also: dict[Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")], Also] = {}
    mechanism: Mechanism | None = None
    limitations: tuple[Line, ...] = ()
    status: Status | None = None
    waive: tuple[Waiver, ...] = ()

    @model_validator(mode="after")
    def _reads_or_compares(self) -> Self:
        compares = self.baseline is not None or self.candidate is not None
        if compares and (self.baseline is None or self.candidate is None):
            raise ValueError("a comparison names both baseline and candidate")
        if compares == (self.arm is not None):
            raise ValueError("write either arm, or baseline and candidate")
        if compares and self.baseline == self.candidate:
            raise ValueError("baseline and candidate are one arm")
        if compares and self.expect is None:
            raise ValueError("expect is required: say better, worse, same or inconclusive before the data do")
        if self.expect is not None and not compares:
            raise ValueError("expect is about two arms, and one is read")
        return self

    @model_validator(mode="after")
    def _readings_say_what_they_expect(self) -> Self:
        for name, also in self.also.items():
            if name in QUANTITIES or name in REDUCERS:
                raise ValueError(f"a reading cannot be called {name}: fields of a statement mean something else by it")
            if also.arm is not None and (also.baseline is not None or also.candidate is not None):
                raise ValueError(f"{name}: write either arm, or baseline and candidate")
            compares = also.arm is None and (self.arm is None or also.baseline is not None)
            if compares and also.expect is None:
                raise ValueError(f"{name}: expect is required of two arms compared, and is never inherited")
            if also.expect is not None and not compares:
                raise ValueError(f"{name}: expect is about two arms, and one is read")
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
            raise ValueError("write exactly one of value, ratio, change, peak, text")
        if (forms == ["text"]) != (self.by is not None and self.cells is not None):
            raise ValueError("a text column has by and cells, and no other column does")
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
            raise ValueError("the pattern has no field, so nothing in it would be held to the claim")
        return self


class ClaimsFile(Configured):
    """One docs/claims/*.yml."""

    tables: dict[Id, TableSpec] = {}
    claims: dict[Id, Claim] = {}
    logs: dict[Line, Status] = {}
    sentences: tuple[Sentence, ...] = ()


def claims_schema() -> dict[str, Any]:
    """Return the JSON Schema that editors complete and check claims files with."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **ClaimsFile.model_json_schema()}


_UNITS = r"x|ns|us|µs|ms|s|kB|MB|GB|TB|KiB|MiB|GiB|B|J|kJ|W|GHz|MHz|tok"
STANDALONE_DIGITS = re.compile(rf"(?<![\w.])(?<!\w-)\.?[0-9][0-9.,]*(?:(?:{_UNITS})\b|(?![\w-]))")
"""Digits that are a number, with a unit glued to them or not: `3.5x` and `-5 %`, but neither `fp8` nor `8-bit`."""
ABSOLUTE_WORDS = re.compile(r"\b(always|never|any|every|universally)\b", re.IGNORECASE)
