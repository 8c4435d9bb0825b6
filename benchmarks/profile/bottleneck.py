"""Owns what bounds a call, from what a profiler said: memory, compute, register, launch or dispatch, with the reason.

Nsight Compute's own guide calls a kernel bound by what it uses at 60 % or more of its peak; below that for both, it is
latency that bounds it, and occupancy and the size of the grid say whose.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.profile.summaries import Bottleneck, Kernel

BUSY_SHARE = 60.0
"""Per cent of a peak from which a unit counts as the bound."""
LOW_OCCUPANCY = 50.0
IDLE_SHARE = 50.0
"""Per cent of a window that a device idles from which the host bounds it."""
SHORT_S = 5e-6
"""A kernel as short as this costs no more than launching it."""


def judge(kernels: Sequence[Kernel], busy_share: float | None = None) -> tuple[Bottleneck, str]:
    """Return what bounds a call and why; the kernel with the most time decides.

    Args:
        kernels: Those with the most time first.
        busy_share: Per cent of the watched window in which the device worked; None: not watched.
    """
    if not kernels:
        return "unknown", "no kernel ran on a device"
    top = kernels[0]
    mean_s = sum(kernel.duration_s for kernel in kernels) / max(1, sum(kernel.launches for kernel in kernels))
    if busy_share is not None and busy_share < 100 - IDLE_SHARE:
        if mean_s <= SHORT_S:
            return "launch", f"the device works in {busy_share:.1f} % of the window, in kernels as short as a launch"
        return "dispatch", f"the device works in {busy_share:.1f} % of the window and waits for the host otherwise"
    return _of_kernel(top, mean_s)


def _of_kernel(top: Kernel, mean_s: float) -> tuple[Bottleneck, str]:
    memory, compute = _memory(top), top.metric("compute_share")
    best = max((value for value in (memory, compute) if value is not None), default=None)
    if best is None:
        return "unknown", f"no share of a peak is known of {top.name}"
    if best >= BUSY_SHARE:
        if memory is not None and memory == best:
            return "memory", f"{top.name} reaches {memory:.1f} % of the peak of memory"
        return "compute", f"{top.name} reaches {compute:.1f} % of the peak of its multiprocessors"
    waves, occupancy = top.metric("waves"), top.metric("occupancy")
    if waves is not None and waves < 1:
        return "launch", f"{top.name} launches {waves:.2f} of a wave: the grid does not fill the device"
    if occupancy is not None and occupancy < LOW_OCCUPANCY and _is_held_by_registers(top):
        return "register", f"{top.name} has {occupancy:.1f} % occupancy, and registers are what limits it"
    if mean_s <= SHORT_S:
        return "launch", f"{top.name} takes no longer than a launch"
    return "unknown", f"{top.name} reaches {best:.1f} % of a peak at most, and nothing read says why"


def _memory(kernel: Kernel) -> float | None:
    """The larger of the shares of DRAM and of the whole memory path."""
    found = [value for name in ("dram_share", "memory_share") if (value := kernel.metric(name)) is not None]
    return max(found, default=None)


def _is_held_by_registers(kernel: Kernel) -> bool:
    """Whether registers allow fewer blocks a multiprocessor than anything else does."""
    registers = kernel.metric("blocks_by_registers")
    others = [kernel.metric(f"blocks_by_{name}") for name in ("shared_memory", "warps", "multiprocessor")]
    known = [value for value in others if value is not None]
    return registers is not None and bool(known) and registers < min(known)
