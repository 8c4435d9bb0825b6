from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.pages import masks
from evidence.project import MacroSettings

MARKERS = MacroSettings().markers
TEXT = st.text(st.sampled_from(list("`~ \n-*a1.<>!/$()[]{}#%=\t'\"")), max_size=200)


def prose(body: str) -> str:
    return masks.prose(body, MARKERS)


@given(TEXT)
def test_masks_keep_length_and_lines(body: str) -> None:
    for masked in (prose(body), masks.code(body), masks.comments(body), masks.blocks(body), masks.jinja(body, MARKERS)):
        assert len(masked) == len(body)
        assert masked.count("\n") == body.count("\n")
        assert all(new in (old, " ") for old, new in zip(body, masked, strict=True))


@pytest.mark.parametrize(
    "hidden",
    [
        "`X`",
        "``a ` X``",
        "```\nX\n```",
        "~~~ text\nX\n~~~",
        "- item\n\n    ```\n    X\n    ```",
        "text\n\n    X\n",
        "<!-- X -->",
        "<!-- X",
        "<pre>X</pre>",
        '<span class="X">a</span>',
        "[text](http://host/X)",
        "[text]: X",
        "https://host/X",
        "$X$",
        "$$\nX\n$$",
        "# Title {#X}",
        "# Title { .X }",
        '{{ ev.value("X") }}',
        "{% set a = X %}",
        "{# X #}",
    ],
)
def test_what_is_no_prose_is_masked(hidden: str) -> None:
    assert "X" not in prose(hidden)


@pytest.mark.parametrize(
    "shown",
    [
        "X",
        "- item\n    X",
        "- item\n\n    X",
        "!!! note\n\n    X",
        '=== "Tab"\n\n    X',
        "> X",
        "| X |",
        "[X](target)",
        "<span>X</span>",
        '<span title="X">a</span>',
        "<img alt='X'>",
        '[a](target "X")',
        '{{ "X" }}',
        "{% set a = 'X' %}",
        "text\n    X",
        "# X",
        "costs $5, X, and $6",
        "a ` X",
        '{{ ev.value("a", "b") }} X',
    ],
)
def test_what_is_prose_stays(shown: str) -> None:
    assert "X" in prose(shown)


def test_fences_are_found_in_lists_and_unclosed() -> None:
    found = list(masks.fences("```bash\na\n```\n\n- x\n\n    ~~~\n    b\n    ~~~\n\n```\nc\n"))
    assert [(fence.info, fence.opens, fence.closes, fence.is_closed) for fence in found] == [
        ("bash", 1, 3, True),
        ("", 7, 9, True),
        ("", 11, 13, False),
    ]


def test_containers_without_content_are_found() -> None:
    body = '!!! note "Empty"\n\n{{ x }}\n\n=== "Tab"\n\n    ```\n    a\n    ```\n'
    assert list(masks.empty_containers(body)) == [(1, '!!! note "Empty"')]
