"""Owns which log each series stands on: the one its lock names; and which it should stand on.

A series stays on its first device. On it, the log that started last is the one to cite, unless the claims files give it
a status: then it is set aside, and stays in the store for all to see.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from evidence.errors import RecordError
from evidence.readings import device_of
from evidence.schema import Record, log_date
from evidence.stance import software_of
from evidence.store import Loaded, Store


class Stand(NamedTuple):
    """What a series stands on: all that a lock says of it."""

    log: str
    sha256: str
    stance: str
    """Device and software."""


class Choice(NamedTuple):
    """What a series could stand on."""

    pinned: Loaded | None
    """The log that its lock names; None if it names none, or one that is not there."""
    newest: Loaded
    """The log on the first device that started last, of those without a status, if there are any."""
    strangers: tuple[Loaded, ...]
    """The pinned log and newer ones without a status that ran on another device than the series began on."""
    device: str
    """Device of the first log of the series."""


class Outline(NamedTuple):
    """What decides which log of a series is cited: enough to leave the others unread."""

    started_at: datetime.datetime
    device: str


def outline_of(record: Record) -> Outline:
    """Return the outline of a record."""
    return Outline(record.started_at, device_of(record))


class Standing:
    """The series of a store, by the pins of a lock."""

    def __init__(
        self,
        store: Store,
        pins: Mapping[str, str],
        set_aside: Collection[str],
        outlines: Mapping[str, Outline] | None = None,
    ) -> None:
        """Take the log each series is pinned to, the logs that a status sets aside, and what is known of any log."""
        self._store = store
        self._pins = pins
        self._set_aside = set_aside
        self._outlines = {} if outlines is None else outlines
        self._choices: dict[str, Choice] = {}
        self._stands: dict[str, Stand] = {}

    def log(self, series: str) -> Loaded:
        """Return the log a series stands on: the pinned one, else the newest; or the dated log itself.

        Raises:
            UnknownNameError: no such series or log.
            RecordError: its file is not a record.
        """
        found = self._store.load(self.name(series))
        if series in self._store:
            return found
        if series not in self._stands:
            self._stands[series] = _stand(found)
        return found

    def name(self, series: str) -> str:
        """Return the name of the log a series stands on; whether a pinned log can be read is not asked.

        Raises:
            UnknownNameError: no such series or log.
            RecordError: none of its logs is a record.
        """
        if series in self._store:
            return series
        pinned = self._pins.get(series, "")
        return pinned if pinned in self._store else self._newest(series)

    def stand(self, series: str) -> Stand:
        """Return what a lock says of a series; its log is read once, whoever asked for it first.

        Raises:
            UnknownNameError: no such series.
            RecordError: its log is not a record.
        """
        if series not in self._stands:
            self.log(series)
        return self._stands[series]

    def choice(self, series: str) -> Choice:
        """Return what a series could stand on.

        Raises:
            UnknownNameError: no such series.
            RecordError: none of its logs is a record, or the pinned one is not.
        """
        if series not in self._choices:
            self._choices[series] = self._choose(series)
        return self._choices[series]

    def _choose(self, series: str) -> Choice:
        name = self._pins.get(series, "")
        pinned = self._store.load(name) if name in self._store else None
        newest = self._store.load(self._newest(series))
        rivals, device = self._rivals(series)
        since = None if pinned is None else _order(name, outline_of(pinned.record))
        strangers = [
            self._store.load(log)
            for log, outline in rivals.items()
            if outline.device != device and (since is None or _order(log, outline) >= since)
        ]
        return Choice(pinned, newest, tuple(strangers), device)

    def _newest(self, series: str) -> str:
        """Return the log on the first device that started last, of those without a status, if there are any."""
        rivals, device = self._rivals(series)
        if not rivals:
            return self._store.newest(series).entry.log
        at_home = [log for log, outline in rivals.items() if outline.device == device]
        pinned = self._pins.get(series, "")
        return at_home[-1] if at_home else pinned if pinned in self._store else list(rivals)[-1]

    def _rivals(self, series: str) -> tuple[dict[str, Outline], str]:
        """Return the logs a series could stand on, in order of start, and the device it began on."""
        logs = [entry.log for entry in self._store.series_of(series)]
        cited = logs if len(logs) == 1 else [log for log in logs if log not in self._set_aside]
        pinned = self._pins.get(series, "")
        is_pinned = pinned in self._store
        since = log_date(pinned) if is_pinned and pinned not in self._set_aside else ""
        # A date never decreases along a series: what is older than the pinned log is not read again.
        rivals = self._outlined(log for log in cited if log_date(log) >= since)
        rivals = rivals or self._outlined([pinned] if is_pinned else logs)
        first = self._outlined(cited[:1]) or rivals
        return rivals, next(iter(first.values())).device if first else ""

    def _outlined(self, logs: Iterable[str]) -> dict[str, Outline]:
        """Return the outlines of the logs that load, in order of start; the others have their own finding."""
        found: dict[str, Outline] = {}
        for log in logs:
            try:
                found[log] = self._outlines.get(log) or outline_of(self._store.load(log).record)
            except RecordError:
                continue
        return dict(sorted(found.items(), key=lambda pair: _order(*pair)))


def _stand(loaded: Loaded) -> Stand:
    software = software_of(loaded.record) or "not recorded"
    return Stand(loaded.entry.log, loaded.sha256, f"{device_of(loaded.record)} · {software}")


def _order(log: str, outline: Outline) -> tuple[object, str, int, str]:
    """Order logs by their start; those that say the same by their date and run."""
    return outline.started_at, log_date(log), len(log), log
