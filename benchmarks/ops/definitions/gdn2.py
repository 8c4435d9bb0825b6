"""Gated DeltaNet 2 (erase and write gates a channel) in plain torch: step by step, and in chunks."""

from __future__ import annotations

from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTHD, CPU
from benchmarks.ops.tolerances import FP32

GDN2 = Op(
    name="gdn2",
    module=__name__,
    category="delta rule",
    device="cpu",
    inputs=(
        Operand("q", BTHD),
        Operand("k", BTHD, "normal / its norm"),
        Operand("v", BTHD),
        Operand("g", BTHD, "logsigmoid(normal)"),
        Operand("b", BTHD, "sigmoid(normal)"),
        Operand("w", BTHD, "sigmoid(normal)"),
    ),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references:gated_delta_rule_2", None),
    implementations=(
        Implementation("recurrent", "fla.ops.gdn2.naive:naive_recurrent_gdn2", "fla-core"),
        Implementation("chunk", "fla.ops.gdn2.naive:naive_chunk_gdn2", "fla-core"),
    ),
    shapes=CPU,
    dtypes=("fp32",),
    directions=("forward",),
    tolerances=FP32[:1],
    flop=recurrence_flop(7),
    independent=("B", "H"),
)
