"""Tests of the scheduler's studies: each arm does on the real engine what its name says, and waves are told apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from benchmarks.engine import study
from benchmarks.engine.engines.making import make
from benchmarks.engine.load import Trial, drive
from benchmarks.engine.studies.diag_prefix import by_wave
from benchmarks.engine.study import Arrangement, Asked, Side
from benchmarks.engine.workloads import AT_ONCE, Lengths, Load
from evidence.schema.cells import Requests

pytest.importorskip("transformers")

BY_SCALE = {"chunks": ("by-scale",), "levels": ("by-scale",)}


def arranged(name: str, device: str = "cpu", scale: str = "small", **more: tuple[str, ...]) -> Arrangement:
    options = {**BY_SCALE, **more} if name == "matrix" else {}
    one = study.find(name)
    return one.arranged(one.asked(device, scale, options))  # type: ignore[arg-type]


def named(arrangement: Arrangement, arm: str, workload: str) -> tuple[Side, Load]:
    sides = {side.name: side for side in arrangement.sides}
    return sides[arm], {load.name: load for load in arrangement.loads}[workload]


def served(side: Side, load: Load, model: Any) -> tuple[Trial, Mapping[str, int]]:
    engine = make(side, model)
    vocabulary = model.config.vocab_size
    try:
        engine.open(load.limits)
        drive(engine, load.warm_up(vocabulary), AT_ONCE, timeout_s=60)
        before = engine.counters()
        trial = drive(engine, load.drawn(vocabulary), load.arrival, timeout_s=60)
        counts = {name: count - before[name] for name, count in engine.counters().items()}
    finally:
        engine.close()
    assert not trial.failures
    return trial, counts


def own_metrics(name: str) -> set[str]:
    return {metric.name for metric in study.find(name).metrics} - {metric.name for metric in study.METRICS}


@pytest.mark.parametrize("arm", ["plain", "prefix-sharing", "chunks-of-32", "chunks-of-128", "prefix-and-chunks"])
def test_arms_of_the_matrix_fire_together_on_the_workload_that_engages_all(arm: str, tiny: Any) -> None:
    side, load = named(arranged("matrix"), arm, "crowded")
    _, counts = served(side, load, tiny)
    assert not [name for name in side.mechanism if not counts[name]]
    assert counts["preemptions"] > 0


@pytest.mark.parametrize(
    ("study_name", "arm", "workload"),
    [
        *(("matrix", arm, "crowded") for arm in ("plain", "prefix-sharing", "chunks-of-512", "prefix-and-chunks")),
        *(("diag-preempt", arm, "growing") for arm in ("half-recomputed", "third-recomputed")),
    ],
)
def test_workloads_of_the_full_scale_engage_what_they_are_tagged_with(
    study_name: str, arm: str, workload: str, tiny: Any
) -> None:
    side, load = named(arranged(study_name, "cuda", "full"), arm, workload)
    _, counts = served(side, load, tiny)
    assert not [name for name in side.mechanism if not counts[name]]
    assert counts["preemptions"] > 0


@pytest.mark.parametrize("name", sorted(study.studies()))
def test_the_mask_of_a_packed_step_has_an_index_of_32_bits(name: str) -> None:
    one = study.find(name)
    for load in one.arrange(one.asked("cuda", "full", {option.name: option.default for option in one.options})).loads:
        cached = load.limits.cache_blocks * load.block_tokens
        assert load.batch_tokens * (cached + load.batch_tokens) < 2**31


@pytest.mark.parametrize("name", sorted(study.studies()))
def test_every_size_of_step_comes_before_the_clock_at_full_scale(name: str) -> None:
    one = study.find(name)
    asked = one.asked("cuda", "full", {option.name: option.default for option in one.options})
    for load in one.arranged(asked).loads:
        before, measured = load.warm_up(512), load.drawn(512)
        sizes = [[(len(one.prompt), one.output_tokens) for one in requests] for requests in (before, measured)]
        assert sizes[0] == sizes[1]
        assert not {one.prompt for one in before} & {one.prompt for one in measured}


def test_every_cell_of_the_matrix_is_tried_or_has_its_reason() -> None:
    here = arranged("matrix")
    sides = {side.name: side for side in here.sides}
    reasons = {load.name: sides["prefix-sharing"].obstacle(load, "cpu") for load in here.loads}
    assert [name for name, reason in reasons.items() if reason is None] == ["shared-prefix", "crowded"]
    assert all(sides["all"].obstacle(load, "cpu") for load in here.loads)
    there = arranged("matrix", "cuda", "full")
    [every, crowded] = named(there, "all", "crowded")
    assert every.obstacle(crowded, "cuda") is None
    assert {feature.mechanism for feature in every.features} == {
        "joined_running_batch",
        "graph_replays",
        "overlapped_steps",
        "prefix_tokens",
        "prefill_chunks",
        "offloaded_requests",
    }


def test_sizes_and_levels_are_arms_of_the_matrix() -> None:
    names = [side.name for side in arranged("matrix", chunks=("48",), levels=("1", "2")).sides]
    assert [name for name in names if name.startswith("chunks")] == ["chunks-of-48"]
    assert [name for name in names if "compile" in name] == ["compile-1", "compile-2", "all-and-compile-1"]


def test_later_waves_find_the_prefix_by_reference(tiny: Any) -> None:
    arrangement = arranged("diag-prefix")
    plain, load = named(arrangement, "plain", "long-prefix")
    sharing, _ = named(arrangement, "prefix-sharing", "long-prefix")
    _, without = served(plain, load, tiny)
    trial, counts = served(sharing, load, tiny)
    size = load.concurrency
    assert [answer.cached_tokens for answer in trial.answers[:size]] == [0] * size
    assert all(answer.cached_tokens == load.shared_prefix for answer in trial.answers[size:])
    assert (counts["prefix_hits"], counts["copied_blocks"]) == (load.requests - size, 0)
    assert without["computed_tokens"] - counts["computed_tokens"] == counts["prefix_tokens"]
    found = by_wave(Asked("cpu", "small"), trial.rows())
    assert own_metrics("diag-prefix") <= {*counts, *found}
    assert found["ttft_later_waves"] < found["ttft_first_wave"]


def test_waves_are_medians_of_the_requests_that_were_answered() -> None:
    ttft_s = (0.4, None, 0.2, 0.3, None, None, None, None, 0.1, 0.5)
    rows = Requests(
        enqueued_s=(0.0,) * 10,
        prompt_tokens=(8,) * 10,
        cached_tokens=None,
        output_tokens=(4,) * 10,
        ttft_s=ttft_s,
        latency_s=tuple(None if value is None else 1.0 for value in ttft_s),
    )
    assert by_wave(Asked("cpu", "small"), rows) == {"ttft_first_wave": 0.3, "ttft_later_waves": 0.3}


def test_a_packed_step_lets_each_query_meet_the_keys_of_all_requests(tiny: Any) -> None:
    pairs = {}
    for requests in (1, 4):
        load = Load("equal", "x", requests, Lengths(32, 32), Lengths(6, 6), concurrency=requests)
        for side in study.find("continuous").arrange(Asked("cpu", "small")).sides:
            pairs[side.name, requests] = served(side, load, tiny)[1]["attended_pairs"]
    assert pairs["continuous", 1] == pairs["static", 1] == 32 * 32 + sum(range(33, 38))
    assert pairs["static", 4] == 4 * pairs["static", 1]
    assert pairs["continuous", 4] == 16 * pairs["static", 1]


def test_less_cache_costs_tokens_that_are_computed_again(tiny: Any) -> None:
    arrangement = arranged("diag-preempt")
    roomy, load = named(arrangement, "roomy", "growing")
    half, _ = named(arrangement, "half-recomputed", "growing")
    _, plenty = served(roomy, load, tiny)
    _, scarce = served(half, load, tiny)
    assert plenty["preemptions"] == 0 < scarce["preemptions"]
    assert plenty["computed_tokens"] < scarce["computed_tokens"]
    assert not [name for name in half.mechanism if not scarce[name]]
    assert own_metrics("diag-preempt") <= {*scarce}
    offloaded, _ = named(arrangement, "half-offloaded", "growing")
    assert "host" in (offloaded.obstacle(load, "cpu") or "")
    assert offloaded.obstacle(load, "cuda") is None
