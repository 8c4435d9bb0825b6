"""Owns the raw stream of a measuring session: its events, one JSON object a line, and the Record they make.

A session that ends builds its record from its own stream by `read`, and so does whoever finds the stream of one that
was killed. The first line holds everything known before the first measurement; each later line is one thing that
happened. Cells that never ended are Crashed in phase `interrupted`.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import timedelta
from statistics import median
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from evidence.errors import RecordError
from evidence.schema import (
    Arm,
    Artifact,
    Captured,
    Cell,
    Crashed,
    DeviceConditions,
    Discard,
    Failed,
    ForeignWorkload,
    Gate,
    Host,
    HostConditions,
    Method,
    Metric,
    Missing,
    Model,
    Outcome,
    Passed,
    Process,
    Provenance,
    Record,
    Rejected,
    Setting,
    Skipped,
    Source,
    Stack,
    Superseded,
    Timed,
    Unavailable,
    Workload,
)
from evidence.schema.base import Amount, Count, Name, Sha256, Text, UtcTime
from evidence.schema.record import LogName

RAW_NAME = "raw.jsonl"
"""Name of the stream's file, during the run and as an artifact of a recovered log."""


class Header(Model):
    """The first line: everything that is known before anything is measured. `method` is as planned."""

    event: Literal["header"] = "header"
    format: Literal["evidence-session-1"] = "evidence-session-1"
    log: LogName
    started_at: UtcTime
    provenance: Provenance
    sources: tuple[Source, ...]
    hosts: tuple[Host, ...]
    stacks: tuple[Stack, ...]
    axes: tuple[Name, ...]
    arms: tuple[Arm, ...]
    workloads: tuple[Workload, ...]
    metrics: tuple[Metric, ...]
    method: Method
    gates: tuple[Gate, ...]
    unavailable: tuple[Unavailable, ...]
    limitations: tuple[Text, ...]
    supersedes: tuple[Superseded, ...]


class DeviceReading(Captured):
    """One accelerator at one moment; fields as in DeviceConditions."""

    device: Count
    sm_clock_hz: Amount | None
    memory_clock_hz: Amount | None
    temperature_c: Amount | None
    power_w: Amount | None
    energy_j: Amount | None
    thermal_violation_ns: Count | None
    power_violation_ns: Count | None
    event_reasons: Count | None
    ecc_uncorrected: Count | None
    foreign_processes: Count | None


class Reading(Captured):
    """One host and its accelerators at one moment."""

    event: Literal["reading"] = "reading"
    host: Name
    at_s: Amount
    load: Amount | None
    cpu_clock_hz: Amount | None
    devices: tuple[DeviceReading, ...]


class _OfCell(Model):
    arm: Name
    workload: Name


class Started(_OfCell):
    """A process turned to a cell: what an interruption interrupted."""

    event: Literal["started"] = "started"
    phase: Literal["compiling", "tuning", "gate", "timing"]
    process: Count


class Gated(_OfCell):
    """The outcome of a gate, before timing or on the outputs of timed calls."""

    event: Literal["gated"] = "gated"
    phase: Literal["before", "timed-outputs"]
    outcome: Outcome


class Digested(Model):
    """The digest of a workload's inputs, as a gate drew them."""

    event: Literal["digested"] = "digested"
    workload: Name
    sha256: Sha256


class Measured(_OfCell):
    """One process of a cell, with what its timer did."""

    event: Literal["measured"] = "measured"
    process: Process
    ran: tuple[Setting, ...]
    timer_overhead_s: Amount | None
    warm_up_s: Amount
    warm_up_calls: Count


class Discarded(_OfCell):
    """A process that died and is repeated."""

    event: Literal["discarded"] = "discarded"
    process: Count
    reason: Text


class NotTried(_OfCell):
    """A cell that its arm declares it does not support."""

    event: Literal["skipped"] = "skipped"
    reason: Text


class Died(_OfCell):
    """A cell given up."""

    event: Literal["crashed"] = "crashed"
    cause: Literal["oom", "timeout", "error"]
    phase: Name
    message: Text


class Noted(Model):
    """What the record must say of the session, learnt after it began."""

    event: Literal["noted"] = "noted"
    unavailable: tuple[Unavailable, ...]
    limitations: tuple[Text, ...]


class Ended(Model):
    """The last line of a session that was not interrupted."""

    event: Literal["ended"] = "ended"
    ended_at: UtcTime


CellEvent = Started | Gated | Measured | Discarded | NotTried | Died
Event = Annotated[
    Header | Reading | Started | Gated | Digested | Measured | Discarded | NotTried | Died | Noted | Ended,
    Field(discriminator="event"),
]
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def read(data: bytes, *, log: str | None = None) -> Record:
    """Build the record of a session from its stream, whole or cut short anywhere.

    A stream that was cut short is kept: the record lists it as an artifact, see `evidence.importers.files_of`.

    Raises:
        RecordError: the bytes are not a session's stream, or its events contradict each other.
    """
    events, torn_bytes = _parse(data)
    if not events or not isinstance(events[0], Header):
        raise RecordError("not the stream of a session: its first line is no header", fix="give the run's raw.jsonl")
    header, story = events[0], _Story()
    for number, event in enumerate(events[1:], start=2):
        if isinstance(event, Header):
            raise RecordError(f"line {number}: a second header", line=number, fix="give the stream of one run")
        story.add(event)
    try:
        return _record(header, story, data, torn_bytes, log)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = "/".join(map(str, first["loc"]))
        raise RecordError(f"the events make no record: {where} {first['msg']}".replace("  ", " ")) from None


