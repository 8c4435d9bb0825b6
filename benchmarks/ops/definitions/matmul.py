"""A bf16 matrix product in torch: square sizes that saturate a GPU, and the few rows of a decoding step."""

from __future__ import annotations

from benchmarks.ops.adapters import by_position
from benchmarks.ops.cost import matmul_flop
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import PRODUCTS
from benchmarks.ops.tolerances import BF16

MATMUL = Op(
    name="matmul",
    module=__name__,
    category="matrix product",
    device="cuda",
    inputs=(Operand("a", ("M", "K")), Operand("b", ("K", "N"))),
    outputs=(Operand("c", ("M", "N")),),
    reference=Implementation("reference", "benchmarks.ops.references_torch:product", None),
    implementations=(Implementation("torch", "torch:matmul", "torch", by_position),),
    shapes=PRODUCTS,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=matmul_flop,
)
