from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import ROOT
from benchmarks.evidence.gauge import gauge, overhead_s

PYTHON = sys.executable


def test_a_process_is_gauged_with_its_children(tmp_path):
    spin = "t = __import__('time'); s = t.process_time()\nwhile t.process_time() - s < 0.2: pass"
    program = f"import subprocess, sys; print('said'); subprocess.run([sys.executable, '-c', {spin!r}])"
    output = tmp_path / "out.txt"
    gauged = gauge((PYTHON, "-c", program), directory=ROOT, output=output)
    assert gauged.cpu_s >= 0.2
    assert gauged.wall_s >= 0.2
    assert gauged.code == 0
    assert output.read_text() == "said\n"


def test_memory_is_the_process_s_own_and_not_that_of_who_started_it(tmp_path):
    held = bytearray(300 * 2**20)
    small = gauge((PYTHON, "-c", "pass"), directory=ROOT, output=tmp_path / "a")
    large = gauge((PYTHON, "-c", f"x = bytearray({100 * 2**20})"), directory=ROOT, output=tmp_path / "b")
    assert small.peak_bytes < 40 * 2**20 < len(held)
    assert large.peak_bytes > small.peak_bytes + 80 * 2**20


def test_how_a_process_ends_is_kept(tmp_path):
    output = tmp_path / "out.txt"
    gauged = gauge((PYTHON, "-c", "import sys; sys.exit('no')"), directory=ROOT, output=output)
    assert (gauged.code, output.read_text()) == (1, "no\n")
    killed = gauge((PYTHON, "-c", "import os; os.kill(os.getpid(), 9)"), directory=ROOT, output=output)
    assert killed.code == -9


def test_starting_nothing_takes_less_than_a_twentieth_of_what_is_measured():
    assert 0 < overhead_s(Path.cwd()) < 0.05
