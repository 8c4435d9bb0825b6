"""A reference evaluated in slices is the reference."""

from __future__ import annotations

import itertools

import pytest

from benchmarks.ops import slices
from benchmarks.ops.inputs import draw
from benchmarks.ops.registry import find


@pytest.mark.parametrize("budget", [1 << 40, 1 << 16, 1 << 14, 1])
def test_slices_cover_every_element_once(budget: int) -> None:
    case = find("kda").case("b3-t8-h5-d4", "fp32", "forward")
    covered = [
        cell
        for ranges in slices.slices(case, budget)
        for cell in itertools.product(*(range(start, start + length) for start, length in ranges.values()))
    ]
    assert sorted(covered) == sorted(itertools.product(range(3), range(5)))


def test_an_op_that_does_not_decompose_is_one_slice() -> None:
    case = find("qk_norm").case("t4-hq2-hkv1-d8", "bf16", "forward")
    assert list(slices.slices(case, 1)) == [{}]


def test_slices_stay_within_the_budget() -> None:
    case = find("chunk_gdn").case("b8-t2048-h32-d256", "bf16", "forward-backward")
    inputs = 8 * sum(case.elements(operand) for operand in case.op.inputs)
    budget = 16 << 30
    ranges = list(slices.slices(case, budget))
    assert len(ranges) > 1
    for part in ranges:
        share = part["B"][1] * part["H"][1] / (8 * 32)
        assert inputs * share * slices.LIVE_BYTES_PER_INPUT_BYTE <= budget


@pytest.mark.parametrize("direction", ["forward", "forward-backward"])
def test_slices_give_the_same_numbers(monkeypatch, torch, direction: str) -> None:
    case = find("gated_delta_rule").case("b2-t40-h3-d8", "fp32", direction)
    given = draw(case, 0, "cpu")
    whole = slices.evaluate_reference(case, given)
    monkeypatch.setattr(slices, "_CPU_BUDGET_BYTES", 1)
    sliced = slices.evaluate_reference(case, given)
    assert len(whole) == len(case.produced)
    for first, second in zip(whole, sliced, strict=True):
        torch.testing.assert_close(first, second, rtol=1e-12, atol=1e-13)
