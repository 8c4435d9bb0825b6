"""The frozen gate of gdn2: its trials against the fp64 reference."""

from __future__ import annotations

OP = "gdn2"


def test_equals_the_reference(trial, hold):
    hold(trial)
