from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.pages.numbers import typed_numbers

PIECES = st.sampled_from(
    [
        *(
            "1.8x",
            "2 x 8",
            "+3.6 %",
            "5%",
            "550 tok/s",
            "4 TB/s",
            "35 ms",
            "0.2s",
            "faster",
            "than",
            "speedup of",
            "twice the",
        ),
        *(
            "time",
            "Ⱥİ",
            "…",
            "|",
            ". ",
            "\n",
            "\n\n",
            "- ",
            "≤",
            "~",
            " ",
            "e.g.",
            "1,000",
            "say,",
            "\u00a0",
            "if",
            "within",
        ),
        *("3.", "of peak"),
    ]
)
TEXT = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=30).map("".join))


@given(TEXT)
def test_any_text_is_read(text: str) -> None:
    lines = text.split("\n")
    found = list(typed_numbers(text))
    assert [one.line for one in found] == sorted({one.line for one in found})
    for one in found:
        assert one.text.split()[0] in lines[one.line - 1]


@given(TEXT, st.integers(0, 5))
def test_lines_count_from_the_first(text: str, above: int) -> None:
    moved = [(one.line - above, one.text, one.family) for one in typed_numbers("\n" * above + text)]
    assert moved == [(one.line, one.text, one.family) for one in typed_numbers(text)]


def test_one_number_a_line_is_reported_at_its_line() -> None:
    found = list(typed_numbers("first 1.2x then 1.3x\n\nand 5 ms"))
    assert [(one.line, one.text) for one in found] == [(1, "1.2x"), (3, "5 ms")]


def test_letters_that_grow_when_small_move_nothing() -> None:
    assert [one.text for one in typed_numbers("İİİ it is twice as fast, 1.8x")] == ["twice as fast"]


@pytest.mark.parametrize("text", ["618 -> 6162 tok/s (5.1x)", "Within 1.5 points of the dense model."])
def test_faults_of_the_field_are_found(text: str) -> None:
    assert list(typed_numbers(text))
