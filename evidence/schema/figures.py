"""Owns the file beside a figure: which logs it was drawn from, and the digests that tell when it is out of date."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from evidence.schema.claims import Id, Line

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
ImageName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\.(png|gif|svg|webp|jpe?g|avif)$")]


class FigureLog(BaseModel):
    """A log that a figure was drawn from, with the digest of its record."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    log: Line
    sha256: Digest


class FigureFile(BaseModel):
    """One docs/figures/<id>.json."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    format: Literal[1] = 1
    image: ImageName
    """Name of the image, in the same folder."""
    sha256: Digest
    """Of the image."""
    item: Id
    """The claim or table that it shows: its words are the text for those who do not see the image, and its logs are
    those the figure is drawn from."""
    logs: Annotated[tuple[FigureLog, ...], Field(min_length=1)]
    caption: Line
    """A template of the claim's fields; of a table, of `{title}` and `{tally}`."""
    drawn: Line
    """The caption as it read when the image was drawn: its numbers stand in the image."""
    command: tuple[Line, ...] = ()
    """What drew it, from the repository's root."""
