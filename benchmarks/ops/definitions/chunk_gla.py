"""Flash Linear Attention's gated linear attention on the GPU: its chunked and its recurrent Triton kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.registry import Implementation, Op, Operand
from benchmarks.ops.shapes import BTHD, FLASH_LINEAR_ATTENTION
from benchmarks.ops.tolerances import BF16


def by_position(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Pass q, k, v and the gate by position: the recurrent kernel calls the gate `gk`."""
    return (target(*given.values())[0],)


CHUNK_GLA = Op(
    name="chunk_gla",
    module=__name__,
    category="gated linear attention",
    device="cuda",
    inputs=(
        Operand("q", BTHD),
        Operand("k", BTHD),
        Operand("v", BTHD),
        Operand("g", BTHD, "max(logsigmoid(normal), -5)"),
    ),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references:gated_linear_attention", None),
    implementations=(
        Implementation("chunk", "fla.ops.gla:chunk_gla", "fla-core", by_position),
        Implementation("recurrent", "fla.ops.gla:fused_recurrent_gla", "fla-core", by_position),
    ),
    shapes=FLASH_LINEAR_ATTENTION,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=recurrence_flop(5),
    independent=("B", "H"),
)
