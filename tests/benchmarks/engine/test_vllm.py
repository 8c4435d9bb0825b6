"""Tests of vLLM, in its own environment: skipped where `make vllm-environment` has not made one."""

from __future__ import annotations

import os
from typing import Any

import pytest

pytest.importorskip("aiohttp")

from benchmarks import ROOT, capture, protocol
from benchmarks.capture import Probed
from benchmarks.engine import environments, parity
from benchmarks.engine.engines.making import make
from benchmarks.engine.load import HasClient, drive
from benchmarks.engine.study import MAIN, Asked, find
from benchmarks.engine.worker import parse
from benchmarks.engine.workloads import Load
from benchmarks.options import UnsuitableError
from benchmarks.workers import Worker, spawned
from evidence.schema import Passed

PYTHON = environments.place("vllm")
needs_vllm = pytest.mark.skipif(not PYTHON.exists(), reason="there is no .venv-vllm here")


def test_an_environment_that_is_not_there_is_told_of() -> None:
    with pytest.raises(UnsuitableError, match=r"no environment \.venv-nothing"):
        environments.interpreter("nothing")


def test_the_stack_of_this_interpreter_has_one_name() -> None:
    assert MAIN == capture.STACK


@needs_vllm
def test_an_environment_says_itself_what_it_is() -> None:
    found = environments.captured("vllm", Probed(None, "torch is built for no accelerator", ()))
    assert found.stack.name == found.source.name == "vllm"
    assert found.stack.executable == ".venv-vllm/bin/python"
    assert found.source.package.startswith("vllm")
    assert found.source.package in found.stack.packages
    assert found.stack.packages != capture.packages()


def job(phase: str, workload: str) -> protocol.Job:
    rules = {"minimum_samples": 1, "maximum_samples": 1, "target_spread": None, "budget_s": None, "warm_up_s": 0.0}
    assignment = protocol.Assignment(workload=workload, proof=None, is_rechecked=False)
    more = {"timer": "time.perf_counter", "threads": 1, "further_warm_up_s": 0.0, "assignments": (assignment,)}
    return protocol.Job.model_validate({"phase": phase, **rules, **more})


@needs_vllm
def test_vllm_in_a_worker_of_its_environment_passes_the_gate() -> None:
    words = ("--study", "serving", "--arm", "vllm", "--model", "tiny", "--dtype", "fp32", "--device", "cpu")
    more = ("--scale", "small", "--agreement", "0", "--engines", "vllm", "--requests", "8")
    assert parse((*words, *more)).arm == "vllm"
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    start = spawned((str(PYTHON), "-m", "benchmarks.engine.worker", *words, *more), root=ROOT, environment=environment)
    with Worker(start, job("gate", "clients-4"), timeout_s=300) as worker:
        assert isinstance(worker.hear(), protocol.Ready)
        worker.go()
        judged = worker.hear()
    assert isinstance(judged, protocol.Judged)
    assert isinstance(judged.outcome, Passed)
    assert judged.outcome.detail.kind == "tokens"
    assert judged.outcome.detail.agreed == judged.outcome.detail.compared > 0


@needs_vllm
def test_two_clients_of_one_server_get_the_same_tokens(tiny: Any) -> None:
    study = find("clients")
    more = {option.name: option.default for option in study.options} | {"requests": ("24",)}
    arrangement = study.arrange(Asked("cpu", "small", more))
    [one], [_, bench] = arrangement.loads, arrangement.sides
    engine = make(bench, tiny)
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        engine.open(one.limits)
        own = drive(engine, one.drawn(512), one.arrival, timeout_s=120)
        assert isinstance(engine, HasClient)
        other = engine.drive(one.drawn(512), one.arrival, None, timeout_s=240)
        counts = engine.counters()
    finally:
        engine.close()
        del os.environ["HF_HUB_OFFLINE"]
    assert not own.failures
    assert not other.failures
    assert [answer.tokens for answer in own.answers] == [answer.tokens for answer in other.answers]
    assert counts["bench_requests"] == len(one.drawn(512))
    # Its clock is ours: what it sent, it sent after we were done.
    assert min(other.enqueued_s) > max(answer.times_s[-1] for answer in own.answers)
    _holds_to_the_model(one, tiny, own)


def _holds_to_the_model(one: Load, model: Any, trial: Any) -> None:
    gate = parity.definition("fp32", agreement=1.0, source="repository")
    assert isinstance(parity.recheck(model, trial, gate, source="vllm", seed=one.seed), Passed)
