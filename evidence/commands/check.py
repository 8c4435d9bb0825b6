"""Owns `evidence check`: the gate of record."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evidence.commands import CLEAN, FINDINGS, ROOT, UNCHECKED, errors, patterns

if TYPE_CHECKING:
    from evidence.checker.registry import Rule
    from evidence.checker.runs import Report

_COULD_NOT_CHECK = ("EV901", "EV905")


@click.command()
@ROOT
@click.option("--format", "form", type=click.Choice(["text", "json", "github", "sarif"]), default="text")
@click.option("--select", multiple=True, metavar="RULES", help="Codes, names or prefixes to check: EV3,dirty-source.")
@click.option("--ignore", multiple=True, metavar="RULES", help="Codes, names or prefixes to leave out of this run.")
@click.option("--base", metavar="REF", help="Branch that the ledger is compared with, beside the last commit.")
@click.option("--release", is_flag=True, help="Hold to what a release must: stale sources are errors.")
@click.option("--strict", is_flag=True, help="Fail for warnings too.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the report to a file.")
def check(
    root: Path,
    form: str,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    base: str | None,
    release: bool,
    strict: bool,
    output: Path | None,
) -> None:
    """Check the store, the claims and the pages of a project."""
    with errors():
        from evidence.checker import catalogue, reports
        from evidence.checker.corpus import Corpus, Options
        from evidence.checker.runs import run
        from evidence.project import Project

        selected = catalogue.select(patterns(select), patterns(ignore))
        _require_kept(selected, catalogue.select(patterns(select)))
        report = run(catalogue.RULES, Corpus(Project.find(root), Options(base, release)), selected=selected)
        if output is not None:
            output.write_text(reports.FORMATS[form](report, catalogue.RULES), encoding="utf-8")
            click.echo(reports.summary(report))
        elif form == "text":
            click.echo(reports.text(report, colour=sys.stdout.isatty()), nl=False)
        else:
            click.echo(reports.FORMATS[form](report, catalogue.RULES), nl=False)
    sys.exit(_exit_code(report, strict=strict))


def _require_kept(selected: Sequence[Rule], wanted: Sequence[Rule]) -> None:
    """Refuse to leave out a rule that is never waived."""
    left_out = [rule.code for rule in wanted if rule not in selected and not rule.waivable]
    if left_out:
        raise click.UsageError(f"these rules are never left out: {', '.join(left_out)}")


def _exit_code(report: Report, *, strict: bool) -> int:
    from evidence.diagnostics import Severity

    if any(diagnostic.code in _COULD_NOT_CHECK for diagnostic in report.diagnostics):
        return UNCHECKED
    failing = report.count(Severity.ERROR) + (report.count(Severity.WARNING) if strict else 0)
    return FINDINGS if failing else CLEAN
