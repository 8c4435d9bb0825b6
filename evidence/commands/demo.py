"""Owns `evidence demo`: a throwaway project, one pass, then the refusals, and nothing left behind."""

from __future__ import annotations

import contextlib
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evidence.commands import INCONCLUSIVE, errors, fail

if TYPE_CHECKING:
    from types import FrameType

    from evidence.checker.runs import Report
    from evidence.demo import Demo

_ATTEMPTS = 3
"""A busy machine may spoil a measurement of a few seconds; a clean one decides at once."""


@click.command()
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Make the project in DIR, a new or empty folder, and leave it there, unbroken.",
)
def demo(keep: Path | None) -> None:
    """Show what the check refuses, on a small benchmark that is measured here and now; needs git."""
    if keep is not None and keep.exists() and any(keep.iterdir()):
        fail(f"{keep} is not empty", "name a new folder")
    with errors(), _terminable(), tempfile.TemporaryDirectory(prefix="evidence-demo-") as folder:
        made = _passing(Path(folder))
        _refuse(made, Path(folder))
        if keep is not None:
            shutil.copytree(made.root, keep, dirs_exist_ok=True)
            click.echo(f"\nThe project is in {keep}: break it yourself, and run `evidence check --root {keep}`.")
        else:
            click.echo(
                "\nNothing of this is left behind. Keep the project to try it yourself: evidence demo --keep DIR"
            )


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Let a request to end clean up as Ctrl-C does."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _passing(folder: Path) -> Demo:
    """Make the project, and show that the check finds nothing in it."""
    from evidence.demo import make

    _head("A throwaway project: two ways of counting letters, measured on this machine")
    for attempt in range(_ATTEMPTS):
        root = folder / f"project-{attempt}"
        root.mkdir()
        made = make(root, _told)
        report = _checked(root)
        if not report.diagnostics:
            break
    else:
        _show(report)
        click.echo("This machine is too busy to time anything just now, and the check says so. Try again later.")
        sys.exit(INCONCLUSIVE)
    _sentence(made)
    click.echo("$ evidence check")
    _show(report)
    return made


def _told(done: int, of: int) -> None:
    """Count processes on one line of a terminal; say it once where there is none."""
    if sys.stdout.isatty():
        click.echo(f"\r{done} of {of} processes, each after its gate", nl=done == of)
    elif done == of:
        click.echo(f"{of} fresh processes, each after its gate, in turn with an A/A arm")


def _sentence(made: Demo) -> None:
    from evidence.book import Book
    from evidence.demo import CLAIM
    from evidence.project import Project
    from evidence.store import Store

    project = Project.find(made.root)
    statement = Book(project, Store(project.logs)).statement(CLAIM)
    click.echo(f"The claim, as the page prints it:\n  {statement.text}\n  {statement.note}\n")


def _refuse(made: Demo, folder: Path) -> None:
    """Break a copy of the project in one way after another."""
    from dataclasses import replace

    from evidence.demo.refusals import REFUSALS
    from evidence.errors import EvidenceError

    for number, refusal in enumerate(REFUSALS, start=1):
        root = folder / "broken"
        shutil.copytree(made.root, root)
        refusal.act(replace(made, root=root))
        report = _checked(root)
        _head(f"{number}. {refusal.what}")
        _show(report)
        if all(one.code != refusal.code for one in report.diagnostics):
            raise EvidenceError(f"{refusal.code} should have refused this", fix="report it: the check has a hole")
        shutil.rmtree(root)


def _checked(root: Path) -> Report:
    from evidence.checker import catalogue
    from evidence.checker.corpus import Corpus
    from evidence.checker.runs import run
    from evidence.project import Project

    return run(catalogue.RULES, Corpus(Project.find(root)))


def _show(report: Report) -> None:
    from evidence.checker import reports

    click.echo(reports.text(report, colour=sys.stdout.isatty()), nl=False)


def _head(text: str) -> None:
    click.echo(f"\n{click.style(text, bold=True)}")
