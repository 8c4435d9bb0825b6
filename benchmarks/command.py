"""Owns what the measuring commands share: exit codes, and carrying a plan out with or without a log.

Exit codes: 0 measured, 1 nothing could be timed, 2 usage, 4 unsuitable machine, 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import session
from benchmarks.options import UnsuitableError, UsageError
from benchmarks.plan import Plan
from benchmarks.results import results
from benchmarks.resumption import Done, interrupted
from evidence.errors import EvidenceError
from evidence.importers.session_stream import RAW_NAME, Header
from evidence.schema import GitSource, Record, Timed, series
from evidence.store import RECORD_NAME

Body = Callable[[argparse.Namespace, Sequence[str], float], int]
"""What a command does with its options, its words and the `time.monotonic()` it began at; returns the exit code."""

OK, NOTHING_TIMED, USAGE, UNSUITABLE, INTERRUPTED = 0, 1, 2, 4, 130


def started(parser: argparse.ArgumentParser, body: Body, argv: Sequence[str] | None) -> int:
    """Read a measuring command's words and return its exit code; what it took to read them counts to its deadline."""
    began_s = time.monotonic()
    words = sys.argv[1:] if argv is None else list(argv)
    options = parser.parse_args(words)
    return guarded(lambda: body(options, words, began_s))


def guarded(body: Callable[[], int]) -> int:
    """Return a command's exit code; what it cannot do is said on stderr, with what to do instead."""
    try:
        return body()
    except UnsuitableError as error:
        return _complain(error, UNSUITABLE)
    except EvidenceError as error:
        return _complain(error, USAGE)
    except KeyboardInterrupt:
        return INTERRUPTED


def _complain(error: EvidenceError, code: int) -> int:
    sys.stderr.write(f"error: {error.message}\n" + (f"  fix: {error.fix}\n" if error.fix else ""))
    return code


def say(text: str) -> None:
    """Print a text and a line feed."""
    sys.stdout.write(text + "\n")


def carry_out(plan: Plan, logs: Path | None) -> int:
    """Measure, print what was found, and return the exit code; `logs` is the store, None to keep nothing."""
    record = measured(plan, logs)
    return OK if any(isinstance(cell, Timed) for cell in record.cells) else NOTHING_TIMED


def measured(
    plan: Plan, logs: Path | None, finish: session.Finish = session.as_it_is, place: Place | None = None
) -> Record:
    """Measure, print what was found, and return it; a stream that is kept lies at `place`."""
    if logs is None:
        return _unlogged(plan, finish)
    return _logged(plan, logs, finish, place or fresh_place(plan.header, logs))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session keeps its stream while it runs, and what an interrupted one had done that left it there."""

    raw: Path
    done: Done | None


def fresh_place(header: Header, logs: Path) -> Place:
    """Return a place of its own for a session that begins."""
    return Place(session.incomplete_path(logs, header.log), None)


def resumed_place(header: Header, logs: Path) -> Place:
    """Return the place of an interrupted session that would have measured the same.

    Raises:
        UsageError: there is none.
    """
    found = interrupted(logs, header)
    if found is None:
        fix = "leave out --resume; what differs could be the code, the packages, the machine or the options"
        raise UsageError(f"no interrupted session of this kind is left in {logs}", fix=fix)
    return Place(*found)


def _unlogged(plan: Plan, finish: session.Finish) -> Record:
    with tempfile.TemporaryDirectory(prefix="evidence-run-") as folder:
        record, _ = finish(session.run(plan, Path(folder) / RAW_NAME))
    say(results(record))
    say("nothing is stored: a run with --log keeps its samples, its gate and its machine")
    return record


def _logged(plan: Plan, logs: Path, finish: session.Finish, place: Place) -> Record:
    raw = place.raw
    if any(source.is_dirty for source in plan.header.sources if isinstance(source, GitSource)):
        sys.stderr.write("note: the work tree is not what is committed, so no claim can stand on this run (EV105)\n")
    try:
        record = session.run_and_save(plan, logs, raw, finish, place.done)
    except (KeyboardInterrupt, SystemExit):
        sys.stderr.write(f"interrupted; what was measured: {raw}\n  keep it: evidence import {raw} --logs {logs}\n")
        raise
    say(results(record))
    say(_next_steps(record, logs))
    return record


def _next_steps(record: Record, logs: Path) -> str:
    return "\n".join(
        (
            f"record    {logs / record.log / RECORD_NAME}",
            "check     python -m evidence.check",
            f"claim     add an item with `series: {series(record.log)}` to docs/claims, call it, make docs",
        )
    )
