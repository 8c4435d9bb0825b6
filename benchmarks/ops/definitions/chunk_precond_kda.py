"""Flash Linear Attention's preconditioned Kimi Delta Attention on the GPU: its chunked and its recurrent kernels."""

from __future__ import annotations

from benchmarks.ops.adapters import fixed
from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.operands import KEEPS_NO_STATES, PRECONDITIONER, QKV
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTH, BTHD, FLASH_LINEAR_ATTENTION
from benchmarks.ops.tolerances import BF16

CHUNK_PRECOND_KDA = Op(
    name="chunk_precond_kda",
    module=__name__,
    category="delta rule",
    device="cuda",
    inputs=(
        *QKV,
        Operand("g", BTHD, "logsigmoid(normal)"),
        Operand("beta", BTH, "sigmoid(normal)"),
        *PRECONDITIONER,
    ),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references_fla:preconditioned_gated_delta_rule", None),
    implementations=(
        Implementation("chunk", "fla.ops.precond_kda:chunk_precond_kda", "fla-core", fixed(x=1.5)),
        Implementation(
            "recurrent",
            "fla.ops.precond_kda:fused_recurrent_precond_kda",
            "fla-core",
            fixed(x=1.5),
            (KEEPS_NO_STATES,),
        ),
    ),
    shapes=FLASH_LINEAR_ATTENTION,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=recurrence_flop(7),
    independent=("H",),
    parameters=(("x", "1.5"),),
)
