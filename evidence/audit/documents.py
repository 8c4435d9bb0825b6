"""Owns reading result files of any tool: JSON, JSONL, CSV and Evidence records become rows of named values.

A row is what stands together in a file: an object with numbers of its own, a line, a cell of a record. What encloses
it (the run it belongs to, the key it stands under) is inherited as text. Files are untrusted: whatever keeps one from
being read is a problem with its place, and nothing here raises for it.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import re
import statistics as averages
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import jiter

from evidence.audit import attributes
from evidence.audit.words import is_metric
from evidence.errors import EvidenceError, RecordError
from evidence.readings import Quantity, coordinates, device_of, gate_value, known_metrics, process_values, unit_of
from evidence.schema import Imported, Record, series
from evidence.schema.text import parse
from evidence.statistics import location
from evidence.store import RECORD_NAME

SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".gz"})
_MOST_BYTES = 1 << 30
_LONGEST_TEXT = 200
_MOST_ELEMENTS = 64
_MOST_TEXTS = 8
_MOST_PROBLEMS = 20
_NUMERIC = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_PREFIX = re.compile(rb"^\s*:::[A-Z]+ ")
_LINE = re.compile(r"line (\d+)")
_NOT_FINITE = {"nan", "inf", "-inf", "infinity", "-infinity", "+inf", "null", "none", ""}


class Kind(IntEnum):
    """How a value stands in its file: by itself, computed from a list of samples, or as one of such a list."""

    SCALAR = 0
    STATISTIC = 1
    ELEMENT = 2


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a file, or a part of it, was not read."""

    file: str
    place: str
    message: str


@dataclass(frozen=True, slots=True)
class Cell:
    """Where in an Evidence record a row comes from."""

    log: str
    arm: str
    workload: str
    axes: Mapping[str, str]

    @property
    def series(self) -> str:
        """The log's name without its date."""
        return series(self.log)


@dataclass(slots=True)
class Row:
    """Values that stand together, and the texts and settings round them."""

    file: str
    place: str
    texts: dict[str, str]
    values: list[tuple[str, float, Kind]] = field(default_factory=list)
    settings: dict[str, float] = field(default_factory=dict)
    """Whole numbers of what encloses the row: they tell rows apart, but are no values of it."""
    keys: tuple[str, ...] = ()
    units: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    better: Mapping[str, str] = field(default_factory=dict)
    """Of an Evidence record: which way each metric is better."""
    cell: Cell | None = None


def files_below(paths: Iterable[Path], leave_out: Iterable[Path] = ()) -> Iterator[tuple[Path, str]]:
    """Yield result files and the names to print for them: no hidden entries, no links, in order of name."""
    left_out = {path.resolve() for path in leave_out}
    for root in paths:
        if root.is_file():
            yield root, root.as_posix()
            continue
        for path in _walk(root):
            if path.suffix.lower() in SUFFIXES and path.resolve() not in left_out:
                yield path, path.as_posix()


def _walk(folder: Path) -> Iterator[Path]:
    record = folder / RECORD_NAME
    if not record.is_symlink() and record.is_file() and _is_record(record):
        yield record  # what lies beside it is what it was made of
        return
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.is_symlink():
            continue
        if path.is_dir():
            yield from _walk(path)
        elif path.is_file():
            yield path


def _is_record(path: Path) -> bool:
    with path.open("rb") as stream:
        head = stream.read(400)
    return b'"schema_version"' in head and b'"log"' in head


def read(path: Path, name: str, problems: list[Problem]) -> Iterator[Row]:
    """Yield the rows of a file; what cannot be read is added to the problems, with its place."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            problems.append(Problem(name, "", f"larger than {_MOST_BYTES:,} bytes: not read"))
            return
        data = path.read_bytes()
    except OSError as error:
        problems.append(Problem(name, "", f"cannot be read: {error.strerror}"))
        return
    yield from rows_of(data, name, problems)


def rows_of(data: bytes, name: str, problems: list[Problem]) -> Iterator[Row]:
    """Yield the rows in a file's bytes, whatever its name says it is."""
    content = _text(data, name, problems)
    if content is None:
        return
    if not content.strip():
        problems.append(Problem(name, "", "the file is empty"))
        return
    first = content.lstrip()[:1]
    if first in (b"{", b"[") or _PREFIX.match(content):
        yield from _json_rows(content, name, problems)
    elif name.lower().removesuffix(".gz").endswith((".csv", ".tsv")):
        yield from _csv_rows(content.decode(), name, problems)
    else:
        yield from _line_rows(content, name, problems)


