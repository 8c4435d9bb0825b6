"""A reading: what it selects and inherits, what its log says of it, and what a control makes of it."""

# ruff: noqa: E501 - a row of the table is one case

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from evidence.errors import ItemError
from evidence.evaluation import Reading, readings_of, require_expected, tally, value_of
from evidence.readings import Quantity
from evidence.schema import Record, Setting, Timed, Work
from evidence.schema.claims import Claim
from evidence.statistics import BASE_EFFECT, Verdict, minimum_effect
from tests.factories import (
    arm,
    engine_record,
    held,
    imported_record,
    loader,
    metric,
    outcomes_record,
    process,
    record,
    rejected,
    sweep,
    timed,
)

SWEEP = sweep({"eager": {1: 1e-3, 8: 2e-3, 64: 3e-3, 512: 4e-3}, "fused": {1: 0.7e-3, 8: 1.4e-3, 64: 3e-3, 512: 5e-3}})
COMPARED: dict[str, Any] = {
    "statement": "x",
    "series": "kernels/sweep",
    "metric": "time",
    "baseline": "eager",
    "candidate": "fused",
    "expect": {"better": 2, "worse": 1, "same": 1},
}
READ: dict[str, Any] = {"statement": "x", "series": "kernels/sweep", "metric": "time", "arm": "fused"}


def evaluated(claim: dict[str, Any], *records: Record) -> dict[str, Reading]:
    return readings_of(Claim.model_validate(claim), loader(*(records or (SWEEP,))))


def main(claim: dict[str, Any], *records: Record) -> Reading:
    return evaluated(claim, *records)[""]


def refused(claim: dict[str, Any], *records: Record) -> ItemError:
    """What keeps a claim from standing."""

    def stand() -> None:
        for reading in evaluated(claim, *records).values():
            require_expected(reading)

    with pytest.raises(ItemError) as caught:
        stand()
    return caught.value


def test_a_reading_compares_every_cell_of_its_log_by_default() -> None:
    found = main(COMPARED)
    assert found.is_comparison
    assert [one.workload for one in found.comparisons] == ["n1", "n8", "n64", "n512"]
    assert found.counts == {Verdict.BETTER: 2, Verdict.WORSE: 1, Verdict.SAME: 1}
    assert list(found.counts) == [Verdict.BETTER, Verdict.WORSE, Verdict.SAME]
    assert tally(found) == "2 faster, 1 slower, 1 same"
    assert (found.processes, found.identical, found.effect) == (9, 0, BASE_EFFECT)
    assert len(found.ratios) == 4
    assert found.moved


def test_where_narrows_and_a_single_verdict_is_the_reading_s() -> None:
    found = main({**COMPARED, "where": {"N": [1, 8]}, "expect": "better"})
    assert (found.verdict, found.word) == (Verdict.BETTER, "FASTER")
    assert found.facts()["N"] == ("1", "8")
    assert found.facts()["arm"] == ("fused",)
    assert found.facts()["date"] == ("2026-09-01",)
    require_expected(found)


def test_the_verdict_of_a_mixed_result_is_that_of_the_geometric_mean() -> None:
    assert main(COMPARED).verdict is Verdict.BETTER
    assert main({**COMPARED, "where": {"N": [64, 512]}}).verdict is Verdict.WORSE
    mixed = main({**COMPARED, "series": "kernels/outcomes"}, outcomes_record())
    assert mixed.verdict is Verdict.BETTER
    none = main({**COMPARED, "series": "kernels/outcomes", "where": {"N": [1025, 1026]}}, outcomes_record())
    assert none.verdict is Verdict.REFUSED


def test_one_arm_is_read_without_a_baseline() -> None:
    found = main(READ)
    assert not found.is_comparison
    assert [value.workload.name for value in found.values("fused")] == ["n1", "n8", "n64", "n512"]
    assert found.processes == 9
    value = found.values("fused")[0]
    assert value.interval.low <= value.interval.value <= value.interval.high
    assert not value.is_exact


def test_what_every_process_has_alike_is_exact() -> None:
    one = engine_record()
    memory = value_of(held(one), one.cells[0], Quantity("peak_memory"))
    assert memory is not None
    assert (memory.is_exact, memory.interval.low, memory.interval.high) == (True, 2e9, 2e9)
    assert value_of(held(one), one.cells[0], Quantity("token_agreement")) is not None
    assert value_of(held(outcomes_record()), outcomes_record().cells[5], Quantity("time")) is None


# Inheritance.


