"""Flash Linear Attention's RWKV-7 on the GPU: its chunked and its recurrent Triton kernels.

Inputs and settings are those of FLA's own benchmark registry: w in (-exp(-1/2), 0), a and b a tenth of normal draws.
"""

from __future__ import annotations

from benchmarks.ops.adapters import fixed
from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.operands import KEEPS_NO_STATES
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTHD, FLASH_LINEAR_ATTENTION
from benchmarks.ops.tolerances import BF16

CHUNK_RWKV7 = Op(
    name="chunk_rwkv7",
    module=__name__,
    category="generalised delta rule",
    device="cuda",
    inputs=(
        Operand("r", BTHD),
        Operand("w", BTHD, "-exp(-1/2) sigmoid(normal)"),
        Operand("k", BTHD),
        Operand("v", BTHD),
        Operand("a", BTHD, "normal / 10"),
        Operand("b", BTHD, "normal / 10"),
    ),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references_fla:rwkv7", None),
    implementations=(
        Implementation("chunk", "fla.ops.rwkv7:chunk_rwkv7", "fla-core", fixed(safe_gate=True, chunk_size=64)),
        Implementation(
            "recurrent",
            "fla.ops.rwkv7:fused_recurrent_rwkv7",
            "fla-core",
            fixed(scale=1.0),
            (KEEPS_NO_STATES,),
        ),
    ),
    shapes=FLASH_LINEAR_ATTENTION,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=recurrence_flop(9),
    independent=("B", "H"),
    parameters=(("safe_gate", "true"), ("chunk_size", "64"), ("scale", "1")),
)
