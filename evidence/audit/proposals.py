"""Owns `audit --migrate`: claims and tables proposed for the numbers that come from Evidence records.

What is proposed loads, and says on which line of which page each number stood. Statements, mechanisms and limitations
are the author's to write. For files of other tools it says what would make records of them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evidence.audit.auditing import Run
from evidence.audit.documents import Cell
from evidence.audit.pages import Printed
from evidence.audit.verdicts import Judged, Source, Verdict
from evidence.checker.reports import safe
from evidence.checker.rules.unwritten import TO_WRITE
from evidence.skeletons import SCHEMA_LINE, flow

_NOT_ROWS = ("arm", "device", "workload", "shape", "op")
_BOUNDS = (".low", ".high")
"""Ends of an interval: a claim prints its own."""
_SAME = 0.01


@dataclass(slots=True)
class _Names:
    """Ids in kebab-case, each once."""

    taken: set[str] = field(default_factory=set)

    def make(self, *parts: str) -> str:
        base = re.sub(r"[^a-z0-9]+", "-", "-".join(parts).lower()).strip("-")[:60].strip("-") or "item"
        name, more = base, 2
        while name in self.taken:
            name, more = f"{base}-{more}", more + 1
        self.taken.add(name)
        return name


@dataclass(frozen=True, slots=True)
class _Bound:
    """A number and the cells of records that it comes from."""

    judged: Judged
    cells: tuple[tuple[Source, Cell], ...]


def propose(run: Run) -> str:
    """Return a claims file for what could be bound to records, and comments for the rest."""
    bound = [made for judged in run.audit.judged if (made := _of_records(run, judged)) is not None]
    names = _Names()
    lines = [
        SCHEMA_LINE.rstrip(),
        "# Proposed from an existing page. Reread each item: what a number means is not in it.",
    ]
    tables: dict[int, list[_Bound]] = defaultdict(list)
    prose: dict[tuple[str, str], list[_Bound]] = defaultdict(list)
    for one in bound:
        printed = one.judged.printed
        if printed.table is not None:
            tables[id(printed.table)].append(one)
        else:
            prose[printed.at.path, printed.sentence].append(one)
    if tables:
        lines.append("tables:")
        for group in tables.values():
            lines += _table(run, group, names)
    if prose:
        lines.append("claims:")
        for numbers in prose.values():
            for one in _said_once(numbers):
                lines += _claim(run, one, names)
    if not bound:
        lines += ["# no number on these pages comes from an Evidence record", "{}"]
    lines += _foreign(run)
    return "\n".join(lines) + "\n"


def _of_records(run: Run, judged: Judged) -> _Bound | None:
    if judged.verdict is not Verdict.BOUND or not judged.sources:
        return None
    cells = tuple((one, cell) for one in judged.sources if (cell := run.index.rows[one.row].cell) is not None)
    is_whole = len(cells) == len(judged.sources) and not any(one.field.endswith(_BOUNDS) for one, _ in cells)
    return _Bound(judged, cells) if is_whole else None


def _said_once(numbers: Sequence[_Bound]) -> list[_Bound]:
    """Leave out what another number of the sentence says too: a ratio is read from both of its sides."""
    in_pairs = {(source.row, source.field) for one in numbers if _is_pair(one) for source, _ in one.cells}
    kept: dict[tuple[tuple[int, str], ...], _Bound] = {}
    for one in numbers:
        places = tuple((source.row, source.field) for source, _ in one.cells)
        if _is_pair(one) or places[0] not in in_pairs:
            kept.setdefault(places, one)
    return list(kept.values())


def _table(run: Run, group: Sequence[_Bound], names: _Names) -> Iterator[str]:
    cells = [cell for one in group for _, cell in one.cells]
    printed = group[0].judged.printed
    series = sorted({cell.series for cell in cells})
    arms = list(dict.fromkeys(cell.arm for cell in cells))
    ratios = [one for one in group if _is_pair(one)]
    metrics = list(dict.fromkeys(source.field for one in group if one not in ratios for source, _ in one.cells[:1]))
    columns: list[object] = [*metrics]
    columns += [{"ratio": name} for name in dict.fromkeys(one.cells[0][0].field for one in ratios)]
    title = _title(printed)
    assert printed.table is not None
    yield f"  {names.make(title or series[0])}:  # {_at(printed.table.at.path, printed.table.at.line)}"
    yield f"    title: {flow(title or series[0])}"
    yield f"    series: {flow(series[0] if len(series) == 1 else series)}"
    yield f"    rows: {flow(_rows(cells))}"
    if len(arms) > 1:
        yield "    across: arm"
    yield f"    columns: {flow(columns)}"
    if ratios:
        baselines = Counter(_sides(one)[0].arm for one in ratios)
        yield f"    baseline: {flow(baselines.most_common(1)[0][0])}"


def _rows(cells: Iterable[Cell]) -> list[str]:
    """Return the axes that tell the cells apart; the name of the workload where none does."""
    values: dict[str, set[str]] = defaultdict(set)
    for cell in cells:
        for axis, value in cell.axes.items():
            values[axis].add(value)
    varying = [axis for axis, found in values.items() if len(found) > 1 and axis not in _NOT_ROWS]
    if len(values["device"]) > 1:
        varying.append("device")
    return varying or ["workload"]


def _claim(run: Run, one: _Bound, names: _Names) -> Iterator[str]:
    printed = one.judged.printed
    source, cell = one.cells[0]
    metric = source.field
    name = names.make(cell.series.rsplit("/", 1)[-1], metric)
    yield f"  {name}:  # {_at(printed.at.path, printed.at.line)}: {_short(printed)}"
    if not _is_pair(one):
        yield f"    statement: {flow(f'On {{device}}, {_words(metric)} of {cell.arm} is {{value}}.')}"
        yield from _reading(cell, metric)
        yield f"    arm: {flow(cell.arm)}"
        return
    baseline, candidate = _sides(one)
    statement = (
        f"On {{device}}, {_words(metric)} is {{candidate}} with {candidate.arm} and {{baseline}} with {baseline.arm}."
    )
    yield f"    statement: {flow(statement)}"
    yield from _reading(cell, metric)
    yield f"    baseline: {flow(baseline.arm)}"
    yield f"    candidate: {flow(candidate.arm)}"
    yield f"    expect: {_expected(run, one)}"
    yield f"    mechanism: {flow({'unknown': TO_WRITE})}"


def _reading(cell: Cell, metric: str) -> Iterator[str]:
    yield f"    series: {flow(cell.series)}"
    yield f"    metric: {flow(metric)}"
    yield f"    where: {flow({'workload': cell.workload})}"


def _is_pair(one: _Bound) -> bool:
    """Whether a number relates two arms in one metric."""
    if len(one.cells) != 2:
        return False
    (a, first), (b, second) = one.cells
    return a.field == b.field and first.series == second.series and first.arm != second.arm


def _sides(one: _Bound) -> tuple[Cell, Cell]:
    """Return baseline and candidate: the arm that a table of cells or a sentence names first is what was there."""
    return one.cells[0][1], one.cells[1][1]


def _expected(run: Run, one: _Bound) -> str:
    """Return what the page says, as far as two medians do: the check holds it to the log."""
    (a, _), (b, _) = one.cells
    better = run.index.rows[a.row].better.get(a.field, "lower")
    if a.value == 0 or abs(b.value / a.value - 1) <= _SAME:
        return "same"
    return "better" if (b.value < a.value) == (better == "lower") else "worse"


def _foreign(run: Run) -> Iterator[str]:
    """Say of each other file what would make a record of it."""
    counts: Counter[str] = Counter()
    for judged in run.audit.judged:
        if judged.verdict is Verdict.BOUND:
            counts.update({one.file for one in judged.sources[:1] if run.index.rows[one.row].cell is None})
    for file, count in sorted(counts.items()):
        yield _comment(f"{file}: {count} numbers come from it, and it is no record: {_importing(file)}")


def _importing(file: str) -> str:
    from evidence.errors import EvidenceError
    from evidence.importers import installed

    importers = installed()
    for name, read in importers.items():
        try:
            read(Path(file).read_bytes())
        except (EvidenceError, OSError):
            continue
        return f"evidence import {file} --format {name} --logs docs/benchmark_logs"
    known = ", ".join(importers) or "none"
    return f"no importer reads it (installed: {known}); add one as entry point evidence.importers, or measure again"


def _title(printed: Printed) -> str:
    """Return the nearest heading of a table without its digits: a title may not hold numbers."""
    for text in (*reversed(printed.context[:-1]), *printed.context[-1:]):  # the last is the line before the table
        kept = " ".join(word for word in re.findall(r"[^\W\d_]{3,}", text))
        if kept:
            return kept[:80].capitalize()
    return ""


def _words(metric: str) -> str:
    return metric.replace("_", " ").replace(".", " ")


def _short(printed: Printed) -> str:
    return safe(printed.text)[:40].replace("\n", " ")


def _at(path: str, line: int) -> str:
    return safe(f"{path}:{line}").replace("\n", " ")


def _comment(text: str) -> str:
    return "# " + safe(text).replace("\n", " ")
