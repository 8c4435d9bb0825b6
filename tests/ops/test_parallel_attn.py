"""The frozen gate of parallel_attn: its trials against the fp64 reference."""

from __future__ import annotations

OP = "parallel_attn"


def test_equals_the_reference(trial, hold):
    hold(trial)
