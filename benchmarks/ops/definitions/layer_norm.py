"""Layer normalisation of rows: torch's, and the Triton kernel of Flash Linear Attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.ops.registry import Direction, Implementation, Op, Operand, Shape
from benchmarks.ops.shapes import ROWS
from benchmarks.ops.tolerances import BF16

EPSILON = 1e-5


def torch_form(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Normalise the last dimension."""
    return (target(given["x"], given["x"].shape[-1:], given["weight"], given["bias"], EPSILON),)


def with_epsilon(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Pass the epsilon by name."""
    return (target(given["x"], given["weight"], given["bias"], eps=EPSILON),)


def flop(shape: Shape, direction: Direction) -> int:
    """Count per element, from the formulas: forward 7, backward 11.

    Forward: sum, difference, square and its sum, scale, weight, bias. Backward: dy w and its sum, its product with the
    normalised row and that sum, two products and differences less one, the scale, dw's product and sum, db's sum.
    """
    return shape.size("M") * shape.size("D") * (7 if direction == "forward" else 18)


LAYER_NORM = Op(
    name="layer_norm",
    module=__name__,
    category="normalisation",
    device="cuda",
    inputs=(
        Operand("x", ("M", "D")),
        Operand("weight", ("D",), "1 + normal / 10"),
        Operand("bias", ("D",), "normal / 10"),
    ),
    outputs=(Operand("y", ("M", "D")),),
    reference=Implementation("reference", "benchmarks.ops.references_torch:layer_norm", None, with_epsilon),
    implementations=(
        Implementation("torch", "torch.nn.functional:layer_norm", "torch", torch_form),
        Implementation("fla", "fla.modules.norm.layernorm:layer_norm", "fla-core", with_epsilon),
    ),
    shapes=ROWS,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=flop,
    parameters=(("eps", "1e-05"),),
)
