"""Owns the options that all measuring commands share, and how they refuse: light enough to read a command by."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from evidence.errors import EvidenceError

LOGS = "docs/benchmark_logs"


class UsageError(EvidenceError):
    """Options that make no measurement."""


class UnsuitableError(EvidenceError):
    """This machine cannot run what was asked for."""


def add_places(parser: argparse.ArgumentParser, *, domain: str, name: str) -> None:
    """Add the options that say where results go; `name` says what a log is named after unless one is given."""
    where = parser.add_argument_group("where it goes")
    where.add_argument("--log", action="store_true", help="keep a record; without it nothing is stored")
    where.add_argument("--logs", default=LOGS, metavar="DIR", help=f"the store (default {LOGS})")
    where.add_argument("--domain", default=domain, help=f"first part of the log's name (default {domain})")
    where.add_argument("--name", help=f"second part of the log's name; {name} unless given")
    where.add_argument(
        "--limitation", action="append", default=[], metavar="TEXT", help="what the record does not show"
    )


def set_text(values: Iterable[str]) -> str:
    """Return names as the check compares them: each once, in order."""
    return " ".join(sorted(set(values))) or "none"


def flag_text(is_given: bool) -> str:
    """Return a flag as the check compares it."""
    return "given" if is_given else "not given"


def kept_in(words: Sequence[str], logs: Path) -> tuple[str, ...]:
    """Return what makes a command keep its record in another store; of options given twice the last one counts."""
    return (*(() if "--log" in words else ("--log",)), "--logs", str(logs))
