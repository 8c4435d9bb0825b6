from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.pages import masks
from evidence.pages.results import spoken_code, tables, typed, typed_output
from evidence.pages.sections import sections
from evidence.pages.words import comparisons, conclusions, typed_stances
from evidence.project import MacroSettings

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


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "1.8x ",
            "|-|\n",
            "| a | ms |\n|-|-|\n| b | 1 |\n",
            "<table><td>",
            "<pre>\n",
            "](",
            '](a "',
            "$1x",
            '<a title="1.8x faster',
            "`1.8x faster` ",
        ),
        *(
            "twice the ",
            "times ",
            "a factor of ",
            "speedup of ",
            "within ",
            "e.g. ",
            "{{ '",
            "1/2/3",
            "is faster than ",
            "[a]: b ",
            "```\n1.8x\n",
            "    1.8x\n\n",
        ),
        *("cut latency ", "1,1,", "→ 1 s ", "for the a ", "- 1 - 1", "torch ", "measured ", "NVIDIA A"),
    ],
)
def test_reading_is_linear_in_hostile_text(unit: str) -> None:
    text = (unit * 40_000)[:40_000]
    started = time.process_time()
    prose = masks.prose(text, MacroSettings().markers)
    typed(prose, text)
    list(spoken_code(text))
    list(comparisons(prose))
    list(conclusions(prose))
    list(typed_stances(prose))
    sections(prose)
    assert time.process_time() - started < 4
