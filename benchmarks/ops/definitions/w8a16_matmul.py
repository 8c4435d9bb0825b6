"""A product of bf16 activations and int8 weights with a scale a channel: the project's Triton kernel, and torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.ops.cost import matmul_flop
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import WEIGHTS
from benchmarks.ops.tolerances import BF16


def dequantised(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Widen the weight to the activations' dtype, multiply, then scale the columns."""
    x = given["x"]
    return ((target(x, given["weight"].to(x.dtype)) * given["scale"]).to(x.dtype),)


W8A16_MATMUL = Op(
    name="w8a16_matmul",
    module=__name__,
    category="matrix product",
    device="cuda",
    inputs=(
        Operand("x", ("M", "K")),
        Operand("weight", ("K", "N"), "round(40 normal) in [-127, 127]", dtype="int8", differentiable=False),
        Operand("scale", ("N",), "(1 + sigmoid(normal)) / 100", dtype="fp32", differentiable=False),
    ),
    outputs=(Operand("y", ("M", "N")),),
    reference=Implementation("reference", "benchmarks.ops.references_torch:quantised_product", None),
    implementations=(
        Implementation("dequantised", "torch:matmul", "torch", dequantised),
        Implementation("fused", "benchmarks.ops.kernels.w8a16:w8a16_matmul", None),
    ),
    shapes=WEIGHTS,
    dtypes=("bf16",),
    directions=("forward",),
    tolerances=BF16[:1],
    flop=matmul_flop,
)
