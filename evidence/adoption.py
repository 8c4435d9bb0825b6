"""Owns how a site moves to newer logs: what each series would stand on, what keeps it there, and the lock after it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evidence import lock
from evidence.book import Book
from evidence.diagnostics import Finding
from evidence.errors import EvidenceError, ItemError, RecordError, UnknownNameError
from evidence.evaluation import Reading, readings_of
from evidence.lock import Key, Lock, date_of
from evidence.movement import Change, Side, changes, faults
from evidence.printed import facts_of, item_facts
from evidence.project import Project
from evidence.readings import device_of, processes_of
from evidence.store import Loaded, Store
from evidence.tables.numbers import absence

NOT_ADOPTED, OTHER_DEVICE = "EV609", "EV607"
_WORDS = {"rejected": "was rejected", "crashed": "crashed", "skipped": "was skipped", "missing": "is missing"}


class AdoptionError(EvidenceError):
    """A log that was asked for and that its series cannot stand on."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A newer log that a series does not move to, by the rule that keeps failing."""

    code: str
    log: str
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of one series."""

    series: str
    old: Loaded | None
    """The log that the lock names."""
    new: Loaded
    newest: Loaded
    """The log it should stand on. Another one fails the check until this one has a status."""
    refusals: tuple[Refusal, ...] = ()

    @property
    def is_moved(self) -> bool:
        """Whether the series would stand on another log than the lock says."""
        return self.old is None or self.old.entry.log != self.new.entry.log

    @property
    def is_behind(self) -> bool:
        """Whether it would not stand on the log that it should stand on."""
        return self.new.entry.log != self.newest.entry.log


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


def decide(book: Book, series: str, picked: Loaded | None = None) -> Decision:
    """Decide what a series stands on: the newest log, unless a claimed cell is lost in it; or the one picked.

    Raises:
        UnknownNameError: no such series.
        RecordError: the log it stands on is not a record.
        AdoptionError: the picked log is set aside, or ran on another device.
    """
    choice = book.choice(series)
    old, newest = choice.pinned, choice.newest
    refusals = [_stranger(one, old, choice.device) for one in choice.strangers]
    if picked is not None:
        _require_at_home(book, picked, choice.device)
        return Decision(series, old, picked, newest, tuple(refusals))
    if old is None or old.entry.log == newest.entry.log:
        return Decision(series, old, newest, newest, tuple(refusals))
    lost = list(_lost(book, series, old, newest))
    if not lost:
        return Decision(series, old, newest, newest, tuple(refusals))
    more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
    message = f"{_is_newer(newest, old)}, and {lost[0]}{more}"
    fix = (
        f"measure again; or `evidence update --adopt {newest.entry.log}`, then narrow or drop the claim; "
        "or give the log a status with a reason"
    )
    refusals.append(Refusal(NOT_ADOPTED, newest.entry.log, message, fix))
    return Decision(series, old, old, newest, tuple(refusals))


def pending(book: Book, decision: Decision) -> Refusal | None:
    """Return that a newer log waits to be adopted; None if the series stands where it should, or was refused it."""
    old, newest = decision.old, decision.newest
    if old is None or old.entry.log == newest.entry.log or decision.new is old:
        return None
    if old.entry.log in book.log_status:
        message = f"{decision.series!r} stands on {old.entry.log!r}, which has a status; {newest.entry.log!r} has none"
    else:
        message = _is_newer(newest, old)
    return Refusal(NOT_ADOPTED, newest.entry.log, message, "run `evidence update`, and review what it prints")


def _is_newer(new: Loaded, old: Loaded) -> str:
    return f"{new.entry.log!r} is newer than the adopted '…_{date_of(old.entry.log, old.entry.series)}'"


def _stranger(one: Loaded, pinned: Loaded | None, device: str) -> Refusal:
    ran = f"ran on {device_of(one.record)}, not {device}"
    if pinned is None or one is pinned or one.entry.log == pinned.entry.log:
        message = f"{one.entry.log!r} {ran} as the first log of its series did"
    else:
        message = f"{_is_newer(one, pinned)} and {ran}"
    fix = "a series stays on its first device: give the new log a series of its own, and this one a status"
    return Refusal(OTHER_DEVICE, one.entry.log, message, fix)


def _require_at_home(book: Book, picked: Loaded, device: str) -> None:
    log = picked.entry.log
    if log in book.log_status:
        raise AdoptionError(f"{log} has a status that sets it aside", fix="remove it under `logs:`, or adopt another")
    if device and device_of(picked.record) != device:
        message = f"{log} ran on {device_of(picked.record)}, and its series began on {device}"
        raise AdoptionError(message, fix="a series stays on its first device: give the log a series of its own")


def _lost(book: Book, series: str, old: Loaded, new: Loaded) -> Iterator[str]:
    """Yield each cell that a claim reads and that has numbers in the old log and none in the new one."""

    def load(name: str) -> Loaded:
        return new if name == series else book.log(name)

    for id_ in book.claims.claims:
        if series not in book.series_of(id_):
            continue
        try:
            before = book.readings(id_)
        except EvidenceError:
            continue  # it does not stand on the old log either, which is a finding of its own
        try:
            after = readings_of(book.claims.claims[id_].item, load)
        except (ItemError, UnknownNameError) as error:
            yield f"{id_} cannot be read in it: {error.message}"
            continue
        held = _cells(before, old)
        found = _cells(after, new)
        for arm, workload in held:
            if (arm, workload) not in found:
                yield f"{id_} claims {arm} on {workload}, which it does not have"
        for arm, workload in found:
            gone = absence(new.cell(arm, workload))
            was_there = (arm, workload) not in held or bool(processes_of(old.cell(arm, workload)))
            if gone is not None and was_there:
                yield f"{id_} claims {arm} on {workload}, which {_WORDS[gone.outcome]} in it: {gone.reason}"


def _cells(readings: Mapping[str, Reading], loaded: Loaded) -> list[tuple[str, str]]:
    """Return arm and workload of every cell that readings stand on in one log, each once."""
    found: dict[tuple[str, str], None] = {}
    for reading in readings.values():
        if reading.loaded.entry.log == loaded.entry.log:
            for workload in reading.workloads:
                for arm in filter(None, (reading.baseline, reading.candidate)):
                    found[arm, workload.name] = None
    return list(found)
