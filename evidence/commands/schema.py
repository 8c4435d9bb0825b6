"""Owns `evidence schema`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evidence.commands import ROOT, errors

if TYPE_CHECKING:
    from evidence.project import Project


@click.command()
@ROOT
@click.option("--write", is_flag=True, help="Write both schemas below docs/schemas instead.")
@click.option("--claims", "of_claims", is_flag=True, help="Print the schema of claims files.")
@click.option("--store", "of_store", is_flag=True, help="Print the schema of claims files over this project's logs.")
def schema(root: Path, write: bool, of_claims: bool, of_store: bool) -> None:
    """Print the JSON Schema of records.

    With --store, the schema of claims files knows every series of the project with its arms, metrics, axes and values.
    With --write too, it is kept beside the others, for editors: it follows from the logs, so keep it out of git.
    """
    with errors():
        import json

        from evidence import editor
        from evidence.project import Project
        from evidence.schema.claims import claims_schema
        from evidence.schema.json_schema import FILE_NAME, schema_text

        def written(made: Mapping[str, object]) -> str:
            return json.dumps(made, indent=1, sort_keys=True, ensure_ascii=False) + "\n"

        if of_store:
            texts = {editor.FILE_NAME: written(_over(Project.find(root)))}
        else:
            texts = {FILE_NAME: schema_text(), "claims.schema.json": written(claims_schema())}
        if not write:
            click.echo(
                texts["claims.schema.json"] if of_claims and not of_store else next(iter(texts.values())), nl=False
            )
            return
        folder = Project.find(root).docs / "schemas"
        folder.mkdir(exist_ok=True)
        for name, content in texts.items():
            (folder / name).write_text(content, encoding="utf-8")
            click.echo(f"wrote {folder / name}")


def _over(project: Project) -> dict[str, object]:
    """Return the schema over a project's logs; a series is known by the log it stands on."""
    from evidence.book import Book
    from evidence.editor import store_schema
    from evidence.store import Store

    store = Store(project.logs)
    book = Book(project, store)
    series = dict.fromkeys(entry.series for entry in store.entries)
    records = {name: book.log(name).record for name in series}
    return store_schema(records, [entry.log for entry in store.entries])
