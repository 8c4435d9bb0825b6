"""The frozen gate of chunk_comba: its trials against the fp64 reference."""

from __future__ import annotations

OP = "chunk_comba"


def test_equals_the_reference(trial, hold):
    hold(trial)
