"""Owns the base models and the constrained types every stored field is made of.

Models are frozen, strict, closed and finite, so a loaded record is deeply immutable and hashable.
Nothing has a default but discriminator tags: what a file does not say is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)


def _utc(value: AwareDatetime) -> AwareDatetime:
    offset = value.utcoffset()
    if offset is None or offset.total_seconds() != 0:
        raise ValueError("times are UTC: write them with a trailing Z")
    return value


Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""A sha256 digest, lower-case hexadecimal."""
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
"""A full git commit id."""
Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
"""A short name without control characters; unique within its tuple, and how everything else refers to the thing."""
Text = Annotated[str, StringConstraints(min_length=1, max_length=65536, pattern=r"^[^\x00]+$")]
"""Free text, never empty."""
Argument = Annotated[str, StringConstraints(max_length=65536, pattern=r"^[^\x00]*$")]
"""One word of a command line."""
_CHARACTER = r"[^/\\\x00-\x1f\x7f]"
_PART = rf"(?:[^./\\\x00-\x1f\x7f]{_CHARACTER}*|\.(?:[^./\\\x00-\x1f\x7f]{_CHARACTER}*)?)"
RelativePath = Annotated[str, StringConstraints(max_length=1000, pattern=rf"^{_PART}(?:/{_PART})*$")]
"""A POSIX path below the log's directory or the repository: relative, without `..`."""
Count = Annotated[int, Field(ge=0)]
PositiveCount = Annotated[int, Field(gt=0)]
Amount = Annotated[float, Field(ge=0)]
"""A finite measured quantity that cannot be negative, in the unit its name says."""
PositiveAmount = Annotated[float, Field(gt=0)]
UtcTime = Annotated[AwareDatetime, AfterValidator(_utc)]


class Model(BaseModel):
    """Base of everything that is stored."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        allow_inf_nan=False,
        revalidate_instances="always",
        defer_build=True,  # the validator of what is read holds those of its parts; few are asked for by themselves
        ser_json_inf_nan="constants",
    )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy with changes, validated: pydantic's own copy would accept anything."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self).model_validate({**fields, **(update or {})})


class Missing(Model):
    """Why a field that the machine or file should have told is null."""

    field: Name
    """The null field's name."""
    reason: Text
    """Why it could not be read."""


class Captured(Model):
    """Base of what is read from a machine or a file: null fields and reasons are the same set."""

    missing: tuple[Missing, ...]
    """One reason for each null field."""

    @model_validator(mode="after")
    def _nulls_have_reasons(self) -> Self:
        values = self.__dict__
        null = {name for name in values if values[name] is None}
        explained = {entry.field for entry in self.missing}
        if len(explained) != len(self.missing):
            raise ValueError("missing: a field is explained twice")
        if unexplained := sorted(null - explained):
            raise ValueError(f"null without a reason in 'missing': {', '.join(unexplained)}")
        if surplus := sorted(explained - null):
            raise ValueError(f"'missing' explains fields that are not null: {', '.join(surplus)}")
        return self


class Setting(Model):
    """One named setting; the value is text, because in Python `1 == True == 1.0`."""

    name: Name
    value: Argument


def require_unique(what: str, names: Iterable[str]) -> None:
    """Refuse two of one name.

    Raises:
        ValueError: naming the first duplicate.
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"two {what} are named {name!r}")
        seen.add(name)
