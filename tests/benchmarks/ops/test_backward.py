"""The backward pass alone: gated by the gradients, its forward run once a set of inputs and kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.ops import gates, inputs
from benchmarks.ops.calls import bind
from benchmarks.ops.cost import work
from benchmarks.ops.mutants import MUTANTS
from benchmarks.ops.registry import find
from evidence.errors import UnknownNameError
from evidence.schema import Passed

OP = find("linear_attn")
CASE = OP.case("b1-t32-h2-d16", "fp32", "backward")


def test_the_backward_pass_is_named_and_counted_apart():
    assert CASE.name == "b1-t32-h2-d16-bwd"
    assert CASE.produced == ("dq", "dk", "dv")
    flop = {way: work(OP.case(CASE.shape, "fp32", way))[0].count for way in OP.possible}
    assert flop["backward"] == flop["forward-backward"] - flop["forward"]
    with pytest.raises(UnknownNameError, match="no direction"):
        find("comba").case("b1-t32-h2-d16", "fp32", "backward")


def test_it_passes_its_gate_and_mutants_of_it_do_not(fla):
    recurrent = OP.implementation("recurrent")
    outcome = gates.verify(CASE, recurrent)
    assert isinstance(outcome, Passed)
    assert [tensor.name for tensor in outcome.detail.tensors] == ["dq", "dk", "dv"]
    scaled = next(mutant for mutant in MUTANTS if mutant.name == "scaled by 1.008")
    assert scaled.applies(CASE)
    assert "scaled by 1.008" not in gates.mutation(CASE, recurrent).survivors


def test_its_forward_runs_once_a_set_of_inputs(fla):
    forwards: list[int] = []

    def counted(target, given):
        forwards.append(1)
        return (target(**given)[0],)

    call = bind(replace(OP.implementation("recurrent"), adapter=counted), CASE)
    first, second = inputs.draw_timed(CASE, "cpu")
    for _ in range(3):
        results = [call(first), call(second)]
    assert len(forwards) == 2
    assert all(bool(a.equal(b)) for a, b in zip(call(first), results[0], strict=True))
    assert not bool(results[0][0].equal(results[1][0]))
