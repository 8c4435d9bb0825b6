from __future__ import annotations

import getpass
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from benchmarks import session
from evidence.importers import files_of
from evidence.importers.session_stream import RAW_NAME, NotTried, read
from evidence.schema import Cell, Crashed, HostConditions, Record, Rejected, Skipped, Timed
from evidence.schema.text import dump
from evidence.store import Loaded, Store, save
from tests.benchmarks import toys

RUN = """
import sys
from pathlib import Path
from benchmarks import session
from tests.benchmarks import toys
folder, logs = map(Path, sys.argv[1:3])
how = {"sharing": sys.argv[4], "start": sys.argv[5], "gate_processes": int(sys.argv[6]), "nurseries": 1}
plan = toys.plan(folder, seconds=float(sys.argv[3]), fused={"n1": sys.argv[7]}, **how)
session.run_and_save(plan, logs, session.incomplete_path(logs, plan.header.log))
"""


def run(tmp_path: Path, **changes) -> Record:
    raw = tmp_path / RAW_NAME
    raw.unlink(missing_ok=True)
    return session.run(toys.plan(tmp_path, **changes), raw)


def start(
    folder: Path,
    logs: Path,
    seconds: float = 0.0,
    sharing: str = "cell",
    how: str = "spawn",
    gates: int = 1,
    what: str = "",
) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", RUN, str(folder), str(logs), str(seconds), sharing, how, str(gates), what]
    return subprocess.Popen(command, cwd=toys.ROOT, stderr=subprocess.DEVNULL)


def workers_of(folder: Path) -> list[int]:
    """The workers and nurseries that left a mark and still run."""
    pids = [int(mark.name.rpartition("-")[2]) for kind in ("pid", "nursery") for mark in folder.glob(f"{kind}-*")]
    return [pid for pid in pids if is_toy_worker(pid)]


def is_toy_worker(pid: int) -> bool:
    try:
        return bool({"tests.benchmarks.toy_worker", "benchmarks.nursery"} & set(psutil.Process(pid).cmdline()))
    except psutil.Error:
        return False


def windows(record: Record) -> list[tuple[float, float, str, str]]:
    return sorted(
        (process.started_s, process.ended_s, cell.arm, cell.workload)
        for cell in record.cells
        if isinstance(cell, Timed)
        for process in cell.processes
    )


@pytest.fixture(scope="module", params=["cell spawn", "arm spawn", "cell fork", "arm fork"])
def finished(request, tmp_path_factory) -> tuple[str, Record, Path]:
    """How processes were shared, the record, and the folder where each left a mark."""
    sharing, how = request.param.split()
    folder = tmp_path_factory.mktemp(sharing)
    return sharing, run(folder, sharing=sharing, start=how, nurseries=1), folder


def test_arms_take_turns_in_windows_that_never_overlap(finished):
    sharing, record, folder = finished
    assert all(isinstance(cell, Timed) for cell in record.cells)
    found = windows(record)
    assert all(first[1] <= second[0] for first, second in pairwise(found))
    arms = ["eager", "fused", "eager-again"]
    turns = [(arm, name) for _ in range(2) for name in ("n1", "n2") for arm in arms]
    if sharing == "arm":
        turns = [(arm, name) for _ in range(2) for arm in arms for name in ("n1", "n2")]
    assert [(arm, name) for _, _, arm, name in found] == turns
    # Three gates less the control's, then a process a window, or one for both workloads of an arm.
    assert len(list(folder.glob("pid-*"))) == 2 + (6 if sharing == "arm" else 12)


def test_every_window_is_bounded_by_readings(finished):
    _, record, _ = finished
    (columns,) = record.conditions
    assert isinstance(columns, HostConditions)
    for started_s, ended_s, _, _ in windows(record):
        assert {started_s, ended_s} <= set(columns.at_s)
    assert columns.at_s[-1] >= windows(record)[-1][1]


def test_the_method_says_what_every_process_did(finished):
    (method,) = finished[1].methods
    assert (method.timer_overhead_s, method.warm_up_s, method.warm_up_calls) == (1e-6, 0.5, 7)


