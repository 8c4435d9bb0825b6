"""Owns `evidence explain` and `evidence rules`: the catalogue as text."""

from __future__ import annotations

import click

from evidence.commands import errors


@click.command()
@click.argument("rule")
def explain(rule: str) -> None:
    """Print the page of a RULE, by code or name."""
    with errors():
        from evidence.checker import catalogue, reports

        click.echo(reports.rule_text(catalogue.find(rule)), nl=False)


@click.command()
def rules() -> None:
    """List every rule."""
    with errors():
        from evidence.checker import catalogue, reports

        click.echo(reports.rule_list(catalogue.RULES), nl=False)
