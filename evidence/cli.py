"""Owns the command line: which commands there are, each imported when it is asked for."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence

import click

from evidence import __version__
from evidence.commands import fail

_COMMANDS = {
    "audit": "evidence.commands.audit:audit",
    "check": "evidence.commands.check:check",
    "demo": "evidence.commands.demo:demo",
    "diff": "evidence.commands.diff:diff",
    "explain": "evidence.commands.rules:explain",
    "history": "evidence.commands.history:history",
    "import": "evidence.commands.importing:import_file",
    "new": "evidence.commands.new:new",
    "reproduce": "evidence.commands.reproduce:reproduce",
    "rules": "evidence.commands.rules:rules",
    "schema": "evidence.commands.schema:schema",
    "show": "evidence.commands.show:show",
    "sync": "evidence.commands.sync:sync",
    "update": "evidence.commands.update:update",
    "verify": "evidence.commands.verify:verify",
}
"""Name -> module and function."""


class _Lazy(click.Group):
    """A group whose commands are imported one at a time: `check` does not pay for the others."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every name, sorted."""
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command; None if there is no such name."""
        if cmd_name not in _COMMANDS:
            return None
        module, _, function = _COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), function)
        return command


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="evidence")
def cli() -> None:
    """Hold performance documentation to its evidence."""


class OwnProgram:
    """This command line, for the check of commands that pages print: `evidence.programs` declares it."""

    def __init__(self, command: str = "") -> None:
        """Stand for the whole, or for one command that can be called by itself."""
        self._command = command

    def parser(self) -> click.Command:
        """Return the real parser."""
        command = cli.get_command(click.Context(cli), self._command) if self._command else cli
        assert command is not None
        return command


EVIDENCE, CHECK = OwnProgram(), OwnProgram("check")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; an error that nothing foresaw is no finding, so it exits with 2."""
    # Nothing that happens to be installed has a say in how a record is read; nor is it looked for.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        cli.main(args=arguments, prog_name="evidence")
    except Exception as error:  # noqa: BLE001 - whatever went wrong, the check has not been made
        fail(f"{type(error).__name__}: {error}", "this is a fault of evidence: please report it")
