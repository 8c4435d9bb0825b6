"""Owns the times of single tokens: a file a measured process, joined beside the record into one timeline.

A worker names its file by the digest of the rows it reports, so a record's process finds its own whatever order they
were written in, and times that are not those of a record's process belong to none.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.engine.load import Trial
from evidence.schema import Artifact, Record, Timed, Unavailable
from evidence.schema.cells import Requests

NAME = "timeline.jsonl.gz"
LIMIT_BYTES = 4 << 20
"""A log holds five at most; what it would be more is left out, process by process from the last."""


def digest(rows: Requests) -> str:
    """Return the digest of a process's rows."""
    return hashlib.sha256(rows.model_dump_json().encode()).hexdigest()


def write(folder: Path, trial: Trial, rows: Requests) -> None:
    """Keep the gaps of a trial, in microseconds: from its enqueueing to its first token, then from token to token."""
    lines = []
    for start_s, answer in zip(trial.enqueued_s, trial.answers, strict=True):
        marks = [round((moment - start_s) * 1e6) for moment in answer.times_s]
        lines.append(json.dumps([after - before for before, after in zip([0, *marks], marks, strict=False)]))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / digest(rows)).write_text("\n".join(lines) + "\n", encoding="ascii")


def attach(record: Record, folder: Path) -> tuple[Record, Mapping[str, bytes]]:
    """Add the timeline of a record's processes, as much as fits, and say what is missing."""
    kept: list[bytes] = []
    missing: list[str] = []
    total = 0
    for label, lines in _by_process(record, folder):
        packed = b"" if lines is None else gzip.compress(lines, 9, mtime=0)
        total += len(packed)
        if lines is None or total > LIMIT_BYTES:
            missing.append(label)
        else:
            kept.append(lines)
    if not kept:
        return record, {}
    data = gzip.compress(b"".join(kept), 9, mtime=0)
    artifact = Artifact(
        path=NAME, role="timeline", sha256=hashlib.sha256(data).hexdigest(), bytes=len(data), arms=(), workloads=()
    )
    absent = (Unavailable(what="timeline", reason=f"not kept: {'; '.join(missing)}"),) if missing else ()
    changes = {"artifacts": (*record.artifacts, artifact), "unavailable": (*record.unavailable, *absent)}
    return record.model_copy(update=changes), {NAME: data}


def _by_process(record: Record, folder: Path) -> Iterator[tuple[str, bytes | None]]:
    """Yield each measured process, the first of every cell before the second of any, with its lines."""
    cells = [cell for cell in record.cells if isinstance(cell, Timed)]
    for turn in range(max((len(cell.processes) for cell in cells), default=0)):
        for cell in cells:
            if turn >= len(cell.processes):
                continue
            process = cell.processes[turn]
            label = f"process {process.index} of {cell.arm} on {cell.workload}"
            path = folder / digest(process.requests) if process.requests is not None else None
            if path is None or not path.is_file():
                yield label, None
                continue
            gaps = path.read_text(encoding="ascii").splitlines()
            named = f'"arm": {json.dumps(cell.arm)}, "workload": {json.dumps(cell.workload)}'
            lines = (
                f'{{{named}, "process": {process.index}, "request": {row}, "gaps_us": {text}}}\n'
                for row, text in enumerate(gaps)
            )
            yield label, "".join(lines).encode()