def test_also_inherits_what_it_does_not_write() -> None:
    also = {
        "worst": {"where": {"N": 512}, "expect": "worse"},
        "all": {"where": {}, "expect": {"better": 2, "worse": 1, "same": 1}},
        "control": {"candidate": "eager-again", "expect": "same"},
        "alone": {"arm": "eager"},
        "median": {"metric": "time.p90", "expect": "better"},
    }
    found = evaluated({**COMPARED, "where": {"N": [1, 8]}, "expect": "better", "also": also})
    assert list(found) == ["", *also]
    assert [w.name for w in found["worst"].workloads] == ["n512"]
    assert len(found["all"].workloads) == 4
    assert (found["control"].baseline, found["control"].candidate) == ("eager", "eager-again")
    assert [w.name for w in found["control"].workloads] == ["n1", "n8"]
    assert (found["alone"].baseline, found["alone"].candidate) == ("", "eager")
    assert str(found["median"].quantity) == "time.p90"
    for reading in found.values():
        require_expected(reading)


def test_a_comparison_of_its_own_drops_the_claim_s_arm() -> None:
    also = {"pair": {"baseline": "eager", "candidate": "fused", "where": {"N": 1}, "expect": "better"}}
    assert evaluated({**READ, "also": also})["pair"].is_comparison


def test_readings_may_stand_on_other_series_and_on_a_dated_log() -> None:
    other = sweep({"eager": {1: 1e-3}, "fused": {1: 2e-3}}, "kernels/other_20260905")
    also = {"other": {"series": "kernels/other", "expect": "worse"}, "dated": {"series": other.log, "expect": "worse"}}
    found = evaluated({**COMPARED, "also": also}, SWEEP, other)
    assert found["other"].loaded.record.log == found["dated"].loaded.record.log == other.log


# Names that are not there.


@pytest.mark.parametrize(
    ("changes", "parts", "message", "fix"),
    [
        ({"series": "kernels/sweeps"}, ("series",), "no series 'kernels/sweeps'", "did you mean 'kernels/sweep'?"),
        ({"metric": "tyme"}, ("metric",), "kernels/sweep_20260901: no metric 'tyme'", "did you mean 'time'?"),
        ({"metric": "Time"}, ("metric",), "kernels/sweep_20260901: 'Time' is not a metric", "name.p90"),
        ({"metric": "bandwidth"}, ("metric",), "bandwidth has no direction", "read one arm"),
        ({"baseline": "eagr"}, ("baseline",), "no arm 'eagr'", "did you mean 'eager'?"),
        ({"candidate": "fuse"}, ("candidate",), "no arm 'fuse'", "did you mean 'fused'?"),
        ({"where": {"M": 1}}, ("where", "M"), "no axis 'M'", "known: "),
        ({"where": {"N": 2}}, ("where", "N"), "no value of N '2'", "known: 1, 512, 64, 8"),
        ({"where": {"N": 1, "workload": "n8"}}, ("where",), "'where' selects no cell", "widen it"),
        ({"also": {"l": {"metric": "tyme", "expect": "same"}}}, ("also", "l", "metric"), "no metric 'tyme'", ""),
        ({"also": {"l": {"series": "x/y", "expect": "same"}}}, ("also", "l", "series"), "no series 'x/y'", ""),
        ({"also": {"l": {"where": {"N": 2}, "expect": "same"}}}, ("also", "l", "where", "N"), "no value of N '2'", ""),
        ({"also": {"l": {"arm": "eagr"}}}, ("also", "l", "arm"), "no arm 'eagr'", ""),
    ],
)
def test_a_wrong_name_is_found_at_its_key(
    changes: dict[str, Any], parts: tuple[str, ...], message: str, fix: str
) -> None:
    error = refused({**COMPARED, **changes})
    assert (error.code, error.parts) == ("EV601", parts)
    assert message in error.message
    assert fix in error.fix


# What the log says.


@pytest.mark.parametrize(
    ("changes", "code", "message", "fix"),
    [
        ({"expect": "better"}, "EV602", "expect is better, the log says {better: 2, worse: 1, same: 1} (2 faster, 1 slower, 1 same)", "expect: {better: 2, worse: 1, same: 1}"),
        ({"expect": {"better": 4}}, "EV602", "expect is {better: 4}", "reread the statement"),
        ({"expect": "worse", "where": {"N": 1}}, "EV602", "the log says {better: 1} (1 faster)", "expect: better;"),
        ({"expect": "same", "where": {"N": 512}}, "EV602", "the log says {worse: 1}", "expect: worse;"),
        ({"expect": "inconclusive", "where": {"N": 64}}, "EV602", "the log says {same: 1}", ""),
    ],
)  # fmt: skip
def test_a_belief_that_the_log_does_not_share(changes: dict[str, Any], code: str, message: str, fix: str) -> None:
    error = refused({**COMPARED, **changes})
    assert (error.code, error.parts) == (code, ("expect",))
    assert message in error.message
    assert fix in error.fix


