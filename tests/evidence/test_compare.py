"""Two arms on one workload: causes of no ratio before ratios, noise before verdicts, and laws of symmetry."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.compare import MINIMUM_PROCESSES, Comparison, compare, timers_apart, word_of
from evidence.errors import ComparisonError, UnknownNameError
from evidence.readings import Quantity, parse_quantity
from evidence.schema import Cell, CrossCheck, Record, Setting, Timed, Work
from evidence.statistics import BASE_EFFECT, Verdict
from tests.factories import (
    arm,
    engine_record,
    engine_timed,
    imported_record,
    method,
    metric,
    outcomes_record,
    process,
    record,
    rejected,
    requests,
    sweep,
    timed,
    tokens_passed,
)

TIME = Quantity("time")
TILE = (Setting(name="tile", value="64"),)


def one(value: Record, baseline: str = "eager", candidate: str = "fused", quantity: Quantity = TIME) -> Comparison:
    (found,) = compare(value, baseline, candidate, quantity, [value.workloads[0].name])
    return found


def of_cells(*cells: Cell, **changes: Any) -> Record:
    """The usual record with some of its cells replaced, by arm."""
    own = {cell.arm: cell for cell in cells}
    return record(cells=tuple(own.get(cell.arm, cell) for cell in record().cells), **changes)


def of_values(name: str, values: list[float], **changes: Any) -> Timed:
    made = tuple(process(index, (value,), started_s=3.0 * index, **changes) for index, value in enumerate(values))
    return timed(name).model_copy(update={"processes": made})


def test_a_clear_win() -> None:
    found = one(record())
    assert found.verdict is Verdict.BETTER
    assert found.word == "FASTER"
    assert found.ratio is not None
    assert found.change is not None
    assert found.ratio.value == pytest.approx(1.25, abs=0.01)
    assert found.ratio.low < 1.25 < found.ratio.high
    assert found.change.value == pytest.approx(-0.2, abs=0.01)
    assert found.processes == (9, 9)
    assert found.effect == BASE_EFFECT
    assert found.noise is not None
    assert found.noise.low < 1 < found.noise.high
    assert (found.reason, found.is_identical) == ("", False)


def test_every_workload_is_compared_and_in_the_record_s_order() -> None:
    times = {"eager": {1: 1e-3, 2: 2e-3, 3: 3e-3}, "fused": {1: 2e-3, 2: 2e-3, 3: 1e-3}}
    found = compare(sweep(times), "eager", "fused", TIME)
    assert [one.workload for one in found] == ["n1", "n2", "n3"]
    assert [one.verdict for one in found] == [Verdict.WORSE, Verdict.SAME, Verdict.BETTER]
    assert [one.word for one in found] == ["SLOWER", "SAME", "FASTER"]
    assert [one.workload for one in compare(sweep(times), "eager", "fused", TIME, ["n3", "n1"])] == ["n3", "n1"]


def test_one_per_cent_is_never_claimed() -> None:
    assert one(sweep({"eager": {1: 1e-3}, "fused": {1: 0.992e-3}}, spread=0.0002)).verdict is Verdict.SAME
    assert one(sweep({"eager": {1: 1e-3}, "fused": {1: 0.98e-3}}, spread=0.0002)).verdict is Verdict.BETTER
    unsure = one(sweep({"eager": {1: 1e-3}, "fused": {1: 0.98e-3}}, spread=0.02, control_of=None))
    assert unsure.verdict is Verdict.INCONCLUSIVE
    assert unsure.reason.startswith("about ")
    assert "more processes a side would decide" in unsure.reason


# The order of causes.


def test_an_axis_that_is_not_declared_comes_before_everything() -> None:
    switched = arm("fused", "candidate", switches=(Setting(name="cache", value="on"),))
    found = one(of_cells(rejected("fused"), arms=(record().arms[0], switched, record().arms[2])))
    assert found.verdict is Verdict.INCOMPARABLE
    assert found.reason == "the arms also differ in cache"
    assert (found.ratio, found.change) == (None, None)
    declared = one(record(arms=(record().arms[0], switched, record().arms[2]), axes=("implementation", "cache")))
    assert declared.verdict is Verdict.BETTER


@pytest.mark.parametrize(("workload_name", "kind"), [("wrong", "rejected"), ("large", "crashed"), ("odd", "skipped")])
def test_a_cell_that_was_not_timed_is_refused_with_its_kind(workload_name: str, kind: str) -> None:
    (found,) = compare(outcomes_record(), "eager", "fused", TIME, [workload_name])
    assert (found.verdict, found.reason) == (Verdict.REFUSED, f"fused is {kind}")
    assert found.word == "REFUSED"
    (turned,) = compare(outcomes_record(), "fused", "eager", TIME, [workload_name])
    assert (turned.verdict, turned.reason) == (Verdict.REFUSED, f"fused is {kind}")


def test_an_import_is_never_compared() -> None:
    (found,) = compare(imported_record(), "served", "served", Quantity("wall_time"))
    assert (found.verdict, found.reason) == (Verdict.REFUSED, "served is imported")


def test_too_few_processes_are_refused() -> None:
    found = one(of_cells(timed("fused", processes=MINIMUM_PROCESSES - 1)))
    assert (found.verdict, found.reason) == (Verdict.REFUSED, "fused has 5 of 6 processes")
    assert one(of_cells(timed("fused", median_s=0.8e-3, processes=MINIMUM_PROCESSES))).verdict is Verdict.BETTER


def test_a_metric_that_a_cell_does_not_hold_is_refused() -> None:
    one_more = record(metrics=(metric(), metric("peak_memory", unit="B", of="process")))
    found = one(one_more, quantity=Quantity("peak_memory"))
    assert (found.verdict, found.reason) == (Verdict.REFUSED, "eager has no peak_memory")


def test_unequal_work_is_incomparable_but_for_rates() -> None:
    short = requests(0.5, (8, 8, 8, 8, 8, 8, 8, 8))
    base = engine_record()

    def cut(cell: Timed) -> Timed:
        return cell.model_copy(
            update={"processes": tuple(p.model_copy(update={"requests": short}) for p in cell.processes)}
        )

    cells = tuple(cut(cell) if cell.arm == "continuous" and isinstance(cell, Timed) else cell for cell in base.cells)
    value = base.model_copy(update={"cells": cells})
    found = one(value, "static", "continuous", Quantity("wall_time"))
    assert found.verdict is Verdict.INCOMPARABLE
    assert found.reason == "unequal work: static did 256 output-tokens, continuous 64"
    for text in ("wall_time/output_tokens", "throughput", "tpot", "ttft"):
        assert one(value, "static", "continuous", parse_quantity(text)).verdict is not Verdict.INCOMPARABLE
    assert one(value, "static", "continuous", parse_quantity("wall_time/output_tokens")).verdict is Verdict.WORSE


def test_work_that_one_side_does_not_count_is_none() -> None:
    counted = of_values("fused", [0.8e-3] * 9, work=(Work(of="steps", count=3),))
    found = one(of_cells(counted))
    assert found.reason.startswith("unequal work: eager did 4,096 bytes, fused none")


def test_zero_has_no_ratio() -> None:
    wasted = Quantity("wasted_tokens")
    value = engine_record(
        metrics=(
            *engine_record().metrics[:2],
            metric("wasted_tokens", unit="1", of="process"),
            *engine_record().metrics[3:],
        )
    )
    found = one(value, "static", "continuous", wasted)
    assert found.verdict is Verdict.REFUSED
    assert "positive" in found.reason


def test_a_metric_without_direction_or_name_is_an_error() -> None:
    with pytest.raises(ComparisonError, match="bandwidth has no direction"):
        compare(record(), "eager", "fused", Quantity("bandwidth"))
    with pytest.raises(UnknownNameError):
        compare(record(), "eager", "fused", Quantity("speed"))


# Noise, timers, identity.


def control_that(shift: float, spread: float = 0.002) -> Record:
    return of_cells(timed("eager-again", median_s=1e-3 * shift, slot=2, spread=spread))


def test_the_control_raises_the_effect_to_its_farther_bound() -> None:
    found = one(control_that(1.06))
    assert found.noise is not None
    assert found.effect == pytest.approx(1 / found.noise.low - 1)
    assert found.verdict is Verdict.BETTER
    raised = one(control_that(1.3))
    assert raised.effect > 0.28
    assert raised.verdict is Verdict.INCONCLUSIVE
    assert raised.ratio == found.ratio


def test_a_raised_effect_never_makes_same_easier() -> None:
    times = {"eager": {1: 1e-3}, "fused": {1: 0.97e-3}}
    quiet = sweep(times, spread=0.0005)
    noisy_control = timed("eager-again", "n1", median_s=1.2e-3, slot=2)
    noisy = quiet.model_copy(update={"cells": (*quiet.cells[:2], noisy_control)})
    assert one(quiet).verdict is Verdict.BETTER
    assert one(noisy).verdict is Verdict.INCONCLUSIVE
    assert "no number of processes would decide" in one(noisy).reason


def test_a_control_is_judged_without_its_own_noise() -> None:
    moved = one(control_that(1.1), candidate="eager-again")
    assert moved.verdict is Verdict.WORSE
    assert (moved.noise, moved.effect) == (None, BASE_EFFECT)
    assert one(record(), candidate="eager-again").verdict is Verdict.SAME


def test_of_several_controls_the_wider_counts_and_one_that_failed_counts_for_nothing() -> None:
    second = arm("eager-third", "control", control_of="eager", implementation="toy.ops:eager")
    arms = (*record().arms, second)
    far = one(record(arms=arms, cells=(*record().cells, timed("eager-third", median_s=1.2e-3, slot=3))))
    assert far.effect > 0.18
    gone = one(record(arms=arms, cells=(*record().cells, rejected("eager-third"))))
    assert gone.effect == BASE_EFFECT
    assert one(of_cells(rejected("eager-again"))).noise is None


def checked(value: float, name: str = "eager") -> Record:
    base = record()
    cell = base.cell(name, "n1024")
    assert isinstance(cell, Timed)
    other = tuple(process(i, (value,), started_s=400.0 + 3 * i) for i in range(6))
    double = cell.model_copy(update={"cross_checks": (CrossCheck(method="nvbench", processes=other),)})
    return of_cells(double, methods=(method(), method(name="nvbench")))


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("eager", 1.02e-3, ""),
        ("eager", 1.2e-3, "eager: nvbench is +20% from do-bench"),
        ("eager", 0.8e-3, "eager: nvbench is -20% from do-bench"),
        ("fused", 1.2e-3, "fused: nvbench is +50% from do-bench"),
    ],
)
def test_timers_that_disagree_decide_nothing(name: str, value: float, reason: str) -> None:
    found = one(checked(value, name))
    assert found.reason == reason
    assert found.verdict is (Verdict.INCONCLUSIVE if reason else Verdict.BETTER)
    assert found.ratio is not None


def test_a_timer_of_zeros_or_of_nothing_disagrees_with_none() -> None:
    value = record(metrics=(metric(), metric("peak_memory", unit="B", of="process")))
    zeros = of_values("eager", [0.0] * 6, metric_name="peak_memory")
    cell = zeros.model_copy(update={"cross_checks": (CrossCheck(method="do-bench", processes=zeros.processes),)})
    assert timers_apart(value, cell, Quantity("peak_memory")) == ""
    other = cell.model_copy(update={"cross_checks": (CrossCheck(method="do-bench", processes=timed().processes),)})
    assert timers_apart(value, other, Quantity("peak_memory")) == ""


def test_arms_of_one_configuration_are_marked() -> None:
    twin = arm("fused", "candidate", implementation="toy.ops:eager")
    arms = (record().arms[0], twin, record().arms[2])
    cells = [cell.model_copy(update={"ran": TILE}) for cell in record().cells]
    found = one(record(arms=arms, axes=(), cells=tuple(cells)))
    assert found.is_identical
    assert not one(record(cells=tuple(cells))).is_identical


# Counts.


def test_counts_are_exact_and_need_one_number() -> None:
    base = engine_record()
    worse = tokens_passed(agreed=245)
    cells = tuple(c.model_copy(update={"gate": worse}) if c.arm == "continuous" else c for c in base.cells)
    found = one(base.model_copy(update={"cells": cells}), "static", "continuous", Quantity("token_agreement"))
    assert (found.verdict, found.word) == (Verdict.WORSE, "WORSE")
    assert found.ratio is not None
    assert found.ratio.low == found.ratio.high == pytest.approx(245 / 250)
    assert found.processes == (1, 1)
    assert found.is_exact
    assert found.noise is None
    assert not one(record()).is_exact
    none = tokens_passed(agreed=0)
    cells = tuple(c.model_copy(update={"gate": none}) if c.arm == "continuous" else c for c in base.cells)
    refused = one(base.model_copy(update={"cells": cells}), "static", "continuous", Quantity("token_agreement"))
    assert (refused.verdict, refused.reason) == (Verdict.REFUSED, "a count of zero has no ratio")


def test_counts_compare_whatever_the_work() -> None:
    base = engine_record()
    short = engine_timed("continuous", processes=2)
    cells = tuple(short if (c.arm, c.workload) == ("continuous", "skewed") else c for c in base.cells)
    found = one(base.model_copy(update={"cells": cells}), "static", "continuous", Quantity("token_agreement"))
    assert found.verdict is Verdict.SAME


@pytest.mark.parametrize(
    ("unit", "better", "worse"),
    [
        ("s", "FASTER", "SLOWER"),
        ("token/s", "FASTER", "SLOWER"),
        ("1/s", "FASTER", "SLOWER"),
        ("B", "SMALLER", "LARGER"),
        ("1", "BETTER", "WORSE"),
        ("J", "BETTER", "WORSE"),
        ("bit/B", "BETTER", "WORSE"),
    ],
)
def test_a_metric_owns_its_words(unit: Any, better: str, worse: str) -> None:
    assert word_of(Verdict.BETTER, unit) == better
    assert word_of(Verdict.WORSE, unit) == worse
    for verdict in (Verdict.SAME, Verdict.INCONCLUSIVE, Verdict.INCOMPARABLE, Verdict.REFUSED):
        assert word_of(verdict, unit) == verdict.value.upper()


# Laws.

VALUES = st.lists(st.floats(1e-4, 1e-2), min_size=6, max_size=9)
OPPOSITE = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}
RATE = metric("rate", unit="1/s", better="higher")


def of_two(before: list[float], after: list[float]) -> Record:
    base = record()
    return base.model_copy(
        update={
            "arms": base.arms[:2],
            "cells": (of_values("eager", before), of_values("fused", after)),
        }
    )


@given(VALUES, VALUES)
def test_swapping_the_arms_inverts_the_ratio_and_the_verdict(before: list[float], after: list[float]) -> None:
    there, back = one(of_two(before, after)), one(of_two(before, after), "fused", "eager")
    assert there.ratio is not None
    assert back.ratio is not None
    assert there.ratio.value * back.ratio.value == pytest.approx(1)
    assert there.ratio.low * back.ratio.high == pytest.approx(1)
    assert back.verdict is OPPOSITE.get(there.verdict, there.verdict)


@given(VALUES, VALUES)
def test_a_rate_and_its_time_give_one_ratio(before: list[float], after: list[float]) -> None:
    base = of_two(before, after)
    cells = tuple(
        of_values(name, [1 / value for value in values], metric_name="rate")
        for name, values in (("eager", before), ("fused", after))
    )
    rates = base.model_copy(update={"metrics": (RATE,), "cells": cells})
    slow, fast = one(base), one(rates, quantity=Quantity("rate"))
    assert slow.ratio is not None
    assert fast.ratio is not None
    assert fast.ratio.value == pytest.approx(slow.ratio.value)
    assert fast.verdict is slow.verdict


@given(VALUES, st.randoms())
def test_an_arm_with_the_same_numbers_is_never_better_or_worse(values: list[float], rng: Any) -> None:
    mixed = list(values)
    rng.shuffle(mixed)
    found = one(of_two(values, mixed))
    assert found.ratio is not None
    assert found.ratio.value == pytest.approx(1)
    assert found.verdict in (Verdict.SAME, Verdict.INCONCLUSIVE)


@given(VALUES, VALUES, VALUES)
def test_a_control_only_ever_takes_verdicts_away(before: list[float], after: list[float], again: list[float]) -> None:
    without = one(of_two(before, after))
    base = record(cells=(of_values("eager", before), of_values("fused", after), of_values("eager-again", again)))
    held = one(base)
    assert held.ratio == without.ratio
    assert held.effect >= without.effect
    assert held.verdict in (without.verdict, Verdict.INCONCLUSIVE)


def test_workloads_are_named_by_the_caller() -> None:
    with pytest.raises(KeyError):
        compare(record(), "eager", "fused", TIME, ["n9"])
