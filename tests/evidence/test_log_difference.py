"""Tests of two logs side by side: what ran elsewhere, each shared cell judged, each cell that one of them lost."""

from __future__ import annotations

import math
from typing import Any

import pytest

from evidence.log_difference import Shared, difference
from evidence.schema import Crashed, OpWorkload, Record, Work
from evidence.statistics import Verdict
from tests import factories
from tests.factories import held, record, timed


def cells(fused: float = 0.8e-3, seed: int = 1, **changes: Any) -> tuple[object, ...]:
    return (
        timed("eager", slot=0, seed=seed),
        timed("fused", median_s=fused, slot=1, seed=seed, **changes),
        timed("eager-again", slot=2, seed=seed),
    )


def later(**changes: Any) -> Record:
    return record("kernels/toy_20260902", **{"cells": cells(), **changes})


def shared(old: Record, new: Record) -> dict[tuple[str, str], Shared]:
    found = difference(held(old), held(new)).shared
    return {(one.arm, one.metric): one for one in found}


@pytest.mark.parametrize(
    ("fused", "verdict", "word"),
    [(0.8e-3, Verdict.SAME, "SAME"), (0.7e-3, Verdict.BETTER, "FASTER"), (1e-3, Verdict.WORSE, "SLOWER")],
)
def test_each_shared_number_has_both_medians_a_ratio_and_a_verdict(fused: float, verdict: Verdict, word: str) -> None:
    one = shared(record(), later(cells=cells(fused)))["fused", "time"]
    assert (one.verdict, one.word, one.reason) == (verdict, word, "")
    assert one.old.startswith("801.7 µs (")
    assert one.ratio is not None
    assert math.isclose(one.ratio.value, 0.8e-3 / fused, rel_tol=0.01)


def test_swapping_the_logs_gives_the_inverse() -> None:
    there, back = (shared(*pair)["fused", "time"].ratio for pair in ((record(), later()), (later(), record())))
    assert there is not None
    assert back is not None
    assert math.isclose(there.value * back.value, 1, rel_tol=1e-9)


def test_what_differs_round_the_numbers_is_named() -> None:
    packages = ("numpy==2.0", *factories.stack().packages[:-1], "triton==9.9.9")
    new = later(
        hosts=(factories.host(driver="581.10"),),
        stacks=(factories.stack(packages=packages),),
        gates=(factories.gate(scope="partial", selection="N1024"),),
        limitations=("another",),
    )
    facts = {fact.what: (fact.old, fact.new) for fact in difference(held(record()), held(new)).facts}
    assert facts["driver"] == ("580.00", "581.10")
    assert facts["package numpy"] == ("", "2.0")
    assert facts["package triton"] == ("3.6.0", "9.9.9")
    assert "partial scope (N1024)" in facts["gate numeric"][1]
    assert facts["limitations"] == ("synthetic numbers for a test", "another")
    assert "command" not in facts
    assert "device" not in facts


def test_the_command_is_named_if_it_differs() -> None:
    before = record()
    assert before.provenance is not None
    argv = (*before.provenance.argv, "--sharing", "arm")
    new = later(provenance=before.provenance.model_copy(update={"argv": argv}))
    facts = {fact.what: (fact.old, fact.new) for fact in difference(held(before), held(new)).facts}
    assert facts["command"][1].endswith("--op toy --log --sharing arm")


def test_two_devices_are_not_compared() -> None:
    one = shared(record(), later(hosts=factories.on_device("Synthetic GPU B")))["fused", "time"]
    assert (one.ratio, one.verdict, one.reason) == (None, Verdict.INCOMPARABLE, "another device")


def test_another_workload_of_that_name_is_not_compared() -> None:
    one = shared(record(), later(workloads=(factories.workload("n1024", 2048),)))["fused", "time"]
    assert one.reason == "another workload of that name"


def test_unequal_work_is_not_compared() -> None:
    made = timed("fused", median_s=0.8e-3, slot=1, seed=1)
    work = (Work(of="steps", count=3),)
    less = made.model_copy(update={"processes": tuple(p.model_copy(update={"work": work}) for p in made.processes)})
    one = shared(record(), later(cells=(cells()[0], less, cells()[2])))["fused", "time"]
    assert one.reason == "unequal work"


def test_too_few_processes_are_not_judged() -> None:
    one = shared(record(), later(cells=cells(processes=5)))["fused", "time"]
    assert (one.verdict, one.reason) == (Verdict.REFUSED, "5 of 6 processes")


def test_a_noisy_control_raises_the_bar() -> None:
    noisy = (*cells(0.76e-3)[:2], timed("eager-again", median_s=1.2e-3, slot=2))
    assert shared(record(), later(cells=cells(0.76e-3)))["fused", "time"].verdict is Verdict.BETTER
    assert shared(record(), later(cells=noisy))["fused", "time"].verdict is Verdict.INCONCLUSIVE


def test_a_cell_that_one_log_lost_is_told_and_not_compared() -> None:
    crash = Crashed(arm="fused", workload="n1024", cause="oom", phase="warm-up", message="full")
    found = difference(held(record()), held(later(cells=(cells()[0], crash, cells()[2]))))
    (one,) = found.unshared
    assert (one.arm, one.old, one.new) == ("fused", "timed", "crashed: out of memory in warm-up: full")
    assert {shared.arm for shared in found.shared} == {"eager", "eager-again"}


def test_a_cell_of_one_log_only() -> None:
    found = difference(held(record()), held(factories.outcomes_record("kernels/toy_20260902")))
    states = {(one.workload, one.arm): (one.old, one.new) for one in found.unshared}
    assert states["n1024", "eager"] == ("timed", "")
    assert states["fits", "eager"] == ("", "timed")


def test_metrics_of_an_engine_are_told_apart_by_what_they_mean() -> None:
    old = factories.engine_record()
    found = shared(old, factories.engine_record("engine/continuous_toy_20260903"))
    assert found["static", "wasted_tokens"].verdict in (None, Verdict.REFUSED, Verdict.SAME)
    assert found["static", "token_agreement"].verdict is Verdict.SAME
    assert found["static", "peak_memory"].word == "SAME"


@pytest.mark.parametrize(
    ("digests", "reason"),
    [((None, "a"), ""), (("a", "a"), ""), (("a", None), ""), (("a", "b"), "another workload of that name")],
)
def test_a_digest_that_one_log_lacks_makes_no_other_workload(digests: tuple[str | None, ...], reason: str) -> None:
    logs = []
    for made, digest in zip((record(), later()), digests, strict=True):
        (load,) = made.workloads
        assert isinstance(load, OpWorkload)
        inputs = load.inputs.model_copy(update={"sha256": digest and digest * 64})
        logs.append(made.model_copy(update={"workloads": (load.model_copy(update={"inputs": inputs}),)}))
    assert shared(*logs)["fused", "time"].reason == reason