def test_timed_outputs_are_judged_once_a_cell(finished):
    for cell in finished[1].cells:
        assert isinstance(cell, Timed)
        assert [outcome.phase for outcome in (cell.gate, *cell.further)] == ["before", "timed-outputs"]


BAD = {
    "reject": "rejected mismatch",
    "wrong-later": "rejected mismatch",
    "gate-oom": "crashed oom gate out of memory",
    "gate-exit": "crashed error gate exit code 3: toy: giving up",
    "gate-import-error": "crashed error gate exit code 1: ImportError: no kernel below kernels",
    "timing-oom": "crashed oom timing twice: out of memory",
    "timing-exit": "crashed error timing twice: exit code 3: toy: giving up",
    "timing-garbage": "crashed error timing twice: the worker said what is no message: 'Segmentation fault\\n'",
}
"""What a worker does on the workload of that name, and what becomes of the cell."""


@pytest.mark.parametrize("how", ["spawn", "fork"])
def test_a_bad_cell_costs_no_other(tmp_path, how):
    made = toys.header((*BAD, "good"), processes=1)
    made = made.model_copy(update={"arms": made.arms[:2]})
    record = run(tmp_path, fused={name: name for name in BAD}, sharing="arm", made=made, start=how, nurseries=1)
    ends = {cell.workload: cell for cell in record.cells if cell.arm == "fused"}
    assert {name: told(cell) for name, cell in ends.items()} == BAD | {"good": "timed 1"}
    assert {told(cell) for cell in record.cells if cell.arm == "eager"} == {"timed 1"}


def told(cell: Cell) -> str:
    if isinstance(cell, Crashed):
        return f"crashed {cell.cause} {cell.phase} {cell.message}"
    if isinstance(cell, Rejected):
        return f"rejected {cell.gate.reason}"
    return f"{cell.kind} {len(cell.processes)}" if isinstance(cell, Timed) else cell.kind


@pytest.mark.parametrize(("how", "timeout_s"), [("spawn", 6.0), ("fork", 5.0)])
def test_a_silent_worker_is_killed(tmp_path, how, timeout_s):
    made = toys.header(("n1",), processes=1)
    record = run(tmp_path, fused={"n1": "timing-hang"}, timeout_s=timeout_s, made=made, start=how, nurseries=1)
    cell = record.cell("fused", "n1")
    assert isinstance(cell, Crashed)
    assert (cell.cause, cell.message) == ("timeout", f"twice: silent for {timeout_s:g} s")
    assert workers_of(tmp_path) == []


def test_a_process_that_dies_is_repeated_once_and_named(tmp_path):
    record = run(tmp_path, fused={"n1": "timing-exit-once"}, sharing="arm")
    cell = record.cell("fused", "n1")
    assert isinstance(cell, Timed)
    assert [process.index for process in cell.processes] == [1, 2]
    (discard,) = cell.discards
    assert (discard.process, discard.reason) == (0, "timing: exit code 3: toy: giving up")
    assert told(record.cell("fused", "n2")) == "timed 2"


@pytest.mark.parametrize("who", ["kill", "kill-nursery"])
def test_a_fork_or_a_nursery_that_is_killed_is_repeated_once_and_named(tmp_path, who):
    record = run(tmp_path, fused={"n1": f"timing-{who}-once"}, sharing="arm", start="fork", nurseries=1)
    cell = record.cell("fused", "n1")
    assert isinstance(cell, Timed)
    assert [process.index for process in cell.processes] == [1, 2]
    (discard,) = cell.discards
    assert discard.reason == "timing: killed by SIGKILL, as by an out-of-memory killer"
    assert {told(cell) for cell in record.cells} == {"timed 2"}
    assert workers_of(tmp_path) == []


