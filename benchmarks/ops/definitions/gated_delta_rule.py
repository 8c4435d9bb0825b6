"""The gated delta rule in plain torch: the recurrence step by step, and in chunks."""

from __future__ import annotations

from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTH, BTHD, CPU
from benchmarks.ops.tolerances import FP32

GATED_DELTA_RULE = Op(
    name="gated_delta_rule",
    module=__name__,
    category="delta rule",
    device="cpu",
    inputs=(
        Operand("q", BTHD),
        Operand("k", BTHD, "normal / its norm"),
        Operand("v", BTHD),
        Operand("g", BTH, "logsigmoid(normal)"),
        Operand("beta", BTH, "sigmoid(normal)"),
    ),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references:gated_delta_rule", None),
    implementations=(
        Implementation("recurrent", "fla.ops.gated_delta_rule.naive:naive_recurrent_gated_delta_rule", "fla-core"),
        Implementation("chunk", "fla.ops.gated_delta_rule.naive:naive_chunk_gated_delta_rule", "fla-core"),
    ),
    shapes=CPU,
    dtypes=("fp32",),
    directions=("forward", "forward-backward"),
    tolerances=FP32,
    flop=recurrence_flop(7),
    independent=("B", "H"),
)
