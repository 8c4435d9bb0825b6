"""A gate with one test that fails."""

from __future__ import annotations


def test_right() -> None:
    assert True


def test_wrong() -> None:
    assert 1.02 == 1.0, "an output is off by two per cent"