def test_forks_are_fresh_and_take_turns_at_nurseries_that_no_two_arms_share(tmp_path):
    record = run(tmp_path, sharing="arm", start="fork", nurseries=2)
    marks = [mark.read_text().split() for mark in tmp_path.glob("pid-*")]
    # A gate for each arm but the control, and a process an arm and round, in two rounds.
    assert len(marks) == 2 + 6
    assert {jobs for _, jobs, _ in marks} == {"1"}
    assert len({number for _, _, number in marks}) == len(marks)
    parents = Counter(parent for parent, _, _ in marks)
    assert parents.keys() == {mark.name.removeprefix("nursery-") for mark in tmp_path.glob("nursery-*")}
    assert sorted(parents.values()) == [1, 1, 1, 1, 2, 2]
    (text,) = (text for text in record.limitations if "forked" in text)
    assert "each arm were forked in turn from 2" in text
    assert "hash seed" in text
    assert workers_of(tmp_path) == []


def test_an_arm_that_cannot_be_forked_is_spawned_and_the_record_says_why(tmp_path):
    record = run(tmp_path, fused={"n1": "import-thread"}, start="fork", nurseries=1)
    assert {told(cell) for cell in record.cells} == {"timed 2"}
    (entry,) = (entry for entry in record.unavailable if entry.what == "forks of fused")
    assert entry.reason.startswith("importing started threads: py")
    assert any("the processes of eager and eager-again were forked" in text for text in record.limitations)


def test_nothing_is_said_of_forks_where_there_are_none(tmp_path):
    record = run(tmp_path, made=toys.header(("n1",), processes=1))
    assert not any("forked" in text for text in record.limitations)
    assert list(tmp_path.glob("nursery-*")) == []


def test_a_deadline_ends_a_session_in_time_with_whole_rounds(tmp_path):
    started = time.monotonic()
    made = toys.header(processes=200)
    record = run(tmp_path, made=made, sharing="arm", start="fork", nurseries=1, seconds=0.1, ends_by_s=started + 15)
    assert time.monotonic() < started + 15
    counts = {len(cell.processes) for cell in record.cells if isinstance(cell, Timed)}
    (count,) = counts
    assert 1 <= count < 200
    assert len(record.cells) == len(windows(record)) / count
    (entry,) = (entry for entry in record.unavailable if entry.what == "processes")
    assert entry.reason.startswith(f"{count} of 200 a cell were run")
    assert record.artifacts == ()


def test_a_deadline_too_near_for_one_round_times_nothing(tmp_path):
    record = run(tmp_path, ends_by_s=time.monotonic())
    assert not any(isinstance(cell, Timed) for cell in record.cells)
    assert any(entry.reason.startswith("0 of 2") for entry in record.unavailable)


def test_what_an_arm_does_not_support_is_skipped_with_its_reason(tmp_path):
    skip = NotTried(arm="fused", workload="n2", reason="no backward pass")
    cell = run(tmp_path, not_tried=(skip,), made=toys.header(processes=1), sharing="arm").cell("fused", "n2")
    assert isinstance(cell, Skipped)
    assert cell.reason == "no backward pass"


def test_an_arm_with_nothing_to_try_is_not_prepared_for(tmp_path):
    made = toys.header(("n1",), processes=1)
    skip = NotTried(arm="fused", workload="n1", reason="no backward pass")
    record = run(tmp_path, not_tried=(skip,), made=made, sharing="arm", start="fork", nurseries=1)
    assert isinstance(record.cell("fused", "n1"), Skipped)
    assert len(list(tmp_path.glob("nursery-*"))) == len(record.arms) - 1


def test_a_control_has_the_outcome_of_its_twin(tmp_path):
    made = toys.header(("n1",), processes=1)
    plan = toys.plan(tmp_path, made)
    commands = dict(plan.commands) | {"eager": (*plan.commands["eager"], "n1=reject")}
    record = session.run(toys.plan(tmp_path, made, commands=commands), tmp_path / RAW_NAME)
    assert [type(record.cell(arm, "n1")) for arm in ("eager", "fused", "eager-again")] == [Rejected, Timed, Rejected]


def test_the_record_says_nothing_of_who_and_where(tmp_path):
    text = dump(run(tmp_path, fused={"n1": "gate-import-error"}, made=toys.header(("n1",), processes=1))).decode()
    for secret in (socket.gethostname(), str(Path.home()) + "/", str(toys.ROOT), str(tmp_path)):
        assert secret not in text
    if getpass.getuser() != "root":
        assert getpass.getuser() not in text


