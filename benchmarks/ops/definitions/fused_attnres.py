"""Flash Linear Attention's attention over residual streams on the GPU: its fused kernel, and the plain torch form.

The kernel refuses tensors that are not on a GPU, so it is not gated in an interpreter.
"""

from __future__ import annotations

from benchmarks.ops import residuals
from benchmarks.ops.registry import Implementation, Op
from benchmarks.ops.tolerances import BF16

FUSED_ATTNRES = Op(
    name="fused_attnres",
    module=__name__,
    category="attention residuals",
    device="cuda",
    inputs=residuals.INPUTS,
    outputs=residuals.OUTPUTS,
    reference=Implementation("reference", "benchmarks.ops.references_fla:attention_residuals", None),
    implementations=(
        Implementation("fused", "fla.ops.attnres:fused_attnres", "fla-core", residuals.as_sequence),
        Implementation("naive", "fla.ops.attnres:naive_attnres", "fla-core", residuals.as_sequence),
    ),
    shapes=residuals.SHAPES,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=residuals.flop,
)
