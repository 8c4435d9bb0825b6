"""Owns `evidence history`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evidence.commands import ROOT, errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidence.views import History, Moment

_HEADS = ("log", "value", "interval", "verdict", "level", "software")


@click.command()
@click.argument("subject", metavar="SERIES|CLAIM")
@ROOT
@click.option("--metric", metavar="NAME", help="Which metric of a series, such as time or ttft.p90; its first target.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def history(subject: str, root: Path, metric: str | None, form: str) -> None:
    """Print what every log of a series holds, in order of time, and where its level changes.

    A series shows one metric of each arm and workload; a claim its own reading.
    """
    with errors():
        from evidence import history as histories
        from evidence.book import Book
        from evidence.errors import EvidenceError
        from evidence.project import Project
        from evidence.store import Store

        project = Project.find(root)
        book = Book(project, Store(project.logs))
        if subject in book.claims.claims:
            if metric is not None:
                raise EvidenceError(f"{subject} is a claim, and reads its own metric", fix="leave out --metric")
            found = histories.of_claim(book, subject)
        else:
            found = histories.of_series(book, subject, metric)
        click.echo(_json(found) if form == "json" else _text(found), nl=False)


def _json(views: Sequence[History]) -> str:
    import dataclasses
    import json

    return json.dumps([dataclasses.asdict(view) for view in views], indent=1, ensure_ascii=False) + "\n"


def _text(views: Sequence[History]) -> str:
    return "\n".join(map(_table, views))


def _table(view: History) -> str:
    """One history: columns that would be empty are left out, and software stands where it changes."""
    from tabulate import tabulate

    from evidence.checker.reports import safe

    rows, before = [], ""
    for moment in view.moments:
        rows.append((*_row(moment, view.unit), moment.level, "" if moment.software == before else moment.software))
        before = moment.software
    kept = [index for index, texts in enumerate(zip(*rows, strict=True)) if any(texts)]
    cells = [[safe(row[index]) for index in kept] for row in rows]
    heads = [_HEADS[index] for index in kept]
    return f"{safe(view.title)}: {safe(view.changes)}\n{tabulate(cells, heads, disable_numparse=True)}\n"


def _row(moment: Moment, unit: str) -> tuple[str, str, str, str]:
    from evidence.renderers.marks import span
    from evidence.views import Measured, Ratio

    cell = moment.cell
    if isinstance(cell, Measured):
        return moment.log, f"{cell.shown.value} {unit}".strip(), span(cell.shown), ""
    if isinstance(cell, Ratio):
        return moment.log, *(("", "") if cell.shown is None else (cell.shown.value, span(cell.shown))), cell.word
    return moment.log, "", "", f"{cell.outcome}: {cell.reason}"
