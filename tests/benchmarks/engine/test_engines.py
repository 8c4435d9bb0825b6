"""Tests of the engines in this process: real ones, on the tiny model."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.engine import features
from benchmarks.engine.engines import Engine, EngineError, Limits
from benchmarks.engine.engines.making import make
from benchmarks.engine.load import Trial, drive
from benchmarks.engine.requests import Request
from benchmarks.engine.study import Side, continuous, static
from benchmarks.engine.workloads import AT_ONCE, Load, load
from evidence.schema.workloads import Closed

pytest.importorskip("transformers")

VOCABULARY = 512
STATIC = static("static", "baseline")
PLAIN = continuous("continuous", "candidate")
BOTH = pytest.mark.parametrize("side", [STATIC, PLAIN], ids=lambda side: side.name)


@contextmanager
def opened(side: Side, model: Any, limits: Limits) -> Iterator[Engine]:
    engine = make(side, model)
    try:
        engine.open(limits)
        yield engine
    finally:
        engine.close()


def served(side: Side, model: Any, one: Load) -> tuple[Trial, Mapping[str, int]]:
    with opened(side, model, one.limits) as engine:
        trial = drive(engine, one.drawn(VOCABULARY), one.arrival, one.starts_s(), timeout_s=60)
        return trial, engine.counters()


def plainly(model: Any, request: Request) -> tuple[int, ...]:
    """What the model says to one prompt alone."""
    import torch

    made = model.generate(torch.tensor([request.prompt]), max_new_tokens=request.output_tokens, do_sample=False)
    return tuple(made[0, len(request.prompt) :].tolist())


@BOTH
def test_every_request_gets_its_tokens_each_with_its_time(side: Side, tiny: Any) -> None:
    one = load("skewed", "small")
    trial, _ = served(side, tiny, one)
    assert not trial.failures
    for request, start, answer in zip(trial.requests, trial.enqueued_s, trial.answers, strict=True):
        assert answer.tokens == plainly(tiny, request)
        assert len(answer.times_s) == request.output_tokens
        assert [start, *answer.times_s] == sorted([start, *answer.times_s])


@BOTH
def test_the_first_token_and_the_time_of_the_others_make_the_latency(side: Side, tiny: Any) -> None:
    trial, _ = served(side, tiny, load("uniform", "small"))
    rows = trial.rows()
    for start, answer, ttft, latency in zip(trial.enqueued_s, trial.answers, rows.ttft_s, rows.latency_s, strict=True):
        assert ttft is not None
        assert latency is not None
        tpot = (answer.times_s[-1] - answer.times_s[0]) / (len(answer.times_s) - 1)
        wall = answer.times_s[-1] - start
        assert ttft + tpot * (len(answer.tokens) - 1) == pytest.approx(wall, rel=0.05)
        assert latency == pytest.approx(wall, rel=0.05)
    assert trial.wall_s == pytest.approx(max(latency for latency in rows.latency_s if latency), rel=0.05)


def test_static_batches_waste_what_nobody_asked_for(tiny: Any) -> None:
    one = load("skewed", "small")
    trial, counts = served(STATIC, tiny, one)
    wanted = [request.output_tokens for request in trial.requests]
    batches = [wanted[at : at + one.concurrency] for at in range(0, len(wanted), one.concurrency)]
    assert counts["batches"] == len(batches)
    assert counts["wasted_tokens"] == sum(max(batch) - length for batch in batches for length in batch)
    # A batch is done when its longest request is.
    last = max(answer.times_s[-1] for answer in trial.answers[: one.concurrency])
    assert all(answer.times_s[0] > last for answer in trial.answers[one.concurrency :])


def test_requests_join_a_running_batch(tiny: Any) -> None:
    trial, counts = served(PLAIN, tiny, load("skewed", "small"))
    assert counts["joined_running_batch"] > 0
    assert counts["wasted_tokens"] == 0
    firsts, lasts = ([answer.times_s[at] for answer in trial.answers] for at in (0, -1))
    assert sum(first < max(lasts[:4]) for first in firsts[4:]) > 0


def test_a_shared_prefix_is_read_once(tiny: Any) -> None:
    one = load("shared-prefix", "small")
    side = continuous("shared", "candidate", {"prefix-sharing": "on"}, ("prefix-sharing",))
    trial, counts = served(side, tiny, one)
    cached = [answer.cached_tokens or 0 for answer in trial.answers]
    assert counts["prefix_tokens"] == sum(cached) > 0
    assert max(cached) >= one.shared_prefix
    assert all(count < len(request.prompt) for count, request in zip(cached, trial.requests, strict=True))
    plain, counts = served(PLAIN, tiny, one)
    assert counts["prefix_tokens"] == 0
    assert [answer.cached_tokens for answer in plain.answers] == [0] * len(plain.answers)
    assert [answer.tokens for answer in plain.answers] == [answer.tokens for answer in trial.answers]


def test_smaller_steps_read_prompts_in_pieces(tiny: Any) -> None:
    one = load("long-prompts", "small")
    whole, counts = served(PLAIN, tiny, one)
    chunked, more = served(continuous("chunked", "candidate", {"chunk-tokens": "32"}), tiny, one)
    assert more["prefill_chunks"] > counts["prefill_chunks"]
    assert [answer.tokens for answer in chunked.answers] == [answer.tokens for answer in whole.answers]


def test_requests_that_give_way_keep_the_times_of_their_first_tokens(tiny: Any) -> None:
    trial, counts = served(PLAIN, tiny, load("oversubscribed", "small"))
    assert counts["preemptions"] > 0
    assert not trial.failures
    for request, answer in zip(trial.requests, trial.answers, strict=True):
        assert answer.tokens == plainly(tiny, request)
        assert list(answer.times_s) == sorted(answer.times_s)


def test_a_feature_that_needs_a_device_is_told_of_where_there_is_none(tiny: Any) -> None:
    side = continuous("overlapped", "candidate", {"async-batching": "on"})
    assert "async-batching" in (side.obstacle(load("uniform", "small"), "cpu") or "")
    engine = make(side, tiny)
    with pytest.raises(EngineError, match="CUDA"):
        engine.open(load("uniform", "small").limits)
    engine.close()
    attention = tiny.config._attn_implementation
    assert "paged" not in attention


@BOTH
def test_a_closed_loop_keeps_its_clients_busy(side: Side, tiny: Any) -> None:
    one = replace(load("staggered", "small"), arrival=Closed(concurrency=4))
    trial, _ = served(side, tiny, one)
    starts = sorted(trial.enqueued_s)
    ends = sorted(answer.times_s[-1] for answer in trial.answers)
    assert starts[3] == starts[0]
    for at in range(4, len(starts)):
        assert starts[at] >= ends[at - 4]


@BOTH
@pytest.mark.parametrize("name", ["poisson", "staggered"])
def test_an_open_loop_sends_when_it_is_due(side: Side, tiny: Any, name: str) -> None:
    one = load(name, "small")
    trial, _ = served(side, tiny, one)
    due = one.starts_s()
    assert due is not None
    sent = [start - trial.enqueued_s[0] for start in trial.enqueued_s]
    assert sent == pytest.approx(list(due), abs=1e-6)
    assert trial.lateness_s is not None
    assert trial.lateness_s > 0


@BOTH
def test_nothing_is_left_running(side: Side, tiny: Any) -> None:
    before = threading.active_count()
    with opened(side, tiny, load("uniform", "small").limits) as engine:
        drive(engine, load("uniform", "small").drawn(VOCABULARY)[:2], AT_ONCE, timeout_s=60)
        assert threading.active_count() > before
    assert threading.active_count() == before


@BOTH
def test_a_prompt_that_cannot_be_read_ends_in_failures_not_in_silence(side: Side, tiny: Any) -> None:
    limits = load("uniform", "small").limits
    with opened(side, tiny, limits) as engine:
        began = time.perf_counter()
        trial = drive(engine, (Request(0, (VOCABULARY + 7,), 3), Request(1, (5, 6), 3)), AT_ONCE, timeout_s=30)
        assert time.perf_counter() - began < 20
    assert {failure.reason for failure in trial.failures} == {"engine"}
    assert trial.rows().ttft_s[0] is None


def test_what_comes_too_late_has_failed(tiny: Any) -> None:
    one = load("uniform", "small")
    with opened(STATIC, tiny, one.limits) as engine:
        trial = drive(engine, one.drawn(VOCABULARY), AT_ONCE, timeout_s=0.001)
    assert len(trial.failures) == len(trial.requests)
    assert {failure.reason for failure in trial.failures} == {"timeout"}


def test_every_feature_has_its_own_mechanism() -> None:
    mechanisms = [feature.mechanism for feature in features.FEATURES.values()]
    assert len(set(mechanisms)) == len(mechanisms)
    assert features.switches({}) == tuple((name, one.off) for name, one in features.FEATURES.items())
