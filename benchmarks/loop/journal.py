"""Owns the journal: a line of JSON a row, each with the digest of the line before it, appended and never changed.

A row is refused where its chain is broken, where git knows another text of it, where its record or its contract is
another one, and where its number or its status is not what records give.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from benchmarks.loop import reading
from benchmarks.loop.contract import Contract, digest
from benchmarks.loop.options import Bound
from benchmarks.loop.reading import GateState
from benchmarks.loop.reasons import LoopError, Reason
from evidence.errors import EvidenceError
from evidence.repository import Repository
from evidence.schema import GitSource, Record
from evidence.schema.base import Commit, Count, Model, Name, Sha256, Text, UtcTime
from evidence.schema.record import LogName
from evidence.statistics import Verdict, judge
from evidence.store import RECORD_NAME, Loaded, Store

FILE_NAME = "journal.jsonl"
Unit = Literal["% of time against the best, below 0 is faster"]
UNIT: Unit = "% of time against the best, below 0 is faster"
_NOT_A_NUMBER = re.compile(rb"[\[,:]\s*-?(?:NaN|Infinity)\b")
"""What JSON has no word for, and some tools write."""
_PRECISION = 1e-9
"""To which a row's number and that of its record agree, relative or in per cent of time."""
STALL = 3
"""Rows in a row that are not kept until something has to be read."""

Status = Literal["base", "keep", "revert", "drop", "floor", "note", "promoted", "no-go"]
KEPT: tuple[Status, ...] = ("base", "keep", "floor")
"""Statuses of rows that become the best."""
END: tuple[Status, ...] = ("promoted", "no-go")


class Change(Model):
    """How much time the candidate takes against the best before it."""

    unit: Unit
    value: float
    low: float
    high: float


class Row(Model):
    """One iteration, or a note between two."""

    iteration: Count
    at: UtcTime
    direction: Text
    """The one hypothesis."""
    gate: GateState | None
    """Null: nothing was run."""
    record: LogName | None
    record_sha256: Sha256 | None
    commit: Commit
    change: Change | None
    """Null: a red row has no timing, the base has nothing before it."""
    status: Status
    note: str
    profiled: LogName | None
    """The log whose profile a note was written from, or that a bound's number is of."""
    bound: Bound | None
    """What a no-go says is in the way."""
    metric: Name | None
    """The counter of a profile that the bound's number is."""
    contract_sha256: Sha256
    previous: Sha256
    """Digest of the line before; of the contract for the first row."""


