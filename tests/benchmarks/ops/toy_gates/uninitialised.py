"""A gate over code that reads memory it never wrote: without poison, what a recycled allocation held could be right."""

from __future__ import annotations

import torch


def test_sum() -> None:
    produced = torch.empty(64)
    produced[:63] = 1.0
    assert bool(produced.isfinite().all())
