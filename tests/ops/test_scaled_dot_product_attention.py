"""The frozen gate of scaled_dot_product_attention: its trials against the fp64 reference."""

from __future__ import annotations

OP = "scaled_dot_product_attention"
ALLOWED_SKIPS = ["test_equals_the_reference[cudnn-untried]", "test_equals_the_reference[efficient-untried]"]


def test_equals_the_reference(trial, hold):
    hold(trial)
