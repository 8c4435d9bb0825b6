"""The frozen gate of chunk_simple_gla: its trials against the fp64 reference."""

from __future__ import annotations

OP = "chunk_simple_gla"


def test_equals_the_reference(trial, hold):
    hold(trial)
