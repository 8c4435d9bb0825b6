"""Flash Linear Attention's lightning attention on the GPU: its chunked and its recurrent Triton kernels.

Layer 0 of 12, as in FLA's own benchmark registry. Head h of H decays by exp(-8 h / H), so the reference takes all heads
at once.
"""

from __future__ import annotations

from benchmarks.ops.adapters import fixed
from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.operands import QKV
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTHD, FLASH_LINEAR_ATTENTION
from benchmarks.ops.tolerances import BF16

CHUNK_LIGHTNING_ATTN = Op(
    name="chunk_lightning_attn",
    module=__name__,
    category="gated linear attention",
    device="cuda",
    inputs=QKV,
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references_fla:lightning_attention", None),
    implementations=(
        Implementation(
            "chunk", "fla.ops.lightning_attn:chunk_lightning_attn", "fla-core", fixed(layer_idx=0, num_layers=12)
        ),
        Implementation(
            "recurrent",
            "fla.ops.lightning_attn:fused_recurrent_lightning_attn",
            "fla-core",
            fixed(layer_idx=0, num_layers=12),
        ),
    ),
    shapes=FLASH_LINEAR_ATTENTION,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=recurrence_flop(5),
    independent=("B",),
    parameters=(("layer_idx", "0"), ("num_layers", "12")),
)
