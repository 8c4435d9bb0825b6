"""Owns the roofline of a table: each of its cells as work a byte and work a second, and the ceilings of its devices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evidence import roofline, units
from evidence.book import Book
from evidence.errors import EvidenceError
from evidence.evaluation import value_of
from evidence.readings import Quantity, device_of
from evidence.renderers import grid
from evidence.schema import OpWorkload, Workload
from evidence.stance import evidence_of
from evidence.store import Loaded
from evidence.tables import Built
from evidence.tables.numbers import Number, Origin, absence, measured_of
from evidence.units import Scale
from evidence.views import Absent, Ceiling, Point, Roofline

_RATE, _BANDWIDTH = Quantity("flop_rate"), Quantity("bandwidth")
_DIGITS = 3
_Subject = tuple[str, str]
"""Device and dtype: what a ceiling is of."""


class RooflineError(EvidenceError):
    """A table whose cells cannot stand under a roofline, or ceilings of another device."""


@dataclass(frozen=True, slots=True)
class _Read:
    """One cell as read, before the unit of all is known."""

    row: str
    origin: Origin
    subject: _Subject | None
    intensity: float | None
    rate: Number | Absent


def of_table(book: Book, id_: str, ceilings: str | None = None) -> Roofline:
    """Return every cell of a table under the datasheet of its device, and under ceilings measured on it.

    Args:
        book: The claims and logs.
        id_: A table.
        ceilings: A series whose best bandwidth, and best FLOP rate in the same dtype, are what the device reaches.

    Raises:
        UnknownNameError: no such table or series.
        Unrenderable: the table's logs do not bear it out.
        RooflineError: no cell states FLOP and bytes, or the ceilings are of another device.
    """
    built = book.built_table(id_)
    read = list(_cells(book, built))
    if not any(one.intensity for one in read):
        fix = "declare the op's FLOP and bytes, or draw the table as a chart"
        raise RooflineError(f"no cell of table {id_!r} states both FLOP and bytes", fix=fix)
    subjects = sorted({one.subject for one in read if one.subject is not None})
    numbers = [one.rate.interval.value for one in read if isinstance(one.rate, Number)]
    scale = units.scale_for(min(numbers, default=0.0), "FLOP/s")
    peaks = {subject: roofline.peak(*subject) for subject in subjects}
    sheets = tuple(
        _ceiling("datasheet", peak.flop_per_s, peak.bytes_per_s, f"{peak.source}, {peak.dtype}")
        for peak in peaks.values()
        if peak is not None
    )
    logs = {one.log for one in built.view.evidence}
    measured = book.log(ceilings) if ceilings else None
    return Roofline(
        id=id_,
        title=built.view.title,
        unit=scale.suffix,
        arms=_arms(built, read),
        points=(*(_point(one, scale) for one in read), *_uncovered(built)),
        ceilings=(*sheets, *(_measured(measured, subjects) if measured is not None else ())),
        unknown=tuple(f"{device} in {dtype}" for (device, dtype), peak in peaks.items() if peak is None),
        evidence=(
            *built.view.evidence,
            *([evidence_of(measured)] if measured is not None and measured.entry.log not in logs else []),
        ),
        banner=built.view.banner,
    )


def _cells(book: Book, built: Built) -> Iterator[_Read]:
    """Every cell that a row reads, each once, in the order of rows and columns."""
    for row, origins in zip(built.view.rows, built.origins, strict=False):
        keys = dict.fromkeys(
            (one.log, arm, one.workload) for one in origins if one is not None for arm in (one.baseline, one.arm) if arm
        )
        several = len({workload for _, _, workload in keys}) > 1
        for log, arm, name in keys:
            loaded = book.log(log)
            workload = loaded.record.workload(name)
            label = grid.label(built.view, row) + (f" / {name}" if several else "")
            subject = (device_of(loaded.record), workload.dtype) if isinstance(workload, OpWorkload) else None
            rate = Absent("missing", "left out") if (log, arm, name) in built.omitted else _rate(loaded, arm, workload)
            yield _Read(label, Origin(log, arm, "", name, _RATE), subject, _intensity(workload), rate)


def _intensity(workload: Workload) -> float | None:
    """FLOP a byte that the work must move at least; None where either is not stated."""
    work = {amount.of: amount.count for amount in workload.work}
    return work["flop"] / work["bytes"] if {"flop", "bytes"} <= work.keys() else None


def _rate(loaded: Loaded, arm: str, workload: Workload) -> Number | Absent:
    cell = loaded.cell(arm, workload.name)
    if absent := absence(cell):
        return absent
    if _intensity(workload) is None:
        return Absent("missing", "the log does not state both FLOP and bytes")
    value = value_of(loaded, cell, _RATE)
    return Number(value.interval, value.is_exact) if value is not None else Absent("missing", "no time")


def _point(one: _Read, scale: Scale) -> Point:
    text = ""
    if one.intensity is not None:
        text = units.format_number(one.intensity, max(0, _DIGITS - 1 - math.floor(math.log10(one.intensity))))
    rate = one.rate
    if isinstance(rate, Number):
        shown = measured_of(rate, scale, units.table_decimals(rate.interval, scale))
        return Point(one.row, one.origin.arm, one.origin.log, one.origin.workload, one.intensity, text, shown)
    return Point(one.row, one.origin.arm, one.origin.log, one.origin.workload, one.intensity, text, rate)


def _uncovered(built: Built) -> Iterator[Point]:
    """Rows that no log has keep their place, with the reason."""
    for row in built.view.rows[len(built.origins) :]:
        if row.absent is not None:
            yield Point(grid.label(built.view, row), "", "", "", None, "", row.absent)


def _arms(built: Built, read: Sequence[_Read]) -> tuple[tuple[str, bool], ...]:
    baselines = {column.vs for column in built.view.columns if column.vs}
    return tuple((arm, arm in baselines) for arm in dict.fromkeys(one.origin.arm for one in read))


def _measured(loaded: Loaded, subjects: Sequence[_Subject]) -> Iterator[Ceiling]:
    """The best that the cells of a log reach, as a ceiling for each dtype that is asked for."""
    record, device = loaded.record, device_of(loaded.record)
    if others := sorted({asked for asked, _ in subjects} - {device}):
        fix = "name ceilings that were measured on the device of the table"
        raise RooflineError(f"{loaded.entry.log} was measured on {device}, the table on {', '.join(others)}", fix=fix)
    loads = [workload for workload in record.workloads if isinstance(workload, OpWorkload)]
    bytes_per_s = _best(loaded, loads, _BANDWIDTH)
    for _, dtype in subjects:
        flop_per_s = _best(loaded, [one for one in loads if one.dtype == dtype], _RATE)
        if flop_per_s is not None or bytes_per_s is not None:
            yield _ceiling("measured", flop_per_s, bytes_per_s, f"the best of {loaded.entry.log}, {dtype}")


def _best(loaded: Loaded, workloads: Sequence[Workload], quantity: Quantity) -> float | None:
    kind = "bytes" if quantity is _BANDWIDTH else "flop"
    stated = [workload.name for workload in workloads if any(amount.of == kind for amount in workload.work)]
    found = [
        value.interval.value
        for cell in loaded.record.cells
        if cell.workload in stated and absence(cell) is None
        if (value := value_of(loaded, cell, quantity)) is not None
    ]
    return max(found, default=None)


def _ceiling(kind: str, flop_per_s: float | None, bytes_per_s: float | None, source: str) -> Ceiling:
    def text(value: float | None, unit: str) -> str:
        return "" if value is None else units.format_value(value, units.scale_for(value, unit), 1)

    is_sheet = kind == "datasheet"
    return Ceiling(
        "datasheet" if is_sheet else "measured",
        flop_per_s,
        bytes_per_s,
        text(flop_per_s, "FLOP/s"),
        text(bytes_per_s, "B/s"),
        source,
    )
