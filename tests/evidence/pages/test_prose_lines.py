from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from evidence.pages import masks
from evidence.pages.numbers import FAMILIES
from evidence.pages.results import typed
from evidence.project import MacroSettings

MARKERS = MacroSettings().markers


class Labelled(NamedTuple):
    """One line of the set: what it is, as a person reads it."""

    is_hit: bool
    kind: str
    text: str


def read() -> list[Labelled]:
    lines = (Path(__file__).parent / "prose_lines.txt").read_text(encoding="utf-8").split("\n")
    found = []
    for line in lines:
        if line and not line.startswith("#"):
            label, kind, text = (part.strip(" ") for part in re.split(r"(?<!\\)\|", line, maxsplit=2))
            plain = re.sub(r"\\([n|\\])", lambda match: "\n" if match[1] == "n" else match[1], text)
            found.append(Labelled({"hit": True, "none": False}[label], kind, plain))
    return found


LINES = read()


@pytest.mark.parametrize("line", LINES, ids=[f"{one.kind}: {one.text[:60]!r}" for one in LINES])
def test_each_line_is_judged_as_it_is_labelled(line: Labelled) -> None:
    found = [one.family for one in typed(masks.prose(line.text, MARKERS), line.text)]
    assert bool(found) is line.is_hit
    if line.is_hit:
        assert line.kind in found


def test_the_set_holds_enough_of_each() -> None:
    hits = Counter(line.kind for line in LINES if line.is_hit)
    assert set(hits) == set(FAMILIES)
    assert min(hits.values()) >= 10
    others = Counter(line.kind for line in LINES if not line.is_hit)
    assert min(others.values()) >= 2
    assert len(LINES) >= 300
    assert abs(hits.total() - others.total()) < len(LINES) / 5
    assert len({line.text for line in LINES}) == len(LINES)
