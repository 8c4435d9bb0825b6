"""Owns the command line: it reads arguments, calls, prints and exits; everything else is done elsewhere.

Exit codes: 0 clean; 1 findings; 2 could not check, nothing to check, or wrong usage.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evidence import __version__
from evidence.errors import EvidenceError

if TYPE_CHECKING:
    from evidence.checker.registry import Report, Rule
    from evidence.importers import Importer
    from evidence.schema import Record

CLEAN, FINDINGS, UNCHECKED = 0, 1, 2

_COULD_NOT_CHECK = ("EV901", "EV905")
_ROOT = click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="A folder of the project; the nearest mkdocs.yml at or above it is checked.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="evidence")
def cli() -> None:
    """Hold performance documentation to its evidence."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; an error that nothing foresaw is no finding, so it exits with 2."""
    try:
        cli.main(args=arguments, prog_name="evidence")
    except Exception as error:  # noqa: BLE001 - whatever went wrong, the check has not been made
        _fail(f"{type(error).__name__}: {error}", "this is a fault of evidence: please report it")


@contextmanager
def _errors() -> Iterator[None]:
    """Print what keeps a command from its work and exit with 2."""
    try:
        yield
    except EvidenceError as error:
        _fail(error.message, error.fix)
    except (OSError, UnicodeDecodeError) as error:
        _fail(str(error), "")


def _fail(message: str, fix: str) -> None:
    from evidence.checker.reports import safe

    click.echo(f"evidence: {safe(message)}", err=True)
    if fix:
        click.echo(f"  fix: {safe(fix)}", err=True)
    sys.exit(UNCHECKED)


def _patterns(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


@cli.command()
@_ROOT
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
    with _errors():
        from evidence.checker import catalogue, reports
        from evidence.checker.corpus import Corpus, Options
        from evidence.checker.registry import run
        from evidence.project import Project

        selected = catalogue.select(_patterns(select), _patterns(ignore))
        _require_kept(selected, catalogue.select(_patterns(select)))
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


@cli.command()
@click.argument("rule")
def explain(rule: str) -> None:
    """Print the page of a RULE, by code or name."""
    with _errors():
        from evidence.checker import catalogue, reports

        click.echo(reports.rule_text(catalogue.find(rule)), nl=False)


@cli.command()
def rules() -> None:
    """List every rule."""
    with _errors():
        from evidence.checker import catalogue, reports

        click.echo(reports.rule_list(catalogue.RULES), nl=False)


@cli.command()
@_ROOT
@click.option("--write", is_flag=True, help="Write both schemas below docs/schemas instead.")
@click.option("--claims", "of_claims", is_flag=True, help="Print the schema of claims files.")
def schema(root: Path, write: bool, of_claims: bool) -> None:
    """Print the JSON Schema of records."""
    with _errors():
        import json

        from evidence.project import Project
        from evidence.schema.claims import claims_schema
        from evidence.schema.json_schema import FILE_NAME, schema_text

        claims_text = json.dumps(claims_schema(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        if not write:
            click.echo(claims_text if of_claims else schema_text(), nl=False)
            return
        folder = Project.find(root).docs / "schemas"
        folder.mkdir(exist_ok=True)
        for name, content in {FILE_NAME: schema_text(), "claims.schema.json": claims_text}.items():
            (folder / name).write_text(content, encoding="utf-8")
            click.echo(f"wrote {folder / name}")


@cli.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--logs", type=click.Path(file_okay=False, path_type=Path), required=True, help="The store to save to.")
@click.option("--format", "form", metavar="NAME", help="Name of the importer; found by trying all if not given.")
@click.option("--log", metavar="NAME", help="Name of the log: <domain>/<name>_<YYYYMMDD>.")
def import_file(file: Path, logs: Path, form: str | None, log: str | None) -> None:
    """Read a FILE of another tool into the store as a record, its bytes beside it."""
    with _errors():
        from evidence.importers import files_of
        from evidence.store import save

        data = file.read_bytes()
        record = _imported(data, form, log)
        click.echo(save(logs, record, files_of(record, data)))


def _imported(data: bytes, form: str | None, log: str | None) -> Record:
    """Read bytes by the importer of that name, or by the only one that can.

    Raises:
        RecordError: no importer can read them, or several can.
    """
    from evidence.errors import RecordError, UnknownNameError

    importers = _importers()
    if form is not None and form not in importers:
        raise UnknownNameError("importer", form, importers)
    read: dict[str, Record] = {}
    reasons: list[str] = []
    for name in importers if form is None else (form,):
        try:
            read[name] = importers[name](data, log=log)
        except RecordError as error:
            reasons.append(f"{name}: {error.message}")
    if len(read) != 1:
        told = (
            f"several importers read it: {', '.join(read)}" if read else f"no importer reads it ({'; '.join(reasons)})"
        )
        raise RecordError(told, fix="name one by --format")
    return next(iter(read.values()))


def _importers() -> dict[str, Importer]:
    """Return the importers that are installed, by name.

    Raises:
        DuplicateNameError: two packages bring one of the same name.
    """
    from importlib.metadata import entry_points

    from evidence.errors import DuplicateNameError

    found: dict[str, Importer] = {}
    places: dict[str, str] = {}
    for point in entry_points(group="evidence.importers"):
        if point.name in places and places[point.name] != point.value:
            raise DuplicateNameError("importer", point.name, (places[point.name], point.value))
        found[point.name], places[point.name] = point.load(), point.value
    return found


@cli.command()
@click.argument("log")
@_ROOT
def show(log: str, root: Path) -> None:
    """Print what a LOG of the store holds: its stance, gates and medians."""
    with _errors():
        from evidence.checker import reports
        from evidence.project import Project
        from evidence.store import Store

        click.echo(reports.record_text(Store(Project.find(root).logs).load(log)), nl=False)
