"""Owns `evidence schema`."""

from __future__ import annotations

from pathlib import Path

import click

from evidence.commands import ROOT, errors


@click.command()
@ROOT
@click.option("--write", is_flag=True, help="Write both schemas below docs/schemas instead.")
@click.option("--claims", "of_claims", is_flag=True, help="Print the schema of claims files.")
def schema(root: Path, write: bool, of_claims: bool) -> None:
    """Print the JSON Schema of records."""
    with errors():
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
