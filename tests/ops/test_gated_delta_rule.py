"""The frozen gate of gated_delta_rule: its trials against the fp64 reference."""

from __future__ import annotations

OP = "gated_delta_rule"


def test_equals_the_reference(trial, hold):
    hold(trial)
