from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mkdocs.utils import meta

from evidence.pages.front_matter import split

PAGES = [
    "",
    "# Only a body\n",
    "---\ntitle: x\n---\nbody\n",
    "---\ntitle: x\n...\n\n\nbody\n",
    "render_macros: false\n\nbody\n",
    "title: x\n    and more\nbody\n",
    "---\n---\nbody\n",
    "---\n[not closed\n---\nbody\n",
    "---\n- a list\n---\nbody\n",
    "---\nrender_macros: no\n---\nbody\n",
    "---\nx: !python/name:os.system\n---\nbody\n",
    "\n\nbody\n",
]
LETTERS = st.text(st.sampled_from(list("-a: \n\t.x#'[{1")))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_split_as_mkdocs_splits_it(page: str) -> None:
    body, data = meta.get_data(page)
    front = split(page)
    assert (front.body, dict(front.meta)) == (body, data)


@given(LETTERS)
def test_any_page_is_split_as_mkdocs_splits_it(page: str) -> None:
    assert split(page).body == meta.get_data(page)[0]


@given(LETTERS)
def test_lines_of_the_body_are_lines_of_the_file(inside: str) -> None:
    page = f"---\n{inside}\n---\n\nfirst\nsecond\n"
    front = split(page)
    lines = page.split("\n")
    assert lines[front.offset :] == front.body.split("\n")


def test_hostile_front_matter_is_refused_or_read_without_running() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(20)
    )
    assert "a" in split(f"---\n{bomb}---\nbody\n").meta
    assert split(f"---\n{'[' * 5000}\n---\nbody\n").fault
    assert "name" in split("---\nx: !!python/name:os.system\n---\nbody\n").fault


def test_the_line_of_a_key_is_found() -> None:
    page = "---\ntitle: x\nrender_macros: false\n---\nbody\n"
    assert split(page).line_of(page, "render_macros") == 3
    assert split(page).line_of(page, "missing") == 1
