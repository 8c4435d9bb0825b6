"""Owns `evidence audit`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evidence.commands import CLEAN, FINDINGS, UNCHECKED, errors

if TYPE_CHECKING:
    from evidence.audit.verdicts import Audit


@click.command()
@click.argument("pages", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--logs",
    multiple=True,
    required=True,
    type=click.Path(exists=True, path_type=Path),
    help="A folder of JSON, JSONL or CSV results, or one file; give it again for more.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@click.option("--only-findings", is_flag=True, help="Leave out of the text what is bound and what is configuration.")
@click.option("--migrate", is_flag=True, help="Propose claims for the numbers that come from Evidence records.")
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the report, or the claims, to a file."
)
def audit(
    pages: tuple[Path, ...],
    logs: tuple[Path, ...],
    form: str,
    only_findings: bool,
    migrate: bool,
    output: Path | None,
) -> None:
    """Say of every number on existing PAGES (Markdown, or a CSV) which field of which result file it comes from."""
    with errors():
        from evidence.audit import auditing, proposals, report

        run = auditing.run(pages, logs)
        found = run.audit
        if migrate:
            content = proposals.propose(run)
        else:
            content = report.json_text(found) if form == "json" else report.text(found, only_findings=only_findings)
        if output is None:
            click.echo(content, nl=False)
        else:
            _write(output, content, must_be_new=migrate)
            click.echo(report.summary(found))
    sys.exit(_exit_code(found))


def _write(output: Path, content: str, *, must_be_new: bool) -> None:
    """Write a report; proposed claims overwrite nothing."""
    with output.open("x" if must_be_new else "w", encoding="utf-8") as stream:
        stream.write(content)


def _exit_code(found: Audit) -> int:
    if not found.judged:
        return UNCHECKED
    return CLEAN if found.is_clean else FINDINGS
