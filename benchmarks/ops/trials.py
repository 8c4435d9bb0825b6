"""Owns the trials of the frozen gate: what an implementation is tried on where its registered shapes are too large.

A trial is a variant of the op itself, on a small shape, so `gates.verify` judges it as it judges what is timed: three
seeds, poisoned allocations, every element, against the op's own fp64 reference. There are three tiers:

    A  plain torch on a processor
    B  real Triton kernels in Triton's interpreter, in fp32: a gate only, never timed, see `interpreter`
    C  on a GPU, in the op's own dtype and tolerances

and layouts: `seeds` and `forward` (without a graph, as inference calls it), `tail` (sizes that divide by no tile),
`strided` (every input but vectors a non-contiguous view), `packed` (sequences of several lengths behind each other, for
kernels that take `cu_seqlens`), `row` and `few` (one row, and a few, over many tiles, as decoding calls a product).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.ops.registry import (
    Adapter,
    Case,
    Direction,
    Implementation,
    Op,
    OpError,
    Shape,
    Tolerance,
    find,
)

if TYPE_CHECKING:
    import torch

Tier = Literal["A", "B", "C"]
Layout = Literal["seeds", "forward", "tail", "strided", "packed", "row", "few"]
TIERS: Mapping[Tier, str] = {
    "A": "plain torch on a processor",
    "B": "Triton's interpreter, gate only",
    "C": "GPU",
}

_ELSEWHERE: Mapping[tuple[str, str], str] = {
    ("flash_attn", "flash"): "flash-attn's kernels are compiled for GPUs",
    ("fused_attnres", "fused"): "the kernel refuses tensors that are not on a GPU",
    ("fused_recurrent_hgrn", "chunk"): "Triton's interpreter refuses the dtype of one of its masks",
    ("scaled_dot_product_attention", "cudnn"): "cuDNN's attention runs on GPUs",
    ("scaled_dot_product_attention", "efficient"): "torch has this backend on GPUs only",
}
"""Implementations that can be tried on a GPU only, and why."""
_WRONG: Mapping[tuple[str, str], str] = {
    ("comba", "chunk"): "fla-core 0.6.0 reads the state before the token's decay, 4 % off; the numeric gate rejects it",
    ("hgrn", "chunk"): "fla-core 0.6.0 raises at every length but 64",
}
"""Implementations that are known not to compute their op: registered because a harness must find that out."""
_LAYOUTLESS: Mapping[tuple[str, str, Layout], str] = {
    ("parallel_nsa", "parallel", "packed"): "the blocks that are drawn are causal within one sequence only",
    ("matmul_fp8", "scaled", "strided"): "the product's contract: a by rows, b by columns",
    ("scaled_dot_product_attention", "flash", "strided"): "torch refuses a stride along the last axis",
    ("softmax", "fla", "strided"): "fla-core 0.6.0 reads a strided input as if it were contiguous: a wrong result",
    ("kda", "chunk", "tail"): "the form is written for whole chunks of 64 tokens",
    ("linear_attn", "chunk", "tail"): "the form is written for whole chunks of 64 tokens",
}
"""Layouts that an implementation is not tried in, and why."""
_NARROW: Mapping[tuple[str, str], str] = {("chunk_delta_rule", "chunk"): "fp16"}
"""Dtypes in tier B of kernels that refuse fp32."""
_RMS: Mapping[tuple[str, str], float] = {
    ("chunk_rwkv7", "chunk"): 1e-4,
    ("chunk_precond_kda", "chunk"): 1e-4,
}
"""Limits in tier B of kernels that lose more than five digits in a gradient: of a and b, and of log_atk_scale."""
_FP16 = (0.02, 0.02, 1.5e-3)
_FP32 = (1e-4, 1e-3, 2e-5)

_SIZES: Mapping[str, int] = {"B": 1, "T": 48, "H": 2, "D": 16, "HQ": 16, "S": 2, "Hq": 3, "Hkv": 2, "L": 3}
_ROW_SIZES: Mapping[str, int] = {"M": 6, "V": 40, "N": 48, "K": 64}
_ON_GPU: Mapping[str, int] = {"B": 2, "T": 192, "H": 2, "D": 64, "HQ": 32, "S": 4, "Hq": 8, "Hkv": 2, "L": 5}
_ROWS_ON_GPU: Mapping[str, int] = {"M": 64, "V": 2048, "N": 256, "K": 512}
_STEPWISE = frozenset({"recurrent"})
"""Implementations that pay for every token where a kernel is interpreted."""
_COSTLY = frozenset({"chunk_dplr_delta_rule", "chunk_precond_kda"})
"""Ops whose chunked kernels take seconds a head there: one head, but for the strided layout."""
_DECODING = frozenset({("w8a16_matmul", "fused")})
"""Implementations that take other ways for few rows than for many."""
_FEW_ROWS: Mapping[Layout, Mapping[str, int]] = {
    "row": {"M": 1, "N": 77, "K": 4099},
    "few": {"M": 7, "N": 77, "K": 4099},
}
"""As deep as many tiles, and divided by none."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One implementation of one op in one tier and layout."""

    op: str
    implementation: str
    tier: Tier
    layout: Layout

    @property
    def id(self) -> str:
        """Name of the test, with the shape, so that `-k` can select by it."""
        return f"{self.tier}-{self.implementation}-{self.layout}-{_shape(find(self.op), self).name}"