def line_of(row: Row) -> bytes:
    """Return a row's line with its line feed."""
    return (json.dumps(row.model_dump(mode="json"), ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def link_of(rows: Sequence[Row], contract: Contract) -> str:
    """Return what the next row must hold as `previous`."""
    return hashlib.sha256(line_of(rows[-1])).hexdigest() if rows else digest(contract)


def read(path: Path, contract: Contract, repository: Repository) -> tuple[Row, ...]:
    """Read a journal and hold its chain to the contract, and its text to git.

    Raises:
        LoopError: a chain that is broken, or a row that git knows otherwise.
    """
    data = path.read_bytes() if path.is_file() else b""
    rows: list[Row] = []
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        try:
            row = Row.model_validate_json(line)
        except ValidationError as error:
            said = error.errors(include_url=False, include_input=False, include_context=False)[0]["msg"]
            raise LoopError(Reason.EDITED_ROW, f"{path.name}:{number}: {said}", fix="restore it from git") from None
        if line_of(row) != line:
            raise LoopError(Reason.EDITED_ROW, f"{path.name}:{number} is not as it was written")
        if row.previous != link_of(rows, contract) or row.contract_sha256 != digest(contract):
            raise LoopError(
                Reason.BROKEN_CHAIN,
                f"{path.name}:{number} does not follow the line before it",
                fix="restore it from git",
            )
        rows.append(row)
    _hold_to_git(path, data, repository)
    return tuple(rows)


def _hold_to_git(path: Path, data: bytes, repository: Repository) -> None:
    """Whoever edits the last row can mend its chain, but not what was committed."""
    name = path.resolve().relative_to(repository.root.resolve()).as_posix()
    commit = repository.commit()
    kept = repository.file_at(commit, name) if commit is not None else None
    if (kept or b"") != data:
        raise LoopError(Reason.EDITED_ROW, f"{name} is not what was committed", fix=f"git checkout -- {name}")
    if kept is not None and repository.removed_lines(path):
        raise LoopError(Reason.EDITED_ROW, f"a commit changed or removed a row of {name}", fix="rows are only added")


def load(store: Store, row: Row) -> Loaded | None:
    """Return a row's record; None for a row without one.

    Raises:
        LoopError: it is not there, does not load, or has other bytes than when the row was written.
    """
    if row.record is None:
        return None
    try:
        loaded = store.load(row.record)
    except EvidenceError as error:
        raise LoopError(
            _reason_of(error, store, row.record), f"row {row.iteration}: {row.record}: {error.message}"
        ) from None
    if loaded.sha256 != row.record_sha256:
        raise LoopError(Reason.EDITED_ROW, f"row {row.iteration}: {row.record} has other bytes than when it was added")
    return loaded


def _reason_of(error: EvidenceError, store: Store, log: str) -> Reason:
    """Return why a record that does not load blocks: the schema refuses these before anybody could count them."""
    said = error.message.lower()
    path = store.root / log / RECORD_NAME
    if path.is_file() and _NOT_A_NUMBER.search(path.read_bytes()):
        return Reason.NOT_A_NUMBER
    if "a second cell" in said or "twice" in said or "two " in said:
        return Reason.DUPLICATE_ROW
    if "no cell of" in said or "lost row" in said:
        return Reason.LOST_ROW
    if "finite" in said or "duration of zero" in said:
        return Reason.NOT_A_NUMBER
    return Reason.EDITED_ROW


def verify(rows: Sequence[Row], contract: Contract, store: Store, repository: Repository) -> None:
    """Recompute every row from its record and its commit.

    Raises:
        LoopError: a row of a dirty tree, of a changed frozen file, or with another number or status than it has now.
    """
    for index, row in enumerate(rows):
        loaded = load(store, row)
        require_frozen(contract, repository, row.commit, f"row {row.iteration}")
        if loaded is None:
            continue
        require_source(loaded.record, repository, row.commit)
        gate, change, status = judged(contract, rows[:index], loaded, store)
        if row.gate != gate or not _is_same(row.change, change) or row.status != status:
            message = f"row {row.iteration} says {row.status}, its record gives {status}"
            if row.status == status:
                message = f"row {row.iteration} holds another number than its record gives"
            raise LoopError(Reason.EDITED_ROW, message, fix="rows are written by iterate alone")


def _is_same(one: Change | None, other: Change | None) -> bool:
    """Whether two changes are one number: the last digits of a logarithm are the business of a mathematical library."""
    if one is None or other is None:
        return one is other
    pairs = ((one.value, other.value), (one.low, other.low), (one.high, other.high))
    return all(math.isclose(a, b, rel_tol=_PRECISION, abs_tol=_PRECISION) for a, b in pairs)


def require_frozen(contract: Contract, repository: Repository, commit: str, what: str) -> None:
    """Refuse a commit in which a frozen file is not as it was.

    Raises:
        LoopError: naming the first.
    """
    for one in contract.frozen:
        data = repository.file_at(commit, one.path)
        if data is None or hashlib.sha256(data).hexdigest() != one.sha256:
            raise LoopError(Reason.FROZEN_CHANGED, f"{what}: {one.path} is frozen and was changed")


def require_source(record: Record, repository: Repository, commit: str) -> None:
    """Refuse a record that was not measured from a commit of this repository as it stands there.

    Raises:
        LoopError: a dirty tree, or another commit's.
    """
    wanted = repository.commit_tree_sha256(commit)
    own = [one for one in record.sources if isinstance(one, GitSource) and one.commit_tree_sha256 == wanted]
    if not own:
        raise LoopError(Reason.DIRTY_SOURCE, f"{record.log} was not measured from commit {commit[:12]}")
    if any(one.is_dirty is not False for one in own):
        raise LoopError(Reason.DIRTY_SOURCE, f"{record.log} was measured from a work tree that was not committed")


def best_of(rows: Sequence[Row]) -> Row | None:
    """Return the row that others are compared with: the last that was kept."""
    return next((row for row in reversed(rows) if row.status in KEPT), None)


def judged(
    contract: Contract, before: Sequence[Row], loaded: Loaded, store: Store
) -> tuple[GateState, Change | None, Status]:
    """Return what a record makes of a row: its gate, its number and its status.

    A record of the best's own source is another session of it: it changes nothing, and is a note.
    """
    record, gate = loaded.record, reading.gate_of(contract, loaded.record)
    if gate != "green" or reading.speedup(contract, record) is None:
        return gate, None, "drop"
    row = best_of(before)
    best = load(store, row) if row is not None else None
    if best is None:
        return gate, None, "base"
    times = reading.against(contract, record, best.record)
    if times is None:
        return gate, None, "drop"
    faster = times.inverse()
    change = Change(unit=UNIT, value=100 * (faster.value - 1), low=100 * (faster.low - 1), high=100 * (faster.high - 1))
    if _trees(record) == _trees(best.record):
        return gate, change, "note"
    is_better = judge(times, reading.effect(contract, record, best.record)) is Verdict.BETTER
    if not is_better or any(reading.is_slower(one) for one in reading.comparisons(contract, record, contract.guards)):
        return gate, change, "revert"
    share = reading.attained(contract, loaded)
    if contract.floor_share is not None and share is not None and share >= contract.floor_share:
        return gate, change, "floor"
    return gate, change, "keep"


def _trees(record: Record) -> frozenset[str | None]:
    return frozenset(one.tree_sha256 for one in record.sources if isinstance(one, GitSource))


def stalled(rows: Sequence[Row]) -> bool:
    """Whether the last rows were not kept and nothing was read since."""
    count = 0
    for row in reversed(rows):
        if row.status in KEPT or row.profiled is not None:
            return False
        count += row.status in ("revert", "drop")
        if count >= STALL:
            return True
    return False


def measured(rows: Sequence[Row]) -> int:
    """Return how many iterations count against the cap: rows that tried a change, the base left out."""
    return sum(row.status in ("keep", "revert", "drop", "floor") for row in rows)


def directions(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the distinct directions that were tried."""
    return tuple(dict.fromkeys(row.direction for row in rows if row.status in ("keep", "revert", "drop", "floor")))
