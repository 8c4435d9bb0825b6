"""Attention over residual streams in plain torch, which Flash Linear Attention benchmarks as an op of its own."""

from __future__ import annotations

from benchmarks.ops import residuals
from benchmarks.ops.registry import Implementation, Op
from benchmarks.ops.tolerances import BF16

NAIVE_ATTNRES = Op(
    name="naive_attnres",
    module=__name__,
    category="attention residuals",
    device="cuda",
    inputs=residuals.INPUTS,
    outputs=residuals.OUTPUTS,
    reference=Implementation("reference", "benchmarks.ops.references_fla:attention_residuals", None),
    implementations=(Implementation("naive", "fla.ops.attnres:naive_attnres", "fla-core", residuals.as_sequence),),
    shapes=residuals.SHAPES,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=residuals.flop,
)
