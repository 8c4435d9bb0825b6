"""Tests of the benchmark of the checker, run from the repository's top as the command is."""

from __future__ import annotations

import pytest

from benchmarks import ROOT


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
