"""Owns `evidence import`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evidence.commands import errors

if TYPE_CHECKING:
    from evidence.schema import Record


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--logs", type=click.Path(file_okay=False, path_type=Path), required=True, help="The store to save to.")
@click.option("--format", "form", metavar="NAME", help="Name of the importer; found by trying all if not given.")
@click.option("--log", metavar="NAME", help="Name of the log: <domain>/<name>_<YYYYMMDD>.")
def import_file(file: Path, logs: Path, form: str | None, log: str | None) -> None:
    """Read a FILE of another tool into the store as a record, its bytes beside it."""
    with errors():
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
    from evidence.importers import installed

    importers = installed()
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
