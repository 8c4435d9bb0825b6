"""Owns the control op: a copy, the same code in every arm, timed beside an op to see whether the arms are apart anyway.

Whatever two arms do differently, their control must take the same time. If it does not, something else than the code
under test differs between them, and the session decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from benchmarks.ops.registry import Case, Device, Implementation, Op, Operand, Shape, Tolerance

if TYPE_CHECKING:
    import torch

SHAPES: Mapping[Device, Shape] = {"cpu": Shape.of(R=2048, C=2048), "cuda": Shape.of(R=8192, C=8192)}
"""Large enough for the usual timer: milliseconds on a processor, and on an accelerator, where events say nothing below
20 us, 268 MB in bf16."""
_DTYPES = ("fp32", "bf16", "fp16")


def copied(x: torch.Tensor) -> torch.Tensor:
    """Return a copy of x."""
    return x.clone()


def same(x: torch.Tensor) -> torch.Tensor:
    """Return x: what a copy must be equal to."""
    return x


CONTROL = Op(
    name="control",
    module=__name__,
    category="control",
    device="cpu",
    inputs=(Operand("x", ("R", "C")),),
    outputs=(Operand("o", ("R", "C")),),
    reference=Implementation("reference", f"{__name__}:same", None),
    implementations=(Implementation("copy", f"{__name__}:copied", None),),
    shapes=tuple(SHAPES.values()),
    dtypes=_DTYPES,
    directions=("forward",),
    tolerances=tuple(Tolerance(dtype, "forward", relative=0.0, absolute=0.0, rms=0.0) for dtype in _DTYPES),
    flop=lambda shape, direction: None,
    parameters=(("runs", f"{__name__}:copied in every arm"),),
)


def case(dtype: str, device: Device) -> Case:
    """Return the control's case beside an op of that dtype; of another than it knows, in bf16."""
    return replace(CONTROL, device=device).case(SHAPES[device], dtype if dtype in _DTYPES else "bf16", "forward")
