"""The frozen gate of chunk_delta_rule: its trials against the fp64 reference."""

from __future__ import annotations

OP = "chunk_delta_rule"


def test_equals_the_reference(trial, hold):
    hold(trial)
