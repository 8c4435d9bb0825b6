"""Owns the roofline: what a device can reach at most, and the least time a piece of work can take on it.

The model is that of Williams, Waterman and Patterson 2009: work of F operations that moves B bytes takes at least
max(F / peak rate, B / peak bandwidth). Peaks here are datasheet values for dense operands; a share of peak always
names the source of its peak, because a measured ceiling lies well below.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple


class Limit(StrEnum):
    """What bounds a piece of work."""

    COMPUTE = "compute"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Peak:
    """The most that one device reaches for operands of one dtype, and who says so."""

    model: str
    dtype: str
    flop_per_s: float
    bytes_per_s: float
    source: str
    clock_hz: float | None
    """The SM clock that `flop_per_s` is stated for, where it is known."""

    @property
    def ridge_flop_per_byte(self) -> float:
        """The intensity at which compute and memory take equally long."""
        return self.flop_per_s / self.bytes_per_s

    def at_clock(self, clock_hz: float) -> Peak | None:
        """The peak at another SM clock, which moves the compute rate alone; None if the stated clock is unknown.

        A device may run above the clock of its datasheet, and so above its datasheet rate.
        """
        if not (math.isfinite(clock_hz) and clock_hz > 0):
            raise ValueError(f"a clock is positive, not {clock_hz}")
        if self.clock_hz is None:
            return None
        return replace(
            self,
            flop_per_s=self.flop_per_s * (clock_hz / self.clock_hz),
            clock_hz=clock_hz,
            source=f"{self.source}, scaled to {clock_hz / 1e6:.0f} MHz",
        )


class Bound(NamedTuple):
    """The least time some work can take, and what sets it."""

    seconds: float
    limit: Limit
    peak: Peak

    def share(self, seconds: float) -> float:
        """The share of the attainable speed that `seconds` reach: above 1 is impossible."""
        if not (math.isfinite(seconds) and seconds > 0):
            raise ValueError(f"a time is positive, not {seconds}")
        return self.seconds / seconds


def bound(flop: float, moved_bytes: float, peak: Peak) -> Bound:
    """The roofline of `flop` operations that move at least `moved_bytes`; at the ridge itself, compute.

    Raises:
        ValueError: a negative or infinite amount, or no work at all.
    """
    if not (0 <= flop < math.inf and 0 <= moved_bytes < math.inf):
        raise ValueError(f"work is finite and not negative: {flop} FLOP, {moved_bytes} B")
    if flop == 0 and moved_bytes == 0:
        raise ValueError("no work, no roofline")
    compute_s, memory_s = flop / peak.flop_per_s, moved_bytes / peak.bytes_per_s
    if compute_s >= memory_s:
        return Bound(compute_s, Limit.COMPUTE, peak)
    return Bound(memory_s, Limit.MEMORY, peak)


def peak(model: str, dtype: str) -> Peak | None:
    """The datasheet peak of a device, by the whole name its driver reports; None for what is not in the table.

    Part of a device (MIG) and look-alike names (A10G is not A10) are unknown rather than guessed.
    """
    for sheet in _DATASHEETS:
        if re.fullmatch(sheet.model, model) and dtype in sheet.tflop_per_s:
            rate = sheet.tflop_per_s[dtype] * 1e12
            return Peak(model, dtype, rate, sheet.gb_per_s * 1e9, f"datasheet: {sheet.title}, dense", sheet.clock_hz)
    return None


class _Datasheet(NamedTuple):
    model: str
    title: str
    gb_per_s: float
    clock_hz: float | None
    tflop_per_s: dict[str, float]


def _tensor(bf16: float, **others: float) -> dict[str, float]:
    return {"bf16": bf16, "fp16": bf16, "tf32": bf16 / 2} | others


_HOPPER_SXM = _tensor(989.4, fp8=1978.9, int8=1978.9)
_HOPPER_SXM_FULL = {"fp32": 66.9, "fp64": 66.9}
_HOPPER_NVL = _tensor(835.5, fp8=1670.5, int8=1670.5, fp32=60, fp64=60)
_AMPERE = _tensor(312, int8=624, fp32=19.5, fp64=19.5)

# Where a sheet prints rates with sparsity, half of them stands here. fp32 is the vector rate: products that round their
# operands are tf32. fp64 is the rate of tensor cores where they have it. Hopper boosts both beyond its other products.
_DATASHEETS = (
    _Datasheet("NVIDIA H200", "NVIDIA H200 SXM", 4800, 1.83e9, _HOPPER_SXM),
    _Datasheet("NVIDIA H200", "NVIDIA H200 SXM", 4800, 1.98e9, _HOPPER_SXM_FULL),
    _Datasheet("NVIDIA H200 NVL", "NVIDIA H200 NVL", 4800, None, _HOPPER_NVL),
    _Datasheet("NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM", 3350, 1.83e9, _HOPPER_SXM),
    _Datasheet("NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM", 3350, 1.98e9, _HOPPER_SXM_FULL),
    _Datasheet("NVIDIA H100 NVL", "NVIDIA H100 NVL", 3900, None, _HOPPER_NVL),
    _Datasheet("NVIDIA H100 PCIe", "NVIDIA H100 PCIe", 2000, None, _tensor(756, fp8=1513, int8=1513, fp32=51, fp64=51)),
    _Datasheet("NVIDIA B200", "NVIDIA HGX B200", 8000, None, _tensor(2250, fp8=4500)),
    _Datasheet("(NVIDIA )?A100-SXM.-80GB", "NVIDIA A100 80GB SXM", 2039, 1.41e9, _AMPERE),
    _Datasheet("NVIDIA A100 80GB PCIe", "NVIDIA A100 80GB PCIe", 1935, 1.41e9, _AMPERE),
    _Datasheet("(NVIDIA )?A100-(SXM.|PCIE)-40GB", "NVIDIA A100 40GB", 1555, 1.41e9, _AMPERE),
    _Datasheet("NVIDIA A30", "NVIDIA A30", 933, 1.44e9, _tensor(165, int8=330, fp32=10.3, fp64=10.3)),
    _Datasheet("NVIDIA A10", "NVIDIA A10", 600, 1.695e9, _tensor(125, int8=250, fp32=31.2)),
    _Datasheet("NVIDIA L40S", "NVIDIA L40S", 864, None, _tensor(362.05, fp8=733, int8=733, fp32=91.6)),
    _Datasheet("NVIDIA L4", "NVIDIA L4", 300, 2.04e9, _tensor(121, fp8=242.5, int8=242.5, fp32=30.3)),
    _Datasheet("(NVIDIA )?Tesla T4", "NVIDIA T4", 320, 1.59e9, {"fp16": 65, "int8": 130, "fp32": 8.1}),
    _Datasheet(
        "(NVIDIA )?Tesla V100-SXM2-(16|32)GB", "NVIDIA V100 SXM2", 900, 1.53e9, {"fp16": 125, "fp32": 15.7, "fp64": 7.8}
    ),
    _Datasheet("AMD Instinct MI300X", "AMD Instinct MI300X", 5300, 2.1e9, _tensor(1307.4, fp8=2614.9, fp32=163.4)),
)
