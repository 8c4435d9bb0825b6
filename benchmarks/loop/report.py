"""Owns the report of a loop: its contract, its rows, its dispatch table and its end, as Markdown from its records.

The text for people to read has numbers, each computed from a record when it is rendered. The page for a site has none:
its tables are macros over the same logs, so the site holds them to their evidence like any other number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.loop import decision, dispatch, journal, reading
from benchmarks.loop.contract import Contract
from benchmarks.loop.journal import Change, Row, Status
from benchmarks.loop.reasons import Objection
from evidence.renderers.markdown import escape
from evidence.store import Store
from evidence.units import MINUS

_SHORT = 12
_WORDS: Mapping[Status, str] = {
    "base": "as it was before",
    "keep": "a change that was kept",
    "floor": "a change that was kept, at the floor",
    "revert": "a change that was taken back",
    "drop": "a change that was refused",
    "note": "another session of the best",
}
"""What a row's status means, for the titles of its table: authors type no numbers there."""


_SAID: Mapping[Status, str] = {
    "base": "What every change is compared with at first.",
    "keep": "Kept: from here on this is the best.",
    "floor": "Kept: the roofline leaves nothing to gain.",
    "revert": "Taken back: no better than the best before it.",
    "drop": "Refused: its gate is not green, or a target has no time.",
    "note": "The best measured once more, which changes nothing.",
}
"""What became of a row, in words."""


def text(contract: Contract, rows: Sequence[Row], store: Store) -> str:
    """Return the report with its numbers."""
    heads = ("Iteration", "Direction", "Gate", "Record", "Change against the best", "Status", "Note", "Commit")
    return "\n".join(
        [
            f"# Loop: {escape(contract.task)}",
            "",
            *_contract(contract),
            "",
            "## Iterations",
            "",
            f"Change is {journal.UNIT}, with its 95 % interval; a row whose gate is not green has none.",
            "",
            *_table(heads, [_cells(row) for row in rows]),
            "",
            *_dispatch(contract, rows, store),
            *_end(contract, rows, store),
            "",
        ]
    )


def page(contract: Contract, rows: Sequence[Row], store: Store) -> str:
    """Return a page for a site: no number in its text, and a call of a table for each row with a record."""
    heads = ("Iteration", "Direction", "Gate", "Status", "Record", "Commit")
    listed = [(str(row.iteration), row.direction, row.gate or "", row.status, row.record or "", "") for row in rows]
    listed = [(*cells[:5], row.commit[:_SHORT]) for cells, row in zip(listed, rows, strict=True)]
    parts = [f"# Loop: {escape(contract.task)}", "", *_contract(contract, is_page=True), "", "## Iterations", ""]
    parts += [*_table(heads, listed), ""]
    for row in rows:
        if row.record is not None:
            said = " ".join((_SAID[row.status], *_losses(contract, row, store)))
            parts += [f"### Iteration {row.iteration}", "", escape(row.direction), "", said, ""]
            parts += [f'{{{{ ev.table("{table_id(contract, row)}") }}}}', ""] if is_timed(row) else []
    entries = dispatch.table(contract, rows, store)
    if entries:
        cells = [(one.condition, one.entry_point, ", ".join(one.logs)) for one in entries]
        parts += ["## Dispatch", "", *_table(("Condition", "Entry point", "Record"), cells)]
        parts += [""]
    last = rows[-1] if rows else None
    end = last.status if last is not None and last.status in journal.END else "unfinished"
    parts += ["## End", "", f"{end}{f': {escape(last.bound)}' if last is not None and last.bound else ''}", ""]
    return "\n".join(parts)


def _losses(contract: Contract, row: Row, store: Store) -> Iterator[str]:
    """Where a row is slower than the baseline: tables show it, and a reader is told."""
    loaded = journal.load(store, row)
    if loaded is not None:
        found = reading.comparisons(contract, loaded.record, [*contract.workloads, *contract.guards])
        names = [f"`{one.workload}`" for one in found if reading.is_slower(one)]
        yield from (f"Slower than the baseline on {', '.join(names)}.",) if names else ()


def claims(contract: Contract, rows: Sequence[Row]) -> str:
    """Return the claims file that the page's tables stand in, as YAML: each row's own log, which no rerun replaces."""
    lines: list[str] = []
    for row in rows:
        if not is_timed(row):
            continue
        lines += [
            f"  {table_id(contract, row)}:",
            f"    title: {json.dumps(f'{contract.candidate} against {contract.baseline}: {_WORDS[row.status]}')}",
            f"    series: {json.dumps(row.record)}",
            "    rows: [workload]",
            "    across: arm",
            "    columns: [{ratio: time}, time]",
            f"    baseline: {json.dumps(contract.baseline)}",
            "    status: {historical: 'an iteration of an optimisation loop, as it was measured'}",
        ]
    refused = [row.record for row in rows if row.record is not None and not is_timed(row)]
    marks = [f"  {json.dumps(log)}: {{do_not_cite: 'its gate refused it, or a target has no time'}}" for log in refused]
    parts = [*(["tables:", *lines] if lines else []), *(["logs:", *marks] if marks else [])]
    return "\n".join(parts or ["{}"]) + "\n"


