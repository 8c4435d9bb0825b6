"""Our formulas are torch's functions, in fp64, forward and backward."""

from __future__ import annotations

import pytest

from benchmarks.ops import references_torch as ours


@pytest.fixture
def functional(torch):
    return torch.nn.functional


def _same(torch, mine, theirs, *leaves) -> None:
    upstream = torch.randn(mine.shape, dtype=torch.float64)
    torch.testing.assert_close(mine, theirs)
    for one, other in zip(
        torch.autograd.grad(mine, leaves, upstream), torch.autograd.grad(theirs, leaves, upstream), strict=True
    ):
        torch.testing.assert_close(one, other)


def _leaf(torch, *shape: int):
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("tokens", [1, 255, 256, 300])
def test_attention(torch, functional, tokens: int) -> None:
    q, k, v = (_leaf(torch, 2, tokens, 3, 8) for _ in range(3))
    first = (x.transpose(1, 2) for x in (q, k, v))
    theirs = functional.scaled_dot_product_attention(*first, is_causal=True).transpose(1, 2)
    _same(torch, ours.causal_attention(q, k, v), theirs, q, k, v)


def test_norms(torch, functional) -> None:
    x, weight, bias = _leaf(torch, 5, 12), _leaf(torch, 12), _leaf(torch, 12)
    _same(torch, ours.rms_norm(x, weight, 1e-3), functional.rms_norm(x, (12,), weight, 1e-3), x, weight)
    theirs = functional.layer_norm(x, (12,), weight, bias, 1e-3)
    _same(torch, ours.layer_norm(x, weight, bias, 1e-3), theirs, x, weight, bias)


def test_softmax_and_loss(torch, functional) -> None:
    x, target = _leaf(torch, 6, 9), torch.tensor([0, 8, 3, 3, 1, 7])
    _same(torch, ours.softmax(100 * x), functional.softmax(100 * x, -1), x)
    _same(torch, ours.cross_entropy(100 * x, target), functional.cross_entropy(100 * x, target, reduction="none"), x)


def test_products(torch) -> None:
    a, b = _leaf(torch, 3, 7), _leaf(torch, 7, 5)
    _same(torch, ours.product(a, b), a @ b, a, b)
    rows, columns = torch.rand(3, dtype=torch.float64), torch.rand(5, dtype=torch.float64)
    scaled = ours.scaled_product(a, b.mT, rows, columns)
    torch.testing.assert_close(scaled, torch.diag(rows) @ a @ b @ torch.diag(columns))
    torch.testing.assert_close(ours.quantised_product(a, b, columns), a @ b @ torch.diag(columns))
