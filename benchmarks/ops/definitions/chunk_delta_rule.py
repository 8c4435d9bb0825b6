"""Flash Linear Attention's delta rule on the GPU: its chunked and its recurrent Triton kernels.

Keys have norm 1, as behind the layer's normalisation: with normal draws the state grows beyond any dtype.
"""

from __future__ import annotations

from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTH, BTHD, FLASH_LINEAR_ATTENTION
from benchmarks.ops.tolerances import BF16

CHUNK_DELTA_RULE = Op(
    name="chunk_delta_rule",
    module=__name__,
    category="delta rule",
    device="cuda",
    inputs=(
        Operand("q", BTHD),
        Operand("k", BTHD, "normal / its norm"),
        Operand("v", BTHD),
        Operand("beta", BTH, "sigmoid(normal)"),
    ),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references_fla:delta_rule", None),
    implementations=(
        Implementation("chunk", "fla.ops.delta_rule:chunk_delta_rule", "fla-core"),
        Implementation("recurrent", "fla.ops.delta_rule:fused_recurrent_delta_rule", "fla-core"),
    ),
    shapes=FLASH_LINEAR_ATTENTION,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=recurrence_flop(6),
    independent=("B", "H"),
)
