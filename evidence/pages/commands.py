"""Owns reading the commands that a page prints in its shell blocks: continuations joined, prompts dropped."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from evidence.pages import masks

SHELLS = frozenset({"bash", "sh", "shell", "console", "zsh", "shell-session"})

_PROMPT = re.compile(r"[ \t]*(?:\$|>>>|%|#(?= python))[ \t]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_PLACEHOLDER = re.compile(
    r"<[A-Za-z][\w .-]*>|(?:^|[=/])path/to\b|\b(?:my|your)[_-]\w+|\bTODO\b|\bX{3,}\b|^\.{3}$|…|^/(?:home|Users)/|^~/",
    re.IGNORECASE,
)
_INTERPRETERS = re.compile(r"(?:.*/)?python(?:3(?:\.\d+)?)?")


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its line in the body, its text, and its words without variables set before it."""

    line: int
    text: str
    words: tuple[str, ...]
    """Empty where a shell could not parse the text."""

    @property
    def module(self) -> str:
        """The module that `python -m` runs, or the script that python runs, empty if it runs none."""
        if not self.words or not _INTERPRETERS.fullmatch(self.words[0]):
            return ""
        rest = list(self.words[1:])
        while rest and rest[0].startswith("-") and rest[0] != "-m":
            rest.pop(0)
        return "" if not rest else rest[1] if rest[0] == "-m" and len(rest) > 1 else rest[0]

    @property
    def placeholder(self) -> str:
        """What in it a reader would have to replace, empty if nothing."""
        match = next((match for word in self.text.split() if (match := _PLACEHOLDER.search(word))), None)
        return match[0] if match else ""

    def equals(self, argv: tuple[str, ...]) -> bool:
        """Whether it runs what `argv` ran: the interpreter's own path aside."""
        return self.words[1:] == argv[1:] and bool(self.module)


def commands(body: str) -> Iterator[Command]:
    """Yield the commands of a page's shell blocks in order; where some lines have a prompt, the others are output."""
    for fence in masks.fences(body):
        if fence.info.partition(" ")[0].strip("{}.").lower() in SHELLS:
            lines = fence.content.split("\n")
            prompted = any(_PROMPT.match(line) for line in lines)
            yield from _joined(lines, fence.opens, prompted=prompted)


def _joined(lines: list[str], above: int, *, prompted: bool) -> Iterator[Command]:
    index = 0
    while index < len(lines):
        start, text = index, lines[index]
        while text.endswith("\\") and index + 1 < len(lines):
            index += 1
            text = f"{text[:-1].rstrip()} {lines[index].strip()}"
        index += 1
        if prompted and not _PROMPT.match(text):
            continue
        text = _PROMPT.sub("", text, count=1).strip()
        if text and not text.startswith("#"):
            yield Command(above + start + 1, text, _words(text))


def _words(text: str) -> tuple[str, ...]:
    try:
        words = shlex.split(text, comments=True)
    except ValueError:
        return ()
    while words and _VARIABLE.fullmatch(words[0]):
        words.pop(0)
    return tuple(words)
