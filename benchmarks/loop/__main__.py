"""Owns the command `python -m benchmarks.loop`: start, iterate, status, promote, no-go and report.

Exit codes are those of `benchmarks.loop.reasons`: 0, or the first reason why something is refused or blocked.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.loop import iteration, journal, report
from benchmarks.loop.options import parser
from benchmarks.loop.reasons import LoopError, Objection, Reason, first
from evidence.errors import EvidenceError


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
