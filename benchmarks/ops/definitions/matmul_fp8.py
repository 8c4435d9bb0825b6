"""A matrix product of fp8 (e4m3) operands with a scale a row and a column, bf16 out: torch's, and dequantised first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.ops.cost import matmul_flop
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import PRODUCTS
from benchmarks.ops.tolerances import BF16


def scaled(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Pass b as columns and one scale a row of the result and a column."""
    import torch

    scales = {"scale_a": given["a_scale"][:, None], "scale_b": given["b_scale"][None, :]}
    return (target(given["a"], given["b"].t(), **scales, out_dtype=torch.bfloat16),)


def dequantised(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Widen to bf16, multiply, then scale: what a device without fp8 products does. e4m3 fits bf16 exactly."""
    import torch

    product = target(given["a"].to(torch.bfloat16), given["b"].to(torch.bfloat16).t())
    return ((product * given["a_scale"][:, None] * given["b_scale"][None, :]).to(torch.bfloat16),)


MATMUL_FP8 = Op(
    name="matmul_fp8",
    module=__name__,
    category="matrix product",
    device="cuda",
    inputs=(
        Operand("a", ("M", "K"), dtype="fp8", differentiable=False),
        Operand("b", ("N", "K"), dtype="fp8", differentiable=False),
        Operand("a_scale", ("M",), "(1 + sigmoid(normal)) / 100", dtype="fp32", differentiable=False),
        Operand("b_scale", ("N",), "(1 + sigmoid(normal)) / 100", dtype="fp32", differentiable=False),
    ),
    outputs=(Operand("c", ("M", "N"), dtype="bf16"),),
    reference=Implementation("reference", "benchmarks.ops.references_torch:scaled_product", None),
    implementations=(
        Implementation("scaled", "torch:_scaled_mm", "torch", scaled),
        Implementation("dequantised", "torch:matmul", "torch", dequantised),
    ),
    shapes=PRODUCTS,
    dtypes=("bf16",),
    directions=("forward",),
    tolerances=BF16[:1],
    flop=matmul_flop,
)
