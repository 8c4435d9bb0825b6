"""Flash Linear Attention's native sparse attention on the GPU: each query attends to 16 chosen blocks of 64 keys.

FLA's shapes up to 16384 tokens, with its keys' dimensions. Beyond them the quadratic reference takes minutes a seed.
"""

from __future__ import annotations

from benchmarks.ops.adapters import fixed
from benchmarks.ops.registry import Direction, Implementation, Op, Operand, Shape
from benchmarks.ops.tolerances import BF16

QUERIES = ("B", "T", "HQ", "D")
KEYS = ("B", "T", "H", "D")


def flop(shape: Shape, direction: Direction) -> None:
    """Tell nothing: how many keys a query sees in its own block depends on what is drawn."""


PARALLEL_NSA = Op(
    name="parallel_nsa",
    module=__name__,
    category="sparse attention",
    device="cuda",
    inputs=(
        Operand("q", QUERIES),
        Operand("k", KEYS),
        Operand("v", KEYS),
        Operand("block_indices", ("B", "T", "H", "S"), "S causal blocks of 64", dtype="int64", differentiable=False),
    ),
    outputs=(Operand("o", QUERIES),),
    reference=Implementation("reference", "benchmarks.ops.references_fla:selected_attention", None),
    implementations=(
        Implementation("parallel", "fla.ops.nsa:parallel_nsa", "fla-core", fixed(block_size=64, window_size=0)),
    ),
    shapes=(
        Shape.keyed("B1_T8K_H1_HQ32_D128_S16", B=1, T=8192, H=1, HQ=32, D=128, S=16),
        Shape.keyed("B1_T16K_H1_HQ64_D128_S16", B=1, T=16384, H=1, HQ=64, D=128, S=16),
    ),
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=flop,
    independent=("B",),
    parameters=(("block_size", "64"), ("window_size", "0")),
)
