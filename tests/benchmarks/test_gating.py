from __future__ import annotations

import itertools
import json
import signal
import tempfile
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks import gating, session
from benchmarks.turns import turn
from evidence.importers.session_stream import RAW_NAME
from evidence.schema import Crashed, Record, Timed
from tests.benchmarks import toys
from tests.benchmarks.test_session import BAD, start, told, wait_for_stream, workers_of

NAMES = tuple(f"n{number}" for number in range(1, 7))


def run(tmp_path: Path, **changes) -> Record:
    return session.run(toys.plan(tmp_path, gate_processes=3, **changes), tmp_path / RAW_NAME)


def marks(folder: Path, phase: str) -> list[tuple[float, str, str]]:
    """When, on which workload and by which process something was done."""
    found = [(float(mark.read_text()), *mark.name.split("-")[1:]) for mark in folder.glob(f"{phase}-*")]
    return sorted(found)


@pytest.mark.parametrize(
    ("cells", "processes", "sizes"),
    [
        ({"a": "12345678", "b": "12"}, 2, [4, 2, 4]),
        ({"a": "1234", "b": "1234"}, 8, [1] * 8),
        ({"a": "123", "b": ""}, 1, [3]),
        ({}, 4, []),
    ],
)
def test_workloads_are_dealt_whole_and_few_at_a_time(cells, processes, sizes):
    shares = gating.dealt(cells, processes)
    assert [len(names) for _, names in shares] == sizes
    for arm, names in cells.items():
        assert [name for whose, share in shares for name in share if whose == arm] == list(names)


@pytest.mark.parametrize("how", ["spawn", "fork"])
def test_gates_run_beside_each_other_after_every_call_was_made_alone(tmp_path, how):
    made = toys.header(NAMES, processes=1)
    record = run(tmp_path, made=made, start=how, nurseries=1, sharing="arm", seconds=0.1)
    assert all(isinstance(cell, Timed) for cell in record.cells)
    compiled, tuned, gated = (marks(tmp_path, phase) for phase in ("compiling", "tuning", "gate"))
    for phase in (compiled, tuned, gated):
        assert Counter(name for _, name, _ in phase) == dict.fromkeys(NAMES, 2)
    assert compiled[-1] < tuned[0]
    assert tuned[-1] < gated[0]
    # Alone: one process an arm, the second after the first. Beside each other: four shares of twelve cells.
    assert len({process for _, _, process in tuned}) == 2
    assert [name for _, name, _ in tuned] == [*NAMES, *NAMES]
    assert len({process for _, _, process in gated}) == 4
    assert [name for _, name, _ in gated] != [*NAMES, *NAMES]
    assert any("up to 3 gates ran at once" in text for text in record.limitations)
    assert workers_of(tmp_path) == []


def test_gates_of_one_process_are_neither_compiled_nor_tuned_before(tmp_path):
    session.run(toys.plan(tmp_path, toys.header(processes=1)), tmp_path / RAW_NAME)
    assert marks(tmp_path, "compiling") == marks(tmp_path, "tuning") == []
    assert [name for _, name, _ in marks(tmp_path, "gate")] == ["n1", "n2"] * 2


def test_gates_that_tune_nothing_run_beside_each_other_at_once(tmp_path):
    made = toys.header(NAMES, processes=1)
    record = run(tmp_path, made=made, sharing="arm", is_tuned=False)
    assert {told(cell) for cell in record.cells} == {"timed 1"}
    assert marks(tmp_path, "compiling") == marks(tmp_path, "tuning") == []
    assert len({process for _, _, process in marks(tmp_path, "gate")}) == 4
    text = "up to 3 gates ran at once, and what failed beside others was gated again alone"
    assert text in record.limitations


def test_a_bad_cell_costs_no_other_beside_others_either(tmp_path):
    made = toys.header((*BAD, "good"), processes=1)
    made = made.model_copy(update={"arms": made.arms[:2]})
    record = run(tmp_path, fused={name: name for name in BAD}, sharing="arm", made=made)
    ends = {cell.workload: told(cell) for cell in record.cells if cell.arm == "fused"}
    assert ends == BAD | {"good": "timed 1"}
    assert {told(cell) for cell in record.cells if cell.arm == "eager"} == {"timed 1"}


