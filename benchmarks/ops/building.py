"""Owns the builder of verify's commands: words are validated and quoted, and nothing of the command is run."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks import ROOT
from benchmarks.ops import selection, verification
from benchmarks.ops.outcomes import DENIED
from benchmarks.ops.verification import NAME, Verification
from benchmarks.options import UsageError
from evidence.errors import EvidenceError, nearest
from evidence.repository import Repository

_REQUIREMENT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==[A-Za-z0-9][A-Za-z0-9.!+_-]*")
_REF = re.compile(r"[A-Za-z0-9_][\w./@{}^~+-]*")
_WORD = re.compile(r"[^\s()]+")
_OPERATORS = frozenset({"and", "or", "not"})


@dataclass(frozen=True, slots=True)
class Built:
    """A command, and what a run of it may be used for."""

    command: str
    notes: tuple[str, ...]


def build(words: Sequence[str]) -> Built:
    """Return verify's command for these words.

    Raises:
        EvidenceError: they make no run, name a ref or a selection that is none, or are no words of verify.
    """
    options = verification.parser().parse_args(list(words))
    if options.list or options.dry_run:
        raise UsageError("a command that only lists or plans needs no builder", fix=f"run python -m {NAME} as it is")
    asked = verification.resolve(options)
    _check_base(asked)
    _check_expression(asked.gate_k)
    pinned = selection.variables(asked.selection, {})
    prefix = ["env", *(word for name in DENIED for word in ("-u", name))]
    prefix += [f"{name}={value}" for name, value in sorted(pinned.items())]
    return Built(shlex.join([*prefix, "python", "-m", NAME, *words]), tuple(_notes(asked)))


def _check_base(asked: Verification) -> None:
    base = asked.base
    if base is None:
        return
    if requirement := _REQUIREMENT.fullmatch(base):
        package = asked.implementation.package
        if package is None or requirement[1].lower().replace("_", "-") != package.lower():
            comes_from = package or "this repository"
            raise UsageError(f"{base} holds no code of {asked.op.name}, which comes from {comes_from}")
        return
    if not _REF.fullmatch(base):
        raise UsageError(f"{base!r} is neither a git ref nor NAME==VERSION")
    repository = Repository.find(asked.repository or ROOT)
    if repository is None:
        raise UsageError("there is no git repository to find the ref in", fix="give --base NAME==VERSION")
    if repository.resolve(base) is None:
        known = [line.partition(" ")[0].split("/", 2)[-1] for line in repository.state().splitlines()[1:]]
        meant = nearest(base, known)
        raise UsageError(f"no commit {base!r} in this repository", fix=f"did you mean {meant}?" if meant else "")


def _check_expression(expression: str | None) -> None:
    """Refuse what is no `-k` expression: words joined by and, or, not and parentheses."""
    if expression is None:
        return
    program = _WORD.sub(lambda word: word[0] if word[0] in _OPERATORS else "True", expression)
    try:
        compile(program, "--gate-k", "eval")
    except SyntaxError:
        raise UsageError(f"--gate-k {expression!r} is no expression of words, and, or, not") from None


def _notes(asked: Verification) -> Sequence[str]:
    notes = []
    if not asked.has_tests:
        notes.append("may be used for: a first look only. Without the frozen tests no result is evidence (exit 19)")
    elif asked.gate_k is not None:
        notes.append("may be used for: a fast signal only. A part of the gate promotes nothing (exit 18)")
        notes += _what_it_selects(asked)
    elif asked.base is None:
        notes.append("may be used for: times of one side. Nothing is compared, so nothing can be called faster")
    else:
        notes.append(
            "may be used for: one of the two sessions that a promotion needs, with a profile that explains the change, "
            "if it exits 0 with --log from a committed work tree"
        )
    if asked.has_tests and not asked.test_file.is_file():
        notes.append(f"the gate file {asked.test_file.relative_to(ROOT).as_posix()} is missing: exit 13")
    if asked.selection.device == "cuda":
        notes.append("needs an accelerator: elsewhere exit 4")
    notes.append("unverified: nothing was run")
    return notes


def _what_it_selects(asked: Verification) -> Sequence[str]:
    if not asked.test_file.is_file():
        return ()
    text = asked.test_file.read_text(encoding="utf-8").lower()
    words = [word for word in _WORD.findall(asked.gate_k or "") if word not in _OPERATORS]
    if any(word.lower() in text for word in words):
        return ()
    name = asked.test_file.relative_to(ROOT).as_posix()
    return (f"no word of {asked.gate_k!r} is in {name}: it will likely select nothing (exit 11)",)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the command for these words; 2 if they make none."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        built = build(words)
    except EvidenceError as error:
        sys.stderr.write(f"error: {error.message}\n" + (f"  fix: {error.fix}\n" if error.fix else ""))
        return 2
    except argparse.ArgumentError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    lines = [built.command, *(f"# {note}" for note in built.notes)]
    if set_here := [name for name in DENIED if os.environ.get(name)]:
        lines.append(f"# set here, and taken out by the command: {', '.join(set_here)}")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0
