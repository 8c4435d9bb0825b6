"""The frozen gate of comba: its trials against the fp64 reference."""

from __future__ import annotations

OP = "comba"
ALLOWED_SKIPS = ["test_equals_the_reference[chunk-untried]"]


def test_equals_the_reference(trial, hold):
    hold(trial)
