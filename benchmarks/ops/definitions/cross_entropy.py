"""Cross entropy of each row against its class, unreduced: torch's in fp32, and Flash Linear Attention's Triton kernel.

torch is given the logits in fp32, as training code does: in bf16 it would round the loss itself to three digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.ops.registry import Direction, Implementation, Op, Operand, Shape
from benchmarks.ops.shapes import VOCABULARY
from benchmarks.ops.tolerances import BF16


def torch_form(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Widen the logits and keep a loss a row."""
    return (target(given["logits"].float(), given["target"], reduction="none"),)


def flop(shape: Shape, direction: Direction) -> int:
    """Count per logit: maximum, difference, exponential, sum; backward a difference, an exponential, a product."""
    return shape.size("M") * shape.size("V") * (4 if direction == "forward" else 7)


CROSS_ENTROPY = Op(
    name="cross_entropy",
    module=__name__,
    category="loss",
    device="cuda",
    inputs=(
        Operand("logits", ("M", "V")),
        Operand("target", ("M",), "uniform integer below V", dtype="int64", differentiable=False),
    ),
    outputs=(Operand("loss", ("M",), dtype="fp32"),),
    reference=Implementation("reference", "benchmarks.ops.references_torch:cross_entropy", None),
    implementations=(
        Implementation("torch", "torch.nn.functional:cross_entropy", "torch", torch_form),
        Implementation("fla", "fla.modules.fused_cross_entropy:cross_entropy_loss", "fla-core"),
    ),
    shapes=VOCABULARY,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=flop,
    independent=("M",),
)
