"""Owns `evidence verify`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evidence.commands import CLEAN, FINDINGS, ROOT, errors

if TYPE_CHECKING:
    from evidence.verification import Verified

_WIDTH = 13


@click.command()
@click.argument("item", metavar="ID")
@ROOT
@click.option("--log", metavar="LOG", default="", help="Recompute from this log, not from the one that is cited.")
@click.option("--cell", metavar="ARM/WORKLOAD", default="", help="Recompute only this cell.")
@click.option("--json", "is_json", is_flag=True, help="Print the steps as JSON.")
def verify(item: str, root: Path, log: str, cell: str, is_json: bool) -> None:
    """Recompute the claim or table ID from its record, step by step, up to the text that is printed.

    File and digest, gate counts, samples by process, medians, interval, ratio, verdict, text. Nothing is fetched and
    nothing is run. Exits with 1 if a step does not come out as it is printed.
    """
    with errors():
        from evidence.project import Project
        from evidence.verification import verify as recompute

        found = recompute(Project.find(root), item, log=log, cell=cell)
    click.echo(_json(found) if is_json else _text(found), nl=False)
    sys.exit(CLEAN if found.holds else FINDINGS)


def _text(found: Verified) -> str:
    from evidence.checker.reports import safe

    lines = [f"{found.kind} {found.id}"]
    for step in found.steps:
        mark = " " if step.holds else "✗"
        lines.append(f"{mark} {step.name:<{_WIDTH}}{safe(step.text)}")
    wrong = sum(not step.holds for step in found.steps)
    end = f"{wrong} of {len(found.steps)} steps do not" if wrong else f"all {len(found.steps)} steps"
    lines.append(f"evidence: {end} come out as printed")
    return "".join(f"{line}\n" for line in lines)


def _json(found: Verified) -> str:
    import json

    document = {
        "id": found.id,
        "kind": found.kind,
        "holds": found.holds,
        "steps": [
            {"step": step.name, "text": step.text, "holds": step.holds, **dict(step.numbers)} for step in found.steps
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
