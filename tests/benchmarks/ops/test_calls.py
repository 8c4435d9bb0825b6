"""Calls: every adapter fits its target's real signature, and gradients are returned, not accumulated."""

from __future__ import annotations

import inspect

import pytest

from benchmarks.ops.calls import bind, load
from benchmarks.ops.inputs import draw
from benchmarks.ops.registry import OpError, find, ops

PAIRS = [(name, entry.name) for name, found in sorted(ops().items()) for entry in found.implementations]


@pytest.mark.parametrize(("name", "implementation"), PAIRS)
def test_adapters_fit_their_targets(fla, name: str, implementation: str) -> None:
    entry = find(name).implementation(implementation)
    pytest.importorskip(entry.target.partition(":")[0].partition(".")[0])
    target = load(entry.target)
    if inspect.isclass(target):
        pytest.skip("an autograd function takes its arguments through apply")
    if inspect.isbuiltin(target):
        pytest.skip("a builtin tells no signature; the op's frozen gate calls it")
    signature, called = inspect.signature(target), []

    def check(*arguments: object, **named: object) -> tuple[object, ...]:
        bound = signature.bind(*arguments, **named).arguments
        assert not bound.get("kwargs"), f"{entry.target} swallows {bound['kwargs']}"
        called.append(bound)
        return (None, None)

    case = find(name).cases()[0]
    small = find(name).shape("-".join(f"{dimension}2" for dimension, _ in case.shape.sizes))
    given = draw(find(name).case(small, case.dtype, "forward"), 0, "cpu")
    entry.adapter(check, given.tensors)
    assert called


def test_forward_backward_returns_gradients_and_accumulates_none(torch, fla) -> None:
    case = find("linear_attn").case("b1-t64-h2-d16", "fp32", "forward-backward")
    given = draw(case, 0, "cpu")
    call = bind(case.op.implementation("chunk"), case)
    first, second = call(given), call(given)
    assert len(first) == len(case.produced) == 4
    for one, two in zip(first, second, strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=0)
    assert all(tensor.grad is None for tensor in given.tensors.values())


def test_forward_returns_only_outputs_without_a_graph(torch, fla) -> None:
    case = find("linear_attn").case("b1-t64-h2-d16", "fp32", "forward")
    (output,) = bind(case.op.implementation("chunk"), case)(draw(case, 0, "cpu"))
    assert not output.requires_grad


def test_targets_that_are_not_there() -> None:
    with pytest.raises(OpError, match="has no 'absent'"):
        load("operator:absent")
    with pytest.raises(OpError, match="not callable"):
        load("sys:path")
    with pytest.raises(ImportError):
        load("no_such_module_anywhere:f")


def test_a_direction_that_is_not_supported_is_not_bound() -> None:
    kda = find("chunk_kda")
    case = kda.case(kda.shapes[0], "bf16", "forward-backward")
    with pytest.raises(OpError, match="forward only"):
        bind(kda.implementation("recurrent"), case)
