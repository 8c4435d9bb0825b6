"""The frozen gate of qk_norm: its trials against the fp64 reference."""

from __future__ import annotations

OP = "qk_norm"
ALLOWED_SKIPS = ["test_equals_the_reference[liger-untried]"]


def test_equals_the_reference(trial, hold):
    hold(trial)
