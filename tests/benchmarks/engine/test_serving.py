"""Tests of serving: `transformers serve` on the tiny model, goodput, the studies, what vllm bench serve says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psutil
import pytest

pytest.importorskip("aiohttp")

from benchmarks.engine import parity
from benchmarks.engine.engines import EngineError, spelling, vllm_bench
from benchmarks.engine.engines.http import HttpEngine, Spelt
from benchmarks.engine.engines.making import make
from benchmarks.engine.engines.server import ServedEngine
from benchmarks.engine.engines.transformers_server import TransformersServer
from benchmarks.engine.goodput import Objective, goodput, served_well
from benchmarks.engine.load import drive
from benchmarks.engine.requests import Request
from benchmarks.engine.study import Arrangement, continuous, find
from benchmarks.engine.workloads import AT_ONCE, load
from benchmarks.options import UsageError
from evidence.schema import Passed
from evidence.schema.cells import Requests
from evidence.schema.workloads import Poisson

ONE = load("skewed", "small")


def rows(*served: tuple[float, float | None, float | None, int]) -> Requests:
    """Requests by when they were sent, first token, last token, tokens."""
    sent, ttft, latency, tokens = zip(*served, strict=True)
    return Requests(
        enqueued_s=sent,
        prompt_tokens=(8,) * len(served),
        cached_tokens=None,
        output_tokens=tokens,
        ttft_s=ttft,
        latency_s=latency,
    )


def test_goodput_counts_what_was_served_in_time() -> None:
    objective = Objective(ttft_s=0.2, tpot_s=0.02)
    kept, slow, late, single = (0.0, 0.2, 0.4, 11), (0.0, 0.1, 0.5, 11), (1.0, 0.3, 0.4, 11), (1.5, 0.1, 0.1, 1)
    found = rows(kept, slow, late, single)
    assert served_well(found, objective) == 2
    assert goodput(found, objective) == pytest.approx(2 / 1.6)


def test_a_failed_request_is_not_served_well() -> None:
    objective = Objective(ttft_s=10.0, tpot_s=10.0)
    assert served_well(rows((0.0, 0.1, 0.2, 3), (0.0, None, None, 0)), objective) == 1
    with pytest.raises(ValueError, match="no request was answered"):
        goodput(rows((0.0, None, None, 0)), objective)


def arranged(name: str, **options: tuple[str, ...]) -> Arrangement:
    study = find(name)
    more = {option.name: options.get(option.name.replace("-", "_"), option.default) for option in study.options}
    return study.arrange(study.asked("cpu", "small", more))


def test_the_study_of_serving_puts_a_server_beside_the_same_engine() -> None:
    here, server = arranged("serving").sides
    assert (here.engine, server.engine) == ("continuous", "transformers-server")
    assert server.mechanism == ("joined_running_batch", "streamed_chunks")
    both = arranged("serving", engines=("transformers", "vllm")).sides
    assert [side.stack for side in both] == ["main", "main", "vllm", "vllm"]
    assert [side.is_served for side in both] == [False, True, False, True]
    assert [side.role for side in arranged("serving", engines=("vllm",)).sides] == ["baseline", "candidate"]


def test_loads_of_one_study_share_their_limits() -> None:
    loads = arranged("serving", rates=("2", "0.5"), clients=("4", "16"), requests=("30",)).loads
    assert [one.name for one in loads] == ["clients-4", "clients-16", "rate-2", "rate-0.5"]
    assert len({one.limits for one in loads}) == 1
    assert all(one.requests == one.limits.concurrency == 30 for one in loads)
    assert isinstance(loads[2].arrival, Poisson)


@pytest.mark.parametrize(
    ("study", "options"),
    [
        ("serving", {"engines": ("sglang",)}),
        ("serving", {"rates": ("0",)}),
        ("serving", {"rates": ("inf",)}),
        ("serving", {"rates": ("fast",)}),
        ("serving", {"clients": ("1",)}),
        ("serving", {"requests": ("2.5",)}),
        ("clients", {"clients": ("1",)}),
        ("clients", {"requests": ("many",)}),
    ],
)
def test_loads_that_are_none_are_refused(study: str, options: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(UsageError):
        arranged(study, **options)


def test_the_study_of_clients_changes_the_client_alone() -> None:
    own, bench = arranged("clients").sides
    assert own.implementation == bench.implementation
    assert {a for a, b in zip(own.switches, bench.switches, strict=True) if a != b} == {("client", "own")}


REQUESTS = (Request(0, (1, 2), 3), Request(1, (3, 4), 2))
RESULT: dict[str, Any] = {
    "start_times": [10.0, 10.5],
    "ttfts": [0.25, 0.5],
    "itls": [[0.125], [0.25]],
    "generated_texts": [spelling.spelt((5, 6, 7)), spelling.spelt((8, 9))],
    "errors": ["", ""],
}


def test_a_result_of_vllm_bench_serve_is_read_request_by_request() -> None:
    trial, counts = vllm_bench.read(RESULT, REQUESTS)
    assert not trial.failures
    assert [answer.tokens for answer in trial.answers] == [(5, 6, 7), (8, 9)]
    # Its two pieces held three tokens, and it does not say which held two.
    assert trial.answers[0].times_s == (10.25, 10.375, 10.375)
    assert trial.rows().ttft_s == (0.25, 0.5)
    assert trial.rows().latency_s == (0.375, 0.75)
    assert (counts["bench_requests"], counts["streamed_chunks"]) == (2, 2)


def test_what_vllm_bench_serve_did_not_get_has_failed() -> None:
    broken = {
        **RESULT,
        "errors": ["Traceback\n  File\nClientPayloadError: gone", ""],
        "generated_texts": ["", "no ids"],
    }
    trial, counts = vllm_bench.read(broken, REQUESTS)
    assert [failure.reason for failure in trial.failures] == ["server-error", "malformed"]
    assert trial.failures[0].message == "ClientPayloadError: gone"
    assert counts["bench_requests"] == 0
    short = {**RESULT, "generated_texts": [spelling.spelt((5, 6)), spelling.spelt((8, 9))]}
    assert [failure.reason for failure in vllm_bench.read(short, REQUESTS)[0].failures] == ["wrong-length"]


def test_a_result_without_a_row_a_request_is_refused() -> None:
    with pytest.raises(EngineError, match="start_times"):
        vllm_bench.read({**RESULT, "start_times": [1.0]}, REQUESTS)


@pytest.fixture(scope="module")
def transformers_serve(tiny: Any) -> Iterator[ServedEngine]:
    """`transformers serve` over the tiny model, written to a folder with its tokenizer."""
    for needed in ("fastapi", "uvicorn", "openai"):
        pytest.importorskip(needed)
    engine = ServedEngine(TransformersServer("cpu", "float32"), tiny)
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        engine.open(ONE.limits)
        yield engine
    finally:
        engine.close()
        del os.environ["HF_HUB_OFFLINE"]


def test_transformers_serve_says_what_the_model_says(transformers_serve: ServedEngine, tiny: Any) -> None:
    requests = ONE.drawn(512)
    served = drive(transformers_serve, requests, ONE.arrival, timeout_s=60)
    assert not served.failures
    engine = make(continuous("in-process", "baseline"), tiny)
    try:
        engine.open(ONE.limits)
        here = drive(engine, requests, ONE.arrival, timeout_s=60)
    finally:
        engine.close()
    assert [answer.tokens for answer in served.answers] == [answer.tokens for answer in here.answers]
    counts = transformers_serve.counters()
    assert counts["streamed_chunks"] > len(requests)
    assert counts["joined_running_batch"] > 0
    for start, request, answer in zip(served.enqueued_s, requests, served.answers, strict=True):
        ttft, n = answer.times_s[0] - start, request.output_tokens
        tpot = (answer.times_s[-1] - answer.times_s[0]) / (n - 1)
        assert ttft + tpot * (n - 1) == pytest.approx(answer.times_s[-1] - start, rel=0.05)


def test_transformers_serve_refuses_what_it_cannot_read(transformers_serve: ServedEngine) -> None:
    engine = HttpEngine(transformers_serve.address, "another-model", Spelt())
    engine.open(ONE.limits)
    try:
        trial = drive(engine, REQUESTS[:1], AT_ONCE, timeout_s=20)
    finally:
        engine.close()
    [failure] = trial.failures
    assert failure.reason == "server-error"
    assert "another-model" in failure.message


def test_a_server_passes_the_gate_of_the_engine_in_this_process(transformers_serve: ServedEngine, tiny: Any) -> None:
    gate = parity.definition("fp32", agreement=1.0, source="repository")
    answers = parity.ask(transformers_serve, ONE.drawn(512), concurrency=ONE.concurrency, timeout_s=60)
    outcome = parity.verify(tiny, answers, gate, source="transformers", seed=ONE.seed)
    assert isinstance(outcome, Passed)
    assert outcome.detail.kind == "tokens"
    assert outcome.detail.agreed == outcome.detail.compared == sum(one.output_tokens for one in ONE.drawn(512))
    assert all(control.agreed == control.compared for control in outcome.detail.controls)


def test_closing_leaves_no_server(tiny: Any, transformers_serve: ServedEngine) -> None:
    """Last in this file: the server is killed under the client, and then closed."""
    requests = tuple(replace(one, output_tokens=60) for one in ONE.drawn(512))
    children = psutil.Process().children(recursive=True)
    assert children
    transformers_serve.submit(requests)
    assert transformers_serve.answer(0.01) is None
    for child in children:
        child.kill()
    failures = []
    for _ in requests:
        answer = transformers_serve.answer(10)
        assert answer is not None
        failures.append(answer.failure)
    assert {failure.reason for failure in failures if failure is not None} <= {"disconnected", "refused"}
    assert all(failure is not None for failure in failures)
    transformers_serve.close()
    assert not psutil.Process().children(recursive=True)
