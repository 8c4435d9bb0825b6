from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.calibration.trials import (
    cells_on_trial,
    highest_rate,
    least_effect,
    lowest_rate,
    not_tried,
    tally,
    trials,
)
from evidence.schema import Crashed, Record, Skipped
from evidence.statistics import Verdict
from tests import factories
from tests.benchmarks.calibration.sessions import session


def found(record: Record):
    return tuple(trials(record.log, record))


def test_every_cell_of_a_control_and_of_a_slowed_arm_is_a_trial():
    record = session()
    assert [(one.kind, one.arm, one.workload) for one in found(record)] == [
        ("planted", "eager-slowed", "n1024"),
        ("planted", "eager-slowed", "n2048"),
        ("a-a", "eager-again", "n1024"),
        ("a-a", "eager-again", "n2048"),
    ]
    assert sorted(cells_on_trial(record)) == sorted((one.arm, one.workload) for one in found(record))


def test_a_session_without_either_has_none():
    record = factories.sweep({"eager": {1024: 1e-3}, "fused": {1024: 9e-4}}, control_of=None)
    assert found(record) == ()
    assert cells_on_trial(record) == ()


def test_equal_code_is_not_called_and_a_slowdown_is_found():
    slow, _, same, _ = found(session())
    assert (slow.is_found, same.is_called, same.said) == (True, False, "SAME")
    assert slow.asked == 0.02
    assert slow.planted == pytest.approx(0.02)
    assert same.asked is same.planted is None


def test_a_control_that_differs_is_a_false_call():
    *_, same = found(session(again=0.9))
    assert same.is_called
    assert same.said == "FASTER"


def test_a_slowdown_that_took_no_effect_is_a_miss():
    slow, *_ = found(session(slowed=1.0))
    assert not slow.is_found


def test_what_has_no_verdict_from_enough_processes_is_unusable_and_counted():
    record = session(processes=6)
    assert len(tally(found(record), "a-a", 9).unusable) == 2
    assert len(tally(found(record), "a-a", 6).judged) == 2


def test_a_cell_without_timings_is_unusable_and_says_why():
    record = session()
    crashed = Crashed(arm="eager-again", workload="n1024", cause="oom", phase="warm-up", message="synthetic")
    cells = tuple(crashed if (c.arm, c.workload) == ("eager-again", "n1024") else c for c in record.cells)
    changed = record.model_copy(update={"cells": cells})
    counted = tally(found(changed), "a-a", 9)
    assert [one.said for one in counted.unusable] == ["REFUSED: eager-again is crashed"]
    assert len(counted.judged) + len(counted.unusable) == 2


def test_a_cell_that_was_not_tried_is_owed_no_trial_and_counted():
    record = session()
    skipped = Skipped(arm="eager-again", workload="n1024", reason="toy has no implementation 'eager'")
    cells = tuple(skipped if (c.arm, c.workload) == ("eager-again", "n1024") else c for c in record.cells)
    changed = record.model_copy(update={"cells": cells})
    assert [(one.kind, one.workload) for one in found(changed)] == [
        ("planted", "n1024"),
        ("planted", "n2048"),
        ("a-a", "n2048"),
    ]
    assert sorted(cells_on_trial(changed)) == sorted((one.arm, one.workload) for one in found(changed))
    assert (not_tried(changed, "a-a"), not_tried(changed, "planted")) == (1, 0)


def test_the_least_effect_is_where_an_interval_of_that_width_is_called():
    *_, trial = found(session())
    ratio, least = trial.ratio, least_effect(trial)
    assert ratio is not None
    assert least is not None
    half = math.log(ratio.high / ratio.low) / 2
    assert (1 + least) * math.exp(-half) >= 1.01
    assert least > 0.01


def test_a_noisier_session_has_a_larger_least_effect():
    quiet, noisy = (found(session(spread=spread))[-1] for spread in (0.001, 0.01))
    assert least_effect(noisy) > least_effect(quiet)


@given(st.integers(1, 200).flatmap(lambda tried: st.tuples(st.integers(0, tried), st.just(tried))))
def test_the_ends_of_a_rate_are_the_library_s(case):
    hits, tried = case
    interval = stats.binomtest(hits, tried).proportion_ci(0.95, method="exact")
    assert highest_rate(hits, tried) == pytest.approx(interval.high, abs=1e-9)
    assert lowest_rate(hits, tried) == pytest.approx(interval.low, abs=1e-9)


def test_verdicts_are_counted_by_word():
    counted = tally(found(session()), "planted", 9)
    assert counted.count(Verdict.WORSE) == len(counted.judged) == 2
