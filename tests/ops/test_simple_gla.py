"""The frozen gate of simple_gla: its trials against the fp64 reference."""

from __future__ import annotations

OP = "simple_gla"


def test_equals_the_reference(trial, hold):
    hold(trial)
