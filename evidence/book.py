"""Owns the claims of a project evaluated against its store: each item built once, or what is wrong with it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from evidence import claims, lock, sentences, statements, tables
from evidence.claims import Claims, Faults, Placed
from evidence.diagnostics import Finding, Location
from evidence.errors import ComparisonError, EvidenceError, ItemError, RecordError, UnknownNameError, nearest
from evidence.evaluation import Reading, readings_of
from evidence.lock import Lock
from evidence.project import Project
from evidence.schema.claims import Claim, Status, TableSpec
from evidence.sentences import lint, require_plain
from evidence.standing import Choice, Outline, Stand, Standing
from evidence.statements import DO_NOT_CITE, cell_keys
from evidence.store import Loaded, Store
from evidence.tables.requirements import lint_texts
from evidence.views import Figure, Labelled, Statement, Table

CITES_SUPERSEDED, UNBACKED, MALFORMED = "EV611", "EV601", "EV620"


class Unrenderable(EvidenceError):
    """An item that cannot be shown. `findings` says why; empty where the cause is reported elsewhere."""

    def __init__(self, message: str, findings: tuple[tuple[str, Finding], ...], *, fix: str = "") -> None:
        """Carry the findings with their rules."""
        super().__init__(message, fix=fix)
        self.findings = findings


class _Outcome(NamedTuple):
    """An item built, or why it is not."""

    built: Statement | tables.Built | None
    findings: tuple[tuple[str, Finding], ...]
    message: str = ""
    origin: Location | None = None
    """Where the cause is written, if a merge key brings it in."""


class Book:
    """Claims and tables by id, each evaluated once against the store."""

    def __init__(
        self,
        project: Project,
        store: Store,
        pins: Mapping[str, str] | None = None,
        outlines: Mapping[str, Outline] | None = None,
    ) -> None:
        """Read a project's claims files and its lock; its logs are read as items are asked for.

        Args:
            project: Where claims files and lock lie.
            store: The logs.
            pins: Series -> log to stand on instead of the one that the lock names, for each series.
            outlines: What is known already of any log, and may grow; the others are read as they are asked for.
        """
        self._project, self._store = project, store
        self._claims = claims.load(project.claims, project.root)
        self._lock = lock.read(project.claims / lock.FILE_NAME)
        pinned = self._lock.pins if pins is None and self._lock is not None else pins or {}
        self._standing = Standing(store, pinned, self._claims.logs.keys(), outlines)
        self._outcomes: dict[str, _Outcome] = {}
        self._readings: dict[str, Mapping[str, Reading]] = {}

    def pinned(self, pins: Mapping[str, str]) -> Book:
        """Return the same claims and tables over other logs: series -> log."""
        return Book(self._project, self._store, pins)

    @property
    def claims(self) -> Claims:
        """What the files hold, as written."""
        return self._claims

    @property
    def lock(self) -> Lock | None:
        """The lock as it is written; None if there is none."""
        return self._lock

    @functools.cached_property
    def series(self) -> tuple[str, ...]:
        """Every series of the store that a claim or table reads, sorted; dated logs are pinned where they are named."""
        named = {name for id_ in self.ids for name in self.series_of(id_)}
        return tuple(sorted(name for name in named if self._store.has_series(name) and name not in self._store))

    def series_of(self, id_: str) -> tuple[str, ...]:
        """Return the series and dated logs that an item names, each once."""
        if id_ in self._claims.tables:
            return tuple(dict.fromkeys(self._claims.tables[id_].item.series))
        claim = self._claims.claims[id_].item
        return tuple(dict.fromkeys([claim.series, *(one.series for one in claim.also.values() if one.series)]))

    @functools.cached_property
    def ids(self) -> tuple[str, ...]:
        """Every id that can be called, sorted."""
        return tuple(sorted({*self._claims.claims, *self._claims.tables}))

    @functools.cached_property
    def log_status(self) -> Mapping[str, Status]:
        """Status of each log that has one."""
        return {log: placed.item for log, placed in self._claims.logs.items()}

    @functools.cached_property
    def findings(self) -> tuple[tuple[str, Finding], ...]:
        """Everything that is wrong in the claims files and between them and the store."""
        found = Faults()
        for code, finding in self._claims.findings:
            found.add(code, finding)
        for log, placed in self._claims.logs.items():
            successor = placed.item.superseded_by
            if successor is not None and successor not in self.ids and successor not in self._claims.malformed:
                unknown = UnknownNameError("claim or table", successor, self.ids)
                at = placed.at("superseded_by")
                found.add(UNBACKED, Finding(at, f"logs.{log}: {unknown.message}", unknown.fix))
            if log not in self._store:
                unknown = UnknownNameError("log", log, [entry.log for entry in self._store.entries])
                found.add(UNBACKED, Finding(placed.at(), f"logs.{log}: {unknown.message}", unknown.fix))
            try:
                lint(placed.item.why, (), "status")
                require_plain(placed.item.why, "status")
            except ItemError as error:
                found.add(error.code, Finding(placed.at(), f"logs.{log}: {error.message}", error.fix))
        for id_ in self.ids:
            outcome = self._outcome(id_)
            for code, finding in outcome.findings:
                found.add(code, finding, outcome.origin)
        return found.told

    def findings_of(self, id_: str) -> tuple[tuple[str, Finding], ...]:
        """Return what is wrong between one item and the store."""
        return self._outcome(id_).findings

    @functools.cached_property
    def standing(self) -> tuple[str, ...]:
        """The claims that their logs bear out, sorted."""
        return tuple(id_ for id_ in sorted(self._claims.claims) if isinstance(self._outcome(id_).built, Statement))

    def status(self, id_: str) -> Status | None:
        """Return the status of an item; None if it has none or is not there."""
        if id_ in self._claims.claims:
            return self._claims.claims[id_].item.status
        return self._claims.tables[id_].item.status if id_ in self._claims.tables else None

    def place(self, id_: str) -> Location:
        """Return where an item is written."""
        return (self._claims.claims.get(id_) or self._claims.tables[id_]).at()

    def table(self, id_: str) -> Table:
        """Return a table.

        Raises:
            UnknownNameError: no table has that id.
            Unrenderable: its logs do not bear it out.
        """
        return self.built_table(id_).view

    def built_table(self, id_: str) -> tables.Built:
        """Return a table with what it covers.

        Raises:
            UnknownNameError: no table has that id.
            Unrenderable: its logs do not bear it out.
        """
        self.require(id_, "table")
        outcome = self._outcome(id_)
        if not isinstance(outcome.built, tables.Built):
            raise Unrenderable(outcome.message, outcome.findings)
        return outcome.built

    def statement(self, id_: str) -> Statement:
        """Return a claim.

        Raises:
            UnknownNameError: no claim has that id.
            Unrenderable: its logs do not bear it out, or another claim has replaced it.
        """
        self.require(id_, "claim")
        outcome = self._outcome(id_)
        if not isinstance(outcome.built, Statement):
            raise Unrenderable(outcome.message, outcome.findings)
        status = self._claims.claims[id_].item.status
        if status is not None and status.superseded_by is not None:
            at = self._claims.claims[id_].at("status")
            finding = Finding(at, f"{id_} is superseded", f"call {status.superseded_by!r} instead")
            raise Unrenderable(finding.message, ((CITES_SUPERSEDED, finding),), fix=finding.fix)
        return outcome.built

    def value(self, id_: str, field: str) -> Figure:
        """Return one field of a claim, such as `ratio` or `latency.candidate:ms`.

        Raises:
            UnknownNameError: no claim has that id.
            Unrenderable: the claim does not stand, or the field means nothing in it.
        """
        self.statement(id_)
        try:
            return sentences.figure(field, self.readings(id_), "field")
        except ItemError as error:
            raise Unrenderable(f"{id_}: {error.message}", (), fix=error.fix) from None

    def diagnostic(self, id_: str, field: str) -> Labelled:
        """Return one field of a claim with the label of what is no evidence; the claim need not be citable.

        Raises:
            UnknownNameError: no claim has that id.
            Unrenderable: the field means nothing in it.
            RecordError: a log it stands on does not load.
        """
        self.require(id_, "claim")
        try:
            readings = self.readings(id_)
            figure = sentences.figure(field, readings, "field")
        except ItemError as error:
            raise Unrenderable(f"{id_}: {error.message}", (), fix=error.fix) from None
        loaded = readings[sentences.asked(field, readings).reading].loaded
        status = self._claims.claims[id_].item.status
        return Labelled(figure, tuple(self._reservations(loaded, status)), (loaded.entry.log,))

    def _reservations(self, loaded: Loaded, status: Status | None) -> Iterator[str]:
        """Why a log is no evidence for a sentence, as the label beside its numbers."""
        for one in (status, self.log_status.get(loaded.entry.log)):
            if one is not None and one.do_not_cite is not None:
                yield f"not to be cited: {one.do_not_cite}"
        record = loaded.record
        if record.origin is not None:
            yield f"imported from {record.origin.format}"
        partial = [gate.name for gate in record.gates if gate.scope == "partial"]
        if partial:
            yield f"the gate {', '.join(partial)} ran on a selection only"
        if len(self._store.series_of(loaded.entry.series)) == 1:
            yield "one session"

    def readings(self, id_: str) -> Mapping[str, Reading]:
        """Return the readings of a claim that stands, the main one under an empty name."""
        if id_ not in self._readings:
            self._readings[id_] = readings_of(self._claims.claims[id_].item, self.log)
        return self._readings[id_]

    def logs_of(self, id_: str) -> tuple[str, ...]:
        """Return the logs that an item prints from; empty if it cannot be shown."""
        built = self._outcome(id_).built if id_ in self.ids else None
        view = built.view if isinstance(built, tables.Built) else built
        return tuple(one.log for one in view.evidence) if view is not None else ()

    def logs_named(self, id_: str) -> tuple[str, ...]:
        """Return the logs that an item would print from if it can be shown, which is not evaluated."""
        found = []
        for series in self.series_of(id_):
            with contextlib.suppress(EvidenceError):
                found.append(self.log_name(series))
        return tuple(dict.fromkeys(found))

    def shown(self, id_: str) -> Statement | tables.Built | None:
        """Return an item as it is shown; None if its logs do not bear it out."""
        return self._outcome(id_).built

    def log_name(self, series: str) -> str:
        """Return the name of the log a series stands on.

        Raises:
            UnknownNameError: no such series or log.
            RecordError: none of its logs is a record.
        """
        return self._standing.name(series)

    def log(self, series: str) -> Loaded:
        """Return the log a series stands on: the one the lock names, else the newest; or the dated log itself.

        Raises:
            UnknownNameError: no such series or log.
            RecordError: its file is not a record.
        """
        return self._standing.log(series)

    def sessions(self, series: str) -> tuple[Loaded, ...]:
        """Return every log of a series, in order of time.

        Raises:
            UnknownNameError: no such series.
            RecordError: the file of one is not a record.
        """
        logs = [self._store.load(entry.log) for entry in self._store.series_of(series)]
        return tuple(sorted(logs, key=lambda loaded: (loaded.record.started_at, loaded.entry.log)))

    def stand(self, series: str) -> Stand:
        """Return what a lock says of a series.

        Raises:
            UnknownNameError: no such series.
            RecordError: its log is not a record.
        """
        return self._standing.stand(series)

    def choice(self, series: str) -> Choice:
        """Return what a series could stand on.

        Raises:
            UnknownNameError: no such series.
            RecordError: the log it is pinned to is not a record, or none is.
        """
        return self._standing.choice(series)

    def meant(self, id_: str) -> str:
        """Return the id that somebody meant who may have misspelt it: it is not also one that nobody calls."""
        return id_ if id_ in self.ids else nearest(id_, self.ids) or id_

    def require(self, id_: str, kind: str) -> None:
        """Hold an id to be that of a claim, a table, or an item of either kind.

        Raises:
            UnknownNameError: there is none, and the nearest one, or the other kind, is named.
            Unrenderable: it is malformed, or in a file that cannot be read, which is a finding of its own.
        """
        known = {"claim": self._claims.claims, "table": self._claims.tables}.get(kind) or dict.fromkeys(self.ids)
        if id_ in known:
            return
        if id_ in self._claims.malformed:
            raise Unrenderable(f"{id_} is malformed in its claims file", ())
        if not self._claims.is_whole:
            raise Unrenderable(f"{id_} is in no claims file that can be read", ())
        error = UnknownNameError("claim or table" if kind == "item" else kind, id_, known)
        if id_ in self.ids:
            other = "table" if kind == "claim" else "claim"
            error.fix = f"{id_!r} is a {other}: write ev.{other}"
        raise error

    def _outcome(self, id_: str) -> _Outcome:
        if id_ not in self._outcomes:
            placed = self._claims.claims.get(id_) or self._claims.tables[id_]
            self._outcomes[id_] = self._build(placed)
        return self._outcomes[id_]

    def _build(self, placed: Placed[Claim] | Placed[TableSpec]) -> _Outcome:
        try:
            self._require_known_status(placed)
            self._require_pinned_for_a_reason(placed.item)
            if isinstance(placed.item, Claim):
                built_claim = statements.build(placed, self.log, self.log_status)
                self._require_no_warning_beside(placed.id)
                return _Outcome(built_claim, ())
            built = tables.build(placed, self.log, self.log_status)
            lint_texts(placed.item, [self.log(series).record for series in placed.item.series])
            return _Outcome(built, ())
        except ItemError as error:
            message = f"{placed.id}: {error.message}"
            finding = Finding(placed.at(*error.parts), message, error.fix)
            return _Outcome(None, ((error.code, finding),), message, placed.origin(*error.parts))
        except RecordError as error:
            # The record's own finding says what is wrong; a second one here would be its echo.
            return _Outcome(None, (), f"{placed.id}: its log does not load: {error.message}")
        except (ComparisonError, UnknownNameError) as error:
            message = f"{placed.id}: {error.message}"
            return _Outcome(None, ((UNBACKED, Finding(placed.at(), message, error.fix)),), message)

    def _require_pinned_for_a_reason(self, item: Claim | TableSpec) -> None:
        """Refuse an item that names one log where it could name its series, unless a status says why."""
        named: list[tuple[tuple[str | int, ...], str]]
        if isinstance(item, Claim):
            also = ((("also", name, "series"), one.series) for name, one in item.also.items() if one.series)
            named = [(("series",), item.series), *also]
        else:
            named = [(("series", index), series) for index, series in enumerate(item.series)]
        for parts, name in named:
            if name in self._store and name not in self.log_status and item.status is None:
                message = f"{name} is pinned to its date, and nothing says why"
                raise ItemError(MALFORMED, message, *parts, fix="name the series, or write status: {historical: why}")
            is_historical = item.status is not None and item.status.historical is not None
            if is_historical and name not in self._store and self._store.has_series(name):
                message = f"it is historical, and {name} is a series, which newer logs join"
                raise ItemError(MALFORMED, message, *parts, fix="name the one log that it is about, with its date")

    def _require_known_status(self, placed: Placed[Claim] | Placed[TableSpec]) -> None:
        """Refuse a successor that is not there, or that leads back here."""
        status, met = placed.item.status, [placed.id]
        while status is not None and status.superseded_by is not None:
            successor = status.superseded_by
            if successor in met:
                message = f"{' is superseded by '.join([*met, successor])}"
                raise ItemError(MALFORMED, message, "status", "superseded_by", fix="name the item that holds now")
            if successor not in self.ids and successor not in self._claims.malformed:
                unknown = UnknownNameError("claim or table", successor, self.ids)
                raise ItemError(UNBACKED, unknown.message, "status", "superseded_by", fix=unknown.fix)
            met.append(successor)
            status = self.status(successor)

    def _require_no_warning_beside(self, id_: str) -> None:
        """Refuse a sentence over cells that a table warns of."""
        for table, placed in self._claims.tables.items():
            if placed.item.status is None or placed.item.status.do_not_cite is None:
                continue
            built = self._outcome(table).built
            warned = built.shown if isinstance(built, tables.Built) else frozenset()
            for name, reading in self.readings(id_).items():
                if not warned.isdisjoint(cell_keys(reading)):
                    message = f"the table {table!r} marks these cells do not cite: {placed.item.status.do_not_cite}"
                    key = ("also", name) if name else ("series",)
                    raise ItemError(DO_NOT_CITE, message, *key, fix="drop the sentence, or measure again")
