"""The frozen gate of parallel_nsa: its trials against the fp64 reference."""

from __future__ import annotations

OP = "parallel_nsa"


def test_equals_the_reference(trial, hold):
    hold(trial)
