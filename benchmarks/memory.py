"""Owns the most memory that a process used: on a device what torch allocated, on a processor what the kernel counts."""

from __future__ import annotations

import os
import re
from pathlib import Path

import psutil

_STATUS = Path("/proc/self/status")
_RESET_PEAK = Path("/proc/self/clear_refs")
_HIGH_WATER = re.compile(r"^VmHWM:\s*(\d+) kB$", re.MULTILINE)
_PEAK_RESIDENT = "5"
"""What resets the kernel's high-water mark of a process when written to its clear_refs (proc(5))."""


def reset_peak_memory(device: str) -> None:
    """Begin to look for a new peak."""
    if device == "cuda":
        import torch

        torch.cuda.reset_peak_memory_stats()
    else:
        try:
            _RESET_PEAK.write_text(_PEAK_RESIDENT, encoding="ascii")
        except OSError:
            return


def total_memory(device: str) -> int:
    """Return the bytes of the first accelerator's memory, or of the host's."""
    if device == "cuda":
        import torch

        return int(torch.cuda.get_device_properties(0).total_memory)
    return int(psutil.virtual_memory().total)


def peak_memory(device: str, *, is_alone: bool) -> int | None:
    """Return the most bytes that torch allocated on the device, or that the process held resident; None if untold.

    The kernel's mark covers a process's whole life where it cannot be reset, so it counts for one workload only if the
    process has no other.
    """
    if device == "cuda":
        import torch

        return int(torch.cuda.max_memory_allocated())
    if not is_alone and not os.access(_RESET_PEAK, os.W_OK):
        return None
    match = _HIGH_WATER.search(_STATUS.read_text(encoding="ascii")) if _STATUS.exists() else None
    return None if match is None else int(match[1]) * 1024