@pytest.mark.parametrize(
    "expect", [{"better": 2, "worse": 1, "same": 1}, {"same": 1, "worse": 1, "better": 2, "inconclusive": 0}]
)
def test_a_tally_is_exact_and_its_order_does_not_matter(expect: dict[str, int]) -> None:
    require_expected(main({**COMPARED, "expect": expect}))


UNSURE = sweep({"eager": {1: 1e-3, 2: 1e-3}, "fused": {1: 0.99e-3, 2: 0.5e-3}}, spread=0.03, control_of=None)


def test_an_undecided_cell_is_not_contradicted_but_inconclusive() -> None:
    for expect in ("better", "worse", "same"):
        error = refused({**COMPARED, "where": {"N": 1}, "expect": expect}, UNSURE)
        assert (error.code, error.parts) == ("EV406", ("expect",))
    require_expected(main({**COMPARED, "where": {"N": 1}, "expect": "inconclusive"}, UNSURE))
    require_expected(main({**COMPARED, "expect": {"better": 1, "inconclusive": 1}}, UNSURE))
    error = refused({**COMPARED, "expect": {"worse": 1, "inconclusive": 1}}, UNSURE)
    assert error.code == "EV602"


def cells_with(**by_arm: Timed) -> Record:
    return record(cells=tuple(by_arm.get(cell.arm.replace("-", "_"), cell) for cell in record().cells))


ONE = {**COMPARED, "series": "kernels/toy", "expect": "better"}


def test_a_cell_without_a_number_names_the_rule_that_says_why() -> None:
    for index, kind in ((1025, "rejected"), (1026, "crashed"), (1027, "skipped")):
        claim = {**COMPARED, "series": "kernels/outcomes", "where": {"N": index}, "expect": "better"}
        error = refused(claim, outcomes_record())
        assert (error.code, error.message) == ("EV601", f"{error.message.split(':')[0]}: fused is {kind}")
        assert refused({**claim, "expect": "inconclusive"}, outcomes_record()).code == "EV601"
    ungated = record(cells=(rejected("eager"), *record().cells[1:]))
    assert refused(ONE, ungated).code == "EV412"
    few = refused(ONE, cells_with(fused=timed("fused", processes=5)))
    assert (few.code, few.message) == ("EV201", "n1024: fused has 5 of 6 processes")
    foreign = {**READ, "series": "engine/foreign", "arm": "served", "metric": "wall_time"}
    assert main(foreign, imported_record()).values("served")[0].interval.value == 12.0
    assert refused({**foreign, "metric": "latency"}, imported_record()).message == "served on short holds no latency"


def test_unequal_work_and_a_second_axis_have_rules_of_their_own() -> None:
    def counting(name: str, steps: int) -> Timed:
        made = tuple(
            process(i, (1e-3 * steps,), started_s=3.0 * i, work=(Work(of="steps", count=steps),)) for i in range(6)
        )
        return timed(name).model_copy(update={"processes": made})

    uneven = cells_with(eager=counting("eager", 3), fused=counting("fused", 1))
    error = refused(ONE, uneven)
    assert (error.code, error.parts) == ("EV404", ("expect",))
    assert error.message == "n1024: unequal work: eager did 3 steps, fused 1"
    assert error.fix == "compare a rate: time/steps"
    require_expected(main({**ONE, "metric": "time/steps", "expect": "same"}, uneven))
    # A count that only one side has is no number of the other.
    one_side = cells_with(eager=counting("eager", 3))
    assert refused({**ONE, "metric": "time/steps"}, one_side).message == "n1024: fused has no time/steps"
    wrong = refused({**ONE, "metric": "time/step"}, one_side)
    assert (wrong.code, wrong.parts) == ("EV601", ("metric",))
    assert "did you mean 'steps'?" in wrong.fix
    switched = arm("fused", "candidate", switches=(Setting(name="cache", value="on"),))
    second = record(arms=(record().arms[0], switched, record().arms[2]))
    assert refused(ONE, second).code == "EV405"


def test_one_arm_must_have_a_number_in_every_selected_cell() -> None:
    claim = {**READ, "series": "kernels/outcomes"}
    error = refused(claim, outcomes_record())
    assert (error.code, error.message) == ("EV601", "fused on wrong is rejected")
    require_expected(main({**claim, "where": {"N": 1024}}, outcomes_record()))
    more = engine_record(metrics=(*engine_record().metrics, metric("idle", of="process", role="context")))
    idle = {**READ, "series": "engine/continuous_toy", "metric": "idle", "arm": "static"}
    assert refused(idle, more).message == "static on skewed holds no idle"
    named = refused({**COMPARED, "series": "kernels/outcomes", "where": {"N": 1024}, "expect": "better", "also": {"l": {"arm": "fused", "where": {}}}}, outcomes_record())  # fmt: skip
    assert named.parts == ("also", "l")


