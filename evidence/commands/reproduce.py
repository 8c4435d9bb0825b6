"""Owns `evidence reproduce`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evidence.commands import CLEAN, FINDINGS, INCONCLUSIVE, ROOT, UNCHECKED, UNSUITABLE, errors, fail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidence.project import Project
    from evidence.reproduction import Judged, Rerun
    from evidence.statistics import Interval
    from evidence.store import Loaded

_CODES = {
    "inside": CLEAN,
    "outside": FINDINGS,
    "no number": UNCHECKED,
    "inconclusive": INCONCLUSIVE,
    "not comparable": UNSUITABLE,
}
_RUNNER_UNSUITABLE = 4


@click.command()
@click.argument("item", metavar="ID")
@ROOT
@click.option("--log", metavar="LOG", default="", help="Which log, where a table stands on several.")
@click.option(
    "--smoke", is_flag=True, help="Few processes and samples: shows that the command runs and its gate passes."
)
@click.option("--dry-run", is_flag=True, help="Print the command and run nothing.")
@click.option("--yes", is_flag=True, help="Run it without asking.")
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="A new folder to keep the new log in.")
def reproduce(item: str, root: Path, log: str, smoke: bool, dry_run: bool, yes: bool, keep: Path | None) -> None:
    """Run the command behind the claim or table ID again, and compare what it measures with what is claimed.

    Results go to a temporary store; the project's own is not touched. A new value lies inside the claim's interval,
    outside it (the intervals do not even overlap), or between the two, which is inconclusive. Exits with 0 inside, 1
    outside, 2 could not, 3 inconclusive, 4 on another device or an unsuitable machine.
    """
    with errors():
        import tempfile

        from evidence import reproduction
        from evidence.project import Project

        project = Project.find(root)
        rerun = reproduction.plan(project, item, log=log)
        with tempfile.TemporaryDirectory(prefix="evidence-reproduce-") as folder:
            logs = keep if keep is not None else Path(folder) / "logs"
            _announce(rerun, rerun.argv(logs, brief=smoke))
            if dry_run:
                click.echo("evidence: nothing was run")
                sys.exit(CLEAN)
            if not yes and not _agreed():
                fail("not run: nobody agreed to it", "answer y, or give --yes")
            _require_empty(logs)
            code = reproduction.run(rerun, logs, brief=smoke)
            if code:
                _leave(code)
            found = _judged(project, rerun, reproduction.found_in(logs), smoke=smoke)
    sys.exit(_told(found, smoke=smoke))


def _announce(rerun: Rerun, argv: Sequence[str]) -> None:
    import shlex

    from evidence.checker.reports import safe

    click.echo(f"log      {safe(rerun.loaded.entry.log)}")
    for name, value in sorted(rerun.variables.items()):
        click.echo(f"with     {safe(name)}={safe(shlex.quote(value))}")
    click.echo(f"command  {safe(shlex.join(argv))}")
    for note in rerun.notes:
        click.echo(f"note     {safe(note)}")


def _agreed() -> bool:
    try:
        return click.confirm("Run it?", default=False)
    except click.Abort:
        return False


def _require_empty(logs: Path) -> None:
    if logs.exists() and any(logs.iterdir()):
        fail(f"{logs} is not empty", "name a new folder by --keep")


def _leave(code: int) -> None:
    """Exit as a run that measured nothing: an unsuitable machine says so by its own code."""
    if code == _RUNNER_UNSUITABLE:
        click.echo("evidence: this machine cannot run it", err=True)
        sys.exit(UNSUITABLE)
    fail(f"the command ended with {code}", "what it said stands above")


def _judged(project: Project, rerun: Rerun, now: Loaded, *, smoke: bool) -> list[Judged]:
    from evidence import reproduction

    if smoke:
        return list(reproduction.gates(rerun.loaded, now))
    return list(reproduction.judge(project, rerun.id, rerun.loaded, now))


def _told(found: Sequence[Judged], *, smoke: bool) -> int:
    """Print each number with its outcome, and return the exit code of all."""
    from evidence.checker.reports import safe
    from evidence.reproduction import worst

    for one in found:
        word = "ran" if smoke and one.outcome == "inside" else one.outcome
        numbers = f": {_interval(one.found)}, claimed {_interval(one.claimed)}" if one.claimed is not None else ""
        click.echo(f"{word:<15}{safe(one.what)}{numbers}{f' ({safe(one.note)})' if one.note else ''}")
    outcome = worst(found)
    if smoke:
        says = "the command runs and its gate passes" if outcome == "inside" else "a cell that was timed is not"
        click.echo(f"evidence: {says}; a smoke run says nothing about the numbers")
        return CLEAN if outcome == "inside" else FINDINGS
    counts = [
        f"{sum(one.outcome == name for one in found)} {name}"
        for name in _CODES
        if any(o.outcome == name for o in found)
    ]
    click.echo(f"evidence: {', '.join(counts) or 'nothing to compare'}")
    return _CODES[outcome]


def _interval(interval: Interval | None) -> str:
    if interval is None:
        return "nothing"
    return f"{interval.value:.4g} ({interval.low:.4g}–{interval.high:.4g})"
