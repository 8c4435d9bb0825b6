"""Softmax of rows as long as a vocabulary: torch's, and the forward Triton kernel of Flash Linear Attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.ops.registry import Direction, Implementation, Op, Operand, Shape, Unsupported
from benchmarks.ops.shapes import VOCABULARY
from benchmarks.ops.tolerances import BF16


def torch_form(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Take the softmax over the last dimension."""
    return (target(given["x"], dim=-1),)


def fla_form(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Ask for the dtype of the input; the kernel's default is fp32."""
    return (target(given["x"], dtype=given["x"].dtype),)


def flop(shape: Shape, direction: Direction) -> int:
    """Count per element: maximum, difference, exponential, sum, quotient; backward a product, a sum, two more."""
    return shape.size("M") * shape.size("V") * (5 if direction == "forward" else 9)


SOFTMAX = Op(
    name="softmax",
    module=__name__,
    category="normalisation",
    device="cuda",
    inputs=(Operand("x", ("M", "V")),),
    outputs=(Operand("y", ("M", "V")),),
    reference=Implementation("reference", "benchmarks.ops.references_torch:softmax", None),
    implementations=(
        Implementation("torch", "torch.nn.functional:softmax", "torch", torch_form),
        Implementation(
            "fla",
            "fla.ops.utils.softmax:softmax_fwd",
            "fla-core",
            fla_form,
            (Unsupported("forward-backward", "the kernel is forward only: it is not an autograd function"),),
        ),
    ),
    shapes=VOCABULARY,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=flop,
    independent=("M",),
)
