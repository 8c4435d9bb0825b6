"""Owns the elementwise comparison of what a call produced with the fp64 reference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from benchmarks.ops.registry import Tolerance
from evidence.schema.gates import TensorErrors

if TYPE_CHECKING:
    import torch

_ELEMENTS_AT_ONCE = 1 << 24


def compare(name: str, produced: torch.Tensor, reference: torch.Tensor, tolerance: Tolerance) -> TensorErrors:
    """Compare every element of `produced` with a finite fp64 `reference` of its shape.

    `maximum_relative` is over the elements whose reference is not zero. A non-finite element counts as mismatched too
    and leaves no root mean square error.
    """
    scale = _root_mean_square(reference)
    mismatched = non_finite = 0
    squares, absolute, relative = 0.0, -1.0, -1.0
    for actual, expected in _pieces(produced.detach(), reference):
        finite = actual.isfinite()
        error = (actual.double() - expected).abs()
        within = error <= tolerance.absolute * scale + tolerance.relative * expected.abs()
        mismatched += int((~(within & finite)).sum())
        non_finite += int((~finite).sum())
        squares += float(error.square().sum())
        absolute = max(absolute, _maximum(error[finite]))
        divisible = finite & (expected != 0)
        relative = max(relative, _maximum(error[divisible] / expected[divisible].abs()))
    return TensorErrors(
        name=name,
        elements=produced.numel(),
        mismatched=mismatched,
        non_finite=non_finite,
        maximum_absolute=absolute if absolute >= 0 else None,
        maximum_relative=relative if relative >= 0 else None,
        rms_to_fp64=None if non_finite else math.sqrt(squares / produced.numel()) / (scale or 1.0),
    )


def merge(comparisons: Sequence[TensorErrors]) -> TensorErrors:
    """Join comparisons of one tensor over seeds: counts add up, errors are the largest."""
    rms = [one.rms_to_fp64 for one in comparisons if one.rms_to_fp64 is not None]
    return TensorErrors(
        name=comparisons[0].name,
        elements=sum(one.elements for one in comparisons),
        mismatched=sum(one.mismatched for one in comparisons),
        non_finite=sum(one.non_finite for one in comparisons),
        maximum_absolute=max((e for one in comparisons if (e := one.maximum_absolute) is not None), default=None),
        maximum_relative=max((e for one in comparisons if (e := one.maximum_relative) is not None), default=None),
        rms_to_fp64=max(rms) if len(rms) == len(comparisons) else None,
    )


def _root_mean_square(reference: torch.Tensor) -> float:
    squares = sum(float(piece.square().sum()) for piece in reference.reshape(-1).split(_ELEMENTS_AT_ONCE))
    return math.sqrt(squares / reference.numel())


def _pieces(produced: torch.Tensor, reference: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    flat = (tensor.reshape(-1).split(_ELEMENTS_AT_ONCE) for tensor in (produced, reference))
    return zip(*flat, strict=True)


def _maximum(errors: torch.Tensor) -> float:
    return float(errors.max()) if errors.numel() else -1.0
