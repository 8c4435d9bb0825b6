"""Gated linear attention with one gate a head, in plain torch: step by step, in chunks, and as one T x T product."""

from __future__ import annotations

from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTH, BTHD, CPU
from benchmarks.ops.tolerances import FP32

SIMPLE_GLA = Op(
    name="simple_gla",
    module=__name__,
    category="gated linear attention",
    device="cpu",
    inputs=(Operand("q", BTHD), Operand("k", BTHD), Operand("v", BTHD), Operand("g", BTH, "logsigmoid(normal)")),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references:gated_linear_attention", None),
    implementations=(
        Implementation("recurrent", "fla.ops.simple_gla.naive:naive_recurrent_simple_gla", "fla-core"),
        Implementation("chunk", "fla.ops.simple_gla.naive:naive_chunk_simple_gla", "fla-core"),
        Implementation("parallel", "fla.ops.simple_gla.naive:naive_parallel_simple_gla", "fla-core"),
    ),
    shapes=CPU,
    dtypes=("fp32",),
    directions=("forward", "forward-backward"),
    tolerances=FP32,
    flop=recurrence_flop(5),
    independent=("B", "H"),
)