def _parse(data: bytes) -> tuple[list[Event], int]:
    """Return the events, and the length of a torn last line, which is left out."""
    *lines, torn = data.split(b"\n")
    events: list[Event] = []
    for number, line in enumerate(lines, start=1):
        try:
            events.append(_EVENT.validate_json(line))
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = "/".join(map(str, first["loc"]))
            raise RecordError(f"line {number}: {where}: {first['msg']}", line=number) from None
    return events, len(torn)


@dataclass(slots=True)
class _Story:
    """Events by what they are about."""

    readings: list[Reading] = field(default_factory=list)
    of_cell: dict[tuple[str, str], list[CellEvent]] = field(default_factory=lambda: defaultdict(list))
    notes: list[Noted] = field(default_factory=list)
    digests: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    ended: Ended | None = None
    lasted_s: float = 0.0

    def add(self, event: Event) -> None:
        if isinstance(event, Reading):
            self.readings.append(event)
            self.lasted_s = max(self.lasted_s, event.at_s)
        elif isinstance(event, Ended):
            self.ended = event
        elif isinstance(event, Noted):
            self.notes.append(event)
        elif isinstance(event, Digested):
            self.digests[event.workload].add(event.sha256)
        elif not isinstance(event, Header):
            self.of_cell[event.arm, event.workload].append(event)
            if isinstance(event, Measured):
                self.lasted_s = max(self.lasted_s, event.process.ended_s)

    def all_of(self, kind: type[Measured]) -> list[Measured]:
        return [event for events in self.of_cell.values() for event in events if isinstance(event, kind)]


def _record(header: Header, story: _Story, data: bytes, torn_bytes: int, log: str | None) -> Record:
    declared = [(arm.name, workload.name) for workload in header.workloads for arm in header.arms]
    if strangers := sorted(story.of_cell.keys() - set(declared)):
        arm, workload = strangers[0]
        raise RecordError(f"an event of {arm!r} on {workload!r}, which the header does not declare")
    if unknown := sorted(story.digests.keys() - {workload.name for workload in header.workloads}):
        raise RecordError(f"a digest of the inputs of {unknown[0]!r}, which the header does not declare")
    try:
        lasted = timedelta(seconds=story.lasted_s)
        ended_at = story.ended.ended_at if story.ended else header.started_at + lasted
    except OverflowError:
        raise RecordError("a time that no run lasts") from None
    is_whole = story.ended is not None and not torn_bytes
    return Record(
        schema_version=1,
        log=log or header.log,
        started_at=header.started_at,
        ended_at=ended_at,
        provenance=header.provenance,
        origin=None,
        sources=header.sources,
        hosts=header.hosts,
        stacks=header.stacks,
        conditions=tuple(_conditions(story.readings)),
        axes=header.axes,
        arms=header.arms,
        workloads=tuple(_digested(workload, story.digests.get(workload.name, set())) for workload in header.workloads),
        metrics=header.metrics,
        methods=(_as_used(header.method, story.all_of(Measured)),),
        gates=header.gates,
        cells=tuple(_cell(*pair, story.of_cell.get(pair, []), header.method.name) for pair in declared),
        profiles=(),
        artifacts=() if is_whole else (_raw(data),),
        unavailable=(
            *header.unavailable,
            *(entry for note in story.notes for entry in note.unavailable),
            *_unequal(story.digests),
            *_interruption(story, torn_bytes),
        ),
        limitations=(*header.limitations, *(text for note in story.notes for text in note.limitations)),
        supersedes=header.supersedes,
    )


def _digested(workload: Workload, digests: Set[str]) -> Workload:
    """Give a workload the digest of its inputs, if all who took it agree."""
    if len(digests) != 1 or isinstance(workload, ForeignWorkload):
        return workload
    return workload.model_copy(update={"inputs": workload.inputs.model_copy(update={"sha256": next(iter(digests))})})


def _unequal(digests: Mapping[str, Set[str]]) -> Iterable[Unavailable]:
    for workload, found in digests.items():
        if len(found) > 1:
            yield Unavailable(
                what=f"digest of the inputs of {workload}", reason=f"gates drew {len(found)} unequal ones"
            )


def _raw(data: bytes) -> Artifact:
    digest = hashlib.sha256(data).hexdigest()
    return Artifact(path=RAW_NAME, role="raw", sha256=digest, bytes=len(data), arms=(), workloads=())


