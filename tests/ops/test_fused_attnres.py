"""The frozen gate of fused_attnres: its trials against the fp64 reference."""

from __future__ import annotations

OP = "fused_attnres"


def test_equals_the_reference(trial, hold):
    hold(trial)
