"""Owns what an interrupted session had done, read off its raw stream, and whether another process may go on with it.

It may where both would measure the same: the same arms on the same workloads by the same method, from the same
sources, on the same machine with the same packages.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from pydantic import TypeAdapter, ValidationError

from evidence.errors import EvidenceError
from evidence.importers.session_stream import (
    RAW_NAME,
    Died,
    Digested,
    Ended,
    Event,
    Gated,
    Header,
    Measured,
    Noted,
    NotTried,
    Started,
)
from evidence.schema import Passed, series
from evidence.store import INCOMPLETE

Pair = tuple[str, str]
"""An arm's and a workload's name."""
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)
_OF_ONE_RUN = frozenset({"event", "format", "log", "started_at", "provenance"})
"""Fields of a header that differ between two runs of one command."""


class ResumptionError(EvidenceError):
    """A stream that this run cannot go on with."""


@dataclass(slots=True)
class Done:
    """How far a session got."""

    header: Header
    whole_bytes: int
    """Length of the stream's whole lines."""
    gated: dict[Pair, Gated | Died] = field(default_factory=dict)
    proofs: dict[Pair, Passed] = field(default_factory=dict)
    attempts: Counter[Pair] = field(default_factory=Counter)
    """Timing processes that were started on each cell."""
    measured: Counter[Pair] = field(default_factory=Counter)
    rechecked: set[Pair] = field(default_factory=set)
    skipped: set[Pair] = field(default_factory=set)
    digested: set[str] = field(default_factory=set)
    """Workloads whose inputs have a digest."""
    limitations: set[str] = field(default_factory=set)
    """What was learnt while it ran."""

    @property
    def lost(self) -> int:
        """Timing processes that were started and measured nothing."""
        return (self.attempts - self.measured).total()

    def add(self, event: Event) -> None:
        """Take one event in."""
        if isinstance(event, Started):
            self.attempts[event.arm, event.workload] += event.phase == "timing"
        elif isinstance(event, Measured):
            self.measured[event.arm, event.workload] += 1
        elif isinstance(event, NotTried):
            self.skipped.add((event.arm, event.workload))
        elif isinstance(event, Digested):
            self.digested.add(event.workload)
        elif isinstance(event, Noted):
            self.limitations.update(event.limitations)
        elif isinstance(event, Gated | Died):
            self._judge(event)

    def _judge(self, event: Gated | Died) -> None:
        pair = event.arm, event.workload
        if isinstance(event, Gated) and event.phase == "timed-outputs":
            self.rechecked.add(pair)
        else:
            self.gated.setdefault(pair, event)
        if isinstance(event, Died) or not isinstance(event.outcome, Passed):
            self.proofs.pop(pair, None)
        elif event.phase == "before":
            self.proofs[pair] = event.outcome


def done(data: bytes, header: Header) -> Done:
    """Read how far an interrupted session got that would have measured what `header` says.

    Raises:
        ResumptionError: the bytes are not its stream, it would have measured something else, or it ended.
    """
    *lines, torn = data.split(b"\n")
    try:
        told = [_EVENT.validate_json(line) for line in lines]
    except ValidationError:
        raise ResumptionError("not the stream of a session") from None
    if not told or not isinstance(told[0], Header):
        raise ResumptionError("not the stream of a session: its first line is no header")
    if apart := _apart(told[0], header):
        raise ResumptionError(f"the interrupted session has other {', '.join(apart)} than this one would have")
    if any(isinstance(event, Ended) for event in told):
        raise ResumptionError("the session ended: there is nothing to go on with", fix="import its stream")
    found = Done(told[0], len(data) - len(torn))
    for event in told[1:]:
        found.add(event)
    return found


def _apart(one: Header, other: Header) -> tuple[str, ...]:
    fields = (name for name in Header.model_fields if name not in _OF_ONE_RUN)
    apart = [name for name in fields if getattr(one, name) != getattr(other, name)]
    return (*(("log",) if series(one.log) != series(other.log) else ()), *apart)


def interrupted(logs: Path, header: Header) -> tuple[Path, Done] | None:
    """Return the newest stream below a store that this run can go on with, and how far it got; None if there is none.

    Those of sessions that still run are passed over.
    """
    streams = (logs / INCOMPLETE).glob(f"*/{RAW_NAME}")
    for raw in sorted(streams, key=lambda path: path.stat().st_mtime, reverse=True):
        try:
            found = done(raw.read_bytes(), header)
        except ResumptionError:
            continue
        if not _is_running(raw.parent.name, found.header.log):
            return raw, found
    return None


def _is_running(folder: str, log: str) -> bool:
    """Whether the process that a stream's folder is named after still runs; see `session.incomplete_path`."""
    process, _, _ = folder.removeprefix(f"{log.replace('/', '-')}-").partition("-")
    return process.isdigit() and psutil.pid_exists(int(process))
