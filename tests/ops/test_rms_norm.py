"""The frozen gate of rms_norm: its trials against the fp64 reference."""

from __future__ import annotations

OP = "rms_norm"


def test_equals_the_reference(trial, hold):
    hold(trial)
