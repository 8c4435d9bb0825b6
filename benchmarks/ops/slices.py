"""Owns the evaluation of a reference in slices along independent dimensions, so that memory stays bounded."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from benchmarks.ops.calls import bind
from benchmarks.ops.inputs import InputSet
from benchmarks.ops.registry import Case

if TYPE_CHECKING:
    import torch

LIVE_BYTES_PER_INPUT_BYTE = 12
"""What the fp64 references keep alive, in units of their fp64 inputs: up to 10 for autograd, 2 more for results."""
_CPU_BUDGET_BYTES = 1 << 30


def evaluate_reference(case: Case, given: InputSet) -> tuple[torch.Tensor, ...]:
    """Return what `case.produced` names, whole and in fp64, from the reference on the inputs of `given`."""
    import torch

    call = bind(case.op.reference, case)
    operands = case.returned
    some = next(iter(given.tensors.values()))
    whole = tuple(
        torch.empty(case.shape.extents(operand.dimensions), dtype=torch.float64, device=some.device)
        for operand in operands
    )
    for ranges in slices(case, _budget_bytes(some.device)):
        tensors = {
            operand.name: _widened(_narrow(given.tensors[operand.name], operand.dimensions, ranges).detach())
            for operand in case.op.inputs
        }
        for operand in case.op.differentiable:
            tensors[operand.name].requires_grad_(case.direction != "forward")
        upstream = tuple(
            _narrow(tensor, operand.dimensions, ranges).double()
            for operand, tensor in zip(case.op.outputs if given.upstream else (), given.upstream, strict=True)
        )
        for target, operand, part in zip(whole, operands, call(InputSet(given.seed, tensors, upstream)), strict=True):
            _narrow(target, operand.dimensions, ranges).copy_(part.detach())
    return whole


def _widened(tensor: torch.Tensor) -> torch.Tensor:
    """Return numbers in fp64, indices as they are."""
    import torch

    return tensor if tensor.dtype == torch.int64 else tensor.double()


def _budget_bytes(device: torch.device) -> int:
    import torch

    return torch.cuda.get_device_properties(device).total_memory // 2 if device.type == "cuda" else _CPU_BUDGET_BYTES


def slices(case: Case, budget_bytes: int) -> Iterator[Mapping[str, tuple[int, int]]]:
    """Yield ranges (start, length) by independent dimension, each within the budget if it can be.

    Together they cover every element once.
    """
    fp64_bytes = 8 * sum(case.elements(operand) for operand in case.op.inputs)
    pieces = math.ceil(fp64_bytes * LIVE_BYTES_PER_INPUT_BYTE / budget_bytes)
    by_dimension = []
    for dimension in case.op.independent:
        size = case.shape.size(dimension)
        length = math.ceil(size / min(size, pieces))
        pieces = math.ceil(pieces / math.ceil(size / length))
        by_dimension.append([(start, min(length, size - start)) for start in range(0, size, length)])
    for ranges in itertools.product(*by_dimension):
        yield dict(zip(case.op.independent, ranges, strict=True))


def _narrow(tensor: torch.Tensor, dimensions: tuple[str, ...], ranges: Mapping[str, tuple[int, int]]) -> torch.Tensor:
    for axis, dimension in enumerate(dimensions):
        if dimension in ranges:
            tensor = tensor.narrow(axis, *ranges[dimension])
    return tensor
