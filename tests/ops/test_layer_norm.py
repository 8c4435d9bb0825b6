"""The frozen gate of layer_norm: its trials against the fp64 reference."""

from __future__ import annotations

OP = "layer_norm"


def test_equals_the_reference(trial, hold):
    hold(trial)
