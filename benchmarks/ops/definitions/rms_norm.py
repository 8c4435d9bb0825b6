"""Root-mean-square normalisation of rows: torch's, and the Triton kernel of Flash Linear Attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.ops.registry import Direction, Implementation, Op, Operand, Shape
from benchmarks.ops.shapes import ROWS
from benchmarks.ops.tolerances import BF16

EPSILON = 1e-6


def torch_form(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Normalise the last dimension."""
    return (target(given["x"], given["x"].shape[-1:], given["weight"], EPSILON),)


def fla_form(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Normalise without a bias."""
    return (target(given["x"], given["weight"], None, eps=EPSILON),)


def reference_form(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Pass the epsilon."""
    return (target(given["x"], given["weight"], EPSILON),)


def flop(shape: Shape, direction: Direction) -> int:
    """Count per element, from the formulas: forward 4 (square, add, two scales), backward 10 (see qk_norm)."""
    return shape.size("M") * shape.size("D") * (4 if direction == "forward" else 14)


RMS_NORM = Op(
    name="rms_norm",
    module=__name__,
    category="normalisation",
    device="cuda",
    inputs=(Operand("x", ("M", "D")), Operand("weight", ("D",), "1 + normal / 10")),
    outputs=(Operand("y", ("M", "D")),),
    reference=Implementation("reference", "benchmarks.ops.references_torch:rms_norm", None, reference_form),
    implementations=(
        Implementation("torch", "torch.nn.functional:rms_norm", "torch", torch_form),
        Implementation("fla", "fla.modules.norm.layernorm:rms_norm", "fla-core", fla_form),
    ),
    shapes=ROWS,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=flop,
    parameters=(("eps", "1e-06"),),
)