def is_timed(row: Row) -> bool:
    """Whether a row has times to show: one whose gate refused it has none."""
    return row.record is not None and row.status != "drop"


def table_id(contract: Contract, row: Row) -> str:
    """Return the id of a row's table."""
    return f"loop-{contract.task.replace('_', '-')}-{row.iteration}"


def status(contract: Contract, rows: Sequence[Row], store: Store) -> str:
    """Return where a loop stands, in a few lines for a terminal."""
    best = journal.best_of(rows)
    lines = [f"task        {contract.task}: {contract.candidate} against {contract.baseline} on {contract.hardware}"]
    lines += [f"row         {' · '.join(filter(None, _cells(row)))}" for row in rows]
    lines.append(f"best        {f'iteration {best.iteration}, {best.record}' if best else 'none: no base yet'}")
    lines.append(
        f"tried       {journal.measured(rows)} of {contract.cap}, in {len(journal.directions(rows))} directions"
    )
    if rows and rows[-1].status in journal.END:
        lines.append(f"end         {rows[-1].status} {rows[-1].note}".rstrip())
        return "\n".join(lines)
    if journal.stalled(rows):
        lines.append("stalled     profile the best, read the journal, then: iterate --note TEXT --profiled LOG")
    lines += [f"blocks      {one}" for one in decision.promotion(contract, rows, store)] or ["promotable  promote"]
    return "\n".join(lines)


def _contract(contract: Contract, *, is_page: bool = False) -> Iterator[str]:
    rows = [
        ("Op", contract.op),
        ("Entry point", contract.entry_point),
        ("Baseline", f"{contract.baseline} ({contract.baseline_source}), {contract.baseline_entry_point}"),
        ("Targets", ", ".join(contract.workloads)),
        ("Guards", ", ".join(contract.guards) or "none"),
        ("Modes", ", ".join(contract.modes)),
        *((("Hardware", contract.hardware),) if not is_page else ()),
        ("Language and backend", f"{contract.language}, {contract.backend}"),
        ("Validation", " ".join(contract.validation) or "the measuring command gates by itself"),
        ("Measuring", " ".join(contract.benchmark)),
        ("Frozen", ", ".join(f"{one.path} ({one.sha256[:_SHORT]})" for one in contract.frozen)),
    ]
    if not is_page:
        criteria = contract.criteria
        rows.append(("Target", f"{criteria.target_speedup:g}× in {criteria.sessions} sessions"))
        rows.append(
            ("Mechanism", f"{criteria.mechanism.metric} of {criteria.mechanism.kernel} goes {criteria.mechanism.moves}")
        )
    yield from _table(("Term", "Agreed"), rows)


def _cells(row: Row) -> tuple[str, ...]:
    change = "" if row.change is None else _change(row.change)
    record = row.record or row.profiled or ""
    return (
        str(row.iteration),
        row.direction,
        row.gate or "",
        record,
        change,
        row.status,
        row.note,
        row.commit[:_SHORT],
    )


def _change(change: Change) -> str:
    def signed(value: float) -> str:
        return f"{value:+.1f}".replace("-", MINUS)

    return f"{signed(change.value)} % ({signed(change.low)} to {signed(change.high)})"


def _dispatch(contract: Contract, rows: Sequence[Row], store: Store) -> Iterator[str]:
    entries = dispatch.table(contract, rows, store)
    if not entries:
        return
    heads = ("Condition", "Entry point", "Baseline", "Candidate", "Ratio", "Reason", "Record")
    cells = [
        (one.condition, one.entry_point, one.baseline, one.candidate, one.shown, one.reason, ", ".join(one.logs))
        for one in entries
    ]
    yield from ("## Dispatch", "", *_table(heads, cells), "")


def _end(contract: Contract, rows: Sequence[Row], store: Store) -> Iterator[str]:
    yield from ("## End", "")
    last = rows[-1] if rows else None
    if last is not None and last.status in journal.END:
        yield f"**{last.status}**: {escape(last.direction)}{f'. {escape(last.note)}' if last.note else ''}"
        if last.profiled is not None:
            yield f"(read from {escape(last.profiled)})"
        return
    yield "**unfinished**; what speaks against a promotion now:"
    yield ""
    found: Sequence[Objection] = decision.promotion(contract, rows, store)
    yield from (f"- {escape(str(one))}" for one in found)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join(':--' for _ in heads)} |"
    for row in rows:
        yield f"| {' | '.join(map(escape, row))} |"
