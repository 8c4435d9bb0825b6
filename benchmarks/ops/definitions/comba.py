"""Comba (the gated delta rule that reads with another key) in plain torch: step by step, and in chunks.

fla-core 0.6.0's chunked form subtracts the state as it was before the token's decay, its recurrent form after it. Their
outputs differ by about 4 %, so a gate that lets `chunk` pass is broken.
"""

from __future__ import annotations

from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTH, BTHD, CPU
from benchmarks.ops.tolerances import FP32

COMBA = Op(
    name="comba",
    module=__name__,
    category="delta rule",
    device="cpu",
    inputs=(
        Operand("q", BTHD),
        Operand("k", BTHD, "normal / its norm"),
        Operand("v", BTHD),
        Operand("p", BTHD, "normal / its norm"),
        Operand("g", BTH, "logsigmoid(normal)"),
        Operand("beta", BTH, "sigmoid(normal)"),
    ),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references:comba", None),
    implementations=(
        Implementation("recurrent", "fla.ops.comba.naive:naive_recurrent_comba", "fla-core"),
        Implementation("chunk", "fla.ops.comba.naive:naive_chunk_comba", "fla-core"),
    ),
    shapes=CPU,
    dtypes=("fp32",),
    directions=("forward",),
    tolerances=FP32[:1],
    flop=recurrence_flop(7),
    independent=("B", "H"),
)
