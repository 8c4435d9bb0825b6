"""Flash Linear Attention's gated linear attention with one gate a head, on the GPU: four Triton kernels."""

from __future__ import annotations

from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTH, BTHD, FLASH_LINEAR_ATTENTION
from benchmarks.ops.tolerances import BF16

CHUNK_SIMPLE_GLA = Op(
    name="chunk_simple_gla",
    module=__name__,
    category="gated linear attention",
    device="cuda",
    inputs=(Operand("q", BTHD), Operand("k", BTHD), Operand("v", BTHD), Operand("g", BTH, "logsigmoid(normal)")),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references:gated_linear_attention", None),
    implementations=(
        Implementation("chunk", "fla.ops.simple_gla:chunk_simple_gla", "fla-core"),
        Implementation("fused-chunk", "fla.ops.simple_gla:fused_chunk_simple_gla", "fla-core"),
        Implementation("recurrent", "fla.ops.simple_gla:fused_recurrent_simple_gla", "fla-core"),
        Implementation("parallel", "fla.ops.simple_gla:parallel_simple_gla", "fla-core"),
    ),
    shapes=FLASH_LINEAR_ATTENTION,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=recurrence_flop(5),
    independent=("B", "H"),
)
