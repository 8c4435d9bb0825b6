"""Owns whether a series moves to a newer log: what it would stand on, and what keeps it from moving."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from evidence.book import Book
from evidence.errors import EvidenceError, ItemError, UnknownNameError
from evidence.evaluation import Reading, readings_of
from evidence.lock import date_of
from evidence.readings import device_of, processes_of
from evidence.store import Loaded
from evidence.tables.numbers import absence

NOT_ADOPTED, OTHER_DEVICE = "EV609", "EV607"
_WORDS = {"rejected": "was rejected", "crashed": "crashed", "skipped": "was skipped", "missing": "is missing"}


class AdoptionError(EvidenceError):
    """A log that was asked for and that its series cannot stand on."""


class Refusal(NamedTuple):
    """A newer log that a series does not move to, by the rule that keeps failing."""

    code: str
    log: str
    message: str
    fix: str


class Decision(NamedTuple):
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
