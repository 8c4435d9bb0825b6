"""Flash Linear Attention's Comba on the GPU: its chunked and its recurrent Triton kernels.

q, k and p are normalised inside the kernels, as in FLA's own benchmark registry. p reads the state as it was before the
token's decay.
"""

from __future__ import annotations

from benchmarks.ops.adapters import fixed
from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.operands import KEEPS_NO_STATES, QKV
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTH, BTHD, FLASH_LINEAR_ATTENTION
from benchmarks.ops.tolerances import BF16

CHUNK_COMBA = Op(
    name="chunk_comba",
    module=__name__,
    category="delta rule",
    device="cuda",
    inputs=(
        *QKV,
        Operand("p", BTHD),
        Operand("g", BTH, "logsigmoid(normal)"),
        Operand("beta", BTH, "sigmoid(normal)"),
    ),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references_fla:comba_undecayed", None),
    implementations=(
        Implementation("chunk", "fla.ops.comba:chunk_comba", "fla-core", fixed(use_qk_l2norm_in_kernel=True)),
        Implementation(
            "recurrent",
            "fla.ops.comba:fused_recurrent_comba",
            "fla-core",
            fixed(use_qk_l2norm_in_kernel=True),
            (KEEPS_NO_STATES,),
        ),
    ),
    shapes=FLASH_LINEAR_ATTENTION,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=recurrence_flop(7),
    independent=("B", "H"),
    parameters=(("use_qk_l2norm_in_kernel", "true"),),
)
