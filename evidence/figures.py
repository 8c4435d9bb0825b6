"""Owns evidence.json: every number that a site prints, with what it is read from, for machines and for a second check.

One figure is one printed text. It names its log, arms, workloads, metric, statistic and transformation, so that whoever
reads it can compute it again from the samples in the log and needs neither this package nor the claims files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from evidence import sentences
from evidence.book import Book
from evidence.evaluation import Reading
from evidence.readings import Quantity
from evidence.schema.claims import CONTROL
from evidence.statements import reading_note
from evidence.tables import Built
from evidence.tables.numbers import Origin
from evidence.views import Absent, Column, Figure, Measured, Ratio, Statement, TableCell, Words

FILE_NAME = "evidence.json"
FORMAT = 1
_SIGNS = {"ratio": "×", "change": "%"}

Object: TypeAlias = dict[str, Any]


def text(book: Book, pages: Mapping[str, Sequence[str]], values: Iterable[tuple[str, str, str]] = ()) -> str:
    """Return the whole file, one figure a line.

    Args:
        book: The claims and tables of the site.
        pages: Id of an item -> addresses of the pages that show it.
        values: (macro, claim, field) of every single value that a page shows by itself.
    """
    figures: list[Object] = []
    claims: Object = {}
    tables: Object = {}
    logs: Object = {}
    for id_ in book.ids:
        shown = book.shown(id_)
        if shown is None:
            continue  # nothing of it is printed, and the check says why
        view = shown.view if isinstance(shown, Built) else shown
        made = _table(shown, figures) if isinstance(shown, Built) else _claim(book, shown, figures)
        (tables if isinstance(shown, Built) else claims)[id_] = {**made, "pages": sorted(set(pages.get(id_, ())))}
        logs.update({one.log: {"sha256": one.sha256, "record": one.raw} for one in view.evidence})
    for macro, id_, field in sorted(set(values)):
        figure = book.value(id_, field) if macro == "value" else book.diagnostic(id_, field).figure
        figures.append({"of": id_, "at": macro, **_field(field, figure, book.readings(id_))})
    head = {"format": FORMAT, "logs": logs, "claims": claims, "tables": tables}
    lines = json.dumps(head, ensure_ascii=False, indent=1)[:-2]
    encode = json.JSONEncoder(ensure_ascii=False).encode
    rows = ",\n".join(f"  {encode(one)}" for one in figures)
    return f'{lines},\n "figures": [\n{rows}\n ]\n}}\n'


def _claim(book: Book, view: Statement, figures: list[Object]) -> Object:
    readings = book.readings(view.id)
    template = book.claims.claims[view.id].item.statement
    names = iter(sentences.fields_of(template))
    parts: list[str | int] = []
    for part in view.sentence:
        if isinstance(part, str):
            parts.append(part)
            continue
        parts.append(len(figures))
        figures.append({"of": view.id, "at": "sentence", **_field(next(names), part, readings)})
    headline = view.headline
    return {
        "says": view.text,
        "parts": parts,
        "verdict": view.verdict,
        "word": view.word,
        "headline": None
        if headline is None or headline.shown is None
        else {"text": headline.shown.value, "interval": [headline.shown.low, headline.shown.high]},
        "note": view.note,
        "short_note": view.short_note,
        "readings": {name: {**_selection(one), "note": reading_note(one)} for name, one in readings.items()},
    }


def _field(name: str, figure: Figure, readings: Mapping[str, Reading]) -> Object:
    """One field of a sentence, by what it asks of which reading."""
    asked = sentences.asked(name, readings)
    reading = readings[asked.reading]
    shown = {"field": name, "text": figure.text, "interval": figure.interval}
    if asked.fact:
        return {"show": "fact", "fact": asked.fact, **_selection(reading), **shown}
    unit = _SIGNS.get(asked.quantity) or (figure.text.split(" ")[-1] if " " in figure.text else "")
    is_number = asked.quantity in ("ratio", "change", "baseline", "candidate", "value") and "at" not in asked.reducer
    made = {"show": asked.quantity, "reduce": asked.reducer, "unit": unit if is_number else ""}
    return {**made, **_selection(reading), **shown}


def _selection(reading: Reading) -> Object:
    """What a reading reads: cells of a log, of one arm or of two, and the control that it is held to."""
    found: Object = {
        "log": reading.loaded.entry.log,
        "arm": reading.candidate,
        "baseline": reading.baseline,
        "workloads": [workload.name for workload in reading.workloads],
        **_quantity(reading.quantity),
    }
    if reading.control is not None:
        found[CONTROL] = _selection(reading.control)
    return found


def _quantity(quantity: Quantity) -> Object:
    return {"metric": quantity.metric, "statistic": quantity.statistic, "per": quantity.per}


def _table(built: Built, figures: list[Object]) -> Object:
    view = built.view
    axes = sum(column.kind == "axis" for column in view.columns)
    for index, row in enumerate(view.rows):
        origins: Sequence[Origin | None] = built.origins[index] if index < len(built.origins) else ()
        for place, origin in enumerate(origins, start=axes):
            if origin is not None:
                at = {"of": view.id, "at": "table", "row": index, "column": place}
                figures.append({**at, **_cell(view.columns[place], row.cells[place], origin)})
    return {
        "title": view.title,
        "tally": view.tally,
        "columns": [{"title": one.title, "kind": one.kind} for one in view.columns],
        "rows": [[cell.text for cell in row.cells[:axes] if isinstance(cell, Words)] for row in view.rows],
    }


def _cell(column: Column, cell: TableCell, origin: Origin) -> Object:
    found: Object = {
        "show": column.kind,
        "log": origin.log,
        "arm": origin.arm,
        "baseline": origin.baseline,
        "workloads": [origin.workload],
        **_quantity(origin.quantity),
    }
    if origin.peak is not None:
        found["peak"] = origin.peak
    return {**found, **dict(_printed(column, cell))}


def _printed(column: Column, cell: TableCell) -> Iterator[tuple[str, Any]]:
    match cell:
        case Measured(shown=shown):
            yield from (("unit", column.unit), ("text", shown.value), ("interval", [shown.low, shown.high]))
        case Ratio(shown=shown):
            yield from (("verdict", cell.verdict), ("word", cell.word), ("unit", _SIGNS[column.kind]))
            yield "text", shown.value if shown else ""
            yield "interval", [shown.low, shown.high] if shown else ["", ""]
        case Absent():
            yield from (("outcome", cell.outcome), ("text", ""))
        case Words():
            yield "text", cell.text
