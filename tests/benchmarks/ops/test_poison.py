"""Poisoned allocation: what is not written shows."""

from __future__ import annotations

import pytest

from benchmarks.ops.poison import poisoned


def test_uninitialised_memory_is_nan(torch) -> None:
    with poisoned() as seen:
        tensors = (
            torch.empty(3),
            torch.empty_like(torch.ones(3)),
            torch.ones(3).new_empty(3),
            torch.empty_strided((3,), (2,)),
            torch.empty(2, 3, dtype=torch.bfloat16),
            torch.empty_permuted((2, 3), (1, 0)),
        )
        whole = torch.empty(3, dtype=torch.int64)
    assert all(bool(tensor.isnan().all()) for tensor in tensors)
    assert whole.dtype == torch.int64
    assert seen.allocations == len(tensors)


def test_written_memory_is_not_touched(torch) -> None:
    with poisoned():
        assert float(torch.zeros(4).sum()) == 0
        assert float(torch.full((4,), 2.0).sum()) == 8
        assert float(torch.nn.functional.rms_norm(torch.ones(2, 4), (4,)).sum()) > 7
    assert not bool(torch.zeros(3).isnan().any())


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_backward_passes_are_poisoned_too(torch, device: str) -> None:
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no GPU")

    class Half(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x / 2

        @staticmethod
        def backward(ctx, upstream):
            return torch.empty_like(upstream)

    x = torch.ones(5, requires_grad=True, device=device)
    with poisoned():
        (gradient,) = torch.autograd.grad(Half.apply(x), x, torch.ones(5, device=device))
    assert bool(gradient.isnan().all())
