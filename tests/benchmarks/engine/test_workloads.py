"""Tests of workloads: everyone draws the same requests, and they are as declared."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.engine import models
from benchmarks.engine.workloads import SCALES, Lengths, digest, load
from evidence.errors import UnknownNameError
from evidence.schema import Setting
from evidence.schema.workloads import Paced, Poisson

NAMES = ("uniform", "skewed", "staggered", "poisson", "shared-prefix", "long-prompts", "oversubscribed")
TINY = models.SHAPES["tiny"]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", NAMES)
def test_a_workload_is_what_it_declares(name: str, scale: str) -> None:
    one = load(name, scale)  # type: ignore[arg-type]
    requests = one.drawn(TINY.vocabulary)
    described = one.described(TINY.weights, "fp32", TINY.vocabulary)
    assert [request.index for request in requests] == list(range(one.requests))
    assert described.requests == len(requests)
    assert described.prompt_tokens.total == sum(len(request.prompt) for request in requests)
    assert described.output_tokens.total == sum(request.output_tokens for request in requests)
    assert described.inputs.sha256 == digest(one.drawn(TINY.vocabulary))
    assert all(0 < token < TINY.vocabulary for request in requests for token in request.prompt)
    assert max(len(request.prompt) + request.output_tokens for request in requests) <= one.limits.longest
    # The longest request fits in the cache alone, so that none can starve for ever.
    assert one.limits.cache_blocks * one.limits.block_tokens > one.limits.longest


def test_requests_before_the_clock_share_nothing_with_those_behind_it() -> None:
    one = load("shared-prefix", "small")
    measured, before = one.drawn(TINY.vocabulary), one.warm_up(TINY.vocabulary)
    assert {request.prompt[:16] for request in measured} == {measured[0].prompt[:16]}
    assert not {request.prompt[:16] for request in before} & {request.prompt[:16] for request in measured}


def test_an_oversubscribed_cache_does_not_hold_a_whole_batch() -> None:
    one = load("oversubscribed", "small")
    needed = sum(len(request.prompt) + request.output_tokens for request in one.drawn(TINY.vocabulary)[:4])
    assert one.limits.cache_blocks * one.limits.block_tokens < needed


def test_what_every_arm_may_use_is_a_parameter_of_the_workload() -> None:
    one = load("uniform", "small")
    described = one.described(TINY.weights, "fp32", TINY.vocabulary, settings=(Setting(name="threads", value="2"),))
    told = {setting.name: setting.value for setting in described.parameters}
    assert told["requests a batch"] == str(one.limits.concurrency)
    assert told["cache blocks"] == str(one.limits.cache_blocks)
    assert told["threads"] == "2"


def test_paced_arrivals_are_equally_apart() -> None:
    one = load("staggered", "small")
    assert isinstance(one.arrival, Paced)
    starts = one.starts_s()
    assert starts is not None
    assert len(starts) == one.requests
    assert starts[0] == 0.0
    assert [after - before for before, after in pairwise(starts)] == pytest.approx(
        [one.arrival.interval_s] * (one.requests - 1)
    )


def test_arrivals_of_an_open_loop_are_drawn_once_for_all() -> None:
    one = load("poisson", "small")
    assert isinstance(one.arrival, Poisson)
    starts = one.starts_s()
    assert starts is not None
    assert starts == one.starts_s()
    assert starts[0] == 0.0
    assert list(starts) == sorted(starts)
    mean = starts[-1] / (len(starts) - 1)
    assert 0.3 < mean * one.arrival.rate_per_s < 3
    assert load("uniform", "small").starts_s() is None


@given(st.integers(1, 50), st.integers(0, 50), st.integers(1, 60), st.none() | st.floats(0.01, 1), st.randoms())
def test_lengths_keep_their_bounds(low: int, more: int, count: int, share: float | None, source: object) -> None:
    drawn = Lengths(low, low + more, share).draw(count, source)  # type: ignore[arg-type]
    assert len(drawn) == count
    assert all(low <= length <= low + more for length in drawn)
    if share is not None:
        assert low + more in drawn


def test_a_name_that_is_none_is_told_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as refused:
        load("skewd", "small")
    assert "skewed" in str(refused.value.fix)