def is_triton(implementation: Implementation) -> bool:
    """Whether an implementation launches Triton kernels: fla's and liger's do, but for fla's naive forms; ours do."""
    module, _, attribute = implementation.target.partition(":")
    if implementation.package is None:
        return module.startswith("benchmarks.ops.kernels.")
    return module.split(".")[0] in {"fla", "liger_kernel"} and "naive" not in f"{module.rpartition('.')[2]} {attribute}"


def obstacle(op: Op, implementation: Implementation, tier: Tier) -> str | None:
    """Return why an implementation is not tried in a tier, or None if it is."""
    key = (op.name, implementation.name)
    if key in _WRONG:
        return _WRONG[key]
    if tier == "C":
        return "the op is timed on a processor" if op.device == "cpu" else None
    if key in _ELSEWHERE:
        return _ELSEWHERE[key]
    if is_triton(implementation) is (tier == "A"):
        return "it is a Triton kernel" if tier == "A" else "it is plain torch: tier A"
    return None


def trials(op: Op, tier: Tier) -> Iterator[Trial]:
    """Yield what the gate of `op` tries in one tier."""
    for entry in op.implementations:
        if obstacle(op, entry, tier) is None:
            for layout in _layouts(op, entry):
                yield Trial(op.name, entry.name, tier, layout)


def _layouts(op: Op, entry: Implementation) -> Iterator[Layout]:
    wanted: list[Layout] = ["seeds", "tail", "strided"]
    if _widest(op, entry) != "forward":
        wanted.append("forward")
    if entry.target.startswith("fla.ops.") and is_triton(entry) and op.inputs[0].dimensions[:2] == ("B", "T"):
        wanted.append("packed")
    if (op.name, entry.name) in _DECODING:
        wanted += _FEW_ROWS
    yield from (layout for layout in wanted if (op.name, entry.name, layout) not in _LAYOUTLESS)


def _widest(op: Op, entry: Implementation) -> Direction:
    both: Direction = "forward-backward"
    return both if both in op.directions and entry.obstacle(both) is None else "forward"


def _shape(op: Op, trial: Trial) -> Shape:
    on_gpu = trial.tier == "C"
    sizes = {**(_ON_GPU if on_gpu else _SIZES), **(_ROWS_ON_GPU if on_gpu else _ROW_SIZES)}
    names = [name for name, _ in op.shapes[0].sizes]
    if "HQ" in names:
        sizes["H"] = 1
    is_short = trial.implementation in _STEPWISE and not on_gpu
    if trial.layout == "tail":
        tokens = 21 if is_short or "HQ" in names else 67 if op.name in _COSTLY else 81
        sizes |= {"T": 333 if on_gpu else tokens, "H": 1, "M": 7, "V": 1001 if on_gpu else 33}
        # The contracted dimension of torch's fp8 product is a multiple of 16 by its contract.
        sizes |= {"N": 112, "K": 144} if op.name == "matmul_fp8" else {"N": 77, "K": 99}
    elif trial.layout == "packed":
        sizes |= {"B": 1, "T": sum(lengths(trial)), "H": 1}
    elif trial.layout in _FEW_ROWS:
        sizes |= _FEW_ROWS[trial.layout]
    elif trial.layout != "seeds" and not on_gpu:
        sizes |= {"T": 16}
    elif op.name in _COSTLY and not on_gpu:
        sizes |= {"H": 1}
    if op.device == "cpu" and trial.layout != "tail":
        sizes |= {"T": 64}
    if "Hkv" in names and not on_gpu:
        sizes |= {"T": 5 if trial.layout == "tail" else 4}
    return Shape.of(**{name: sizes[name] for name in names})


