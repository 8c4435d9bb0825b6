"""The frozen gate of chunk_rwkv7: its trials against the fp64 reference."""

from __future__ import annotations

OP = "chunk_rwkv7"


def test_equals_the_reference(trial, hold):
    hold(trial)
