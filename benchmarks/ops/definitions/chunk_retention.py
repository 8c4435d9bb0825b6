"""Flash Linear Attention's retention on the GPU: its chunked, recurrent and parallel Triton kernels.

Head h decays by 1 - 2^(-5 - h), so heads are not interchangeable and the reference takes them all at once.
"""

from __future__ import annotations

from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.operands import QKV
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTHD, FLASH_LINEAR_ATTENTION
from benchmarks.ops.tolerances import BF16

CHUNK_RETENTION = Op(
    name="chunk_retention",
    module=__name__,
    category="gated linear attention",
    device="cuda",
    inputs=QKV,
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references_fla:retention", None),
    implementations=(
        Implementation("chunk", "fla.ops.retention:chunk_retention", "fla-core"),
        Implementation("recurrent", "fla.ops.retention:fused_recurrent_retention", "fla-core"),
        Implementation("parallel", "fla.ops.retention:parallel_retention", "fla-core"),
    ),
    shapes=FLASH_LINEAR_ATTENTION,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=recurrence_flop(5),
    independent=("B",),
)
