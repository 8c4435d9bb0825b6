"""A reference evaluated in slices is the reference."""

from __future__ import annotations

import itertools

import pytest

from benchmarks.ops import slices
from benchmarks.ops.inputs import draw
from benchmarks.ops.registry import find


@pytest.mark.parametrize("budget", [1 << 40, 1 << 16, 1 << 14, 1])
def test_slices_cover_every_element_once(monkeypatch, budget: int) -> None:
    monkeypatch.setitem(slices._BUDGET_BYTES, "cpu", budget)
    case = find("kda").case("b3-t8-h5-d4", "fp32", "forward")
    covered = [
        cell
        for ranges in slices.slices(case, "cpu")
        for cell in itertools.product(*(range(start, start + length) for start, length in ranges.values()))
    ]
    assert sorted(covered) == sorted(itertools.product(range(3), range(5)))


def test_an_op_that_does_not_decompose_is_one_slice() -> None:
    case = find("qk_norm").case("t4-hq2-hkv1-d8", "bf16", "forward")
    assert list(slices.slices(case, "cpu")) == [{}]


@pytest.mark.parametrize("direction", ["forward", "forward-backward"])
def test_slices_give_the_same_numbers(monkeypatch, torch, direction: str) -> None:
    case = find("gated_delta_rule").case("b2-t40-h3-d8", "fp32", direction)
    given = draw(case, 0, "cpu")
    whole = slices.evaluate_reference(case, given)
    monkeypatch.setitem(slices._BUDGET_BYTES, "cpu", 1)
    sliced = slices.evaluate_reference(case, given)
    assert len(whole) == len(case.produced)
    for first, second in zip(whole, sliced, strict=True):
        torch.testing.assert_close(first, second, rtol=1e-12, atol=1e-13)
