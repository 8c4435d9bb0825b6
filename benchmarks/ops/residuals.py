"""Owns what the two ops of attention residuals share: how residual streams are passed, their cost and their shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.ops.registry import Direction, Operand, Shape

INPUTS = (
    Operand("query", ("D",)),
    Operand("residuals", ("L", "B", "T", "D")),
    Operand("rms_weight", ("D",), "1 + normal / 10"),
)
OUTPUTS = (Operand("o", ("B", "T", "D")),)
SHAPES = (
    Shape.keyed("L8_B1_T8K_D2K", L=8, B=1, T=8192, D=2048),
    Shape.keyed("L8_B1_T32K_D2K", L=8, B=1, T=32768, D=2048),
    Shape.keyed("L10_B1_T8K_D4K", L=10, B=1, T=8192, D=4096),
    Shape.keyed("L10_B1_T32K_D4K", L=10, B=1, T=32768, D=4096),
)
"""Flash Linear Attention's shapes under its keys, but for `L32_B1_T8K_D2K`: its dimensions are L64 D8192.

At those the streams and their gradients, in fp64 for the reference, are more than a GPU of 141 GB holds.
"""


def as_sequence(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Pass the streams as the sequence of tensors that the targets take."""
    return (target(given["query"], tuple(given["residuals"].unbind(0)), given["rms_weight"]),)


def flop(shape: Shape, direction: Direction) -> int:
    """Count per element of every stream: 2 for its norm, 2 scales, 2 for the logit, 2 for the mix; backward twice."""
    elements = shape.size("L") * shape.size("B") * shape.size("T") * shape.size("D")
    return 8 * elements * (3 if direction == "forward-backward" else 1)
