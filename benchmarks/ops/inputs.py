"""Owns the inputs of a case: seeded, random, the same for the gate and for the clock."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.ops.registry import Case, Operand
from evidence.errors import UnknownNameError

if TYPE_CHECKING:
    import torch

_HASHED_ELEMENTS = 1 << 24


def _log_sigmoid(normal: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.nn.functional.logsigmoid(normal)


DISTRIBUTIONS: Mapping[str, Callable[[Any], Any]] = {
    "normal": lambda normal: normal,
    "sigmoid(normal)": lambda normal: normal.sigmoid(),
    "logsigmoid(normal)": _log_sigmoid,
    "max(logsigmoid(normal), -5)": lambda normal: _log_sigmoid(normal).clamp(min=-5),
    "normal / its norm": lambda normal: normal / normal.norm(dim=-1, keepdim=True),
    "1 + normal / 10": lambda normal: 1 + normal / 10,
}
"""How a tensor is made from standard normal fp32 draws; the result is rounded to the case's dtype."""


@dataclass(frozen=True, slots=True)
class InputSet:
    """One drawn set: the op's inputs by name and, in forward-backward, the gradient of each output."""

    seed: int
    tensors: Mapping[str, torch.Tensor]
    upstream: tuple[torch.Tensor, ...]


def torch_dtype(name: str) -> torch.dtype:
    """Return torch's dtype for one of `registry.ITEM_BYTES`."""
    import torch

    known = {"fp64": torch.float64, "fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
    return known[name]


def draw(case: Case, seed: int, device: str) -> InputSet:
    """Draw the set of `seed`; equal seeds give equal bits on one kind of device, not across kinds.

    In forward-backward the inputs are leaves that require a gradient; in forward they do not, so nothing is saved.

    Raises:
        UnknownNameError: an input has an unknown distribution.
    """
    import torch

    generator = torch.Generator(device=device).manual_seed(seed)
    dtype = torch_dtype(case.dtype)

    def drawn(operand: Operand) -> torch.Tensor:
        if operand.distribution not in DISTRIBUTIONS:
            raise UnknownNameError("distribution", operand.distribution, DISTRIBUTIONS)
        normal = torch.randn(case.shape.extents(operand.dimensions), generator=generator, device=device)
        transformed: torch.Tensor = DISTRIBUTIONS[operand.distribution](normal)
        return transformed.to(dtype)

    differentiates = case.direction == "forward-backward"
    tensors = {operand.name: drawn(operand).requires_grad_(differentiates) for operand in case.op.inputs}
    upstream = tuple(drawn(operand) for operand in case.op.outputs) if differentiates else ()
    return InputSet(seed, tensors, upstream)


def draw_timed(case: Case, device: str) -> tuple[InputSet, ...]:
    """Draw the sets that a timer rotates over; the gate draws the same by seed."""
    return tuple(draw(case, seed, device) for seed in case.seeds)


def distribution(case: Case) -> str:
    """Return the distributions as one text, for the workload."""
    drawn = [f"{operand.name}: {operand.distribution}" for operand in case.op.inputs]
    if case.direction == "forward-backward":
        drawn += [f"d{operand.name}: {operand.distribution}" for operand in case.op.outputs]
    return "; ".join(drawn)


def fingerprint(sets: Sequence[InputSet]) -> str:
    """Return the sha256 of the drawn bits, in order of the sets and of the op's inputs."""
    import torch

    digest = hashlib.sha256()
    for given in sets:
        for tensor in (*given.tensors.values(), *given.upstream):
            digest.update(f"{tuple(tensor.shape)} {tensor.dtype} ".encode())
            for piece in tensor.detach().reshape(-1).split(_HASHED_ELEMENTS):
                digest.update(piece.cpu().view(torch.uint8).numpy().data)
    return digest.hexdigest()