def _text(data: bytes, name: str, problems: list[Problem]) -> bytes | None:
    """Return a file's text as UTF-8 bytes: unpacked, without a byte order mark; None for what is no text."""
    if data.startswith(b"\x1f\x8b"):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
                data = stream.read(_MOST_BYTES)
        except (OSError, EOFError, zlib.error) as error:
            problems.append(Problem(name, "", f"cannot be unpacked: {error}"))
            return None
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        decoded = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        told = f"not {encoding.removesuffix('-sig').upper()} at byte {error.start:,}: not read"
        problems.append(Problem(name, f"line {line}", told))
        return None
    if "\0" in decoded:
        place = decoded[: decoded.index("\0")].count("\n") + 1
        problems.append(Problem(name, f"line {place}", "holds zero bytes, so it is no text (UTF-16 without its mark?)"))
        return None
    return decoded.encode()


def _loaded(data: bytes, name: str, problems: list[Problem], place: str = "") -> Any:
    """Parse JSON; the second of two keys counts, and is a problem.

    Raises:
        ValueError: the bytes are not JSON.
    """
    try:
        return jiter.from_json(data, catch_duplicate_keys=True, allow_inf_nan=True)
    except ValueError as error:
        if "uplicate key" not in str(error):
            raise
        where = place or (f"line {match[1]}" if (match := _LINE.search(str(error))) else "")
        problems.append(Problem(name, where, f"{str(error)[:200]}; the last one is read"))
        return jiter.from_json(data, allow_inf_nan=True)


def _json_rows(data: bytes, name: str, problems: list[Problem]) -> Iterator[Row]:
    try:
        document = _loaded(data, name, problems)
    except ValueError as error:
        lines = data.split(b"\n")
        whole = [line for line in lines[:200] if line.strip()]
        if len(whole) > 1 and sum(_is_json(line) for line in whole) * 2 >= len(whole):
            yield from _line_rows(data, name, problems)
        else:
            match = _LINE.search(str(error))
            problems.append(Problem(name, f"line {match[1]}" if match else "", f"not JSON: {str(error)[:200]}"))
        return
    if isinstance(document, dict) and {"schema_version", "log", "cells", "arms"} <= document.keys():
        try:
            yield from _record_rows(parse(data), name)
        except RecordError as error:
            problems.append(
                Problem(name, f"line {error.line}", f"no record, so read as any JSON: {error.message[:200]}")
            )
        else:
            return
    yield from _walk_document(document, name, "", {}, ())


def _is_json(line: bytes) -> bool:
    return _PREFIX.sub(b"", line).strip()[:1] in (b"{", b"[")


def _line_rows(data: bytes, name: str, problems: list[Problem]) -> Iterator[Row]:
    """Yield rows of JSON lines; a line that is none may be a label of those below it, and is told."""
    label, refused, found = "", 0, False
    for number, line in enumerate(data.split(b"\n"), start=1):
        line = _PREFIX.sub(b"", line).strip()
        if not line:
            continue
        try:
            document = _loaded(line, name, problems, f"line {number}")
            fault = "" if isinstance(document, dict | list) else "a value by itself"
        except ValueError as error:
            fault = str(error)[:120]
        if fault:
            refused += 1
            label = line.decode(errors="replace").rstrip(": ")[:_LONGEST_TEXT] if line.endswith(b":") else label
            if refused <= _MOST_PROBLEMS:
                problems.append(Problem(name, f"line {number}", f"not JSON: {fault}"))
            continue
        found = True
        yield from _walk_document(document, name, f"line {number}", {"label": label} if label else {}, ())
    if refused > _MOST_PROBLEMS:
        problems.append(Problem(name, "", f"{refused - _MOST_PROBLEMS} more lines are not JSON"))
    if not found:
        problems.append(Problem(name, "", "holds no JSON object and no table"))


def _walk_document(node: Any, name: str, place: str, texts: Mapping[str, str], keys: tuple[str, ...]) -> Iterator[Row]:
    if isinstance(node, dict):
        yield from _take(node, name, place, dict(texts), {}, keys)
    elif isinstance(node, list):
        if any(isinstance(child, dict) for child in node):
            for index, child in enumerate(node):
                if isinstance(child, dict | list):
                    yield from _walk_document(child, name, f"{place}/{index}", texts, keys)
        elif node:
            yield from _take({"values": node}, name, place, dict(texts), {}, keys)


