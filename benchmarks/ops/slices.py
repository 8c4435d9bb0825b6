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

_LIVE_BYTES_PER_INPUT_BYTE = 8
"""What a chunked fp64 reference keeps for its backward pass, measured in its fp64 inputs; rounded up."""
_BUDGET_BYTES: Mapping[str, int] = {"cpu": 1 << 30, "cuda": 32 << 30}


def evaluate_reference(case: Case, given: InputSet) -> tuple[torch.Tensor, ...]:
    """Return what `case.produced` names, whole and in fp64, from the reference on the inputs of `given`."""
    import torch

    call = bind(case.op.reference, case)
    specs = (*case.op.outputs, *(case.op.inputs if case.direction == "forward-backward" else ()))
    some = next(iter(given.tensors.values()))
    whole = tuple(
        torch.empty(case.shape.extents(spec.dimensions), dtype=torch.float64, device=some.device) for spec in specs
    )
    for ranges in slices(case, some.device.type):
        tensors = {
            spec.name: _narrow(given.tensors[spec.name], spec.dimensions, ranges).detach().double()
            for spec in case.op.inputs
        }
        for tensor in tensors.values():
            tensor.requires_grad_(case.direction == "forward-backward")
        upstream = tuple(
            _narrow(tensor, spec.dimensions, ranges).double()
            for spec, tensor in zip(case.op.outputs, given.upstream, strict=False)
        )
        for target, spec, part in zip(whole, specs, call(InputSet(given.seed, tensors, upstream)), strict=True):
            _narrow(target, spec.dimensions, ranges).copy_(part.detach())
    return whole


def slices(case: Case, device: str) -> Iterator[Mapping[str, tuple[int, int]]]:
    """Yield ranges (start, length) by independent dimension; together they cover every element once."""
    fp64_bytes = 8 * sum(case.elements(spec) for spec in case.op.inputs)
    pieces = math.ceil(fp64_bytes * _LIVE_BYTES_PER_INPUT_BYTE / _BUDGET_BYTES[device])
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
