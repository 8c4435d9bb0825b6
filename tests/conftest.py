"""Owns what all tests share: golden files, rewritten by `--update-golden`, and one headless browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# A shared core makes any deadline a coin toss; the laws hold for few examples as for many.
settings.register_profile("shared", deadline=None, max_examples=40)
settings.load_profile("shared")

# No test answers from an earlier run, and none leaves an answer behind.
os.environ["XDG_CACHE_HOME"] = os.devnull

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


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium, for the tests that look at pages."""
    api = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium on this machine")
    with api.sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()
