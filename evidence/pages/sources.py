"""Owns what counts as a source of a number that was not measured here: an address, or a citation that can be found."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_ADDRESS = re.compile(r"https?://[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:/\S*)?")
_IDENTIFIER = re.compile(
    r"\b(?:arxiv:\s?\d{4}\.\d{4,5}|doi:\s?10\.\d{4,9}/\S+|isbn[: ]\S+|rfc\s?\d{3,5})\b", re.IGNORECASE
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_WORD = re.compile(r"[^\W\d_]{2,}")
_STAND_INS = re.compile(
    r"\b(?:todo|tbd|fixme|xxx|unknown|somewhere|internal|placeholder|your[- ]source|insert)\b|^\W*$|<[^>]*>|…|\.\.\.",
    re.IGNORECASE,
)
_LOCAL = re.compile(r"https?://(?:localhost|127\.|0\.0\.0\.0|[\w.-]+\.(?:local|internal|lan)\b)", re.IGNORECASE)


class SourceFault(NamedTuple):
    """Why a call does not say where its number is from."""

    message: str
    fix: str


def is_source(source: str) -> bool:
    """Say whether a source can be found: an address, an identifier, or words with the year they appeared in."""
    if _STAND_INS.search(source) or _LOCAL.search(source):
        return False
    if _ADDRESS.search(source) or _IDENTIFIER.search(source):
        return True
    return _YEAR.search(source) is not None and len(_WORD.findall(source)) > 1


def fault_of(macro: str, arguments: tuple[str, ...], keywords: Iterable[tuple[str, str]]) -> SourceFault | None:
    """Return what is missing in a call of `ev.external`, `ev.spec` or `ev.target`; None for others and sound ones."""
    if macro not in ("external", "spec", "target"):
        return None
    given = {**dict(zip(("value", "origin"), arguments, strict=False)), **dict(keywords)}
    origin = given.get("source") or given.get("device") or given.get("origin") or ""
    if macro == "external" and origin and not is_source(origin):
        return SourceFault(
            f"{origin!r} is no source that a reader can find",
            'give its address, or a citation with its year: source="Dao et al., FlashAttention-2, 2023, table 1"',
        )
    if macro == "spec" and origin and (_STAND_INS.search(origin) or not _WORD.search(origin)):
        return SourceFault(f"{origin!r} is no device", 'name it as its maker does: device="NVIDIA H200"')
    return None
