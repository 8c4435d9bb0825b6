"""Owns what a timer needs of an accelerator: events, a cache to evict, and a way to make it wait."""

from __future__ import annotations

import functools
from typing import Any, Protocol


class Device(Protocol):
    """A queue of work with a clock of its own."""

    @property
    def flush_bytes(self) -> int:
        """Bytes that `flush` writes."""

    def event(self) -> Any:
        """Return a new event that takes a time: record, query, elapsed_time (in milliseconds)."""

    def hold(self, cycles: int) -> None:
        """Queue what lasts so many cycles of the device's clock."""

    def flush(self) -> None:
        """Queue what evicts the cache."""

    def synchronize(self) -> None:
        """Wait until everything queued is done."""


class CurrentDevice:
    """Torch's current device, with Triton's buffer to evict the last-level cache."""

    def __init__(self) -> None:
        """Find it."""
        from triton.runtime import driver

        self._driver = driver.active
        self._interface = self._driver.get_device_interface()

    @functools.cached_property
    def _buffer(self) -> Any:
        return self._driver.get_empty_cache_for_benchmark()

    @property
    def flush_bytes(self) -> int:
        """Bytes of the buffer."""
        return int(self._buffer.numel() * self._buffer.element_size())

    def event(self) -> Any:
        """Return a new event."""
        return self._interface.Event(enable_timing=True)

    def hold(self, cycles: int) -> None:
        """Queue a kernel that counts cycles."""
        import torch

        torch.cuda._sleep(cycles)

    def flush(self) -> None:
        """Queue writes over the buffer."""
        self._driver.clear_cache(self._buffer)

    def synchronize(self) -> None:
        """Wait for it."""
        self._interface.synchronize()