def _interruption(story: _Story, torn_bytes: int) -> Iterable[Unavailable]:
    if story.ended is None:
        reason = "the session was interrupted; this record is rebuilt from its raw stream"
        yield Unavailable(what="end of the session", reason=reason)
    if torn_bytes:
        reason = f"the stream ends within a line, after {torn_bytes} bytes of it, which are left out"
        yield Unavailable(what="last event of the session", reason=reason)


def _as_used(planned: Method, measured: Sequence[Measured]) -> Method:
    """Complete the planned method: overhead is the median over processes, warm-up what every process did at least."""
    if not measured:
        return planned
    overheads = [event.timer_overhead_s for event in measured if event.timer_overhead_s is not None]
    return planned.model_copy(
        update={
            "timer_overhead_s": float(f"{median(overheads):.9g}") if overheads else planned.timer_overhead_s,
            "warm_up_s": min(event.warm_up_s for event in measured),
            "warm_up_calls": min(event.warm_up_calls for event in measured),
        }
    )


def _cell(arm: str, workload: str, events: Sequence[CellEvent], method: str) -> Cell:
    """Make one cell of what happened to it; whatever forbids timings outranks them."""
    died = next((event for event in events if isinstance(event, Died)), None)
    skipped = next((event for event in events if isinstance(event, NotTried)), None)
    outcomes = {event.phase: event.outcome for event in events if isinstance(event, Gated)}
    gate, after = outcomes.get("before"), outcomes.get("timed-outputs")
    measured = [event for event in events if isinstance(event, Measured)]
    if skipped is not None:
        return Skipped(arm=arm, workload=workload, reason=skipped.reason)
    if died is not None:
        return Crashed(arm=arm, workload=workload, cause=died.cause, phase=died.phase, message=died.message)
    if isinstance(gate, Failed):
        return Rejected(arm=arm, workload=workload, gate=gate, further=())
    if isinstance(after, Failed):
        return Rejected(arm=arm, workload=workload, gate=after, further=() if gate is None else (gate,))
    if not measured or gate is None:
        return Crashed(arm=arm, workload=workload, cause="error", phase="interrupted", message=_how_far(events))
    return Timed(
        arm=arm,
        workload=workload,
        gate=gate,
        further=(after,) if isinstance(after, Passed) else (),
        method=method,
        ran=_ran(measured),
        processes=tuple(event.process for event in measured),
        discards=tuple(
            Discard(process=event.process, reason=event.reason) for event in events if isinstance(event, Discarded)
        ),
        cross_checks=(),
    )


def _how_far(events: Sequence[CellEvent]) -> str:
    last = next((event for event in reversed(events) if isinstance(event, Started)), None)
    reached = f"in its {last.phase}, process {last.process}" if last else "before this cell was reached"
    return f"the session was interrupted {reached}"


def _ran(measured: Sequence[Measured]) -> tuple[Setting, ...]:
    """Join the settings in effect over processes; one that changed between processes names every value it had."""
    values: dict[str, dict[str, None]] = defaultdict(dict)
    for event in measured:
        for setting in event.ran:
            values[setting.name][setting.value] = None
    return tuple(Setting(name=name, value=" | ".join(sorted(found))) for name, found in sorted(values.items()))


def _conditions(readings: Sequence[Reading]) -> Iterable[HostConditions | DeviceConditions]:
    """Turn readings into columns; a column that was not read every time is null, with the first reason."""
    ordered = sorted(readings, key=lambda reading: reading.at_s)
    by_host: dict[str, list[Reading]] = defaultdict(list)
    by_device: dict[tuple[str, int], list[tuple[float, DeviceReading]]] = defaultdict(list)
    for reading in ordered:
        by_host[reading.host].append(reading)
        for device in reading.devices:
            by_device[reading.host, device.device].append((reading.at_s, device))
    for host, rows in by_host.items():
        values, missing = _columns(rows, ("load", "cpu_clock_hz"))
        at_s = tuple(row.at_s for row in rows)
        yield HostConditions.model_validate({"host": host, "at_s": at_s, **values, "missing": missing})
    for (host, index), timed_rows in by_device.items():
        names = tuple(name for name in DeviceReading.model_fields if name not in ("device", "missing"))
        values, missing = _columns([row for _, row in timed_rows], names)
        at_s = tuple(time for time, _ in timed_rows)
        fields = {"host": host, "device": index, "at_s": at_s, **values, "missing": missing}
        yield DeviceConditions.model_validate(fields)


def _columns(
    rows: Sequence[Captured], names: Sequence[str]
) -> tuple[dict[str, tuple[float, ...] | None], tuple[Missing, ...]]:
    columns: dict[str, tuple[float, ...] | None] = {}
    missing: list[Missing] = []
    for name in names:
        column = tuple(getattr(row, name) for row in rows)
        absent = column.count(None)
        columns[name] = None if absent else column
        if absent:
            reason = next(entry.reason for row in rows for entry in row.missing if entry.field == name)
            share = "" if absent == len(rows) else f" ({absent} of {len(rows)} readings)"
            missing.append(Missing(field=name, reason=reason + share))
    return columns, tuple(missing)
