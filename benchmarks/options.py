"""Owns the options that all measuring commands share, and how they refuse: light enough to read a command by."""

from __future__ import annotations

import argparse

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
