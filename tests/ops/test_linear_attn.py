"""The frozen gate of linear_attn: its trials against the fp64 reference."""

from __future__ import annotations

OP = "linear_attn"


def test_equals_the_reference(trial, hold):
    hold(trial)
