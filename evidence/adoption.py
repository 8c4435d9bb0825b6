"""Owns how a site moves to newer logs: every claimed series decided, every line printed anew, and the lock written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evidence import lock
from evidence.book import Book
from evidence.decisions import AdoptionError, Decision, decide
from evidence.diagnostics import Finding
from evidence.errors import RecordError, UnknownNameError
from evidence.lock import Key, Lock
from evidence.movement import Change, Side, changes, faults
from evidence.printed import facts_of, item_facts
from evidence.project import Project
from evidence.store import Loaded, Store


@dataclass(frozen=True, slots=True)
class Adoption:
    """A lock as it would be, with how it came to be so."""

    path: Path
    name: str
    """Its path from the project's root."""
    text: str
    decisions: tuple[Decision, ...]
    changes: tuple[Change, ...]
    faults: tuple[tuple[str, Finding], ...]
    """What stood before and no longer does, each with its rule."""

    def write(self) -> None:
        """Write the lock by one rename: whoever reads it finds the old one or the new one, whole."""
        building = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            with building.open("x", encoding="utf-8", newline="\n") as stream:
                stream.write(self.text)
                stream.flush()
                os.fsync(stream.fileno())
            building.replace(self.path)
        finally:
            building.unlink(missing_ok=True)


def adopt(project: Project, picked: Sequence[str] = (), only: Sequence[str] = ()) -> Adoption:
    """Decide on every claimed series and print everything anew; nothing is written.

    Args:
        project: Where claims files, lock and logs lie.
        picked: Logs to stand on, whatever is lost in them.
        only: Series that may move; empty: all. One without a log in the lock gets one whether named or not.

    Raises:
        UnknownNameError: a log or series that is not there, or that nothing claims.
        AdoptionError: a picked log cannot be stood on; the lock or a claims file must be mended first.
    """
    store = Store(project.logs)
    book = Book(project, store)
    held = _readable(project, book)
    picks = _picks(store, book, picked)
    for name in only:
        if name not in book.series:
            raise UnknownNameError("claimed series", name, book.series)
    decisions = []
    for series in book.series:
        try:
            decision = decide(book, series, picks.get(series))
        except RecordError:
            continue  # its lines stay as they are; the record has a finding of its own
        if decision.old is not None and only and series not in only and series not in picks:
            decision = Decision(series, decision.old, decision.old, decision.newest)
        decisions.append(decision)
    after = Book(project, store, {**held.pins, **{one.series: one.new.entry.log for one in decisions}})
    facts = {**_kept(held, after), **facts_of(after)}
    sides = Side(held.facts, book), Side(facts, after)
    path = project.claims / lock.FILE_NAME
    return Adoption(path, project.name(path), lock.dump(facts), tuple(decisions), changes(*sides), faults(*sides))


def _readable(project: Project, book: Book) -> Lock:
    """Return the lock, empty if there is none yet; refuse to go on where a series or its log could be lost."""
    held = book.lock or Lock()
    if held.is_void:
        fault = held.faults[0]
        raise AdoptionError(
            f"{project.name(project.claims / lock.FILE_NAME)}:{fault.line}: {fault.message}", fix=fault.fix
        )
    for code, finding in book.claims.findings:
        raise AdoptionError(f"{finding.at}: {code}: {finding.message}", fix=finding.fix)
    return held


def _picks(store: Store, book: Book, picked: Sequence[str]) -> dict[str, Loaded]:
    found: dict[str, Loaded] = {}
    for log in picked:
        loaded = store.load(log)
        series = loaded.entry.series
        if series not in book.series:
            raise UnknownNameError("claimed series", series, book.series)
        if series in found:
            raise AdoptionError(f"two logs are picked of {series}", fix="pick one: a series is adopted whole")
        found[series] = loaded
    return found


def _kept(held: Lock, after: Book) -> dict[Key, str]:
    """Return the lines of what cannot be printed now: a table that is not borne out, a series whose log is damaged."""
    unread = {("series", series) for series in after.series}
    unread |= {
        ("tables" if id_ in after.claims.tables else "claims", id_) for id_ in after.ids if not item_facts(after, id_)
    }
    return {key: text for key, text in held.facts.items() if key[:2] in unread}
