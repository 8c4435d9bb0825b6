"""Runs the kernel in Triton's interpreter, in fp32, and prints its errors as JSON; test_qk_norm.py starts it.

A process of its own: the interpreter is chosen by a variable that triton reads when a kernel is defined.
"""

from __future__ import annotations

import json
import sys

import torch

from benchmarks.ops.kernels import qk_norm as module
from benchmarks.ops.poison import poisoned
from benchmarks.ops.references import rms_norm_pair

# Few programs make tiles of several rows at sizes an interpreter can run.
module._PROGRAMS_WANTED = 4

SIZES = {
    "one token": (1, 4, 2, 16),
    "one head a side": (5, 1, 1, 32),
    "tail in the last tile": (13, 3, 2, 16),
    "width not a power of two": (6, 4, 2, 80),
    "real heads": (2, 16, 8, 128),
}


def operands(tokens: int, q_heads: int, k_heads: int, width: int, layout: str) -> tuple[torch.Tensor, ...]:
    """Draw q, k, their weights and their upstream gradients; `packed` q and k are slices of one projection."""
    generator = torch.Generator().manual_seed(tokens * width)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    packed = normal(tokens, q_heads + 2 * k_heads, width)
    q, k = packed[:, :q_heads], packed[:, q_heads : q_heads + k_heads]
    if layout == "contiguous":
        q, k = q.contiguous(), k.contiguous()
    elif layout == "heads first":
        q, k = (x.transpose(0, 1).contiguous().transpose(0, 1) for x in (q, k))
    elif layout == "width strided":
        q, k = (x.mT.contiguous().mT for x in (q, k))
    return q, k, normal(width), normal(width), normal(tokens, q_heads, width), normal(tokens, k_heads, width)


def errors(sizes: tuple[int, int, int, int], layout: str, epsilon: float) -> dict[str, float]:
    """Return the largest error of each result and gradient, relative to the largest element of the fp64 reference."""
    q, k, q_weight, k_weight, *upstream = operands(*sizes, layout)
    leaves = [x.detach().requires_grad_() for x in (q, k, q_weight, k_weight)]
    wide = [x.detach().double().requires_grad_() for x in leaves]
    with poisoned():
        actual = module.qk_norm(*leaves, epsilon)
        gradients = torch.autograd.grad(actual, leaves, upstream)
        without_gradient = module.qk_norm(*(x.detach() for x in leaves), epsilon)
    expected = rms_norm_pair(*wide, epsilon)
    wanted = torch.autograd.grad(expected, wide, [x.double() for x in upstream])
    names = ("q", "k", "dq", "dk", "dq_weight", "dk_weight", "q without gradient", "k without gradient")
    pairs = zip((*actual, *gradients, *without_gradient), (*expected, *wanted, *expected), strict=True)
    return {
        name: float((mine.double() - theirs).abs().max() / theirs.abs().max())
        for name, (mine, theirs) in zip(names, pairs, strict=True)
    }


def main() -> None:
    """Print errors by case."""
    layouts = ("contiguous", "packed", "heads first", "width strided")
    found = {f"{name}, packed": errors(sizes, "packed", 1e-6) for name, sizes in SIZES.items()}
    found |= {f"tail, {layout}": errors((13, 3, 2, 16), layout, 1e-6) for layout in layouts}
    found["large epsilon"] = errors((3, 2, 1, 16), "contiguous", 10.0)
    empty = module.qk_norm(torch.empty(0, 2, 16), torch.empty(0, 1, 16), torch.ones(16), torch.ones(16))
    assert [tuple(x.shape) for x in empty] == [(0, 2, 16), (0, 1, 16)]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
