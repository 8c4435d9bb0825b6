"""What is known of Triton's compiler in a process that was forked: real autotuners, no device."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from benchmarks import ROOT
from benchmarks.ops import compiler

triton = pytest.importorskip("triton")

FORKED = """
import gc, json, os, sys, time
import triton.language, triton.runtime.autotuner
from benchmarks.ops import compiler

class Kernel:
    arg_names = ("x",)

def made():
    kernel = Kernel()
    kernel.fn = lambda x: x
    return triton.runtime.autotuner.Autotuner(kernel, ["x", "B"], [triton.Config({"B": 1})], ["x"], None, None)

before = made()
compiler.prepare()
gc.collect()
gc.freeze()
if os.fork():
    os.wait()
    os._exit(0)
after = made()
began = time.perf_counter()
triton.runtime.cache.triton_key()
found = compiler.autotuners()
print(json.dumps([time.perf_counter() - began, len(gc.get_objects()), *(found.count(one) for one in (before, after))]))
"""


def test_a_fork_finds_what_stood_before_it_and_what_came_after_without_looking_at_everything() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], cwd=ROOT, capture_output=True, text=True, check=True)
    seconds, looked_at, before, after = json.loads(done.stdout)
    assert (before, after) == (1, 1)
    assert looked_at < 10_000
    assert seconds < 0.1


def test_an_autotuner_tells_the_configuration_it_used_last() -> None:
    class Tuner:
        base_fn = compiler.prepare
        best_config = triton.Config({"BLOCK": 16})

    class Unused(Tuner):
        best_config = None

    (setting,) = compiler.configurations([Tuner(), Unused()])
    assert setting.name == "prepare"
    assert setting.value.startswith("BLOCK: 16, num_warps: 4")


KEPT = """
import triton.language, triton.runtime.autotuner
from benchmarks.ops import compiler

class Kernel:
    arg_names = ("x",)

def made(**more):
    kernel = Kernel()
    kernel.fn = lambda x: x
    configs = [triton.Config({"B": 1})]
    return triton.runtime.autotuner.Autotuner(kernel, ["x", "B"], configs, ["x"], None, None, **more)

before = [made(), made(cache_results=True)]
compiler.keep_choices_off_disk()
print([one.cache_results for one in (*before, made())])
"""


def test_what_is_chosen_without_measuring_is_not_stored() -> None:
    environment = {**os.environ, "TRITON_CACHE_AUTOTUNING": "1"}
    command = [sys.executable, "-c", KEPT]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[False, False, False]"
