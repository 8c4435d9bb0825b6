"""Flash Linear Attention's gated delta rule on the GPU: its chunked and its recurrent Triton kernels.

q and k are normalised inside the kernels, as in FLA's own benchmark registry and in Gated DeltaNet layers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.registry import Implementation, Op, Operand, Unsupported
from benchmarks.ops.shapes import BTH, BTHD, FLASH_LINEAR_ATTENTION
from benchmarks.ops.tolerances import BF16


def normalising(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Ask the kernel to normalise q and k."""
    return (target(**given, use_qk_l2norm_in_kernel=True)[0],)


CHUNK_GDN = Op(
    name="chunk_gdn",
    module=__name__,
    category="delta rule",
    device="cuda",
    inputs=(
        Operand("q", BTHD),
        Operand("k", BTHD),
        Operand("v", BTHD),
        Operand("g", BTH, "logsigmoid(normal)"),
        Operand("beta", BTH, "sigmoid(normal)"),
    ),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references:normalised_gated_delta_rule", None),
    implementations=(
        Implementation("chunk", "fla.ops.gated_delta_rule:chunk_gated_delta_rule", "fla-core", normalising),
        Implementation(
            "recurrent",
            "fla.ops.gated_delta_rule:fused_recurrent_gated_delta_rule",
            "fla-core",
            normalising,
            (Unsupported("forward-backward", "the kernel has no backward pass: it would have to keep every state"),),
        ),
    ),
    shapes=FLASH_LINEAR_ATTENTION,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=recurrence_flop(7),
    independent=("B", "H"),
    parameters=(("use_qk_l2norm_in_kernel", "true"),),
)
