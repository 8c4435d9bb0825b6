"""The frozen gate of matmul_fp8: its trials against the fp64 reference."""

from __future__ import annotations

OP = "matmul_fp8"


def test_equals_the_reference(trial, hold):
    hold(trial)
