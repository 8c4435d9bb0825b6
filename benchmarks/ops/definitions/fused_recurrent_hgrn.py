"""Flash Linear Attention's HGRN recurrence on the GPU: its recurrent and its chunked Triton kernels.

FLA's global shapes with their heads and channels as one dimension, as FLA's own benchmark registry has them.
"""

from __future__ import annotations

from benchmarks.ops.definitions.hgrn import BTD, hgrn_flop
from benchmarks.ops.registry import Implementation, Op, Operand, Shape
from benchmarks.ops.shapes import FLASH_LINEAR_ATTENTION
from benchmarks.ops.tolerances import BF16

FUSED_RECURRENT_HGRN = Op(
    name="fused_recurrent_hgrn",
    module=__name__,
    category="elementwise recurrence",
    device="cuda",
    inputs=(Operand("x", BTD), Operand("g", BTD, "logsigmoid(normal)")),
    outputs=(Operand("o", BTD),),
    reference=Implementation("reference", "benchmarks.ops.references:hgrn", None),
    implementations=(
        Implementation("recurrent", "fla.ops.hgrn:fused_recurrent_hgrn", "fla-core"),
        Implementation("chunk", "fla.ops.hgrn:chunk_hgrn", "fla-core"),
    ),
    shapes=tuple(
        Shape.of(B=shape.size("B"), T=shape.size("T"), D=shape.size("H") * shape.size("D"))
        for shape in FLASH_LINEAR_ATTENTION
    ),
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=hgrn_flop,
    independent=("B", "D"),
)