def lengths(trial: Trial) -> tuple[int, ...]:
    """Return the lengths of the sequences that a packed trial lays behind each other: one token among them."""
    if trial.tier == "C":
        return (70, 1, 129, 64)
    return (6, 1, 12) if trial.implementation in _STEPWISE else (9, 1, 22)


def prepared(trial: Trial) -> tuple[Case, Implementation]:
    """Return the case to judge and the implementation to judge on it, both as the layout wants them.

    Raises:
        OpError: the op's reference or implementation does not decompose into sequences.
    """
    op = find(trial.op)
    entry = op.implementation(trial.implementation)
    direction = "forward" if trial.layout == "forward" else _widest(op, entry)
    reference = op.reference
    if trial.layout == "strided":
        entry = replace(entry, adapter=_strided(entry.adapter))
    if trial.layout == "packed":
        pieces = lengths(trial)
        entry = replace(entry, adapter=_packed(entry.adapter, pieces))
        reference = replace(reference, adapter=_one_by_one(reference.adapter, op, pieces))
    variant = _variant(op, trial, direction, reference)
    return variant.case(_shape(op, trial), variant.dtypes[0], direction), entry


def _variant(op: Op, trial: Trial, direction: Direction, reference: Implementation) -> Op:
    key = (op.name, trial.implementation)
    if trial.tier == "C":
        dtype = op.dtypes[0]
        tolerance = next(t for t in op.tolerances if (t.dtype, t.direction) == (dtype, direction))
    else:
        dtype = _NARROW.get(key, "fp32")
        narrow = any(operand.dtype == "bf16" for operand in op.outputs)
        relative, absolute, rms = (0.02, 0.1, 0.006) if narrow else _FP16 if dtype == "fp16" else _FP32
        tolerance = Tolerance(dtype, direction, relative, absolute, _RMS.get(key, rms))
    return replace(
        op,
        device="cuda" if trial.tier == "C" else "cpu",
        shapes=(_shape(op, trial),),
        dtypes=(dtype,),
        directions=(direction,),
        tolerances=(tolerance,),
        reference=reference,
        # The reference of sequences behind each other takes them whole.
        independent=() if trial.layout == "packed" else op.independent,
    )


def _strided(adapter: Adapter) -> Adapter:
    """Give every tensor but vectors a stride of 2 along its last axis."""

    def called(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
        import torch

        def view(x: torch.Tensor) -> torch.Tensor:
            if x.dim() < 2:
                return x
            if x.dtype == torch.float8_e4m3fn:
                return view(x.view(torch.uint8)).view(x.dtype)
            return torch.stack((x, x), dim=-1)[..., 0]

        return adapter(target, {name: view(x) for name, x in given.items()})

    return called


def _packed(adapter: Adapter, pieces: tuple[int, ...]) -> Adapter:
    """Tell the target where sequences begin and end."""

    def called(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
        import torch

        some = next(iter(given.values()))
        ends = torch.tensor([0, *accumulate(pieces)], dtype=torch.long, device=some.device)
        return adapter(functools.partial(target, cu_seqlens=ends), given)

    return called


def _one_by_one(adapter: Adapter, op: Op, pieces: tuple[int, ...]) -> Adapter:
    """Evaluate a reference on each sequence alone."""
    axes = {operand.name: operand.dimensions.index("T") for operand in op.inputs if "T" in operand.dimensions}
    joined = [operand.dimensions.index("T") for operand in op.outputs if "T" in operand.dimensions]
    if len(joined) != len(op.outputs):
        raise OpError(f"{op.name}: an output without tokens does not decompose into sequences")

    def called(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
        import torch

        parts: list[tuple[torch.Tensor, ...]] = []
        for start, end in pairwise([0, *accumulate(pieces)]):
            cut = {name: x.narrow(axes[name], start, end - start) if name in axes else x for name, x in given.items()}
            parts.append(adapter(target, cut))
        return tuple(
            torch.cat(tensors, dim=axis) for tensors, axis in zip(zip(*parts, strict=True), joined, strict=True)
        )

    return called
