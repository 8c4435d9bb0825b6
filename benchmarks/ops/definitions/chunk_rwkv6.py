"""Flash Linear Attention's RWKV-6 on the GPU: its chunked and its recurrent Triton kernels."""

from __future__ import annotations

from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTHD, FLASH_LINEAR_ATTENTION
from benchmarks.ops.tolerances import BF16

CHUNK_RWKV6 = Op(
    name="chunk_rwkv6",
    module=__name__,
    category="gated linear attention",
    device="cuda",
    inputs=(
        Operand("r", BTHD),
        Operand("k", BTHD),
        Operand("v", BTHD),
        Operand("w", BTHD, "logsigmoid(normal)"),
        Operand("u", ("H", "D")),
    ),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references_fla:rwkv6", None),
    implementations=(
        Implementation("chunk", "fla.ops.rwkv6:chunk_rwkv6", "fla-core"),
        Implementation("recurrent", "fla.ops.rwkv6:fused_recurrent_rwkv6", "fla-core"),
    ),
    shapes=FLASH_LINEAR_ATTENTION,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=recurrence_flop(5),
    independent=("H",),
)
