"""Owns reading result files into rows: Flash Linear Attention's run and compare JSON, and this project's records."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.ops.exits import Blocker, Exit
from evidence.errors import EvidenceError
from evidence.schema import Record
from evidence.schema.text import parse

_FIXED = frozenset({"op", "mode", "median_ms", "p20_ms", "p80_ms", "shape", "shape_key", "shape_name", "key", "dtype"})
_KEYS = ("shape", "shape_key", "shape_name", "key")
_PART = re.compile(r"([A-Za-z]+)(\d+)(K?)")
_KILO = 1024


class FormatError(EvidenceError):
    """A file that is none of the results that are understood."""


@dataclass(frozen=True, slots=True)
class Row:
    """One measured time of a foreign file; `seconds` is None where it holds no finite positive number."""

    key: tuple[str, ...]
    seconds: float | None
    found: str

    @property
    def name(self) -> str:
        """What the row is about, as a reader reads it."""
        return " ".join(self.key)


@dataclass(frozen=True, slots=True)
class Foreign:
    """A file of Flash Linear Attention's benchmarks."""

    environment: tuple[str, ...]
    sides: tuple[str, ...]
    """Names of the sides: `base` and `head` with their commits, or the one label of a run."""
    rows: tuple[tuple[Row, ...], ...]
    """The rows of each side."""
    problems: tuple[Blocker, ...]


def read(data: bytes) -> Foreign | Record:
    """Read a file.

    Raises:
        FormatError: it is no JSON, or none of the formats.
        RecordError: it is a record of this project that does not hold.
    """
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"no JSON: {error}", fix="give a record.json, or what FLA's benchmarks wrote") from None
    if not isinstance(found, dict):
        raise FormatError("no result: the file holds no JSON object")
    if "schema_version" in found:
        return parse(data)
    if "base_results" in found and "head_results" in found:
        names = tuple(
            f"{side} {str(found.get(f'{side}_sha') or 'of unknown commit')[:12]}" for side in ("base", "head")
        )
        return _foreign(found, names, (found["base_results"], found["head_results"]))
    if "results" in found:
        machine = found.get("machine_info")
        label = machine.get("git_label") if isinstance(machine, dict) else None
        return _foreign(found, (str(label or "run"),), (found["results"],))
    raise FormatError("neither a record nor a run or comparison of FLA's benchmarks", fix="see docs/guides")


def _foreign(found: Mapping[str, Any], sides: tuple[str, ...], lists: Sequence[object]) -> Foreign:
    problems: list[Blocker] = []
    machine = found.get("machine_info")
    known = machine if isinstance(machine, dict) else {}
    environment = tuple(f"{name}: {value}" for name, value in known.items() if name != "hostname")
    for wanted in ("gpu_name", "pytorch_version", "triton_version"):
        if not known.get(wanted):
            problems.append(Blocker(Exit.ENVIRONMENT, f"the file does not say its {wanted}"))
    read_sides = []
    for side, listed in zip(sides, lists, strict=True):
        if not isinstance(listed, list) or not listed:
            problems.append(Blocker(Exit.BENCHMARK_FAILED, f"{side} has no results"))
        items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
        rows = tuple(_row(item) for item in items)
        problems += _row_problems(side, rows, items)
        read_sides.append(rows)
    if len(read_sides) == 2:
        problems += _lost(sides, read_sides)
    return Foreign(environment, sides, tuple(read_sides), tuple(problems))


def _row(item: Mapping[str, Any]) -> Row:
    dimensions = tuple(f"{name}{value}" for name, value in item.items() if name not in _FIXED and _is_size(value))
    dtype = (str(item["dtype"]),) if "dtype" in item else ()
    value = item.get("median_ms")
    is_time = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0
    key = (str(item.get("op")), str(item.get("mode")), "_".join(dimensions), *dtype)
    return Row(key, value / 1e3 if is_time and value is not None else None, repr(value))


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _row_problems(side: str, rows: Sequence[Row], items: Sequence[Mapping[str, Any]]) -> Iterator[Blocker]:
    seen: set[tuple[str, ...]] = set()
    for row, item in zip(rows, items, strict=True):
        if row.seconds is None:
            yield Blocker(Exit.NOT_A_NUMBER, f"{side}: {row.name}: median_ms is {row.found}")
        if row.key in seen:
            yield Blocker(Exit.DUPLICATE_ROW, f"{side}: {row.name} stands there twice")
        seen.add(row.key)
        if lie := _lie(item):
            yield Blocker(Exit.UNMATCHED_SHAPE, f"{side}: {row.name}: {lie}")


def _lie(item: Mapping[str, Any]) -> str:
    """Return how a row's shape key says another size than its dimensions do."""
    for field in _KEYS:
        for name, digits, kilo in _PART.findall(str(item.get(field) or "")):
            said = int(digits) * (_KILO if kilo else 1)
            if _is_size(item.get(name)) and item[name] != said:
                return f"its {field} {item[field]!r} says {name}{digits}{kilo}, its dimension is {item[name]}"
    return ""


def _lost(sides: Sequence[str], rows: Sequence[Sequence[Row]]) -> Iterator[Blocker]:
    keys = [{row.key for row in side} for side in rows]
    for mine, other in ((0, 1), (1, 0)):
        for key in sorted(keys[mine] - keys[other]):
            yield Blocker(Exit.LOST_ROW, f"{' '.join(key)} is in {sides[mine]} and not in {sides[other]}")
