"""The blocks in headless Chromium, over a static page with the stylesheet and the script and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evidence.renderers import html
from evidence.statistics import Verdict
from evidence.views import Figure, Words
from tests.evidence.renderers import views_factory as views

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[3]
WIDTHS, SCHEMES = (360, 768, 1440), ("light", "dark")

LONG = "a-very-long-model-name-without-any-space-in-it-30b-a3b / 16,384"


def wide() -> Any:
    """The usual table with names and reasons longer than any place for them."""
    rows = tuple(replace(row, cells=(Words(LONG), *row.cells[1:])) for row in views.ROWS)
    stance = tuple((label, f"{value} {'x' * 200}") for label, value in views.STANCE)
    return views.table(id="wide", title="W" * 300, rows=rows, stance=stance, footnotes=("y" * 400,))


def page_text() -> str:
    claims = (views.statement(), views.loss(), views.stale(), views.refused())
    listed = [html.Listed(claim, "") for claim in claims]
    inline = html.value(Figure("1.381×", "1.377–1.384", Verdict.BETTER), "skewed-batch")
    blocks = [
        html.board([*listed, html.Unshown("gone", "EV602: expect is better, the log says worse", None)]),
        html.table(views.table()),
        *map(html.claim, claims),
        html.chart(views.table(), "forest"),
        html.chart(views.latency(), "bars"),
        html.chart(views.table(id="again"), "bars"),
        html.table(wide()),
        html.chart(wide(), "forest"),
        html.chart(replace(wide(), id="wider"), "bars"),
        html.environment(views.evidence()),
        html.reproduce((views.evidence(),)),
        f"<p>It runs {inline}. {html.says(views.loss())} {html.error_mark('gone', 'EV602')}</p>",
    ]
    style = (ROOT / "docs/stylesheets/evidence.css").read_text(encoding="utf-8")
    script = (ROOT / "docs/javascripts/evidence.js").read_text(encoding="utf-8")
    # The few rules of the theme that the stylesheet counts on.
    theme = (
        "html{font-size:125%}body{margin:0;background:var(--ev-paper);color:var(--ev-ink);--md-text-font-family:Arial}"
        "*{box-sizing:border-box}article{font:.8rem/1.55 Arial;padding:.8rem;max-width:47rem;margin:auto}"
        "pre{overflow:auto;margin:0}code{white-space:inherit}pre code{white-space:pre}"
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Synthetic</title><meta name="viewport" '
        f'content="width=device-width"><style>{theme}{style}</style></head><body data-md-color-scheme="SCHEME">'
        f'<article class="md-typeset">{"".join(blocks)}</article><script>{script}</script></body></html>'
    )


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Any]:
    contexts = []

    def opener(width: int, scheme: str = "light", **options: Any) -> Page:
        path = tmp_path / f"{scheme}.html"
        path.write_text(page_text().replace("SCHEME", "slate" if scheme == "dark" else "default"), encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.goto(path.as_uri())
        return page

    yield opener
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_overflows_and_nothing_is_fetched(open_page: Any, width: int, scheme: str) -> None:
    page = open_page(width, scheme)
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.reload()
    assert [url for url in fetched if not url.startswith("file:")] == []
    page.evaluate("document.querySelectorAll('details').forEach((fold) => fold.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


OVERLAPS = """() => [...document.querySelectorAll('.ev-plot')].flatMap((plot) => {
  const boxes = [...plot.querySelectorAll('text')].map((text) => [text.textContent, text.getBoundingClientRect()]);
  const hits = [];
  for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
    const [a, b] = [boxes[i][1], boxes[j][1]];
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 0 && high > 3) hits.push([plot.id, boxes[i][0], boxes[j][0]]);
  }
  return hits.concat(boxes.filter(([, box]) => box.left < 0 || box.right > innerWidth).map(([text]) => ['out', text]));
})"""


@pytest.mark.parametrize("width", WIDTHS)
def test_no_label_of_a_chart_covers_another_or_leaves_the_page(open_page: Any, width: int) -> None:
    assert open_page(width).evaluate(OVERLAPS) == []


def test_name_verdict_and_ratio_fit_a_phone_unscrolled(open_page: Any) -> None:
    page = open_page(360)
    right = page.evaluate(
        "Math.max(...[...document.querySelectorAll('#ev-qk-norm td.ev-verdict + td.ev-n')]"
        ".map((cell) => cell.getBoundingClientRect().right))"
    )
    assert right <= 360


def test_the_first_column_stays_while_the_rest_scrolls(open_page: Any) -> None:
    page = open_page(360)
    moved = page.evaluate(
        """() => { const box = document.querySelector('#ev-qk-norm .ev-scroll'); box.scrollLeft = 500;
        return box.querySelector('tbody th').getBoundingClientRect().left - box.getBoundingClientRect().left; }"""
    )
    assert 0 <= moved <= 1


def test_filters_narrow_the_rows_and_the_address(open_page: Any) -> None:
    page = open_page(1440)
    shown = ".ev-board tbody tr:not([hidden])"
    assert page.locator(shown).count() == 5
    page.click("button[data-value=worse]")
    assert page.locator(shown).count() == 1
    assert page.inner_text(".ev-count") == "1 of 5 claims Show all"
    assert page.evaluate("location.hash") == "#verdict=worse"
    page.reload()
    assert page.locator(shown).count() == 1
    page.click("button[data-value=refused]")
    assert page.locator(shown).count() == 3
    page.click(".ev-clear")
    assert page.locator(shown).count() == 5
    assert page.evaluate("location.hash") == ""


def test_without_script_every_row_shows_and_no_filter_does(open_page: Any) -> None:
    page = open_page(1440, java_script_enabled=False)
    assert page.locator(".ev-board tbody tr").count() == 5
    assert page.locator(".ev-board tbody tr").last.is_visible()
    assert not page.locator(".ev-filters").is_visible()


def test_paper_shows_what_the_folds_hold(open_page: Any) -> None:
    page = open_page(1440, "dark")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.ev-fold:not([open])").count() == 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.ev-fold[open]").count() == 0


def test_every_stop_of_the_keyboard_has_a_name(open_page: Any) -> None:
    page = open_page(768)
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll('a, button, summary, [tabindex]')].filter((stop) => {
        const by = stop.getAttribute('aria-labelledby');
        return !(stop.textContent.trim() || stop.ariaLabel || (by && document.getElementById(by)?.textContent));
        }).map((stop) => stop.outerHTML.slice(0, 80))"""
    )
    assert unnamed == []
