"""Flash Linear Attention's normalised linear attention on the GPU: chunked, fused chunked and recurrent Triton kernels.

q and k are positive, as behind a feature map: with normal draws, as FLA's own registry has them, the normaliser passes
through zero and any two right results differ without bound.
"""

from __future__ import annotations

from benchmarks.ops.adapters import fixed
from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTHD, FLASH_LINEAR_ATTENTION
from benchmarks.ops.tolerances import BF16

CHUNK_LINEAR_ATTN = Op(
    name="chunk_linear_attn",
    module=__name__,
    category="linear attention",
    device="cuda",
    inputs=(Operand("q", BTHD, "sigmoid(normal)"), Operand("k", BTHD, "sigmoid(normal)"), Operand("v", BTHD)),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references_fla:normalised_linear_attention", None),
    implementations=(
        Implementation("chunk", "fla.ops.linear_attn:chunk_linear_attn", "fla-core", fixed(normalize=True)),
        Implementation("fused-chunk", "fla.ops.linear_attn:fused_chunk_linear_attn", "fla-core", fixed(normalize=True)),
        Implementation(
            "recurrent", "fla.ops.linear_attn:fused_recurrent_linear_attn", "fla-core", fixed(normalize=True)
        ),
    ),
    shapes=FLASH_LINEAR_ATTENTION,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=recurrence_flop(4),
    independent=("B", "H"),
    parameters=(("normalize", "true"),),
)
