"""Sessions take turns, and one that is killed gives its turn up: real processes."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.turns import turn

_HOLDER = """
import sys, time
from pathlib import Path
from benchmarks.turns import turn
with turn(Path(sys.argv[1])):
    print("mine", time.monotonic(), flush=True)
    time.sleep(float(sys.argv[2]))
    print("over", time.monotonic(), flush=True)
"""


def holder(lock: Path, seconds: float) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", _HOLDER, str(lock), str(seconds)], stdout=subprocess.PIPE, text=True)


def test_two_never_measure_at_once(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    spans = []
    for process in [holder(lock, 0.3) for _ in range(3)]:
        said, _ = process.communicate(timeout=60)
        spans.append([float(line.split()[1]) for line in said.splitlines()])
    spans.sort()
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))


def test_a_turn_that_does_not_come_in_time_is_not_held(tmp_path: Path) -> None:
    lock, said = tmp_path / "lock", []
    with turn(lock) as is_mine:
        assert is_mine
        with turn(lock, ends_by_s=time.monotonic() + 0.3, waiting=lambda: said.append("waiting")) as is_mine:
            assert not is_mine
    assert said == ["waiting"]
    with turn(lock, ends_by_s=time.monotonic(), waiting=lambda: said.append("again")) as is_mine:
        assert is_mine
    assert said == ["waiting"]


def test_the_turn_of_a_killed_session_is_free(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with holder(lock, 600) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("mine")
        process.send_signal(signal.SIGKILL)
    began = time.monotonic()
    with turn(lock):
        assert time.monotonic() - began < 30
