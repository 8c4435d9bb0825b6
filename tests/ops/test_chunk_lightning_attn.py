"""The frozen gate of chunk_lightning_attn: its trials against the fp64 reference."""

from __future__ import annotations

OP = "chunk_lightning_attn"


def test_equals_the_reference(trial, hold):
    hold(trial)