def test_identical_configurations_leave_every_count_and_mean() -> None:
    tile = (Setting(name="tile", value="64"),)
    arms = (record().arms[0], arm("fused", "candidate", implementation="toy.ops:eager"), record().arms[2])
    base = sweep({"eager": {1: 1e-3, 2: 1e-3}, "fused": {1: 0.5e-3, 2: 1e-3}})
    cells = tuple(c.model_copy(update={"ran": tile}) if c.workload == "n2" else c for c in base.cells)
    half = base.model_copy(update={"arms": arms, "cells": cells, "axes": ("implementation",)})
    found = main({**COMPARED, "expect": "better"}, half)
    require_expected(found)
    assert (found.counts, found.identical) == ({Verdict.BETTER: 1}, 1)
    assert tally(found) == "1 faster, 1 with identical configuration left out"
    assert len(found.all_comparisons) == 2
    error = refused({**COMPARED, "expect": "same", "where": {"N": 2}}, half)
    assert (error.code, error.message) == ("EV407", "all 1 cells ran identical configurations")
    assert main({**COMPARED, "expect": "same", "where": {"N": 2}}, half).verdict is Verdict.REFUSED


def test_a_metric_s_own_words_are_in_the_tally() -> None:
    claim = {**COMPARED, "series": "engine/continuous_toy", "baseline": "static", "candidate": "continuous"}
    assert tally(main({**claim, "metric": "peak_memory", "expect": "same"}, engine_record())) == "2 same"
    assert tally(main({**claim, "metric": "throughput", "expect": "better"}, engine_record())) == "1 faster, 1 same"


# Controls.


def controlled(control: float, fused: float = 0.9e-3) -> tuple[dict[str, Any], Record]:
    """A claim on N = 1 whose control is the same pair on N = 2, where the change has nothing to do."""
    value = sweep({"eager": {1: 1e-3, 2: 1e-3}, "fused": {1: fused, 2: control}}, spread=0.0005)
    also = {"control": {"where": {"N": 2}, "expect": "same"}}
    return {**COMPARED, "where": {"N": 1}, "expect": "better", "also": also}, value


def test_a_still_control_changes_nothing() -> None:
    found = evaluated(*controlled(1e-3))
    assert found[""].control is found["control"]
    assert found[""].verdict is Verdict.BETTER
    assert found[""].effect == BASE_EFFECT
    assert found["control"].control is None


def test_how_far_the_control_strays_the_main_reading_may_stray_too() -> None:
    claim, value = controlled(0.992e-3, fused=0.985e-3)
    found = evaluated(claim, value)
    assert found["control"].verdict is Verdict.SAME
    assert not found["control"].moved
    assert found[""].effect == BASE_EFFECT
    assert found[""].verdict is Verdict.BETTER
    noisy = value.model_copy(
        update={
            "cells": tuple(
                timed(c.arm, "n2", median_s=1e-3, slot=9, spread=0.05) if c.workload == "n2" else c for c in value.cells
            )
        }
    )
    held_back = evaluated({**claim, "also": {"control": {"where": {"N": 2}, "expect": "inconclusive"}}}, noisy)
    (ratio,) = held_back["control"].ratios
    assert held_back[""].verdict is Verdict.INCONCLUSIVE
    assert held_back[""].comparisons[0].reason == "within what the control strays"
    assert held_back[""].effect == pytest.approx(minimum_effect(ratio))


def test_a_control_that_moved_leaves_nothing_decided() -> None:
    claim, value = controlled(0.8e-3)
    found = evaluated(claim, value)
    assert found["control"].moved
    assert found[""].verdict is Verdict.INCONCLUSIVE
    assert found[""].comparisons[0].reason == "the control moved"
    assert found[""].comparisons[0].ratio is not None


def test_a_control_never_makes_same_easier_nor_harder() -> None:
    claim, value = controlled(0.8e-3, fused=1e-3)
    assert evaluated(claim, value)[""].verdict is Verdict.SAME


def test_a_control_of_one_arm_would_hold_nothing_and_is_refused() -> None:
    claim, value = controlled(0.8e-3)
    with pytest.raises(ValidationError, match="a control is a comparison"):
        evaluated({**claim, "also": {"control": {"arm": "eager"}}}, value)
