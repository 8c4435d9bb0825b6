"""Tests of studies: arms are one axis apart, and cells in which nothing could fire are not tried."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.engine import study, worker
from benchmarks.engine.selection import parser, selection
from benchmarks.engine.study import Arrangement, AxisError, continuous, static, studies
from benchmarks.engine.workloads import SCALES, load
from evidence.errors import UnknownNameError
from tests.benchmarks.engine.listening import Listener

LOADS = (load("uniform", "small"),)
AXES = ("batching", "implementation")


def test_arms_that_differ_in_more_than_they_declare_are_refused() -> None:
    baseline = continuous("plain", "baseline")
    both = {"cuda-graphs": "on", "compile": "1"}
    with pytest.raises(AxisError, match="compile, cuda-graphs, and declares cuda-graphs"):
        Arrangement((baseline, continuous("graphs", "candidate", both, ("cuda-graphs",))), LOADS, ("cuda-graphs",))
    declared = continuous("both", "candidate", both, ("compile", "cuda-graphs"))
    Arrangement((baseline, declared), LOADS, ("cuda-graphs", "compile"))
    with pytest.raises(AxisError, match="no axis of the study"):
        Arrangement((baseline, declared), LOADS, ("cuda-graphs",))


def test_arms_that_do_not_differ_where_they_say_are_refused() -> None:
    baseline = continuous("plain", "baseline")
    with pytest.raises(AxisError, match="nothing, and declares compile"):
        Arrangement((baseline, continuous("compiled", "candidate", {}, ("compile",))), LOADS, ("compile",))


def test_another_source_is_a_difference() -> None:
    baseline = static("static", "baseline")
    with pytest.raises(AxisError, match="source"):
        Arrangement((baseline, replace(baseline, name="fork", role="candidate", source="fork")), LOADS, ())


def test_a_control_differs_in_its_name_alone() -> None:
    one = static("static", "baseline")
    again = one.again()
    assert (again.name, again.role) == ("static-again", "control")
    assert replace(again, name=one.name, role=one.role) == one


def test_a_switch_that_is_none_is_refused() -> None:
    with pytest.raises(UnknownNameError):
        continuous("x", "candidate", {"cuda-graph": "on"})


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("name", sorted(studies()))
def test_every_study_can_be_arranged(name: str, device: str, scale: str) -> None:
    one = study.find(name)
    more = {option.name: option.default for option in one.options}
    found = one.arrange(one.asked(device, scale, more))  # type: ignore[arg-type]
    assert found.sides[0].role == "baseline"
    assert len({side.name for side in found.sides}) == len(found.sides)
    assert len({load.name for load in found.loads}) == len(found.loads)
    tried = [(side.name, load.name) for side in found.sides for load in found.loads if not side.obstacle(load, device)]
    assert {load for _, load in tried} == {load.name for load in found.loads}
    if device == "cuda":
        assert {side for side, _ in tried} == {side.name for side in found.sides}


def test_what_is_left_to_the_scale_is_told_to_workers_as_numbers() -> None:
    small, full = (
        selection(parser().parse_args(["scheduler", "serving", "--scale", scale])) for scale in ("small", "full")
    )
    assert small.asked.more["rates"] != full.asked.more["rates"]
    words = small.words(small.arms[0])
    assert words[words.index("--rates") + 1 :][:2] == small.asked.more["rates"] == ("50", "120")
    # No level of compilation is asked for there: an option without values is left out.
    matrix = selection(parser().parse_args(["scheduler", "matrix"]))
    assert matrix.asked.more["levels"] == ()
    assert "--levels" not in matrix.words(matrix.arms[0])
    assert worker.EngineWorker(worker.parse(matrix.words(matrix.arms[0])), Listener())._wanted == matrix.asked  # type: ignore[arg-type]
