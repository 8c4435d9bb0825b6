"""Root-mean-square normalisation of query and key heads, as before attention in Qwen3: two launches or one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.ops.registry import Direction, Implementation, Op, Operand, Shape, Tolerance

EPSILON = 1e-6


def pair(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Call a target that normalises q and k together."""
    q_normed, k_normed = target(given["q"], given["k"], given["q_weight"], given["k_weight"], EPSILON)
    return (q_normed, k_normed)


def twice(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Call torch's rms_norm on q and on k."""
    size = given["q"].shape[-1:]
    return (
        target(given["q"], size, given["q_weight"], EPSILON),
        target(given["k"], size, given["k_weight"], EPSILON),
    )


def liger_twice(target: Any, given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Call Liger's autograd function on q and on k, Llama's casts, without overwriting the upstream gradient."""
    return (
        target.apply(given["q"], given["q_weight"], EPSILON, 0.0, "llama", False),
        target.apply(given["k"], given["k_weight"], EPSILON, 0.0, "llama", False),
    )


def qk_norm_flop(shape: Shape, direction: Direction) -> int:
    """Count per element, from the formulas: forward 4 (square, add, two scales), backward 10.

    Backward: dy w, x r, their product and its sum, the correction's product and difference, the scale by r, and
    dw's product and sum, with the square and sum of r again left out as a row's O(1) if r is kept: 9, and one add.
    """
    elements = shape.size("T") * shape.size("Hq+Hkv") * shape.size("D")
    return elements * (4 if direction == "forward" else 14)


def _shapes(query_heads: int, tokens: tuple[int, ...]) -> tuple[Shape, ...]:
    return tuple(Shape.of(T=count, Hq=query_heads, Hkv=8, D=128) for count in tokens)


TOKENS = (1, 64, 1024, 16384, 65536)
QWEN3_0_6B = _shapes(16, TOKENS)
QWEN3_8B = _shapes(32, TOKENS)

QK_NORM = Op(
    name="qk_norm",
    module=__name__,
    category="normalisation",
    device="cuda",
    inputs=(
        Operand("q", ("T", "Hq", "D")),
        Operand("k", ("T", "Hkv", "D")),
        Operand("q_weight", ("D",), "1 + normal / 10"),
        Operand("k_weight", ("D",), "1 + normal / 10"),
    ),
    outputs=(Operand("q_normed", ("T", "Hq", "D")), Operand("k_normed", ("T", "Hkv", "D"))),
    reference=Implementation("reference", "benchmarks.ops.references:rms_norm_pair", None, pair),
    implementations=(
        Implementation("torch", "torch.nn.functional:rms_norm", "torch", twice),
        Implementation("liger", "liger_kernel.ops.rms_norm:LigerRMSNormFunction", "liger-kernel", liger_twice),
        Implementation("fused", "benchmarks.ops.kernels.qk_norm:qk_norm", None, pair),
    ),
    shapes=(*QWEN3_0_6B, *QWEN3_8B),
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=(
        Tolerance("bf16", "forward", relative=0.01, absolute=1e-3, rms=0.004),
        Tolerance("bf16", "forward-backward", relative=0.02, absolute=0.02, rms=0.004),
    ),
    flop=qk_norm_flop,
    parameters=(("eps", "1e-06"),),
)
