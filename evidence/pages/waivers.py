"""Owns reading the waivers that a page holds: comments that accept one finding in the block below them, for a time."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from evidence.pages import masks

_COMMENT = re.compile(r"<!--\s*evidence:\s*allow\b(?P<words>.*?)-->", re.DOTALL)
_WORD = re.compile(r"(?P<rule>[\w-]+)(?=\s|$)|(?P<key>because|owner|until)=(?:\"(?P<text>[^\"]*)\"|(?P<bare>\S+))|\S+")
_ITEM = re.compile(r"[ ]*(?:[-*+]|\d+[.)])[ \t]")


class Waiver(NamedTuple):
    """One accepted finding. Lines are counted in the body."""

    line: int
    text: str
    """The comment as written."""
    rule: str
    because: str
    owner: str
    until: datetime.date | None
    lines: tuple[int, int]
    """First and last line it covers: its own, and those of the block below."""
    fault: str = ""
    """Why it is none: a word is missing, or the date is no date."""

    @property
    def form(self) -> str:
        """How one is written."""
        return f'write <!-- evidence: allow {self.rule or "EV701"} because="…" owner="@…" until=2027-01-31 -->'


def waivers(body: str) -> Iterator[Waiver]:
    """Yield the waivers of a page, those that lack something too."""
    lines = body.split("\n")
    fences = {fence.opens: fence.closes for fence in masks.fences(body)}
    for match in _COMMENT.finditer(masks.code(body)):
        first = body.count("\n", 0, match.start()) + 1
        below = body.count("\n", 0, match.end()) + 1
        words = list(_WORD.finditer(match["words"]))
        values = {word["key"]: word["text"] or word["bare"] or "" for word in words if word["key"]}
        rule = next((word["rule"] for word in words if word["rule"]), "")
        until, fault = _date(values.get("until", ""))
        missing = [name for name in ("because", "owner", "until") if not values.get(name)]
        yield Waiver(
            line=first,
            text=match[0],
            rule=rule,
            because=values.get("because", ""),
            owner=values.get("owner", ""),
            until=until,
            lines=(first, _end_of_block(lines, below, fences)),
            fault=f"a waiver needs {', '.join(missing)}" if missing else fault if rule else "a waiver names one rule",
        )


def _date(text: str) -> tuple[datetime.date | None, str]:
    try:
        return datetime.date.fromisoformat(text), ""
    except ValueError:
        return None, f"until={text} is no date such as 2027-01-31"


def _end_of_block(lines: list[str], above: int, fences: Mapping[int, int]) -> int:
    """The last line of the block that begins below a line: a list or a fence goes on after blank lines."""
    start = above
    while start < len(lines) and not lines[start].strip():
        start += 1
    if start + 1 in fences:
        return fences[start + 1]
    is_list = start < len(lines) and _ITEM.match(lines[start]) is not None
    end = start
    for index in range(start, len(lines)):
        line = lines[index]
        if line.strip():
            if index > end + 1 and not (is_list and (line.startswith("    ") or _ITEM.match(line))):
                break
            end = index
        elif not is_list:
            break
    return min(end + 1, len(lines))
