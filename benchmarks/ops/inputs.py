"""Owns the inputs of a case: seeded, random, the same for the gate and for the clock."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.ops.registry import ITEM_BYTES, Case, Operand, Shape
from evidence.errors import UnknownNameError

if TYPE_CHECKING:
    import torch

_HASHED_ELEMENTS = 1 << 24
MOST_DIGESTED_BYTES = 1 << 28
"""Larger inputs are not digested: copying and hashing them would take seconds of a device that waits for it."""


def _log_sigmoid(normal: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.nn.functional.logsigmoid(normal)


def _uniform(normal: torch.Tensor) -> torch.Tensor:
    """Map standard normal draws to uniform ones in [0, 1), in fp64 so that large counts stay distinct."""
    import torch

    return torch.special.ndtr(normal.double()).clamp(max=1 - 2**-53)


def _blocks(normal: torch.Tensor, size: int) -> torch.Tensor:
    """Choose for each token, along the last axis, distinct ascending blocks of `size` tokens, none after it.

    `normal` is [B, T, H, S]. Where a token has more than S blocks, one is drawn from each of S equal strata; where it
    has fewer, all of them stand first and -1 fills up.
    """
    import torch

    tokens, chosen = normal.shape[1], normal.shape[3]
    visible = (torch.arange(tokens, device=normal.device) // size + 1)[None, :, None, None]
    slot = torch.arange(chosen, device=normal.device)[None, None, None, :]
    first, beyond = slot * visible // chosen, (slot + 1) * visible // chosen
    drawn = first + (_uniform(normal) * (beyond - first)).long()
    few = torch.where(slot < visible, slot, -1).expand_as(drawn)
    return torch.where(visible > chosen, drawn, few)


DISTRIBUTIONS: Mapping[str, Callable[[Any, Shape], Any]] = {
    "normal": lambda normal, _: normal,
    "sigmoid(normal)": lambda normal, _: normal.sigmoid(),
    "logsigmoid(normal)": lambda normal, _: _log_sigmoid(normal),
    "max(logsigmoid(normal), -5)": lambda normal, _: _log_sigmoid(normal).clamp(min=-5),
    "normal / its norm": lambda normal, _: normal / normal.norm(dim=-1, keepdim=True),
    "normal / 10": lambda normal, _: normal / 10,
    "1 + normal / 10": lambda normal, _: 1 + normal / 10,
    "-exp(-1/2) sigmoid(normal)": lambda normal, _: -math.exp(-0.5) * normal.sigmoid(),
    "(1 + sigmoid(normal)) / 100": lambda normal, _: (1 + normal.sigmoid()) / 100,
    "round(40 normal) in [-127, 127]": lambda normal, _: (40 * normal).round().clamp(-127, 127),
    "uniform integer below V": lambda normal, shape: (_uniform(normal) * shape.size("V")).long(),
    "S causal blocks of 64": lambda normal, _: _blocks(normal, 64),
}
"""How a tensor is made from standard normal fp32 draws and the shape; the result is rounded to the tensor's dtype."""


@dataclass(frozen=True, slots=True)
class InputSet:
    """One drawn set: the op's inputs by name and, in forward-backward, the gradient of each output."""

    seed: int
    tensors: Mapping[str, torch.Tensor]
    upstream: tuple[torch.Tensor, ...]


def torch_dtype(name: str) -> torch.dtype:
    """Return torch's dtype for one of `registry.ITEM_BYTES`."""
    import torch

    known: dict[str, torch.dtype] = {
        "fp64": torch.float64,
        "fp32": torch.float32,
        "bf16": torch.bfloat16,
        "fp16": torch.float16,
        "fp8": torch.float8_e4m3fn,
        "int8": torch.int8,
        "int64": torch.int64,
    }
    return known[name]


def draw(case: Case, seed: int, device: str) -> InputSet:
    """Draw the set of `seed`; equal seeds give equal bits on one kind of device, not across kinds.

    In forward-backward the differentiable inputs are leaves that require a gradient; in forward none does, so nothing
    is saved.

    Raises:
        UnknownNameError: an input has an unknown distribution.
    """
    import torch

    generator = torch.Generator(device=device).manual_seed(seed)

    def drawn(operand: Operand) -> torch.Tensor:
        if operand.distribution not in DISTRIBUTIONS:
            raise UnknownNameError("distribution", operand.distribution, DISTRIBUTIONS)
        normal = torch.randn(case.shape.extents(operand.dimensions), generator=generator, device=device)
        transformed: torch.Tensor = DISTRIBUTIONS[operand.distribution](normal, case.shape)
        return transformed.to(torch_dtype(case.dtype_of(operand)))

    differentiates = case.direction != "forward"
    tensors = {
        operand.name: drawn(operand).requires_grad_(differentiates and operand.differentiable)
        for operand in case.op.inputs
    }
    upstream = tuple(drawn(operand) for operand in case.op.outputs) if differentiates else ()
    return InputSet(seed, tensors, upstream)


def draw_timed(case: Case, device: str) -> tuple[InputSet, ...]:
    """Draw the sets that a timer rotates over; the gate draws the same by seed."""
    return tuple(draw(case, seed, device) for seed in case.seeds)


def distribution(case: Case) -> str:
    """Return the distributions as one text, for the workload."""
    drawn = [
        f"{operand.name}: {operand.distribution}{f' ({operand.dtype})' if operand.dtype else ''}"
        for operand in case.op.inputs
    ]
    if case.direction != "forward":
        drawn += [f"d{operand.name}: {operand.distribution}" for operand in case.op.outputs]
    return "; ".join(drawn)


def drawn_bytes(case: Case) -> int:
    """Return the size of all timed sets of a case."""
    operands = (*case.op.inputs, *(case.op.outputs if case.direction != "forward" else ()))
    return case.op.sets * sum(case.elements(operand) * ITEM_BYTES[case.dtype_of(operand)] for operand in operands)


def fingerprint(sets: Iterable[InputSet]) -> str:
    """Return the sha256 of the drawn bits, in order of the sets and of the op's inputs."""
    import torch

    digest = hashlib.sha256()
    for given in sets:
        for tensor in (*given.tensors.values(), *given.upstream):
            digest.update(f"{tuple(tensor.shape)} {tensor.dtype} ".encode())
            for piece in tensor.detach().reshape(-1).split(_HASHED_ELEMENTS):
                digest.update(piece.cpu().view(torch.uint8).numpy().data)
    return digest.hexdigest()
