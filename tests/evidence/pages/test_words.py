from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.pages.words import admits_losses, comparisons, conclusions, devices_in, typed_stances

PIECES = st.sampled_from(
    [
        "is faster",
        " than ",
        "beats",
        "the fastest",
        "İ",
        "NVIDIA H200",
        "torch 2.13.0",
        "# ",
        "if ",
        "“",
        '"',
        "?",
        ". ",
        "\n",
        "therefore ",
        "lower is better",
    ]
)
TEXT = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=20).map("".join))


@given(TEXT)
def test_any_text_is_read(text: str) -> None:
    lines = text.split("\n")
    for one in (*comparisons(text), *conclusions(text), *typed_stances(text, ["a (b"])):
        assert one.text.split()[0] in lines[one.line - 1]
    admits_losses(text)


@pytest.mark.parametrize(
    "text",
    [
        "The fused kernel is faster.",
        "It runs much slower on one core.",
        "Ours beats the library call.",
        "The new queue outperforms the old one.",
        "Paging was more memory-efficient there.",
        "It decodes faster than the plain loop.",
        "This is the fastest kernel we know.",
        "A blazing fast decoder.",
        "Fusing improves decode throughput.",
        "The cache reduces mean latency.",
        "Prefetching speeds up training.",
        "State-of-the-art throughput in one line.",
        "A dramatic speedup for long prompts.",
        "With one line, the batch now finishes\nquicker.",
    ],
)
def test_statements_that_compare_are_found(text: str) -> None:
    assert len(list(comparisons(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Is it faster?",
        "Write as fast as possible.",
        "Lower is better.",
        "Above 1 is better.",
        "If it is faster, log it.",
        "Say whether the candidate is faster.",
        "It is not faster.",
        "No form is faster than the bound.",
        "It never beats the baseline.",
        "The aim is to be faster than the library.",
        "It could be faster.",
        'The word "faster than" is refused.',
        "A faster path exists.",
        "The better of the two is taken.",
        "It is faster or slower, as the log says.",
        "The autotuner selects the fastest.",
        "It is better than nothing.",
        "More or less the same.",
        "This reduces boilerplate.",
        "Keep the fast path.",
    ],
)
def test_doubt_wishes_and_directions_are_not(text: str) -> None:
    assert list(comparisons(text)) == []


def test_a_comparison_has_its_line() -> None:
    assert [(one.line, one.text) for one in comparisons("a\n\nb\nit is Faster than c")] == [(4, "Faster")]


@pytest.mark.parametrize(
    "text",
    ["So batching pays off.", "This shows that it scales.", "We recommend it.", "It wins here.", "It is faster."],
)
def test_conclusions_are_found(text: str) -> None:
    assert list(conclusions(text))


@pytest.mark.parametrize("text", ["Nothing here may be recommended.", "It was measured twice.", "The word “wins”."])
def test_what_concludes_nothing_passes(text: str) -> None:
    assert list(conclusions(text)) == []


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        ("We ran it on NVIDIA H200.", "a device", "NVIDIA H200"),
        ("On an H100 it holds.", "a device", "H100"),
        ("An RTX 4090 was used.", "a device", "RTX 4090"),
        ("AMD MI300X has more.", "a device", "AMD MI300X"),
        ("Measured with torch 2.13.0.", "a version", "torch 2.13.0"),
        ("CUDA 13.0 and driver 580.65 were there.", "a version", "CUDA 13.0"),
        ("Under vLLM v0.11.2 it ran.", "a version", "vLLM v0.11.2"),
        ("It ran on Synthetic One.", "a device", "Synthetic One"),
    ],
)
def test_a_typed_stance_is_found(text: str, kind: str, found: str) -> None:
    first = next(typed_stances(text, ["Synthetic One"]))
    assert (first.kind, first.text) == (kind, found)


@pytest.mark.parametrize(
    "text",
    [
        "It needs Python 3.11 or newer.",
        "Supported since torch 2.4.",
        "Works with triton 3.2 and up.",
        "## NVIDIA H200",
        "See rule EV101 and P99.",
        "An L2 cache and a GEMM of M4096.",
        "Chapter A1 of the book.",
        "Version 2.0 of the schema.",
        "The H of H-major.",
    ],
)
def test_what_is_no_stance_passes(text: str) -> None:
    assert list(typed_stances(text, ["Synthetic One"])) == []


def test_devices_of_headings() -> None:
    assert devices_in("On NVIDIA H200 and L40S") == ("NVIDIA H200", "L40S")
    assert devices_in("Fused QK-RMSNorm") == ()


@pytest.mark.parametrize(
    ("text", "admits"),
    [
        ("### Where it loses", True),
        ("On short prompts it is slower.", True),
        ("There is no gain below that.", True),
        ("All is well.", False),
        ("", False),
    ],
)
def test_words_that_tell_of_losses(text: str, admits: bool) -> None:
    assert admits_losses(text) is admits
