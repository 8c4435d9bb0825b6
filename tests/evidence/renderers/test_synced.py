"""What sync writes reads the same as Markdown and as raw HTML, whatever a log holds."""

from __future__ import annotations

import dataclasses
import html
import re

import markdown
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.renderers import synced
from evidence.statistics import Verdict
from evidence.views import Banner, Figure, Labelled, Statement
from tests.evidence.renderers import views_factory

HOSTILE = st.lists(
    st.sampled_from([*"abc 019.,×%–-+*_`~[](){}<>!#|\\&@$:=/\"'\n", "-->", "<!--", "&amp;", "http://", "www."]),
    max_size=40,
).map("".join)


def statement() -> Statement:
    return views_factory.statement()


def seen(text: str) -> str:
    """The words that a reader sees of HTML without markup."""
    return html.unescape(re.sub(r"</?p>", "", text)).strip()


@given(HOSTILE)
def test_any_text_stays_text_in_markdown_and_in_html(text: str) -> None:
    escaped = synced.escape(text)
    assert "\n" not in escaped
    assert "-->" not in escaped
    assert "<" not in escaped
    as_html = re.sub(r"\s", "", seen(f"<p>x {escaped} x</p>"))
    assert as_html == re.sub(r"\s", "", f"x{text}x")
    assert as_html == re.sub(r"\s", "", seen(markdown.markdown(f"x {escaped} x")))


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("1.16× (95 % 1.15–1.17), n 9", "1.16× (95 % 1.15–1.17), n 9"),
        ("wall_time of toy_3b", "wall_time of toy_3b"),
        ("_a_ *b* `c`", "&#95;a&#95; &#42;b&#42; &#96;c&#96;"),
        ("see #12 and @docs", "see &#35;12 and &#64;docs"),
        ("https://example.org www.example.org", "https&#58;//example.org www&#46;example.org"),
        ("a <!-- b --> & c", "a &lt;!-- b --&gt; &amp; c"),
        ("{{ ev.x }} | [y](z)", "&#123;&#123; ev.x &#125;&#125; &#124; &#91;y&#93;(z)"),
    ],
)
def test_what_needs_no_escape_has_none(text: str, escaped: str) -> None:
    assert synced.escape(text) == escaped


def test_a_number_has_its_interval_and_a_label() -> None:
    assert synced.value(Figure("1.16×", "1.15–1.17", Verdict.BETTER)) == "1.16× (95 % 1.15–1.17)"
    assert synced.value(Figure("64", "exact")) == "64 (exact)"
    assert synced.value(Figure("bf16")) == "bf16"
    labelled = Labelled(Figure("1.4 ms", "1.3–1.5 ms"), ("imported from hyperfine", "one session"), ("k/x_20260901",))
    assert synced.diagnostic(labelled) == "1.4 ms (95 % 1.3–1.5 ms) (diagnostic: imported from hyperfine; one session)"


def test_a_status_stands_beside_the_sentence() -> None:
    shown = dataclasses.replace(statement(), banner=Banner("historical", "before the rewrite"))
    assert synced.says(shown).endswith(" (historical: before the rewrite)")
    assert synced.claim(shown).endswith(" (historical: before the rewrite)")
    assert synced.callout(shown, "docs/").startswith("**historical**: before the rewrite\n\n")


@pytest.mark.parametrize("start", ["- a", "+ b", "# c", "1. d", "12) e", "---", "=", "## f"])
def test_a_sentence_on_a_line_of_its_own_begins_no_list_or_heading(start: str) -> None:
    shown = dataclasses.replace(statement(), sentence=(f"{start} and so on",))
    assert markdown.markdown(synced.callout(shown, "docs/")).startswith("<p>")


def test_a_ratio_at_the_start_of_a_line_is_left_as_it_is() -> None:
    shown = dataclasses.replace(statement(), sentence=("1.25× faster, +5 %",))
    assert synced.callout(shown, "docs/").startswith("1.25× faster, +5 %\n")
