"""The frozen gate of hgrn: its trials against the fp64 reference."""

from __future__ import annotations

OP = "hgrn"
ALLOWED_SKIPS = ["test_equals_the_reference[chunk-untried]"]


def test_equals_the_reference(trial, hold):
    hold(trial)
