"""Kimi Delta Attention (the gated delta rule with one gate a channel) in plain torch: step by step, and in chunks."""

from __future__ import annotations

from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTH, BTHD, CPU
from benchmarks.ops.tolerances import FP32

KDA = Op(
    name="kda",
    module=__name__,
    category="delta rule",
    device="cpu",
    inputs=(
        Operand("q", BTHD),
        Operand("k", BTHD, "normal / its norm"),
        Operand("v", BTHD),
        Operand("g", BTHD, "logsigmoid(normal)"),
        Operand("beta", BTH, "sigmoid(normal)"),
    ),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references:gated_delta_rule", None),
    implementations=(
        Implementation("recurrent", "fla.ops.kda.naive:naive_recurrent_kda", "fla-core"),
        Implementation("chunk", "fla.ops.kda.naive:naive_chunk_kda", "fla-core"),
    ),
    shapes=CPU,
    dtypes=("fp32",),
    directions=("forward",),
    tolerances=FP32[:1],
    flop=recurrence_flop(7),
    independent=("B", "H"),
)
