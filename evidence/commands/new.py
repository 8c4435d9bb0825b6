"""Owns `evidence new`: skeletons of a feature section and of a claim."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evidence.commands import ROOT, errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidence.project import Project
    from evidence.skeletons import Addition

_DEFAULT_PAGE = "optimization_features.md"


@click.group()
def new() -> None:
    """Write the skeleton of a section or of a claim, and overwrite nothing."""


@new.command()
@click.argument("name")
@click.option("--page", type=click.Path(dir_okay=False, path_type=Path), help="The page it is added to.")
@click.option(
    "--series", metavar="SERIES", help="The log's path without its date: its claim and table are written too."
)
@ROOT
def section(name: str, page: Path | None, series: str | None, root: Path) -> None:
    """Add a feature section NAME to a page: what it does, figure, table, command, where it loses."""
    with errors():
        from evidence import skeletons
        from evidence.project import Project

        project = Project.find(root)
        chosen = (page if page is not None else project.docs / _DEFAULT_PAGE).resolve()
        if not chosen.is_relative_to(project.docs) or chosen.suffix != ".md":
            raise click.UsageError(f"{page}: a page is a .md file below {project.name(project.docs)}")
        if series is not None:
            skeletons.require_series(project, series)
        _write(project, skeletons.section(project, name, chosen, series))
        if series is None:
            click.echo("next: measure, then evidence new claim ID --series SERIES")


@new.command()
@click.argument("identity", metavar="ID")
@click.option("--series", metavar="SERIES", required=True, help="The log's path without its date.")
@click.option(
    "--file", type=click.Path(dir_okay=False, path_type=Path), help="The claims file; the only one if not given."
)
@ROOT
def claim(identity: str, series: str, file: Path | None, root: Path) -> None:
    """Add a claim ID over a series to a claims file."""
    with errors():
        from evidence import skeletons
        from evidence.project import Project

        project = Project.find(root)
        skeletons.require_series(project, series)
        chosen = file.resolve() if file is not None else None
        if chosen is not None and (chosen.parent != project.claims.resolve() or chosen.suffix != ".yml"):
            raise click.UsageError(f"{file}: a claims file is a .yml file in {project.name(project.claims)}")
        _write(project, (skeletons.claim(project, identity, series, chosen),))
        click.echo(f'next: call it on a page: {{{{ ev.claim("{identity}") }}}}')


def _write(project: Project, additions: Sequence[Addition]) -> None:
    from evidence.checker.reports import safe

    for one in additions:
        one.write()
        click.echo(f"wrote {safe(project.name(one.path))}:{one.line}")
    click.echo("next: evidence check lists what is left to write; then evidence update")
