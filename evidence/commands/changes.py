"""Owns how changed lines of a lock are printed, for people and for programs: what `update` and `diff` share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from evidence import lock, units
from evidence.checker.reports import safe
from evidence.diagnostics import Finding
from evidence.movement import Change, Moved, Number
from evidence.sentences import ratio_interval, ratio_text

WORDS: dict[Moved, str] = {"moved": "beyond the noise", "not moved": "within the noise", "undecided": "perhaps noise"}


def lines(changes: Iterable[Change]) -> Iterator[str]:
    """Yield old and new of each line, its numbers with what they say beyond the noise, and its verdicts."""
    for change in changes:
        yield name_of(change)
        if change.old is not None:
            yield f"  - {safe(change.old)}"
        if change.new is not None:
            yield f"  + {safe(change.new)}"
        for number in change.numbers:
            yield f"      {safe(number.what)}: {safe(number.old)} -> {safe(number.new)}, {_moved(number)}"
        for turn in change.turns:
            yield f"      {safe(turn.what) or 'verdict'}: {turn.old} -> {turn.new}"


def name_of(change: Change) -> str:
    """Return what a changed line is of, as the lock writes it."""
    return lock.line_of(change.key, "").removesuffix(' = ""')


def _moved(number: Number) -> str:
    if number.times is None:
        return WORDS[number.moved]
    return f"{WORDS[number.moved]} ({ratio_text(number.times)}, 95 % {ratio_interval(number.times)})"


def fault_lines(found: Sequence[tuple[str, Finding]]) -> Iterator[str]:
    """Yield what no longer holds, with where a person has to reread and edit it."""
    if found:
        yield "What its logs no longer bear out; `expect` is yours to edit, once you have reread the statement:"
    for code, finding in found:
        yield f"  {finding.at}: {code}: {safe(finding.message)}"
        if finding.fix:
            yield f"      fix: {safe(finding.fix)}"


def tally(changes: Sequence[Change]) -> str:
    """Return `5 lines changed, 3 numbers beyond the noise, 1 number within the noise, 1 verdict changed`."""
    numbers = [number.moved for change in changes for number in change.numbers]
    turns = sum(len(change.turns) for change in changes)
    words = [f"{count(len(changes), 'line')} changed"]
    words += [f"{count(numbers.count(moved), 'number')} {word}" for moved, word in WORDS.items() if moved in numbers]
    words += [f"{count(turns, 'verdict')} changed"] if turns else []
    return ", ".join(words)


def count(number: int, what: str) -> str:
    """Return `1 line`, `2 lines`."""
    return f"{units.format_count(number)} {units.plural(number, what)}"


def plain(changes: Iterable[Change]) -> list[dict[str, Any]]:
    """Return changed lines as JSON values."""
    return [
        {
            "section": change.key[0],
            "owner": change.key[1],
            "of": change.key[2],
            "old": change.old,
            "new": change.new,
            "numbers": [_plain_number(number) for number in change.numbers],
            "verdicts": [{"of": turn.what, "old": turn.old, "new": turn.new} for turn in change.turns],
        }
        for change in changes
    ]


def _plain_number(number: Number) -> dict[str, Any]:
    times = number.times
    return {
        "of": number.what,
        "old": number.old,
        "new": number.new,
        "moved": number.moved,
        "times": None if times is None else {"value": times.value, "low": times.low, "high": times.high},
    }


def plain_faults(found: Iterable[tuple[str, Finding]]) -> list[dict[str, Any]]:
    """Return what no longer holds as JSON values."""
    return [
        {"code": code, "path": one.at.path, "line": one.at.line, "message": one.message, "fix": one.fix}
        for code, one in found
    ]
