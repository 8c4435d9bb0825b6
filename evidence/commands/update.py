"""Owns `evidence update`: newer logs adopted, and every printed line that moves by it shown."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evidence.commands import CLEAN, FINDINGS, ROOT, errors, log_named

if TYPE_CHECKING:
    from evidence.adoption import Adoption


@click.command()
@ROOT
@click.option("--adopt", multiple=True, metavar="LOG", help="Let a series stand on this log, whatever it lost.")
@click.option("--series", multiple=True, metavar="SERIES", help="Move only this series; all lines are written anew.")
@click.option("--dry-run", is_flag=True, help="Print what would change, and write nothing.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def update(root: Path, adopt: tuple[str, ...], series: tuple[str, ...], dry_run: bool, form: str) -> None:
    """Adopt the newest log of each claimed series, and write evidence.lock.

    Prints each line of the lock that changes, old and new, and whether its numbers moved beyond the noise. What a claim
    expects is left as it is: a verdict that turned fails the check until a person has reread the statement. Exits with
    1 if a newer log was refused.
    """
    with errors():
        from evidence.adoption import adopt as move
        from evidence.project import Project

        project = Project.find(root)
        found = move(project, picked=[log_named(one) for one in adopt], only=series)
        if not dry_run:
            found.write()
        text = _json(found, is_written=not dry_run) if form == "json" else _text(found, is_written=not dry_run)
    click.echo(text, nl=False)
    sys.exit(FINDINGS if any(decision.refusals for decision in found.decisions) else CLEAN)


def _text(found: Adoption, *, is_written: bool) -> str:
    from evidence.checker.reports import safe
    from evidence.commands import changes
    from evidence.lock import date_of

    lines: list[str] = []
    for decision in found.decisions:
        if decision.is_moved:
            old = date_of(decision.old.entry.log, decision.series) if decision.old else "nothing"
            lines.append(f"{safe(decision.series)}: {old} -> {date_of(decision.new.entry.log, decision.series)}")
        if decision.is_behind and not decision.refusals:
            lines.append(f"{safe(decision.series)}: {safe(decision.newest.entry.log)} is newer: {_BEHIND}")
        for refusal in decision.refusals:
            lines += [f"refused: {refusal.code}: {safe(refusal.message)}", f"  fix: {safe(refusal.fix)}"]
    lines += changes.lines(found.changes)
    lines += changes.fault_lines(found.faults)
    where = found.name if is_written else "nothing written"
    lines.append(f"evidence: {changes.tally(found.changes)}; {where}")
    return "".join(f"{line}\n" for line in lines)


_BEHIND = "the check fails until it is adopted, or has a status with a reason"


def _json(found: Adoption, *, is_written: bool) -> str:
    import json

    from evidence.commands import changes

    document: dict[str, Any] = {
        "lock": found.name,
        "written": is_written,
        "series": [
            {
                "series": decision.series,
                "old": decision.old.entry.log if decision.old else None,
                "new": decision.new.entry.log,
                "newest": decision.newest.entry.log,
                "refusals": [
                    {"code": one.code, "log": one.log, "message": one.message, "fix": one.fix}
                    for one in decision.refusals
                ],
            }
            for decision in found.decisions
        ],
        "changes": changes.plain(found.changes),
        "faults": changes.plain_faults(found.faults),
    }
    return json.dumps(document, indent=1) + "\n"
