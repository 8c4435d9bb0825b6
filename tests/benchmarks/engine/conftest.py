"""Owns what tests of engines share: the tiny model, built once."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.engine import models


@pytest.fixture(scope="session")
def tiny() -> Any:
    """The tiny model with its random weights, on this processor."""
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    return models.build(models.find("tiny"), "fp32", "cpu")
