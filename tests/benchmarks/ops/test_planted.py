from __future__ import annotations

import time

import pytest

from benchmarks.ops import control, inputs
from benchmarks.ops.calls import bind
from benchmarks.ops.planted import OWN, PLANTED, BusyWait, PlantError, slowed
from benchmarks.timing import Rotation, TorchTimer

torch = pytest.importorskip("torch")

CALL_S = 4e-4


def steady() -> str:
    """Take as long, or longer where something else runs meanwhile."""
    until = time.perf_counter() + CALL_S
    while time.perf_counter() < until:
        pass
    return "done"


def fastest_s(call, times: int = 300) -> float:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        call()
        taken.append(time.perf_counter() - started)
    return min(taken)


@pytest.mark.parametrize("share", [0.02, 0.1, 1.0])
def test_the_plant_adds_the_share_it_says(share):
    planted = slowed(steady, share, TorchTimer(1), "cpu")

    assert planted.planted_s == pytest.approx(share * planted.own_s, rel=0.05)
    assert fastest_s(planted) - fastest_s(steady) == pytest.approx(planted.planted_s, rel=0.2)


def test_what_was_planted_is_told_in_nanoseconds():
    planted = slowed(steady, 0.1, TorchTimer(1), "cpu")

    told = {setting.name: int(setting.value) for setting in planted.settings}
    assert told == {PLANTED: round(planted.planted_s * 1e9), OWN: round(planted.own_s * 1e9)}
    assert told[OWN] >= CALL_S * 1e9


def test_a_slowed_op_returns_what_the_op_returns():
    case = control.case("fp32", "cpu")
    sets = inputs.draw_timed(case, "cpu")
    rotation = Rotation(bind(case.op.implementations[0], case), sets)

    planted = slowed(rotation, 0.05, TorchTimer(1), "cpu")
    rotation.last.clear()
    returned = [planted() for _ in sets]

    assert len(returned) == case.op.sets
    assert {id(one) for one in returned} == {id(one) for one in rotation.last.values()}


def test_a_delay_waits_at_least_as_long_as_it_says():
    wait = BusyWait()
    assert wait.lasts_s(200_000) >= 200e-6
    assert wait.lasts_s(0) < 200e-6


def test_a_share_below_what_any_delay_adds_is_refused():
    with pytest.raises(PlantError, match="less than any delay adds"):
        slowed(lambda: None, 1e-6, TorchTimer(1), "cpu")


@pytest.mark.parametrize("share", [0.0, -0.02])
def test_a_share_that_slows_nothing_is_refused(share):
    with pytest.raises(PlantError, match="slows nothing"):
        slowed(steady, share, TorchTimer(1), "cpu")
