"""Owns what stands around a place in prose: its sentence, and where that begins and ends."""

from __future__ import annotations

import re
from typing import NamedTuple

_END = re.compile(r"[.!?;|][*_\"')\]]*(?=\s)|\n[ \t>]*(?=\n|[-*+#|]|\d+[.)] )")
_WINDOW = 200


class Place(NamedTuple):
    """What stands around a span, up to the ends of its sentence: in small letters, but for `next`."""

    before: str
    after: str
    next: str
    """What follows, as written."""

    @property
    def sentence(self) -> str:
        """All of it but the span."""
        return f"{self.before}\0{self.after}"


def lowered(prose: str) -> str:
    """The text in small letters, each in its place: a few capitals are two letters when small, and stay."""
    lower = prose.lower()
    if len(lower) != len(prose):
        lower = "".join(small if len(small := letter.lower()) == 1 else letter for letter in prose)
    return lower


def place(prose: str, lower: str, start: int, end: int) -> Place:
    """Return what stands around a span of prose; `lower` is the prose in small letters."""
    before = lower[max(0, start - _WINDOW) : start]
    first = 0
    for found in _END.finditer(before):
        first = found.end()
    stop = _END.search(lower, end, end + _WINDOW)
    last = stop.start() if stop else end + _WINDOW
    return Place(before[first:], lower[end:last], prose[end:last])


def is_question(prose: str, end: int) -> bool:
    """Say whether the sentence that goes on at an offset ends with a question mark."""
    stop = _END.search(prose, end, end + _WINDOW)
    return stop is not None and prose[stop.start()] == "?"
