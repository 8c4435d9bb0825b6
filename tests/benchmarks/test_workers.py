"""Workers that hang where none is expected to: real processes."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from benchmarks import protocol, workers
from benchmarks.workers import Worker, WorkerError, spawned
from tests.benchmarks import toys

_LEAVES = """
import os, sys, time
if os.fork():
    os._exit(0)
os.setsid()
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(600)
"""


def job(*workloads: str) -> protocol.Job:
    return protocol.Job(
        phase="compiling",
        timer="none",
        threads=1,
        minimum_samples=1,
        maximum_samples=1,
        target_spread=None,
        budget_s=None,
        warm_up_s=0.0,
        further_warm_up_s=0.0,
        assignments=tuple(protocol.Assignment(workload=name, proof=None, is_rechecked=False) for name in workloads),
    )


def worker(program: str, *words: str, asked: protocol.Job, timeout_s: float = 1.0, **more: float) -> Worker:
    started = spawned((sys.executable, "-S", "-c", program, *words), root=toys.ROOT, environment=os.environ)
    return Worker(started, asked, timeout_s=timeout_s, **more)


def test_a_job_longer_than_a_pipe_does_not_wait_for_a_worker_that_does_not_read() -> None:
    asked = job(*(f"workload-{number:06}" for number in range(10_000)))
    began = time.monotonic()
    with pytest.raises(WorkerError, match="silent for 1 s"), worker("import time; time.sleep(600)", asked=asked) as one:
        one.hear()
    assert time.monotonic() - began < 30


def test_the_deadline_of_a_session_ends_a_worker_before_its_time_limit() -> None:
    hangs = worker("import time; time.sleep(600)", asked=job("n"), timeout_s=600, ends_by_s=time.monotonic() + 1)
    with pytest.raises(WorkerError, match="silent until the deadline of its session") as raised, hangs as one:
        one.hear()
    assert raised.value.cause == "timeout"


def test_what_left_a_workers_group_and_holds_its_stdout_does_not_hold_up_its_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_GRACE_S", 0.5)
    mark = tmp_path / "pid"
    began = time.monotonic()
    with (
        pytest.raises(WorkerError, match="silent for 5 s"),
        worker(_LEAVES, str(mark), asked=job("n"), timeout_s=5) as one,
    ):
        one.hear()
    assert time.monotonic() - began < 60
    os.kill(int(mark.read_text()), signal.SIGKILL)
    one._listener.join(10)
    assert not one._listener.is_alive()


def test_a_worker_that_says_no_more_and_does_not_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_GRACE_S", 0.5)
    program = "import os, time; os.close(1); time.sleep(600)"
    with (
        pytest.raises(WorkerError, match="closed its stdout and did not end"),
        worker(program, asked=job("n"), timeout_s=60) as one,
    ):
        one.hear()
