"""The frozen gate of chunk_kda: its trials against the fp64 reference."""

from __future__ import annotations

OP = "chunk_kda"


def test_equals_the_reference(trial, hold):
    hold(trial)
