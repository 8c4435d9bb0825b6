"""Finding the blocks that `evidence sync` fills: what is one, what is text, what is a mistake."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.pages import masks
from evidence.pages.blocks import Block, blank, parse
from evidence.project import MacroSettings

CLOSE = "<!-- /evidence -->"
MARKERS = MacroSettings().markers
PIECES = st.sampled_from(
    [
        *("<!-- evidence: claim a -->", "<!-- evidence: table b -->", "<!-- evidence: value c ratio -->", CLOSE),
        *("<!-- evidence: says d log=k/x_20261101 seal=0123456789ab -->", "<!-- evidence: allow EV701 -->"),
        *(
            "<!-- evidence",
            "-->",
            "<!--",
            "```",
            "`",
            "\n",
            "\r\n",
            "\n\n",
            "    ",
            "- ",
            "> ",
            "<div>",
            "<pre>",
            "</pre>",
        ),
        *("words", "# 1.2.0", "## Unreleased", "|", "\ufeff", "~~~", "$", "{{"),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=40).map("".join)


def only(text: str) -> Block:
    found = parse(text)
    assert not found.faults
    (block,) = found.blocks
    return block


def inner(text: str, block: Block) -> str:
    return text[slice(*block.inner)]


def test_an_inline_block_is_found_with_its_offsets() -> None:
    text = f"- Batching: <!-- evidence: claim skewed-batch -->On X, 1.2×.{CLOSE} And more.\n"
    block = only(text)
    assert (block.kind, block.id, block.field, block.line, block.is_inline) == ("claim", "skewed-batch", "", 1, True)
    assert inner(text, block) == "On X, 1.2×."
    assert text[block.start : block.end].startswith("<!--")
    assert text[block.end :] == " And more.\n"


def test_a_value_names_its_field_and_a_seal_its_logs() -> None:
    text = (
        f"x <!-- evidence: value a latency.candidate:ms log=k/a_20261101 log=k/b_20261101 seal=0123456789ab -->1{CLOSE}"
    )
    block = only(text)
    assert block.field == "latency.candidate:ms"
    assert block.logs == ("k/a_20261101", "k/b_20261101")
    assert block.seal == "0123456789ab"
    assert block.key == "value a latency.candidate:ms"


def test_a_block_on_lines_of_its_own_knows_how_lines_end() -> None:
    text = f"\ufeff<!-- evidence: table t -->\r\n\r\n| a |\r\n\r\n{CLOSE}\r\nmore"
    block = only(text)
    assert not block.is_inline
    assert block.newline == "\r\n"
    assert block.indent == ""


def test_a_table_may_be_asked_for_on_one_line() -> None:
    assert not only(f"<!-- evidence: table t -->{CLOSE}").is_inline


@pytest.mark.parametrize(
    "text",
    [
        f"```\n<!-- evidence: claim a -->x{CLOSE}\n```\n",
        f"~~~md\n<!-- evidence: table a -->\n{CLOSE}\n~~~\n",
        f"`<!-- evidence: claim a -->x{CLOSE}`\n",
        f"Text.\n\n    <!-- evidence: claim a -->x{CLOSE}\n",
        f"<div>\n<!-- evidence: claim a -->x{CLOSE}\n</div>\n",
        f'<p align="center">\n<!-- evidence: table a -->\nx\n{CLOSE}\n</p>\n',
        f"<pre>\n<!-- evidence: claim a -->x{CLOSE}\n</pre>\n",
        f"<!-- not now:\n<!-- evidence: claim a -->x{CLOSE}"[: -len(CLOSE)] + "\n",
        '<!-- evidence: allow EV701 because="x" owner="@y" until=2027-01-01 -->\n',
        "The word evidence, and <!-- a comment -->.\n",
    ],
)
def test_what_is_text_is_neither_block_nor_mistake(text: str) -> None:
    found = parse(text)
    assert not found.blocks
    assert not found.faults


def test_a_block_below_a_blank_line_inside_an_html_element_is_markdown() -> None:
    assert only(f"<details>\n\n<!-- evidence: claim a -->\nx\n{CLOSE}\n\n</details>\n").id == "a"


@pytest.mark.parametrize(
    ("text", "line", "message", "fix"),
    [
        ("a\n<!-- evidence: claim a -->\nx\n", 2, "is not closed before the text ends", CLOSE),
        (f"<!-- evidence: claim a -->\nx\n<!-- evidence: says b -->y{CLOSE}\n{CLOSE}\n", 1, "line 3 begins", "nest"),
        (f"a\n\n{CLOSE}\n", 3, "does not begin", "opening"),
        (f"<!-- evidence: clam a -->x{CLOSE}\n", 1, "'clam'", "did you mean 'claim'?"),
        (f"<!-- evidence claim a -->x{CLOSE}\n", 1, "colon", "<!-- evidence: claim ID -->"),
        (f"<!-- evidence: claim -->x{CLOSE}\n", 1, "needs ID", "<!-- evidence: claim ID -->"),
        (f"<!-- evidence: value a -->x{CLOSE}\n", 1, "needs FIELD", "value ID FIELD"),
        (f"<!-- evidence: claim a b -->x{CLOSE}\n", 1, "too many", "claim ID"),
        (f"<!-- evidence: -->x{CLOSE}\n", 1, "nothing to fill in", "claim ID"),
        (f"x <!-- evidence: claim a seal=0123456789ab -->x{CLOSE}\n", 1, "log=", "--seal"),
        (f"x <!-- evidence: claim a log=k/a_20261101 seal=zz -->x{CLOSE}\n", 1, "12 hex", "--seal"),
        (f"x <!-- evidence: claim a sael=0123456789ab -->x{CLOSE}\n", 1, "'sael'", "--seal"),
        (f"- <!-- evidence: table t -->\n  x\n  {CLOSE}\n", 1, "at the margin", "move"),
        (f"  <!-- evidence: table t -->\n  x\n  {CLOSE}\n", 1, "at the margin", "move"),
        (f"words <!-- evidence: table t -->x{CLOSE}\n", 1, "lines of its own", "move"),
        (f"<!-- evidence: claim t -->\nx{CLOSE}\n", 1, "does not end on one", "alone on its line"),
        (f"x <!-- evidence: claim t -->\n\nx{CLOSE}\n", 1, "not closed in its paragraph", CLOSE),
        ("x <!-- evidence: claim t", 1, "comment is not closed", "-->"),
    ],
)
def test_each_mistake_is_told_once_with_its_line(text: str, line: int, message: str, fix: str) -> None:
    (fault,) = parse(text).faults
    assert fault.line == line
    assert message in fault.message
    assert fix in fault.fix


def test_a_block_after_one_that_is_not_closed_is_still_found() -> None:
    found = parse(f"<!-- evidence: claim a --> lost\n\n<!-- evidence: claim b -->x{CLOSE}\n")
    assert [block.id for block in found.blocks] == ["b"]


@pytest.mark.parametrize(
    ("above", "release"),
    [
        ("## [1.2.0] - 2026-11-01\n\n### Added\n\n", "[1.2.0] - 2026-11-01"),
        ("## [Unreleased]\n\n### Added\n\n", ""),
        ("## 1.1\n\n## [Unreleased]\n\n", ""),
        ("v2.0.0\n======\n\n", "v2.0.0"),
        ("# Changelog\n\n", ""),
        ("", ""),
    ],
)
def test_a_block_knows_the_release_it_stands_under(above: str, release: str) -> None:
    assert only(f"{above}- <!-- evidence: claim a -->x{CLOSE}\n").release == release


def test_a_line_that_begins_with_a_block_does_not_look_like_code() -> None:
    blanked = blank(f"a\n\n<!-- evidence: claim a -->\n{CLOSE}\n<!-- evidence: says a -->9×{CLOSE} and 8× typed\n")
    assert "8× typed" in masks.prose(blanked, MARKERS)
    assert "9×" not in blanked


def test_blanking_keeps_lines_and_everything_else() -> None:
    text = (
        f"a <!-- evidence: says a -->9×{CLOSE}\n<!-- evidence: table t -->\n9×\n{CLOSE}\n`<!-- evidence: claim a -->`\n"
    )
    blanked = blank(text)
    assert len(blanked) == len(text)
    assert blanked.count("\n") == text.count("\n")
    assert "9×" not in blanked
    assert blanked.endswith("`<!-- evidence: claim a -->`\n")


@given(TEXTS)
def test_any_text_is_read_and_blocks_stand_apart(text: str) -> None:
    found = parse(text)
    end = 0
    for block in found.blocks:
        assert end <= block.start < block.inner[0] <= block.inner[1] < block.end <= len(text)
        assert text[block.start : block.inner[0]].startswith("<!--")
        assert text[block.inner[1] : block.end].endswith("-->")
        end = block.end
    assert len(blank(text)) == len(text)


@given(TEXTS, st.text(alphabet="ab`<>\n|- 0×~{}$", max_size=30))
def test_what_stands_in_a_block_decides_nothing_outside_it(text: str, content: str) -> None:
    """Filling a block on its own lines leaves every other block and mistake where it was."""
    before = parse(text)
    for chosen in before.blocks:
        if chosen.is_inline:
            continue
        filled = f"{text[: chosen.inner[0]]}\n{content}\n{text[chosen.inner[1] :]}"
        after = parse(filled)
        assert [block.key for block in after.blocks] == [block.key for block in before.blocks]
        assert [fault.message[:20] for fault in after.faults] == [fault.message[:20] for fault in before.faults]


@pytest.mark.parametrize("unit", ["<!-- evidence", f"<!-- evidence: claim a -->{CLOSE}\n\n# 1.0\n\n<div>\n\n", "<!--"])
def test_reading_is_linear_in_hostile_text(unit: str) -> None:
    started = time.process_time()
    parse((unit * 100_000)[:100_000])
    assert time.process_time() - started < 2