def test_a_saved_session_leaves_only_its_log(tmp_path):
    logs = tmp_path / "logs"
    assert start(tmp_path, logs, sharing="arm").wait(60) == 0
    (loaded,) = Store(logs)
    assert isinstance(loaded, Loaded)
    assert sorted(path.name for path in logs.iterdir()) == ["SHA256SUMS", "kernels"]


def test_two_sessions_at_once_both_land(tmp_path):
    logs = tmp_path / "logs"
    folders = [tmp_path / name for name in ("a", "b")]
    for folder in folders:
        folder.mkdir()
    running = [start(folder, logs, sharing="arm") for folder in folders]
    assert [process.wait(90) for process in running] == [0, 0]
    names = [loaded.entry.log for loaded in Store(logs) if isinstance(loaded, Loaded)]
    assert len(names) == 2
    assert sorted(name[-2:] == "-2" for name in names) == [False, True]
    assert not (logs / ".incomplete").exists()


def test_sessions_in_turn_never_measure_at_once(tmp_path):
    folders = [tmp_path / name for name in ("a", "b")]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(2) as pool:
        records = list(pool.map(lambda folder: run(folder, is_in_turn=True), folders))
    spans = sorted(
        (record.started_at + timedelta(seconds=first[0]), record.started_at + timedelta(seconds=last[1]))
        for record in records
        for first, *_, last in [windows(record)]
    )
    assert spans[0][1] <= spans[1][0]


@pytest.mark.parametrize(("seed", "how"), [(0, "spawn"), (1, "spawn"), (2, "fork"), (3, "fork")])
def test_a_session_killed_at_any_moment_leaves_a_sound_store_and_a_readable_stream(tmp_path, seed, how):
    logs = tmp_path / "logs"
    running = start(tmp_path, logs, seconds=0.6, sharing="arm", how=how)
    wait_for_stream(logs)
    time.sleep(random.Random(seed).uniform(0.0, 5.0))
    running.kill()
    running.wait()
    assert not any(isinstance(found, Loaded) for found in Store(logs))
    (raw,) = logs.glob(".incomplete/*/raw.jsonl")
    record = read(raw.read_bytes())
    assert {cell.phase for cell in record.cells if isinstance(cell, Crashed)} <= {"interrupted"}
    name = save(logs, record, files_of(record, raw.read_bytes()))
    assert [loaded.entry.log for loaded in Store(logs) if isinstance(loaded, Loaded)] == [name]
    assert (logs / name / "raw.jsonl").read_bytes() == raw.read_bytes()
    wait_until_gone(tmp_path)


@pytest.mark.parametrize("how", ["spawn", "fork"])
def test_a_session_asked_to_end_kills_its_workers_and_keeps_its_stream(tmp_path, how):
    logs = tmp_path / "logs"
    running = start(tmp_path, logs, seconds=30.0, sharing="arm", how=how)
    wait_for_stream(logs, "timing")
    running.send_signal(signal.SIGTERM)
    assert running.wait(20) == 128 + signal.SIGTERM
    assert workers_of(tmp_path) == []
    (raw,) = logs.glob(".incomplete/*/raw.jsonl")
    assert isinstance(read(raw.read_bytes()).cell("eager", "n1"), Crashed)


def wait_for_stream(logs: Path, word: str = "header") -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if any(f'"{word}"' in raw.read_text() for raw in logs.glob(".incomplete/*/raw.jsonl")):
            return
        time.sleep(0.02)
    raise AssertionError("the session did not start")


def wait_until_gone(folder: Path) -> None:
    deadline = time.monotonic() + 10
    while workers_of(folder):
        assert time.monotonic() < deadline, "a worker outlived its session"
        time.sleep(0.05)


def test_the_stream_of_a_running_session_lies_apart_from_those_of_others(tmp_path):
    first = session.incomplete_path(tmp_path, "kernels/toy_cpu_20260901")
    assert first == tmp_path / ".incomplete" / f"kernels-toy_cpu_20260901-{os.getpid()}" / "raw.jsonl"
    first.parent.mkdir(parents=True)
    assert session.incomplete_path(tmp_path, "kernels/toy_cpu_20260901") != first
