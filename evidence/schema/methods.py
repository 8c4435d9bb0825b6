"""Owns methods: how samples were taken."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from evidence.schema.base import Amount, Count, Model, Name, PositiveAmount, PositiveCount, Text


class Method(Model):
    """One timer with its settings, as asked for and as used."""

    name: Name
    timer_requested: Name
    timer_used: Name
    fallback_reason: Text | None
    """Why another timer was used than the one asked for; null if it was not."""
    timer_overhead_s: Amount | None
    """Seconds the timer adds to one sample; null: not watched."""
    warm_up_s: Amount
    warm_up_calls: Count
    flush_bytes: Count
    """Bytes written between calls to evict the last-level cache; 0: none."""
    allocates_outputs: bool
    """Whether allocating the outputs is inside the window."""
    minimum_samples: PositiveCount
    maximum_samples: PositiveCount
    target_spread: PositiveAmount | None
    """Relative spread at which a process may stop sampling; null: no such rule."""
    budget_s: PositiveAmount | None
    processes: PositiveCount
    """Fresh processes planned for each cell."""
    order: Literal["interleaved", "sequential"]

    @model_validator(mode="after")
    def _bounds_agree(self) -> Self:
        if self.minimum_samples > self.maximum_samples:
            raise ValueError("minimum_samples exceeds maximum_samples")
        if self.timer_used == self.timer_requested and self.fallback_reason is not None:
            raise ValueError("fallback_reason without a fallback: the timer used is the one requested")
        return self
