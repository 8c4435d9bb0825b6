"""Owns which program a command runs: a module, a script, a target of make, or a name, behind whatever wraps it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

Kind = Literal["module", "script", "make", "name", ""]

_INTERPRETER = re.compile(r"(?:.*/)?(?:python|pypy)(?:[23](?:\.\d+)?)?(?:\.exe)?")
_SHELL = re.compile(r"(?:.*/)?(?:bash|sh|zsh|dash)")
_IN_ENVIRONMENT = re.compile(r"(?:.*/)?(?:\.?venv|env)[\w.-]*/bin/([\w.-]+)")
_SCRIPT = re.compile(r"[\w./+-]+\.(?:py|sh|bash|pl|rb)")
_VALUED = frozenset({"-W", "-X", "--check-hash-based-pycs"})
"""Options of an interpreter that take the next word."""
_WRAPPERS = frozenset(
    {
        *("sudo", "time", "nohup", "exec", "command", "env", "nice", "taskset", "numactl", "stdbuf", "timeout", "chrt"),
        *("torchrun", "mpirun", "mpiexec", "srun", "nsys", "ncu", "nvprof", "xvfb-run", "caffeinate"),
    }
)
_RUNNERS = {"uv": "run", "poetry": "run", "pdm": "run", "hatch": "run", "pipenv": "run", "accelerate": "launch"}
_LAUNCHERS = frozenset({"torchrun", "accelerate", "mpirun", "mpiexec"})
"""They take a script without its interpreter."""


class Program(NamedTuple):
    """What a command runs and what it is told."""

    kind: Kind
    name: str
    arguments: tuple[str, ...] = ()


def program_of(words: Sequence[str]) -> Program:
    """Return what these words run; of kind "" if they run nothing that has a name."""
    rest = list(words)
    while rest:
        head = rest.pop(0)
        if _INTERPRETER.fullmatch(head):
            return _interpreted(rest)
        if (shelled := _SHELL.fullmatch(head)) or head in ("source", "."):
            return _scripted(rest, takes_text=bool(shelled))
        if inside := _IN_ENVIRONMENT.fullmatch(head):
            return Program("name", inside[1], tuple(rest))
        if head in ("make", "gmake"):
            return Program("make", "make", tuple(rest))
        if head in _WRAPPERS or rest[:1] == [_RUNNERS.get(head)]:
            rest = _unwrapped(head, rest)
            continue
        if _SCRIPT.fullmatch(head) or head.startswith("./") or ("/" in head and not head.startswith(("/", "~", "$"))):
            return Program("script", head, tuple(rest))
        return Program("name", head, tuple(rest))
    return Program("", "")


def _interpreted(rest: list[str]) -> Program:
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "-m":
            return Program("module", rest[0], tuple(rest[1:])) if rest else Program("module", "")
        if option in ("-c", "-", "-V", "--version", "-h", "--help"):
            return Program("", "")
        if option in _VALUED and rest:
            rest.pop(0)
    return Program("script", rest[0], tuple(rest[1:])) if rest else Program("", "")


def _scripted(rest: list[str], *, takes_text: bool) -> Program:
    while rest and rest[0].startswith("-"):
        if takes_text and "c" in rest.pop(0):
            return Program("", "")
    return Program("script", rest[0], tuple(rest[1:])) if rest else Program("", "")


def _unwrapped(head: str, rest: list[str]) -> list[str]:
    """Drop a wrapper's own options: up to the first word that begins a command."""
    if head in _RUNNERS:
        rest = rest[1:]
    for index, word in enumerate(rest):
        if _INTERPRETER.fullmatch(word) or _SHELL.fullmatch(word) or word in _WRAPPERS or word == "make":
            return rest[index:]
        if head in _LAUNCHERS and word in ("-m", "--module"):
            return ["python", "-m", *rest[index + 1 :]]
        if _SCRIPT.fullmatch(word):
            return ["python", *rest[index:]] if head in _LAUNCHERS or word.endswith(".py") else rest[index:]
    named = [
        index
        for index, word in enumerate(rest)
        if not word.startswith("-") and not word[:1].isdigit() and "=" not in word
    ]
    return rest[named[0] :] if named else []
