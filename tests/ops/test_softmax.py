"""The frozen gate of softmax: its trials against the fp64 reference."""

from __future__ import annotations

OP = "softmax"


def test_equals_the_reference(trial, hold):
    hold(trial)