@pytest.mark.parametrize("what", ["gate-oom-once", "gate-exit-once"])
def test_what_fails_beside_others_is_gated_again_alone(tmp_path, what):
    record = run(tmp_path, fused={"n2": what}, made=toys.header(NAMES, processes=1))
    assert {told(cell) for cell in record.cells} == {"timed 1"}
    assert (tmp_path / "died-n2").exists()


@pytest.mark.parametrize("phase", ["compiling", "tuning"])
@pytest.mark.parametrize("what", ["exit", "oom"])
def test_what_fails_before_the_gate_is_told_by_the_gate(tmp_path, phase, what):
    record = run(tmp_path, fused={"n2": f"{phase}-{what}"}, made=toys.header(NAMES, processes=1))
    assert {told(cell) for cell in record.cells} == {"timed 1"}
    assert [name for _, name, _ in marks(tmp_path, phase)].count("n2") == 1
    if phase == "tuning":
        # What did not run alone is not gated beside others: its kernels are tuned in its gate.
        assert [name for _, name, _ in marks(tmp_path, "gate")][-1] == "n2"


@pytest.mark.parametrize("phase", ["compiling", "tuning", "gate"])
def test_what_was_silent_for_the_time_limit_is_not_asked_again(tmp_path, capsys, phase):
    changes = {"timeout_s": 5.0, "start": "fork", "nurseries": 1, "is_progress_shown": True}
    record = run(tmp_path, fused={"n1": f"{phase}-hang"}, made=toys.header(("n1",), processes=1), **changes)
    assert told(record.cell("fused", "n1")) == f"crashed timeout {phase} silent for 5 s"
    assert told(record.cell("eager", "n1")) == "timed 1"
    streamed = [json.loads(line) for line in (tmp_path / RAW_NAME).read_text().splitlines()]
    begun = [event["phase"] for event in streamed if event["event"] == "started" and event["arm"] == "fused"]
    assert begun == [*itertools.takewhile(lambda name: name != phase, ("compiling", "tuning")), phase]
    said = capsys.readouterr().err
    assert "compiling: 2 cells, up to 3 processes at a time" in said
    assert f"{phase}: fused on n1: silent for 5 s" in said
    assert "timing: 2 windows" in said


def test_the_deadline_cuts_short_what_comes_before_the_clock(tmp_path):
    ends_by_s = time.monotonic() + 15
    made = toys.header(("n1", "n2"), processes=1)
    record = run(tmp_path, fused={"n1": "compiling-hang"}, made=made, ends_by_s=ends_by_s, start="fork", nurseries=1)
    assert time.monotonic() < ends_by_s
    assert {type(cell) for cell in record.cells} == {Crashed}
    assert "the deadline of its session" in told(record.cell("fused", "n1"))
    assert told(record.cell("eager", "n2")) == "crashed timeout tuning the deadline of its session came first"
    assert workers_of(tmp_path) == []


def test_a_turn_that_does_not_come_is_waited_for_until_the_deadline(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ends_by_s = time.monotonic() + 7
    with turn():
        record = run(tmp_path, ends_by_s=ends_by_s, is_in_turn=True, is_progress_shown=True)
    assert time.monotonic() < ends_by_s
    assert {told(cell) for cell in record.cells} == {"crashed timeout compiling the deadline of its session came first"}
    assert "waiting until no other session of this machine gates or measures" in capsys.readouterr().err


def test_a_session_interrupted_while_gates_run_beside_each_other_ends_them_all(tmp_path):
    logs = tmp_path / "logs"
    running = start(tmp_path, logs, sharing="arm", gates=3, what="gate-hang")
    wait_for_stream(logs, "gate")
    time.sleep(0.3)
    began = time.monotonic()
    running.send_signal(signal.SIGTERM)
    assert running.wait(20) == 128 + signal.SIGTERM
    assert time.monotonic() - began < 15
    assert workers_of(tmp_path) == []


def test_windows_are_as_ever_when_gates_run_beside_each_other(tmp_path):
    record = run(tmp_path, sharing="arm")
    turns = sorted((p.started_s, p.ended_s) for cell in record.cells if isinstance(cell, Timed) for p in cell.processes)
    assert len(turns) == 12
    assert all(first[1] <= second[0] for first, second in pairwise(turns))
    assert not any(isinstance(cell, Crashed) for cell in record.cells)
