"""Owns finding numbers that an author typed where a measurement belongs: ratios, changes, rates, times, result tables.

It reads prose only: code, comments, calls, mathematics and markup are masked. Shapes (`64 × 4,096`), counts of devices
(`8× H200`), versions and sizes are no measurements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evidence.pages import masks

_NUMBER = r"(?<![\w.,/#:×-])[~≈+−-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_COUNTED = (
    r"NVIDIA|AMD|Intel|[A-Z]{1,4}\d{2,4}|GPUs?|accelerators?|devices?|nodes?|replicas?|cores?|cards?|hosts?|ranks?"
)
_RATIO = re.compile(rf"{_NUMBER}[ \u00a0]?[x×](?![\w×]|[ \u00a0]*\d|[ \u00a0]*(?:{_COUNTED})\b)")
_WORDS = re.compile(
    r"\btwice[ \n](?:as|the)\b|\bhalf[ \n](?:as|the[ \n](?:time|memory|latency))\b|\b\w{2,6}fold\b"
    r"|\b(?:halv|doubl|tripl)(?:e|es|ed|ing)\b[ \n](?:the[ \n]|its[ \n])?"
    r"(?:throughput|latency|speed|time|memory|bandwidth)\b"
    rf"|(?:{_NUMBER}|\b(?:two|three|four|five|ten))[ \n]times[ \n]"
    r"(?:as|faster|slower|more|less|fewer|higher|lower|the)\b",
    re.IGNORECASE,
)
_PERCENT = re.compile(
    rf"{_NUMBER}[ \u00a0]?(?:%|per[ \n]?cent\b|(?:percentage )?points?\b)(?![ \n]+(?:interval|confidence|CI\b))"
)
_COMPARATIVE = re.compile(
    r"\b(?:faster|slower|better|worse|more|less|fewer|higher|lower|larger|smaller|cheaper|quicker|beats?|improv\w+"
    r"|regress\w+|speed-?ups?|gain\w*|reduc\w+|increas\w+|decreas\w+|sav(?:es?|ed|ings?)|drop\w*|overhead|peak|agreement"
    r"|bandwidth|throughput|latency|ttft|tpot|hit rate|geometric mean)\b",
    re.IGNORECASE,
)
_RATE = re.compile(
    rf"{_NUMBER}[ \u00a0]?[kKMG]?[ \u00a0]?(?:(?:tok(?:ens?)?|req(?:uests?)?|steps?|samples?|it)"
    r"(?:/s(?:ec)?\b|[ \n]per[ \n]second\b)|QPS\b|[KMGT]i?B/s\b|[KMGT]b(?:ps|it/s)\b|[KMGTPE]?FLOP(?:/s|S|s)\b)"
)
_TIME = re.compile(rf"(?!(?:1[89]|20)\d0s){_NUMBER}[ \u00a0]?(?:ns|[µμu]s|ms|s|seconds?)\b(?!/)")
_FORMS = (
    (_RATIO, "a ratio"),
    (_WORDS, "a ratio in words"),
    (_RATE, "a rate"),
    (_TIME, "a time"),
)
_END = re.compile(r"[.!?;|][*_\"')\]]*(?=\s)|\n[ \t]*\n")
_WINDOW = 160

_RULE = re.compile(r"[ \t>]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*")
_UNIT = re.compile(
    r"(?<![\w/])(?:ns|[µμu]s|ms|tok(?:ens?)?/s|req/s|[KMGT]i?B/s|[KMGTP]?FLOP(?:/s|S)|speed-?up|ratio|ttft|tpot|latency"
    r"|throughput|bandwidth|×)(?!\w)",
    re.IGNORECASE,
)
_CELL = re.compile(r"[ \t*_]*[~≈+−-]?\d[\d,]*(?:\.\d+)?[ \t]*(?:[x×%]|ns|[µμu]s|ms|s)?[ \t*_]*")
_RESULT_FENCES = frozenset({"", "text", "txt", "console", "output", "log", "plain"})


@dataclass(frozen=True, slots=True)
class Typed:
    """A number that somebody typed: its line in the body, its text, and what it looks like."""

    line: int
    text: str
    kind: str


def typed_numbers(prose: str) -> Iterator[Typed]:
    """Yield the first typed number of each line of masked prose."""
    found: dict[int, tuple[int, Typed]] = {}
    for start, text, kind in _matches(prose):
        line = prose.count("\n", 0, start) + 1
        if line not in found or start < found[line][0]:
            found[line] = start, Typed(line, " ".join(text.split()), kind)
    for line in sorted(found):
        yield found[line][1]


def _matches(prose: str) -> Iterator[tuple[int, str, str]]:
    for pattern, kind in _FORMS:
        for match in pattern.finditer(prose):
            yield match.start(), match[0], kind
    for match in _PERCENT.finditer(prose):
        if match[0][0] in "+−-" or _COMPARATIVE.search(_sentence(prose, match)):
            yield match.start(), match[0], "a percentage that compares"


def _sentence(prose: str, match: re.Match[str]) -> str:
    before = prose[max(0, match.start() - _WINDOW) : match.start()]
    after = prose[match.end() : match.end() + _WINDOW]
    start = max((end.end() for end in _END.finditer(before)), default=0)
    end = _END.search(after)
    return before[start:] + match[0] + after[: end.start() if end else None]


def typed_tables(prose: str) -> Iterator[Typed]:
    """Yield Markdown tables with a unit of measurement in the head and numbers below it."""
    lines = prose.split("\n")
    for index in range(1, len(lines)):
        head = lines[index - 1]
        if "|" not in lines[index] or not _RULE.fullmatch(lines[index]) or not _UNIT.search(head):
            continue
        rows = []
        for line in lines[index + 1 :]:
            if "|" not in line:
                break
            rows.append(line)
        if any(_CELL.fullmatch(cell) for row in rows for cell in row.strip().strip("|").split("|")):
            yield Typed(index, " ".join(head.split()), "a table of results")


def typed_results(body: str) -> Iterator[Typed]:
    """Yield fenced blocks that hold results: what a program printed, pasted."""
    for fence in masks.fences(body):
        if fence.info.partition(" ")[0].strip("{}.").lower() in _RESULT_FENCES:
            for pattern, _ in _FORMS[:1] + _FORMS[2:]:
                if match := pattern.search(fence.content):
                    yield Typed(fence.opens, " ".join(match[0].split()), "results in a block")
                    break
