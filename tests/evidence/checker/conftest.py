"""Owns the repository that the checker's tests share, and a fresh site in it for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evidence.checker.sites import Site, repository


@pytest.fixture(scope="session")
def shared_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repository(tmp_path_factory.mktemp("repository"))


@pytest.fixture
def site(shared_repository: Path) -> Site:
    return Site(shared_repository)
