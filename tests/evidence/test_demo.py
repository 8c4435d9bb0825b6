"""The demo: it measures something real, passes once, is refused each time, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from evidence.checker.catalogue import RULES
from evidence.checker.corpus import Corpus
from evidence.checker.runs import run
from evidence.commands import INCONCLUSIVE
from evidence.demo import counting
from evidence.demo.refusals import REFUSALS
from evidence.project import Project
from evidence.store import Store

DEMO = [sys.executable, "-m", "evidence", "demo"]


@dataclass(frozen=True)
class Ran:
    status: int
    said: str
    kept: Path
    left: list[Path]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    root = tmp_path_factory.mktemp("demo")
    (root / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(root / "tmp")}
    command = [*DEMO, "--keep", str(root / "kept")]
    for _ in range(6):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != INCONCLUSIVE:
            break
        time.sleep(5)  # other tests keep the machine busy, and a demo that measures has to say so
    return Ran(done.returncode, done.stdout + done.stderr, root / "kept", list((root / "tmp").iterdir()))


def test_it_passes_once_and_is_refused_each_time(ran: Ran) -> None:
    assert ran.status == 0, ran.said
    assert ran.said.count("evidence: 0 errors, 0 warnings in 1 log, 1 page") == 1
    for number, refusal in enumerate(REFUSALS, start=1):
        part = ran.said.split(f"\n{number}. {refusal.what}\n")[1].split("\n\n")[0]
        assert f"error {refusal.code} " in part
        assert "fix: " in part


def test_it_is_plain_where_no_terminal_reads_it(ran: Ran) -> None:
    assert "\x1b" not in ran.said
    assert "\r" not in ran.said


def test_it_leaves_nothing_behind(ran: Ran) -> None:
    assert ran.left == []


def test_what_is_kept_is_the_project_unbroken(ran: Ran) -> None:
    project = Project.find(ran.kept)
    assert run(RULES, Corpus(project)).diagnostics == ()
    (entry,) = Store(project.logs).entries
    assert entry.series.startswith("demo/counting_")
    again = subprocess.run([*DEMO, "--keep", str(ran.kept)], capture_output=True, text=True, timeout=60, check=False)
    assert again.returncode == 2
    assert "is not empty" in again.stderr


def test_what_it_measured_is_verified_by_the_second_implementation(ran: Ran) -> None:
    reverify = Path(__file__).parents[2] / "docs/reverify.py"
    command = [sys.executable, "-I", "-S", str(reverify), str(ran.kept)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "verified 1 record, 3 printed values: ok\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "terminated"])
@pytest.mark.parametrize("after_s", [0.8, 2.5])
def test_an_interrupted_demo_leaves_nothing_behind(tmp_path: Path, number: signal.Signals, after_s: float) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    # A shell lets what it starts in the background ignore Ctrl-C, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(DEMO, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        time.sleep(after_s)
        process.send_signal(number)
        process.communicate(timeout=60)
    assert process.returncode != 0
    assert list(tmp_path.iterdir()) == []


def test_without_git_it_says_so(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(DEMO, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "git is not installed" in done.stderr
    assert "fix: install git" in done.stderr


@pytest.mark.parametrize("way", counting.WAYS)
def test_both_ways_count_and_a_miscount_is_seen(way: str) -> None:
    text = "abcab"
    counts = counting.WAYS[way](text)
    assert counts == {"a": 2, "b": 2, "c": 1}
    assert counting.wrong(counts, text) == 0
    assert counting.wrong({**counts, "c": 2}, text) == 1
    result = counting.main(way)
    assert (result["wrong"], result["wrong_timed"]) == (0, 0)
    assert re.fullmatch(r"\[[\d., e-]+\]", str(result["samples"]))
