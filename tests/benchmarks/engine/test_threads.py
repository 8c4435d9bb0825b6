"""Tests of threads: a thread that computes has as many as the process was told, from its first product on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import ROOT

pytest.importorskip("torch")

# In an interpreter of its own: those here have had their threads since earlier tests.
PROGRAM = """
import os, threading, torch
from benchmarks.engine.threads import take_over

torch.set_num_threads(3)
matrix = torch.ones(768, 768)

def compute():
    before = len(os.listdir("/proc/self/task"))
    told = take_over()
    matrix @ matrix
    print(told, len(os.listdir("/proc/self/task")) - before)

thread = threading.Thread(target=compute)
thread.start()
thread.join()
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted where the kernel lists them")
def test_a_thread_takes_over_what_the_process_was_told() -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    told, helpers = map(int, done.stdout.split())
    assert (told, helpers) == (3, 2)
