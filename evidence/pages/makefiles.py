"""Owns reading a Makefile as far as its targets' recipes go: what `make TARGET` would run. Nothing is run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

NAMES = ("GNUmakefile", "makefile", "Makefile")

_ASSIGNMENT = re.compile(r"(?:export[ \t]+|override[ \t]+)*([A-Za-z_][\w.-]*)[ \t]*(::?:?=|\?=|\+=|=)[ \t]*(.*)")
_RULE = re.compile(r"([^\s:=#][^:=#]*?)[ \t]*(::?)(?!=)(.*)")
_REFERENCE = re.compile(r"\$(?:\(([^()$]*)\)|\{([^{}$]*)\}|([@<^?*$]))")
_OPEN = re.compile(r"-?include\b|sinclude\b|define\b|ifn?(?:eq|def)\b")
_DEEPEST = 20


class Recipe(NamedTuple):
    """One target: the line it stands on, what must be made before it, and its commands with their lines."""

    line: int
    needs: tuple[str, ...]
    commands: tuple[tuple[int, str], ...]


@dataclass(slots=True)
class Makefile:
    """What one file says. `is_whole`: nothing in it brings in targets that are not read."""

    targets: dict[str, Recipe] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    is_whole: bool = True

    def expand(self, text: str, given: Mapping[str, str] | None = None) -> str:
        """Put variables in; what a function of make would compute stays as it stands."""
        for _ in range(_DEEPEST):
            new = _REFERENCE.sub(lambda match: self._value(match, given or {}), text)
            if new == text:
                break
            text = new
        return text.replace("\0", "$")

    def _value(self, match: re.Match[str], given: Mapping[str, str]) -> str:
        name = match[1] or match[2] or match[3] or ""
        if name == "$":
            return "\0"
        if name in ("MAKE", "CURDIR"):
            return {"MAKE": "make", "CURDIR": "."}[name]
        return given.get(name, self.variables.get(name, match[0] if not name.isidentifier() else ""))

    def commands_of(self, target: str, given: Mapping[str, str] | None = None) -> Iterator[tuple[int, str]]:
        """Yield line and shell text of each command that a target runs by itself and through what it needs."""
        yield from self._commands(target, given or {}, set())

    def _commands(self, target: str, given: Mapping[str, str], seen: set[str]) -> Iterator[tuple[int, str]]:
        if target in seen or target not in self.targets:
            return
        seen.add(target)
        recipe = self.targets[target]
        for need in recipe.needs:
            yield from self._commands(self.expand(need, given), given, seen)
        for line, text in recipe.commands:
            yield line, self.expand(text.lstrip("@-+ \t"), given)


def find(folder: Path) -> Path | None:
    """Return the Makefile that make would read in a folder."""
    return next((folder / name for name in NAMES if (folder / name).is_file()), None)


def parse(text: str) -> Makefile:
    """Read a Makefile's targets and variables; what it does not understand it passes over."""
    made = Makefile()
    current: list[str] = []
    for line, logical in _logical(text):
        if logical.startswith("\t"):
            _add(made, current, line, logical)
            continue
        stripped = logical.split(" #")[0].strip() if not logical.startswith("#") else ""
        if not stripped:
            continue
        if _OPEN.match(stripped):
            made.is_whole = False
            continue
        if assignment := _ASSIGNMENT.fullmatch(stripped):
            _assign(made, *assignment.groups())
        elif rule := _RULE.fullmatch(stripped):
            current = _declare(made, line, rule[1], rule[3])
    return made


def _logical(text: str) -> Iterator[tuple[int, str]]:
    lines = text.replace("\r\n", "\n").split("\n")
    index = 0
    while index < len(lines):
        start, joined = index, lines[index]
        while joined.endswith("\\") and index + 1 < len(lines):
            index += 1
            joined = f"{joined[:-1].rstrip()} {lines[index].strip()}"
        index += 1
        yield start + 1, joined


def _assign(made: Makefile, name: str, operator: str, value: str) -> None:
    old = made.variables.get(name)
    if operator == "?=" and old is not None:
        return
    made.variables[name] = f"{old} {value}" if operator == "+=" and old else value


def _declare(made: Makefile, line: int, names: str, rest: str) -> list[str]:
    needs, _, command = rest.partition(";")
    targets = made.expand(names).split()
    if any("%" in target for target in targets):
        made.is_whole = False
    for target in targets:
        old = made.targets.get(target)
        words = tuple(word for word in needs.replace("|", " ").split() if ":" not in word)
        commands: Sequence[tuple[int, str]] = [(line, command.strip())] if command.strip() else []
        if old is None:
            made.targets[target] = Recipe(line, words, tuple(commands))
        else:
            made.targets[target] = Recipe(old.line, (*old.needs, *words), (*old.commands, *commands))
    return targets


def _add(made: Makefile, targets: Sequence[str], line: int, text: str) -> None:
    command = text.strip()
    for target in targets if command and not command.startswith("#") else ():
        old = made.targets[target]
        made.targets[target] = Recipe(old.line, old.needs, (*old.commands, (line, command)))