def _take(
    node: dict[str, Any],
    name: str,
    place: str,
    texts: dict[str, str],
    settings: dict[str, float],
    keys: tuple[str, ...],
) -> Iterator[Row]:
    row = Row(name, place, texts, settings=settings, keys=keys)
    children: list[tuple[str, str, dict[str, Any]]] = []
    _flatten(node, "", "", row, children)
    if row.values or (row.texts and not children):
        yield row
    if not children:
        return
    inherited = dict(row.settings)
    for path, value, kind in row.values:
        if kind is Kind.SCALAR and value == int(value) and abs(value) < 1e15 and not is_metric(path):
            inherited[path] = value
    for path, key, child in children:
        yield from _take(child, name, f"{place}{path}", dict(row.texts), inherited, (*keys, key) if key else keys)


def _flatten(
    node: dict[str, Any], path: str, pointer: str, row: Row, children: list[tuple[str, str, dict[str, Any]]]
) -> None:
    """Take an object's own values, and those of objects that stand in it once; siblings of one shape become rows."""
    family = _family(node, is_inner=bool(path))
    for key, value in node.items():
        at = f"{path}.{key}" if path else key
        here = f"{pointer}/{key}"
        if isinstance(value, dict):
            if key in family:
                children.append((here, key, value))
            else:
                _flatten(value, at, here, row, children)
        elif isinstance(value, list):
            _take_list(value, at, here, row, children)
        else:
            _take_scalar(value, at, row)


def _family(node: dict[str, Any], *, is_inner: bool) -> frozenset[str]:
    """Return the keys below which objects of one shape stand side by side; attributes of what holds them are none."""
    shapes: dict[frozenset[str], list[str]] = {}
    for key, value in node.items():
        if isinstance(value, dict) and value:
            shapes.setdefault(frozenset(value), []).append(key)
    families = [alike for alike in shapes.values() if len(alike) > 1]
    return frozenset(
        key
        for alike in families
        if not (is_inner and attributes.are_attributes([node[one] for one in alike]))
        for key in alike
    )


def _take_list(
    values: list[Any], at: str, pointer: str, row: Row, children: list[tuple[str, str, dict[str, Any]]]
) -> None:
    if not values:
        return
    if (described := attributes.named(values)) is not None:
        for title, attribute in described.items():
            _flatten(attribute, f"{at}.{title}", pointer, row, children)
    elif any(isinstance(value, dict) for value in values):
        key = at.rsplit(".", 1)[-1]
        children += [
            (f"{pointer}/{index}", key, value) for index, value in enumerate(values) if isinstance(value, dict)
        ]
    elif any(isinstance(value, list) for value in values):
        for index, value in enumerate(values[:_MOST_TEXTS]):
            if isinstance(value, list):
                _take_list(value, f"{at}[{index}]", f"{pointer}/{index}", row, children)
    elif all(isinstance(value, str) for value in values):
        if len(values) <= _MOST_TEXTS:
            row.texts[at] = " ".join(values)[:_LONGEST_TEXT]
    else:
        _take_numbers([number for value in values if (number := _number(value)) is not None], at, row)


def _take_numbers(numbers: Sequence[float], at: str, row: Row) -> None:
    """Add what pages print of a list of samples, and the samples themselves where they are few."""
    if len(numbers) > 1:
        reduced = {
            "median": averages.median(numbers),
            "mean": sum(number / len(numbers) for number in numbers),
            "min": min(numbers),
            "max": max(numbers),
        }
        row.values += [(f"{at}.{name}", one, Kind.STATISTIC) for name, one in reduced.items() if math.isfinite(one)]
    if len(numbers) <= _MOST_ELEMENTS:
        row.values += [(f"{at}[{index}]", number, Kind.ELEMENT) for index, number in enumerate(numbers)]


def _take_scalar(value: Any, at: str, row: Row) -> None:
    number = _number(value)
    if number is not None:
        row.values.append((at, number, Kind.SCALAR))
        return
    if isinstance(value, str):
        row.texts[at] = value[:_LONGEST_TEXT]
        if len(value) < 40 and _NUMERIC.fullmatch(value) and math.isfinite(float(value)):
            row.values.append((at, float(value), Kind.SCALAR))
    elif isinstance(value, bool):
        row.texts[at] = str(value).lower()
    elif isinstance(value, float):
        row.texts[at] = str(value)
    elif value is None:
        row.texts[at] = "null"


