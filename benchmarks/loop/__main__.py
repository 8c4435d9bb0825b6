"""Owns the command `python -m benchmarks.loop`: start, iterate, status, promote, no-go and report.

Exit codes are those of `benchmarks.loop.reasons`: 0, or the first reason why something is refused or blocked.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from benchmarks.loop import iteration, journal, report
from benchmarks.loop.reasons import LoopError, Objection, Reason, first
from evidence.errors import EvidenceError


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    made = argparse.ArgumentParser(
        prog="python -m benchmarks.loop", description="An optimisation loop that is audited."
    )
    commands = made.add_subparsers(dest="command", required=True)
    start = commands.add_parser("start", help="freeze a contract, before any code")
    start.add_argument("draft", type=Path, help="the contract in JSON; frozen files are listed by their paths")
    iterate = commands.add_parser("iterate", help="measure the one change that is checked out, and add its row")
    iterate.add_argument("--direction", help="the one hypothesis that the change tests")
    iterate.add_argument("--note", help="instead of measuring: what was read from a profile")
    iterate.add_argument("--profiled", metavar="LOG", help="the log that holds that profile")
    commands.add_parser("status", help="where the loop stands, and what speaks against a promotion")
    commands.add_parser("promote", help="promote the best, or say what speaks against it")
    no_go = commands.add_parser("no-go", help="conclude that it gets no better, with what is in the way")
    no_go.add_argument("--bound", required=True, choices=get_args(journal.Bound))
    no_go.add_argument("--log", help="the record that the bound's number is read from; the best's unless given")
    no_go.add_argument("--metric", help="the counter of its profile; the bound's own unless given")
    told = commands.add_parser("report", help="print the loop as Markdown, every number from its records")
    told.add_argument("--page", action="store_true", help="for a site: macros instead of numbers")
    told.add_argument("--claims", action="store_true", help="the claims file that such a page needs")
    for command in (iterate, no_go, told, *(commands.choices[name] for name in ("status", "promote"))):
        command.add_argument("--task", help="which task; the only one unless given")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = parser().parse_args(argv)
    try:
        return _main(options)
    except LoopError as error:
        return _complain(error, error.reason)
    except EvidenceError as error:
        return _complain(error, Reason.USAGE)
    except KeyboardInterrupt:
        return Reason.INTERRUPTED


def _main(options: argparse.Namespace) -> int:
    repository = iteration.find(Path.cwd())
    if options.command == "start":
        loop = iteration.start(repository, options.draft)
        _say(f"started     {loop.contract.folder}: commit one change, then iterate --direction TEXT")
        return Reason.OK
    loop = iteration.load(repository, options.task)
    match options.command:
        case "iterate":
            _say(report.status(loop.contract, iteration.appended(loop, _iterated(loop, options)).rows, loop.store))
        case "status":
            _say(report.status(loop.contract, loop.rows, loop.store))
        case "promote":
            return _decided(iteration.promote(loop), "promoted")
        case "no-go":
            return _decided(iteration.no_go(loop, options.bound, options.log, options.metric), "no-go")
        case _:
            _say(_report(loop, options).rstrip("\n"))
    return Reason.OK


def _iterated(loop: iteration.Loop, options: argparse.Namespace) -> journal.Row:
    if options.note is not None:
        if options.profiled is None:
            raise LoopError(Reason.USAGE, "a note names the log whose profile was read", fix="give --profiled LOG")
        return iteration.note(loop, options.note, options.profiled)
    if not options.direction:
        raise LoopError(Reason.USAGE, "what does the change test?", fix="give --direction TEXT")
    return iteration.iterate(loop, options.direction, os.environ)


def _report(loop: iteration.Loop, options: argparse.Namespace) -> str:
    if options.claims:
        return report.claims(loop.contract, loop.rows)
    return (report.page if options.page else report.text)(loop.contract, loop.rows, loop.store)


def _decided(objections: Sequence[Objection], word: str) -> int:
    for one in objections:
        _say(f"blocks      {one}")
    if not objections:
        _say(f"end         {word}")
    return first(objections)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


def _complain(error: EvidenceError, code: Reason) -> int:
    sys.stderr.write(f"error: {error.message}\n" + (f"  fix: {error.fix}\n" if error.fix else ""))
    return code


if __name__ == "__main__":
    raise SystemExit(main())
