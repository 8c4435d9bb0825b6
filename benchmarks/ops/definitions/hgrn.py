"""HGRN's elementwise recurrence in plain torch: step by step, and in chunks.

fla-core 0.6.0's chunked form views [B, T, D] as [B, 64, D]: it runs at T = 64 only and raises elsewhere.
"""

from __future__ import annotations

from benchmarks.ops.registry import Direction, Implementation, Op, Operand, Shape
from benchmarks.ops.tolerances import FP32

BTD = ("B", "T", "D")


def hgrn_flop(shape: Shape, direction: Direction) -> int:
    """Count one multiplication and one addition an element; three forwards in forward-backward, as the recurrences."""
    elements = shape.size("B") * shape.size("T") * shape.size("D")
    return 2 * elements * (3 if direction == "forward-backward" else 1)


HGRN = Op(
    name="hgrn",
    module=__name__,
    category="elementwise recurrence",
    device="cpu",
    inputs=(Operand("x", BTD), Operand("g", BTD, "logsigmoid(normal)")),
    outputs=(Operand("o", BTD),),
    reference=Implementation("reference", "benchmarks.ops.references:hgrn", None),
    implementations=(
        Implementation("recurrent", "fla.ops.hgrn.naive:naive_recurrent_hgrn", "fla-core"),
        Implementation("chunk", "fla.ops.hgrn.naive:naive_chunk_hgrn", "fla-core"),
    ),
    shapes=(Shape.of(B=1, T=512, D=256),),
    dtypes=("fp32",),
    directions=("forward",),
    tolerances=FP32[:1],
    flop=hgrn_flop,
    independent=("B", "D"),
)
