"""Owns the rules on commands: each one printed can be run as written, and measures what its log says it measured."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.checker.corpus import Corpus
from evidence.checker.registry import Turn, corpus_rule
from evidence.diagnostics import Finding


@corpus_rule("EV706", "command-unparseable", turn=Turn.APART)
def command_unparseable(corpus: Corpus) -> Iterator[Finding]:
    """A printed command is one: a shell parses it, what it runs is there, and that program takes its options.

    ## What it checks
    Every command in a shell block of every page, and of README.md and its like; on claim pages those in running text
    too: its quotes and operators; that the module, script, target of make or file that it names is in the repository;
    and its options, by the real parser of the runner it calls. For a script of the repository that is no declared
    runner, the options that its source declares are read. What a target of make or a shell script of the repository
    runs is read the same way. The commands printed under claims and tables, which are those of their records, are
    parsed too. Nothing is run.

    ## Why it matters
    A reader who cannot run the command cannot reproduce the number. Scripts move and options are renamed; pages stay.

    ## How to fix it
    Copy the command that was run, or render it with `ev.reproduce`. If the command of a record is refused, measure
    again, or say `logs: {LOG: {historical: why}}` in a claims file.
    """
    return _judged(corpus, "EV706")


@corpus_rule("EV707", "command-differs", turn=Turn.APART)
def command_differs(corpus: Corpus) -> Iterator[Finding]:
    """A measuring command on a claim page is the one that a log of the page was made by.

    ## What it checks
    On a page that shows logs, each typed command that calls the runner of one of them. Its parser reads both commands,
    so that an option left out counts as its default and order does not matter; what results must be the configuration
    of a log of the page, the section's own first. A run that would keep nothing (`--log` missing) differs. Variables
    set before a command count where the record holds them. A target of make is judged by what it runs. Printed
    commands are held to their records: a default that has changed since makes an old command measure something else.

    ## Why it matters
    A command that measures another model, shape or precision than the table shows is not its reproduction.

    ## How to fix it
    Write `{{ ev.reproduce("id") }}`: it prints the command as it was run. The message names each option that differs,
    with its value here and in the record.
    """
    return _judged(corpus, "EV707")


@corpus_rule("EV708", "placeholder-in-command", turn=Turn.APART)
def placeholder_in_command(corpus: Corpus) -> Iterator[Finding]:
    """A command can be pasted and run.

    ## What it checks
    Every command on a claim page, commands of this repository in README.md, and commands that call a runner on any
    page, for what a reader would have to replace (`<ckpt>`, `my_weight`, `/path/to`, `...`, `MODEL_PATH`, a variable
    that nothing above sets) and for places on its author's machine: home folders and mounted disks.

    ## Why it matters
    What the reader has to fill in is what the author did not say.

    ## How to fix it
    Write the value that was used, or render the command with `ev.reproduce`. Give files as paths below the repository.
    """
    return _judged(corpus, "EV708")


def _judged(corpus: Corpus, rule: str) -> Iterator[Finding]:
    """Return what one of these rules finds; what reads commands is imported by the process that needs it."""
    from evidence.checker.commands import judged

    return (finding for code, finding in judged(corpus) if code == rule)
