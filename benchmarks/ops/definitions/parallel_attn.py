"""Flash Linear Attention's causal softmax attention on the GPU, beside torch's."""

from __future__ import annotations

from benchmarks.ops.attention import sdpa
from benchmarks.ops.cost import causal_attention_flop
from benchmarks.ops.operands import QKV
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTHD, FLASH_LINEAR_ATTENTION
from benchmarks.ops.tolerances import BF16

PARALLEL_ATTN = Op(
    name="parallel_attn",
    module=__name__,
    category="attention",
    device="cuda",
    inputs=QKV,
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references_torch:causal_attention", None),
    implementations=(
        Implementation("parallel", "fla.ops.attn:parallel_attn", "fla-core"),
        Implementation("sdpa", "torch.nn.functional:scaled_dot_product_attention", "torch", sdpa("default")),
    ),
    shapes=FLASH_LINEAR_ATTENTION,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=causal_attention_flop,
    independent=("B", "H"),
)
