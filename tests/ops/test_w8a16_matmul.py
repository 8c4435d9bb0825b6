"""The frozen gate of w8a16_matmul: its trials against the fp64 reference."""

from __future__ import annotations

OP = "w8a16_matmul"


def test_equals_the_reference(trial, hold):
    hold(trial)
