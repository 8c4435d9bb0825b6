"""Owns `evidence check`: the gate of record."""

from __future__ import annotations

import datetime
import gc
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evidence.commands import CLEAN, FINDINGS, ROOT, UNCHECKED, errors, patterns

if TYPE_CHECKING:
    from evidence.checker.cache import Answer
    from evidence.checker.corpus import Options
    from evidence.checker.registry import Rule
    from evidence.checker.runs import Report
    from evidence.project import Project

_COULD_NOT_CHECK = ("EV901", "EV905")


@click.command()
@ROOT
@click.option("--format", "form", type=click.Choice(["text", "json", "github", "sarif", "junit"]), default="text")
@click.option("--select", multiple=True, metavar="RULES", help="Codes, names or prefixes to check: EV3,dirty-source.")
@click.option("--ignore", multiple=True, metavar="RULES", help="Codes, names or prefixes to leave out of this run.")
@click.option("--base", metavar="REF", help="Branch that the ledger is compared with, beside the last commit.")
@click.option("--changed", metavar="REF", help="Report what the work tree adds to the findings where it left REF.")
@click.option("--release", is_flag=True, help="Hold to what a release must: stale sources are errors.")
@click.option("--strict", is_flag=True, help="Fail for warnings too.")
@click.option("--jobs", type=click.IntRange(1, 64), help="Processes that read records; as many as are worth it.")
@click.option("--no-cache", "is_fresh", is_flag=True, help="Check in full, whatever was checked before.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the report to a file.")
def check(
    root: Path,
    form: str,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    base: str | None,
    changed: str | None,
    release: bool,
    strict: bool,
    jobs: int | None,
    is_fresh: bool,
    output: Path | None,
) -> None:
    """Check the store, the claims and the pages of a project."""
    with errors():
        from evidence.checker import cache
        from evidence.project import Project

        project = Project.find(root)
        start = None
        if changed is not None:
            from evidence.checker.changed import start_of

            start = start_of(project, changed)
        asked = Asked(
            form=form,
            is_coloured=output is None and sys.stdout.isatty(),
            wanted=patterns(select),
            unwanted=patterns(ignore),
            base=base or changed,
            start=start,
            is_release=release,
            is_strict=strict,
            day=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        )
        if is_fresh:
            answer = _answer(project, asked, jobs)
        else:
            answer = cache.answered(project, asdict(asked), lambda: _answer(project, asked, jobs))
        if output is not None:
            output.write_text(answer.text, encoding="utf-8")
            click.echo(answer.summary)
        else:
            click.echo(answer.text, nl=False)
    sys.exit(answer.code)


@dataclass(frozen=True, slots=True)
class Asked:
    """All that a report follows from beside the project."""

    form: str
    is_coloured: bool
    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]
    base: str | None
    start: str | None
    """The commit that a change started from, if only what it adds is asked for."""
    is_release: bool
    is_strict: bool
    day: str


def _answer(project: Project, asked: Asked, jobs: int | None) -> Answer:
    """Make the check. What it makes lasts as long as the process: looking for garbage would take a fifth of the time.

    So nothing is looked for while it runs, nor at its end, when the interpreter would go through all of it once more.
    """
    gc.disable()
    from evidence.checker import catalogue, reports
    from evidence.checker.cache import Answer
    from evidence.checker.corpus import Corpus, Options
    from evidence.checker.runs import run

    selected = catalogue.select(asked.wanted, asked.unwanted)
    _require_kept(selected, catalogue.select(asked.wanted))
    options = Options(asked.base, asked.is_release, jobs, datetime.date.fromisoformat(asked.day))
    report = run(catalogue.RULES, Corpus(project, options), selected=selected)
    if asked.start is not None:
        report = _added(report, asked.start, project, replace(options, base=None), selected)
    if asked.form == "text":
        text = reports.text(report, colour=asked.is_coloured)
    else:
        text = reports.FORMATS[asked.form](report, catalogue.RULES)
    code = _exit_code(report, strict=asked.is_strict)
    gc.freeze()
    return Answer(text, reports.summary(report), code, holds=code != UNCHECKED)


def _added(report: Report, start: str, project: Project, options: Options, selected: Sequence[Rule]) -> Report:
    """Leave out what was there before; what is never waived is never left out."""
    from evidence.checker import catalogue, changed
    from evidence.checker.corpus import Corpus
    from evidence.checker.runs import run

    before = changed.report_at(
        start, project, lambda there: run(catalogue.RULES, Corpus(there, options), selected=selected)
    )
    kept = {rule.code for rule in catalogue.RULES if not rule.waivable}
    return report if before is None else changed.added(report, before, kept)


def _require_kept(selected: Sequence[Rule], wanted: Sequence[Rule]) -> None:
    """Refuse to leave out a rule that is never waived."""
    left_out = [rule.code for rule in wanted if rule not in selected and not rule.waivable]
    if left_out:
        raise click.UsageError(f"these rules are never left out: {', '.join(left_out)}")


def _exit_code(report: Report, *, strict: bool) -> int:
    from evidence.diagnostics import Severity

    if not report.is_whole or any(diagnostic.code in _COULD_NOT_CHECK for diagnostic in report.diagnostics):
        return UNCHECKED
    failing = report.count(Severity.ERROR) + (report.count(Severity.WARNING) if strict else 0)
    return FINDINGS if failing else CLEAN
