"""Tests of sessions that go on where an interrupted one ended, over the toy worker."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks import session
from benchmarks.resumption import ResumptionError, done, interrupted
from evidence.importers.session_stream import RAW_NAME, NotTried, read
from evidence.schema import Record, Skipped, Timed
from tests.benchmarks import toys

SKIPPED = NotTried(arm="fused", workload="n2", reason="it has no such kernel")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The stream of a session that ended."""
    folder = tmp_path_factory.mktemp("whole")
    raw = folder / RAW_NAME
    session.run(toys.plan(folder, sharing="arm", not_tried=(SKIPPED,)), raw)
    return raw.read_bytes()


def cut_after(stream: bytes, event: str, count: int) -> bytes:
    """The stream up to the event of that kind which is so many after the first, with half a line behind it."""
    lines = stream.splitlines(keepends=True)
    places = [at for at, line in enumerate(lines) if json.loads(line)["event"] == event]
    kept = places[count] + 1
    return b"".join(lines[:kept]) + lines[kept][: len(lines[kept]) // 2]


def counts(record: Record) -> dict[tuple[str, str], list[int]]:
    return {
        (cell.arm, cell.workload): [process.index for process in cell.processes]
        for cell in record.cells
        if isinstance(cell, Timed)
    }


@pytest.mark.parametrize(
    ("event", "count"), [("header", 0), ("gated", 1), ("started", 7), ("measured", 2), ("measured", 7)]
)
def test_a_session_goes_on_where_it_was_cut_short(whole: bytes, tmp_path: Path, event: str, count: int) -> None:
    cut = cut_after(whole, event, count)
    raw = tmp_path / RAW_NAME
    raw.write_bytes(cut)
    plan = toys.plan(tmp_path, sharing="arm", not_tried=(SKIPPED,))
    found = done(cut, plan.header)
    record = session.run(plan, raw, found)
    assert record.started_at == read(whole).started_at
    assert {pair: len(indices) for pair, indices in counts(record).items()} == {
        pair: len(indices) for pair, indices in counts(read(whole)).items()
    }
    assert isinstance(record.cell("fused", "n2"), Skipped)
    assert len([text for text in record.limitations if "went on in another process" in text]) == 1
    # What had been said stands, and nothing is gated or measured twice.
    events = [json.loads(line) for line in raw.read_bytes().splitlines()]
    assert raw.read_bytes().startswith(cut[: found.whole_bytes])
    gates = [(one["arm"], one["workload"], one["phase"]) for one in events if one["event"] == "gated"]
    assert len(gates) == len(set(gates))
    assert sum(one["event"] == "measured" for one in events) == sum(map(len, counts(record).values()))
    windows = sorted(
        (process.started_s, process.ended_s)
        for cell in record.cells
        if isinstance(cell, Timed)
        for process in cell.processes
    )
    assert all(first[1] <= second[0] for first, second in pairwise(windows))


def test_windows_that_were_cut_short_are_counted(whole: bytes, tmp_path: Path) -> None:
    cut = cut_after(whole, "started", -1)
    assert done(cut, toys.header()).lost == 1
    assert done(cut_after(whole, "measured", -1), toys.header()).lost == 0


def test_only_a_session_that_would_measure_the_same_is_gone_on_with(whole: bytes, tmp_path: Path) -> None:
    cut = cut_after(whole, "measured", 1)
    for header in (toys.header(("n1",)), toys.header(processes=3), toys.header(log="kernels/other_20261130")):
        with pytest.raises(ResumptionError, match="other"):
            done(cut, header)
    with pytest.raises(ResumptionError, match="ended"):
        done(whole, toys.header())
    for other in (b"", b"{}\n", b"x", whole.partition(b"\n")[2]):
        with pytest.raises(ResumptionError, match="not the stream"):
            done(other, toys.header())


def test_the_stream_of_a_session_that_runs_is_nobodys_to_go_on_with(whole: bytes, tmp_path: Path) -> None:
    log = read(whole).log
    assert interrupted(tmp_path, toys.header()) is None
    mine = session.incomplete_path(tmp_path, log)
    mine.parent.mkdir(parents=True)
    mine.write_bytes(cut_after(whole, "measured", 1))
    assert interrupted(tmp_path, toys.header()) is None
    gone = mine.parent.with_name(mine.parent.name.replace(str(os.getpid()), "4194305"))
    mine.parent.rename(gone)
    found = interrupted(tmp_path, toys.header())
    assert found is not None
    assert found[0] == gone / RAW_NAME
    assert interrupted(tmp_path, toys.header(processes=3)) is None
