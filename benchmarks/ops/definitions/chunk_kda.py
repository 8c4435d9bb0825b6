"""Flash Linear Attention's Kimi Delta Attention on the GPU: its chunked and its recurrent Triton kernels.

As in FLA's own benchmark registry, q and k are normalised inside the kernels and the chunked one is told that gates
are bounded (`safe_gate`), which lets it use tensor cores; the inputs keep that promise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.registry import Implementation, Op, Operand, Unsupported
from benchmarks.ops.shapes import BTH, BTHD, FLASH_LINEAR_ATTENTION
from benchmarks.ops.tolerances import BF16


def bounded(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Ask the chunked kernel to normalise q and k and to rely on gates in [-5, 0)."""
    return (target(**given, use_qk_l2norm_in_kernel=True, safe_gate=True, lower_bound=-5)[0],)


def normalising(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Ask the recurrent kernel, which needs no bound, to normalise q and k."""
    return (target(**given, use_qk_l2norm_in_kernel=True)[0],)


CHUNK_KDA = Op(
    name="chunk_kda",
    module=__name__,
    category="delta rule",
    device="cuda",
    inputs=(
        Operand("q", BTHD),
        Operand("k", BTHD),
        Operand("v", BTHD),
        Operand("g", BTHD, "max(logsigmoid(normal), -5)"),
        Operand("beta", BTH, "sigmoid(normal)"),
    ),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references:normalised_gated_delta_rule", None),
    implementations=(
        Implementation("chunk", "fla.ops.kda:chunk_kda", "fla-core", bounded),
        Implementation(
            "recurrent",
            "fla.ops.kda:fused_recurrent_kda",
            "fla-core",
            normalising,
            (Unsupported("forward-backward", "the kernel is forward only: it is not an autograd function"),),
        ),
    ),
    shapes=FLASH_LINEAR_ATTENTION,
    dtypes=("bf16",),
    directions=("forward", "forward-backward"),
    tolerances=BF16,
    flop=recurrence_flop(7),
    independent=("B", "H"),
    parameters=(("use_qk_l2norm_in_kernel", "true"), ("safe_gate", "true"), ("lower_bound", "-5")),
)
