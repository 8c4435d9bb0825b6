"""The frozen gate of naive_attnres: its trials against the fp64 reference."""

from __future__ import annotations

OP = "naive_attnres"


def test_equals_the_reference(trial, hold):
    hold(trial)
