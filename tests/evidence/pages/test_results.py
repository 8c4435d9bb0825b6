from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.pages.results import tables, typed, typed_output

PIECES = st.sampled_from(
    [
        "| a | ms |\n",
        "|---|--:|\n",
        "| x | 1.5 |\n",
        "||",
        "|\n",
        "```text\n",
        "```\n",
        "1.8x\n",
        "~~~",
        "a: 5.1 ms\n",
        "$ run\n",
        "\n",
    ]
)
TEXT = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=20).map("".join))
TABLE = "| arm | time, ms |\n|---|--:|\n| eager | 1.5 |\n"


@given(TEXT)
def test_any_text_is_read(text: str) -> None:
    found = tables(text)
    assert len(found.rest) == len(text)
    assert found.rest.count("\n") == text.count("\n")
    last = text.count("\n") + 1
    assert all(0 <= one.line <= last for one in typed(text, text))


def test_a_table_is_one_result_at_its_head() -> None:
    rows = "| fused | 1.1 ms |\n" * 3
    assert [(one.line, one.family) for one in typed(f"text\n\n{TABLE}{rows}\n1.8x faster", "")] == [
        (10, "ratio"),
        (3, "table"),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [("time, ms", "rows"), ("1.5", "text"), ("1.5", "1.2.3"), ("ms", "default")],
)
def test_a_table_without_measurements_is_none(old: str, new: str) -> None:
    text = TABLE.replace(old, new)
    assert (
        tables(text if new != "default" else text.replace("arm", "flag").replace("time, default", "default")).typed
        == ()
    )


def test_a_table_of_options_is_not_read_for_numbers() -> None:
    text = "| flag | description |\n|---|---|\n| a | replays 10x faster |\n"
    assert list(typed(text, "")) == []


def test_words_in_a_table_of_text_are_read() -> None:
    text = "| change | why |\n|---|---|\n| fused | it is 1.8x faster |\n"
    assert [(one.line, one.family) for one in typed(text, "")] == [(3, "ratio")]


def test_pasted_output_is_found_and_code_is_not() -> None:
    assert [one.line for one in typed_output("a\n\n```text\nthroughput: 550 tok/s\n```")] == [3]
    assert list(typed_output("```python\nx = '550 tok/s'\n```")) == []
    assert list(typed_output("```bash\nbench --rate 550 req/s\n```")) == []
