"""The frozen gate of kda: its trials against the fp64 reference."""

from __future__ import annotations

OP = "kda"


def test_equals_the_reference(trial, hold):
    hold(trial)
