"""Owns the calls that two timers are compared on: one implementation of an op on one shape, forward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.ops.registry import Case, Implementation, Op, find
from benchmarks.options import UsageError
from evidence.schema import Setting

CALLS = (
    "qk_norm:fused:t16384-hq32-hkv8-d128",
    "w8a16_matmul:fused:m2048-n4096-k4096",
    "rms_norm:torch:m16384-d8192",
    "layer_norm:fla:m16384-d8192",
    "softmax:torch:m4096-v32768",
    "cross_entropy:fla:m4096-v32768",
    "matmul:torch:m4096-n4096-k4096",
)
"""Kernels of this repository, of torch, of Flash Linear Attention and of cuBLAS, each of more than 20 us on an H200."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One call: an implementation, and the case it is called on."""

    implementation: Implementation
    case: Case

    @property
    def text(self) -> str:
        """What it was asked for as."""
        return f"{self.case.op.name}:{self.implementation.name}:{self.case.shape.name}"

    @property
    def settings(self) -> tuple[Setting, ...]:
        """What a workload says of it, since the arms are timers."""
        entry = self.implementation
        told = {"implementation": entry.name, "target": entry.target, "source": entry.source}
        return tuple(Setting(name=name, value=value) for name, value in told.items())


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of one session, of one dtype, and one implementation of each op."""

    timed: tuple[Timed, ...]

    @property
    def ops(self) -> tuple[Op, ...]:
        """Each op once, in order."""
        return tuple(dict.fromkeys(call.case.op for call in self.timed))

    @property
    def dtype(self) -> str:
        """The dtype that all have."""
        return self.timed[0].case.dtype

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that are called."""
        return tuple(sorted({call.implementation.package for call in self.timed if call.implementation.package}))

    @property
    def of_op(self) -> dict[str, Implementation]:
        """The implementation of each op. Its outcomes name this repository, which is the source of every arm."""
        return {call.case.op.name: replace(call.implementation, package=None) for call in self.timed}


def calls(asked: Sequence[str]) -> Calls:
    """Return the calls that texts of `op:implementation:shape` name.

    Raises:
        UnknownNameError: an op, an implementation or a shape is none.
        UsageError: a text is no call, or the calls do not go into one session.
    """
    chosen = tuple(_call(text) for text in asked)
    if len({call.case.dtype for call in chosen}) != 1:
        raise UsageError("the calls have no dtype in common", fix="measure them in sessions of their own")
    implementations = {(call.case.op.name, call.implementation.name) for call in chosen}
    if len(implementations) != len({op for op, _ in implementations}) or len(set(asked)) != len(asked):
        raise UsageError("a call is given twice, or an op has two implementations", fix="give one for each op")
    return Calls(chosen)


def _call(text: str) -> Timed:
    parts = text.split(":")
    if len(parts) != 3:
        raise UsageError(f"{text!r} is no call", fix=f"write op:implementation:shape, such as {CALLS[0]}")
    op = find(parts[0])
    return Timed(op.implementation(parts[1]), op.case(parts[2], op.dtypes[0], "forward"))
