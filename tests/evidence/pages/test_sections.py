from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evidence.pages.sections import feature, sections

PAGE = "# Title\n\nintro\n\n## One\n\na\n\n### Part\n\nb\n\nTwo\n---\n\nc\n"


@given(st.text(st.sampled_from(list("#=- a\n")), max_size=80))
def test_any_text_has_sections(text: str) -> None:
    found = sections(text)
    last = text.count("\n") + 1
    assert (found[0].level, found[0].first, found[0].last) == (0, 1, last)
    assert all(1 <= section.first <= section.last <= last for section in found)
    assert all(feature(found, line).holds(line) for line in range(1, last + 1))


def test_a_section_ends_where_the_next_of_its_level_begins() -> None:
    found = [(one.level, one.title, one.first, one.last) for one in sections(PAGE)]
    assert found == [
        (0, "", 1, 17),
        (1, "Title", 1, 17),
        (2, "One", 5, 12),
        (3, "Part", 9, 12),
        (2, "Two", 13, 17),
    ]


def test_the_feature_section_is_that_of_the_second_level() -> None:
    found = sections(PAGE)
    assert [feature(found, line).title for line in (3, 7, 11, 16)] == ["", "One", "One", "Two"]
