"""The project's own site: it builds strictly from this checkout, and a reader can read it on any screen."""

from __future__ import annotations

import functools
import http.server
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
PAGES = ("", "optimization_features/", "benchmark_models/", "check_cost/", "rules/EV101/", "logs/")


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """Say nothing: the tests print what matters."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as CI does."""
    built = tmp_path_factory.mktemp("own") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(built)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return built


@pytest.fixture(scope="module")
def site(built: Path) -> Iterator[str]:
    """Serve the site on loopback."""
    handler = functools.partial(_Quiet, directory=str(built))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def test_a_reader_can_verify_it_alone(built: Path) -> None:
    command = [sys.executable, "-I", "-S", str(built / "reverify.py"), str(built)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r"verified [0-9]+ records, [0-9,]+ printed values: ok\n", done.stdout)


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1440])
def test_every_page_fits_the_screen_and_fetches_nothing_from_outside(
    browser: Browser, site: str, width: int, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    fetched: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    for path in PAGES:
        page.goto(site + path)
        page.evaluate("document.querySelectorAll('details').forEach((fold) => fold.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    context.close()
    assert [url for url in fetched if not url.startswith((site, "data:"))] == []
    assert errors == []


@pytest.mark.browser
def test_the_home_page_lists_every_claim(browser: Browser, site: str) -> None:
    page = browser.new_page()
    page.goto(site)
    shown = page.locator(".ev-table--board tbody tr").count()
    page.close()
    written = sum(
        line.startswith("    statement:")
        for path in ROOT.glob("docs/claims/*.yml")
        for line in path.read_text().split("\n")
    )
    assert shown == written > 0
