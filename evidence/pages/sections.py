"""Owns the sections of a page: which lines stand under which heading."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_HEADING = re.compile(
    r"^[ ]{0,3}(?P<marks>#{1,6})[ \t]+(?P<title>[^\n]*)|^(?P<text>[^\s#>|*+=-][^\n]*)\n(?P<line>=+|-+)[ \t]*$",
    re.MULTILINE,
)


class Section(NamedTuple):
    """A heading and the lines up to the next one of its level or above, counted in the body from 1."""

    level: int
    """1 to 6; 0 for the page as a whole."""
    title: str
    first: int
    last: int

    def holds(self, line: int) -> bool:
        """Say whether a line stands in it."""
        return self.first <= line <= self.last


def sections(prose: str) -> tuple[Section, ...]:
    """Return the page as a whole and each of its sections, in order; read from masked prose, so not from code."""
    end = prose.count("\n") + 1
    found: list[tuple[int, str, int]] = [(0, "", 1)]
    for match in _HEADING.finditer(prose):
        level = len(match["marks"]) if match["marks"] else 1 if match["line"].startswith("=") else 2
        title = match["title"] if match["marks"] else match["text"]
        found.append((level, title.strip(" #"), prose.count("\n", 0, match.start()) + 1))
    closed: list[Section] = []
    for at, (level, title, first) in enumerate(found):
        last = next((line - 1 for other, _, line in found[at + 1 :] if other <= level), end)
        closed.append(Section(level, title, first, end if level == 0 else last))
    return tuple(closed)


def feature(found: Sequence[Section], line: int) -> Section:
    """Return the feature section a line stands in: that of the second level, or the page where there is none."""
    return next((section for section in found if section.level == 2 and section.holds(line)), found[0])
