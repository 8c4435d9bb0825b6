from __future__ import annotations

from collections.abc import Callable

import markdown
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.pages.tokens import Mint, Piece, Position

EXTENSIONS = ["tables", "admonition", "attr_list", "md_in_html", "pymdownx.superfences", "pymdownx.tabbed"]
BLOCK = Piece("<section>B</section>", "block", is_block=True)
INLINE = Piece("<b>I</b>", "inline", is_block=False)


def convert(mint: Mint, template: str) -> str:
    return markdown.markdown(template.replace("T", mint.token()[1]), extensions=EXTENSIONS)


def placed(mint: Mint, html: str, piece: Piece) -> str:
    return mint.place(html, mint.find(html), lambda index: piece)


@pytest.mark.parametrize(
    ("template", "position"),
    [
        ("T", "flow"),
        ("text T text", "text"),
        ("text\nT\ntext", "flow"),
        ("*T*", "text"),
        ("# T", "heading"),
        ("- T", "flow"),
        ("- a\n\n    T", "flow"),
        ("!!! note\n\n    T", "flow"),
        ('=== "Name"\n\n    T', "flow"),
        ("| a |\n|---|\n| T |", "flow"),
        ("> T", "flow"),
        ("<div>\nT\n</div>", "flow"),
        ("<details><summary>s</summary>\n\nT\n\n</details>", "flow"),
        ("`T`", "code"),
        ("```\nT\n```", "code"),
        ("<!-- T -->", "comment"),
        ("[T](x)", "link"),
        ("![T](x)", "attribute"),
        ('<span title="T">x</span>', "attribute"),
        ("<script>T</script>", "code"),
    ],
)
def test_a_token_is_found_where_markdown_has_put_it(template: str, position: Position) -> None:
    mint = Mint()
    (found,) = mint.find(convert(mint, template))
    assert found.position == position


@pytest.mark.parametrize(
    ("template", "html"),
    [
        ("T", "<section>B</section>"),
        ("a\n\nT\n\nb", "<p>a</p>\n<section>B</section><p>b</p>"),
        ("a\nT\nb", "<p>a\n</p><section>B</section><p>\nb</p>"),
        ("T\n{: .lede }", "<section>B</section>"),
        ("- T", "<ul>\n<li><section>B</section></li>\n</ul>"),
    ],
)
def test_a_block_divides_its_paragraph(template: str, html: str) -> None:
    mint = Mint()
    assert placed(mint, convert(mint, template), BLOCK) == html


def test_an_inline_piece_stays_in_its_paragraph() -> None:
    mint = Mint()
    assert placed(mint, convert(mint, "a T b"), INLINE) == "<p>a <b>I</b> b</p>"
    assert placed(mint, convert(mint, "T"), INLINE) == "<p><b>I</b></p>"


def test_a_token_of_another_build_is_only_text() -> None:
    here, there = Mint(), Mint()
    forged = there.token()[1]
    assert placed(here, f"<p>{forged}</p>", BLOCK) == f"<p>{forged}</p>"
    assert not here.is_in(forged)


@pytest.mark.parametrize("mangled", [str.upper, str.title, str.swapcase, str.capitalize, str.casefold])
def test_a_mangled_token_is_noticed(mangled: Callable[[str], str]) -> None:
    mint = Mint()
    assert mint.is_in(mangled(f"of {mint.token()[1]}"))


@given(
    st.lists(
        st.sampled_from(["T\n\n", "a T b\n", "- T\n", "> T\n\n", "    T\n", "`T` ", "| T |\n", "**T** "]), max_size=12
    )
)
def test_every_token_is_found_once_in_order_and_none_is_left(parts: list[str]) -> None:
    mint = Mint()
    source = "".join(part.replace("T", mint.token()[1]) for part in parts)
    html = markdown.markdown(source, extensions=EXTENSIONS)
    assert [found.index for found in mint.find(html)] == mint.indices(source)
    assert not mint.is_in(placed(mint, html, BLOCK))
