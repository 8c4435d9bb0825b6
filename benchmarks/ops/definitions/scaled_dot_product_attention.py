"""torch's causal attention, with the backend it chooses and with each one forced."""

from __future__ import annotations

from benchmarks.ops.attention import Backend, kernel, sdpa
from benchmarks.ops.cost import causal_attention_flop
from benchmarks.ops.operands import QKV
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTHD, FLASH_LINEAR_ATTENTION
from benchmarks.ops.tolerances import BF16


def _backend(name: Backend) -> Implementation:
    target = "torch.nn.functional:scaled_dot_product_attention"
    return Implementation(name, target, "torch", sdpa(name), resolved=kernel(name))


SCALED_DOT_PRODUCT_ATTENTION = Op(
    name="scaled_dot_product_attention",
    module=__name__,
    category="attention",
    device="cuda",
    inputs=QKV,
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references_torch:causal_attention", None),
    implementations=tuple(_backend(name) for name in ("default", "flash", "cudnn", "efficient", "math")),
    shapes=FLASH_LINEAR_ATTENTION,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=causal_attention_flop,
    independent=("B", "H"),
    parameters=(("is_causal", "true"),),
)
