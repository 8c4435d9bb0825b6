"""The frozen gate of cross_entropy: its trials against the fp64 reference."""

from __future__ import annotations

OP = "cross_entropy"


def test_equals_the_reference(trial, hold):
    hold(trial)