def _number(value: Any) -> float | None:
    """Return a finite number; None for what is none, or is too large for a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _csv_rows(text: str, name: str, problems: list[Problem]) -> Iterator[Row]:
    """Yield a row a line; a line of words and another width begins a new table in the same file."""
    header: list[str] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    widths: dict[int, int] = {}
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                header = []
            elif cells[0].startswith("#"):
                continue
            elif not header or (len(cells) != len(header) and not any(map(_is_number, cells))):
                header = _headings(cells)
                if sum(map(_is_number, cells)) * 2 > len(cells):
                    problems.append(Problem(name, f"line {reader.line_num}", "a table without a header row"))
                    header = [f"column {index}" for index in range(1, len(cells) + 1)]
                    yield _csv_row(header, cells, name, reader.line_num)
            else:
                if len(cells) > len(header):
                    widths.setdefault(reader.line_num, len(cells))
                yield _csv_row(header, cells, name, reader.line_num)
    except csv.Error as error:
        problems.append(Problem(name, f"line {reader.line_num}", f"not CSV from here on: {error}"))
    for line, width in list(widths.items())[:_MOST_PROBLEMS]:
        problems.append(Problem(name, f"line {line}", f"{width} cells under fewer headings: the rest is not read"))


def _delimiter(text: str) -> str:
    head = text[:4096].lstrip().split("\n", 1)[0]
    return max(",;\t", key=head.count)


def _headings(cells: Sequence[str]) -> list[str]:
    """Return column names, the second and third of one name numbered."""
    seen: dict[str, int] = {}
    found = []
    for index, cell in enumerate(cells, start=1):
        title = cell.strip()[:_LONGEST_TEXT] or f"column {index}"
        seen[title] = seen.get(title, 0) + 1
        found.append(title if seen[title] == 1 else f"{title} [{seen[title]}]")
    return found


def _is_number(cell: str) -> bool:
    return len(cell) < 40 and _NUMERIC.fullmatch(cell.strip()) is not None


def _csv_row(header: Sequence[str], cells: Sequence[str], name: str, line: int) -> Row:
    row = Row(name, f"line {line}", {})
    for title, cell in zip(header, cells, strict=False):
        content = cell.strip()
        if _is_number(content) and math.isfinite(float(content)):
            row.values.append((title, float(content), Kind.SCALAR))
        elif content.lower() in _NOT_FINITE:
            row.texts[title] = content.lower() or "null"
        else:
            row.texts[title] = content[:_LONGEST_TEXT]
    return row


def _record_rows(record: Record, name: str) -> Iterator[Row]:
    """Yield a row a cell of an Evidence record: its metrics as the site prints them, told apart by its axes."""
    shared = {"log": record.log, "device": device_of(record)}
    shared |= {f"{stack.name} packages": " ".join(stack.packages)[:2000] for stack in record.stacks}
    for index, cell in enumerate(record.cells):
        axes = {"arm": cell.arm, **coordinates(record, record.workload(cell.workload))}
        row = Row(name, f"/cells/{index}", {**shared, **axes}, cell=Cell(record.log, cell.arm, cell.workload, axes))
        units: dict[str, tuple[str, float]] = {}
        better: dict[str, str] = {}
        for axis, text in axes.items():
            if _is_number(text):
                row.values.append((axis, float(text), Kind.SCALAR))
        for metric in known_metrics(record):
            quantity = Quantity(metric)
            unit, direction = unit_of(record, quantity)
            try:
                values = process_values(record, cell, quantity)
            except EvidenceError:
                continue
            if values:
                if len(values) > 1:
                    bounds = location(values)
                    row.values += [
                        (f"{metric}.low", bounds.low, Kind.STATISTIC),
                        (f"{metric}.high", bounds.high, Kind.STATISTIC),
                    ]
                    units |= dict.fromkeys((f"{metric}.low", f"{metric}.high"), _SI.get(str(unit), ("", 1.0)))
                value = averages.median(values) if gate_value(cell, metric) is None else values[0]
                row.values.append((metric, value, Kind.SCALAR))
                better[metric] = str(direction)
                units[metric] = _SI.get(str(unit), ("", 1.0))
        if isinstance(cell, Imported):
            for one in cell.reported:
                row.values.append((f"{one.metric}.{one.statistic}", float(one.value), Kind.SCALAR))
        row.units, row.better = units, better
        yield row


_SI = {
    "s": ("time", 1.0),
    "B": ("bytes", 1.0),
    "B/s": ("bytes/s", 1.0),
    "FLOP/s": ("flops", 1.0),
    "token/s": ("rate", 1.0),
    "1/s": ("rate", 1.0),
    "J": ("energy", 1.0),
    "1": ("", 1.0),
}
