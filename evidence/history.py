"""Owns the history of a quantity: its number in every log of a series, and where its level changes for good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evidence import units
from evidence.book import Book
from evidence.change_points import LEAST, change_points
from evidence.claims import Placed
from evidence.compare import Comparison
from evidence.errors import ComparisonError, ItemError, UnknownNameError
from evidence.evaluation import readings_of, value_of
from evidence.readings import Quantity, device_of, parse_quantity, unit_of
from evidence.schema.claims import Claim, Status
from evidence.stance import evidence_of, software_of
from evidence.statistics import Interval
from evidence.store import Loaded
from evidence.tables.numbers import Number, absence, measured_of, ratio_of
from evidence.units import Scale
from evidence.views import Absent, History, Measured, Moment, Ratio

_Read = Number | Comparison | Absent


def of_claim(book: Book, id_: str) -> tuple[History, ...]:
    """Return the main reading of a claim in every log of its series, one history for each selected workload.

    Raises:
        UnknownNameError: no claim has that id, or it names no series.
        RecordError: a log of the series does not load.
        EvidenceError: the library for change points is not installed.
    """
    if id_ not in book.claims.claims:
        raise UnknownNameError("claim", id_, book.claims.claims)
    placed = book.claims.claims[id_]
    series = book.log(placed.item.series).entry.series
    sessions = book.sessions(series)
    reads = [_readings(placed, loaded, book) for loaded in sessions]
    names = dict.fromkeys(name for read in reads if not isinstance(read, Absent) for name in read)
    arms = placed.item.arm or f"{placed.item.candidate} against {placed.item.baseline}"
    return tuple(
        _history(
            f"{id_}-{index}",
            f"{placed.item.metric} of {arms}, {name}",
            parse_quantity(placed.item.metric),
            [
                (loaded, read if isinstance(read, Absent) else read.get(name, Absent("missing", "not in this log")))
                for loaded, read in zip(sessions, reads, strict=True)
            ],
            book.log_status,
        )
        for index, name in enumerate(names)
    )


def of_series(book: Book, series: str, metric: str | None = None) -> tuple[History, ...]:
    """Return one metric (the first target unless named) of every arm and workload in every log of a series.

    Raises:
        UnknownNameError: no log has that series, or none that metric.
        RecordError: a log of the series does not load.
        EvidenceError: the library for change points is not installed.
    """
    sessions = book.sessions(series)
    newest = sessions[-1].record
    quantity = parse_quantity(metric or next(one.name for one in newest.metrics if one.role == "target"))
    unit_of(newest, quantity)
    cells = dict.fromkeys(
        (cell.arm, cell.workload)
        for loaded in reversed(sessions)
        for cell in loaded.record.cells
        if not any(arm.name == cell.arm and arm.role == "control" for arm in loaded.record.arms)
    )
    return tuple(
        _history(
            f"history-{index}",
            f"{quantity} of {arm}, {workload}",
            quantity,
            [(loaded, _value(loaded, arm, workload, quantity)) for loaded in sessions],
            book.log_status,
        )
        for index, (arm, workload) in enumerate(cells)
    )


def _readings(placed: Placed[Claim], loaded: Loaded, book: Book) -> Mapping[str, _Read] | Absent:
    """Read a claim in one log of its series: a number or comparison by workload, or why there is none."""
    main = placed.item.model_copy(update={"also": {}})
    try:
        reading = readings_of(main, lambda _: loaded)[""]
        if reading.is_comparison:
            return {one.workload: one for one in reading.all_comparisons}
    except (ItemError, ComparisonError) as error:
        return Absent("missing", error.message)
    return {one.name: _value(loaded, reading.candidate, one.name, reading.quantity) for one in reading.workloads}


def _value(loaded: Loaded, arm: str, workload: str, quantity: Quantity) -> _Read:
    try:
        cell = loaded.cell(arm, workload)
    except KeyError:
        return Absent("missing", "not in this log")
    if absent := absence(cell):
        return absent
    try:
        value = value_of(loaded, cell, quantity)
    except UnknownNameError as error:
        return Absent("missing", error.message)
    return Number(value.interval, value.is_exact) if value is not None else Absent("missing", f"no {quantity}")


def _history(
    id_: str, title: str, quantity: Quantity, read: Sequence[tuple[Loaded, _Read]], status: Mapping[str, Status]
) -> History:
    """Lay out one line; what is no evidence stays in its place, without a number."""
    device = device_of(read[-1][0].record)
    held = [(loaded, _set_aside(loaded, status, device) or one) for loaded, one in read]
    unit, _ = unit_of(read[-1][0].record, quantity)
    numbers = [one.interval.value for _, one in held if isinstance(one, Number)]
    scale = units.scale_for(min(map(abs, numbers), default=0.0), unit)
    found = [(index, interval) for index, (_, one) in enumerate(held) if (interval := _interval(one)) is not None]
    is_positive = all(interval.value > 0 for _, interval in found)
    changes = change_points([interval for _, interval in found]) if is_positive else ()
    levels = {found[change.index][0]: units.format_change(change.factor - 1) for change in changes}
    first = found[0][1].value if found and is_positive else None
    moments = [
        Moment(
            log=loaded.entry.log,
            date=loaded.record.started_at.date().isoformat(),
            software=software_of(loaded.record),
            cell=_cell(one, scale),
            relative=_relative(one, first),
            level=levels.get(index, ""),
        )
        for index, (loaded, one) in enumerate(held)
    ]
    evidence = tuple(evidence_of(held[index][0]) for index, _ in found)
    return History(id_, title, scale.suffix, tuple(moments), _told(moments, len(found)), evidence)


def _set_aside(loaded: Loaded, status: Mapping[str, Status], device: str) -> Absent | None:
    """Why a log's numbers do not belong in the line; None if they do."""
    own = status.get(loaded.entry.log)
    if own is not None and own.do_not_cite is not None:
        return Absent("missing", f"not to be cited: {own.do_not_cite}")
    if device_of(loaded.record) != device:
        return Absent("missing", f"ran on {device_of(loaded.record)}, not {device}")
    return None


def _interval(one: _Read) -> Interval | None:
    if isinstance(one, Comparison):
        return one.ratio
    return one.interval if isinstance(one, Number) else None


def _relative(one: _Read, first: float | None) -> Interval | None:
    interval = _interval(one)
    if isinstance(one, Comparison):
        return interval
    if interval is None or first is None:
        return None
    return Interval(interval.value / first, interval.low / first, interval.high / first)


def _cell(one: _Read, scale: Scale) -> Measured | Ratio | Absent:
    if isinstance(one, Comparison):
        return ratio_of(one)
    if isinstance(one, Number):
        return measured_of(one, scale, units.table_decimals(one.interval, scale))
    return one


def _told(moments: Sequence[Moment], numbers: int) -> str:
    changed = [f"{moment.level} with {moment.log}" for moment in moments if moment.level]
    logs = units.counted(numbers, "log")
    if changed:
        return f"the level changes in {logs}: {'; '.join(changed)}"
    if numbers < LEAST:
        return f"{logs}: a change of level shows in {LEAST} or more"
    return f"no change of level in {logs}"
