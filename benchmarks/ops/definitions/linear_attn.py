"""Linear attention in plain torch: the recurrence step by step, and in chunks."""

from __future__ import annotations

from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTHD, CPU
from benchmarks.ops.tolerances import FP32

LINEAR_ATTN = Op(
    name="linear_attn",
    module=__name__,
    category="linear attention",
    device="cpu",
    inputs=(Operand("q", BTHD), Operand("k", BTHD), Operand("v", BTHD)),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references:linear_attention", None),
    implementations=(
        Implementation("recurrent", "fla.ops.linear_attn.naive:naive_recurrent_linear_attn", "fla-core"),
        Implementation("chunk", "fla.ops.linear_attn.naive:naive_chunk_linear_attn", "fla-core"),
    ),
    shapes=CPU,
    dtypes=("fp32",),
    directions=("forward", "forward-backward"),
    tolerances=FP32,
    flop=recurrence_flop(4),
    independent=("B", "H"),
)
