"""Owns what commands of a page leave behind for those after them: variables, the folder they end in, files made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

_CLONE = re.compile(r"(?:.*/)?([^/]+?)(?:\.git)?/?")


class Word(NamedTuple):
    """One word with the variables that the text sets put in."""

    text: str
    raw: str
    unset: tuple[str, ...] = ()
    """Variables in it that nothing sets."""
    is_open: bool = False
    """It holds what only running would tell: the output of a command, a loop's variable, a pattern."""


class Simple(NamedTuple):
    """One simple command: what it is called with, and where it stands."""

    line: int
    raw: str
    words: tuple[Word, ...]
    assigned: Mapping[str, str]
    """Variables set before it for it, and those exported above it."""
    directory: str | None
    """Where it runs, from where the text starts; None where that cannot be told."""
    writes: tuple[str, ...] = ()
    """Files that its output goes to."""


@dataclass(slots=True)
class Session:
    """What earlier text of a page leaves behind for later text: variables, the directory, and files fetched or made."""

    variables: dict[str, str | None] = field(default_factory=dict)
    """Name -> value; None where only running would tell."""
    exported: set[str] = field(default_factory=set)
    directory: str | None = "."
    made: set[str] = field(default_factory=set)
    """Paths that earlier commands write, fetch or copy."""
    cloned: dict[str, str] = field(default_factory=dict)
    """Folder -> address of each repository cloned."""

    def follow(self, made: Simple) -> None:
        """Keep what a command changes for those after it."""
        name, rest = made.words[0].text, [word.text for word in made.words[1:]]
        arguments = [text for text in rest if not text.startswith("-")]
        self.made.update(made.writes)
        if name in ("export", "declare", "local", "readonly", "typeset"):
            for word in made.words[1:]:
                variable, is_set, value = word.text.partition("=")
                self.exported.add(variable)
                if is_set:
                    self.variables[variable] = None if word.is_open else value
                else:
                    self.variables.setdefault(variable, None)
        elif name in ("read", "mapfile", "getopts"):
            self.variables.update(dict.fromkeys(arguments))
        elif name == "unset":
            for variable in arguments:
                self.variables.pop(variable, None)
        elif name in ("cd", "pushd"):
            self.directory = self._entered(arguments[0] if arguments else None)
        elif name == "popd":
            self.directory = None
        elif name == "git" and arguments[:1] == ["clone"] and len(arguments) > 1:
            self._clone(arguments[1:])
        elif "venv" in rest[:2] or name == "virtualenv":
            self.made.update(arguments)
        elif name in ("curl", "wget", "unzip", "tar", "cp", "mv", "touch", "mkdir", "tee", "ln", "gh", "hf", "scp"):
            self.made.update(arguments)
            self.made.update(text.rpartition("/")[2] for text in arguments)

    def _clone(self, arguments: list[str]) -> None:
        """Note the folder of a repository: named after its address, else that of the address itself."""
        at = next((index for index, text in enumerate(arguments) if "/" in text), 0)
        named = arguments[at + 1 : at + 2] or [match[1] for match in [_CLONE.fullmatch(arguments[at])] if match]
        self.cloned[named[0] if named else arguments[at]] = arguments[at]

    def _entered(self, target: str | None) -> str | None:
        """Return where `cd` leads: a repository that was cloned is where a reader of the page starts anyway."""
        here = self.directory
        if target is None or target.startswith(("/", "~", "-", "$")) or here is None:
            return None
        top, _, below = target.partition("/")
        if here == "." and top in self.cloned:
            here, target = f"clone:{top}", below
        parts = [] if here == "." else here.split("/")
        for part in target.split("/"):
            if part == "..":
                if not parts:
                    return None
                parts.pop()
            elif part not in ("", "."):
                parts.append(part)
        return "/".join(parts) or "."
