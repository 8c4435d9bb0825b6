"""Owns what all tests share: golden files, rewritten by `--update-golden`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# A shared core makes any deadline a coin toss; the laws hold for few examples as for many.
settings.register_profile("shared", deadline=None, max_examples=40)
settings.load_profile("shared")

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what is rendered into tests/golden")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare text with tests/golden/<name>, byte for byte; the diff of the file is what a reviewer reads."""
    update = bool(request.config.getoption("--update-golden"))

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        assert path.exists(), f"no {path.name}: run pytest --update-golden and review it"
        assert path.read_bytes().decode() == text, f"{name} changed: pytest --update-golden, then review the diff"

    return check
