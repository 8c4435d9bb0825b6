"""Owns the commands, one module a command; here is what they share: options, errors and exit codes.

Exit codes: 0 clean; 1 findings; 2 could not check, nothing to check, or wrong usage; 3 inconclusive; 4 an unsuitable
machine.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from evidence.errors import EvidenceError

CLEAN, FINDINGS, UNCHECKED, INCONCLUSIVE, UNSUITABLE = range(5)

ROOT = click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="A folder of the project; the nearest mkdocs.yml at or above it is checked.",
)


@contextmanager
def errors() -> Iterator[None]:
    """Print what keeps a command from its work and exit with 2."""
    try:
        yield
    except EvidenceError as error:
        fail(error.message, error.fix)
    except (OSError, UnicodeDecodeError) as error:
        fail(str(error), "")


def fail(message: str, fix: str) -> None:
    """Say why a command could not do its work, and exit with 2."""
    from evidence.checker.reports import safe

    click.echo(f"evidence: {safe(message)}", err=True)
    if fix:
        click.echo(f"  fix: {safe(fix)}", err=True)
    sys.exit(UNCHECKED)


def patterns(values: Iterable[str]) -> tuple[str, ...]:
    """Split what was given by commas, by several options, or both."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


def log_named(text: str) -> str:
    """Return the log that a name or a path to its folder or record means: people complete paths with a key."""
    parts = text.rstrip("/").removesuffix("/record.json").split("/")
    return "/".join(parts[-2:])
