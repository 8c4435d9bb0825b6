from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.pages.sources import fault_of, is_source


@pytest.mark.parametrize(
    "source",
    [
        "https://example.org/datasheet.pdf",
        "A. Author et al., A fast kernel, 2023, table 1",
        "arXiv:2307.08691",
        "doi:10.1145/3458817.3476209",
        "vendor datasheet of 2024-11",
        "the post at https://example.org/post",
    ],
)
def test_a_source_can_be_found(source: str) -> None:
    assert is_source(source)
    assert fault_of("external", ("2×", source), ()) is None


@pytest.mark.parametrize(
    "source", ["its page", "a vendor", "TODO", "internal", "2024", "https://localhost/a", "<source>", "…", "tbd 2024"]
)
def test_words_that_lead_nowhere_are_none(source: str) -> None:
    assert not is_source(source)
    fault = fault_of("external", ("2×",), (("source", source),))
    assert fault is not None
    assert source in fault.message


@pytest.mark.parametrize(
    ("device", "is_named"), [("NVIDIA H200", True), ("TODO", False), ("<device>", False), ("1", False)]
)
def test_a_specification_names_its_device(device: str, is_named: bool) -> None:
    assert (fault_of("spec", ("4.8 TB/s",), (("device", device),)) is None) is is_named


def test_other_macros_have_no_source() -> None:
    assert fault_of("target", ("3×",), ()) is None
    assert fault_of("table", ("its page",), ()) is None


@given(st.text(max_size=60))
def test_any_text_is_judged(text: str) -> None:
    fault_of("external", ("1", text), ())
    fault_of("spec", ("1", text), ())
    is_source(text)
