"""Flash Linear Attention's diagonal plus low rank delta rule on the GPU: its chunked and its recurrent Triton kernels.

a and b have norm 1: with normal draws, as FLA's own registry has them, the state grows beyond any dtype.
"""

from __future__ import annotations

from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.operands import QKV
from benchmarks.ops.registry import Implementation, Op, Operand, Unsupported
from benchmarks.ops.shapes import BTHD, FLASH_LINEAR_ATTENTION
from benchmarks.ops.tolerances import BF16

CHUNK_DPLR_DELTA_RULE = Op(
    name="chunk_dplr_delta_rule",
    module=__name__,
    category="generalised delta rule",
    device="cuda",
    inputs=(
        *QKV,
        Operand("a", BTHD, "normal / its norm"),
        Operand("b", BTHD, "normal / its norm"),
        Operand("gk", BTHD, "logsigmoid(normal)"),
    ),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references_fla:dplr_delta_rule", None),
    implementations=(
        Implementation("chunk", "fla.ops.generalized_delta_rule:chunk_dplr_delta_rule", "fla-core"),
        Implementation(
            "recurrent",
            "fla.ops.generalized_delta_rule:fused_recurrent_dplr_delta_rule",
            "fla-core",
            unsupported=(
                Unsupported("forward-backward", "the kernel has no backward pass: it would have to keep every state"),
            ),
        ),
    ),
    shapes=FLASH_LINEAR_ATTENTION,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=recurrence_flop(9),
    independent=("B", "H"),
)
