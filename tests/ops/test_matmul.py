"""The frozen gate of matmul: its trials against the fp64 reference."""

from __future__ import annotations

OP = "matmul"


def test_equals_the_reference(trial, hold):
    hold(trial)
