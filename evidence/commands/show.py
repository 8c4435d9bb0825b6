"""Owns `evidence show`."""

from __future__ import annotations

from pathlib import Path

import click

from evidence.commands import ROOT, errors


@click.command()
@click.argument("log")
@ROOT
def show(log: str, root: Path) -> None:
    """Print what a LOG of the store holds: its stance, gates and medians."""
    with errors():
        from evidence.checker import reports
        from evidence.project import Project
        from evidence.store import Store

        click.echo(reports.record_text(Store(Project.find(root).logs).load(log)), nl=False)
