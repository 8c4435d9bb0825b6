from __future__ import annotations

import pytest

from evidence.pages.calls import Call, Page, Place, Trouble, read_page
from evidence.project import MacroSettings


def read(body: str, *, front: str = "", **settings: object) -> Page:
    head = f"---\n{front}\n---\n" if front else ""
    return read_page("docs/page.md", head + body, MacroSettings(**settings))  # type: ignore[arg-type]


def troubles(page: Page) -> list[tuple[Trouble, int]]:
    return [(fault.trouble, fault.at.line) for fault in page.faults]


def only(page: Page) -> Call:
    assert len(page.calls) == 1, page
    return page.calls[0]


def test_a_call_is_read_with_its_arguments_and_line() -> None:
    call = only(read('\n\n# Title\n\n{{ ev.chart("toy", kind="bars") }}\n', front="title: x"))
    assert (call.macro, call.arguments, call.keywords) == ("chart", ("toy",), (("kind", "bars"),))
    assert call.is_literal
    assert call.is_direct
    assert call.subject == "toy"
    assert str(call.at) == "docs/page.md:8"


@pytest.mark.parametrize(
    ("body", "is_literal", "is_direct"),
    [
        ('{{ ev.value("a", "ratio") }}', True, True),
        ('{{ ev.value("a", "ratio") | upper }}', True, False),
        ('{{ ev.value("a", "ratio") ~ "!" }}', True, False),
        ('{{ ev.value("a", "ratio").strip() }}', True, False),
        ('{{ ev.value("a", "ratio") if page else "" }}', True, False),
        ('{% if page %}{{ ev.table("a") }}{% endif %}', True, False),
        ('{% for id in ["a"] %}{{ ev.table(id) }}{% endfor %}', False, False),
        ('{% set x = ev.table("a") %}', True, False),
        ('{% macro m() %}{{ ev.table("a") }}{% endmacro %}', True, False),
        ('{{ ev.table(*["a"]) }}', False, True),
        ('{{ ev.table("a" ~ "b") }}', False, True),
    ],
)
def test_calls_anywhere_are_found_and_told_apart(body: str, is_literal: bool, is_direct: bool) -> None:
    call = only(read(body))
    assert (call.is_literal, call.is_direct) == (is_literal, is_direct)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ('{{ ev.table("a") }}', "block"),
        ('    {{ ev.table("a") }}  ', "code"),
        ('!!! note\n\n    {{ ev.table("a") }}', "block"),
        ('- item\n\n    {{ ev.table("a") }}', "block"),
        ('- {{ ev.table("a") }}', "block"),
        ('> {{ ev.table("a") }}', "block"),
        ('see {{ ev.table("a") }}', "inline"),
        ('| {{ ev.value("a", "b") }} |', "inline"),
        ('# {{ ev.value("a", "b") }}', "heading"),
        ('{{ ev.value("a", "b") }}\n=====', "heading"),
        ('```\n{{ ev.table("a") }}\n```', "code"),
        ('- item\n\n    ```\n    {{ ev.table("a") }}\n    ```', "code"),
        ('`{{ ev.table("a") }}`', "code"),
        ('<pre>{{ ev.table("a") }}</pre>', "code"),
        ('<!-- {{ ev.table("a") }} -->', "comment"),
    ],
)
def test_calls_are_placed(body: str, place: Place) -> None:
    assert only(read(body)).place == place


def test_calls_of_one_line_are_placed_one_by_one() -> None:
    page = read('`{{ ev.says("a") }}` and {{ ev.says("b") }}')
    assert [(call.subject, call.place) for call in page.calls] == [("a", "code"), ("b", "inline")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('x\n\n{% raw %}{{ ev.table("a") }}{% endraw %}', [("unrendered", 3)]),
        ('{% raw %}`{{ ev.table("a") }}`{% endraw %}', []),
        ("# Title {#anchor}", [("syntax", 1)]),
        ("x\n{{ ev.table( }}", [("syntax", 2)]),
        ("{{ ev.table }}", [("indirect", 1)]),
        ('{{ ev["table"]("a") }}', [("indirect", 1)]),
        ('{% set t = ev.table %}{{ t("a") }}', [("indirect", 1)]),
        ('{% set ev = "x" %}', [("shadowed", 1)]),
        ("{% for ev in [] %}{% endfor %}", [("shadowed", 1)]),
        ('{% include "other.md" %}', [("included", 1)]),
        ('{% import "m.md" as ev %}', [("included", 1), ("shadowed", 1)]),
        ("x\n{{ nothing }}", [("undefined", 2)]),
        ("{{ page.title }} {{ range(3) }} {{ config.site_name }}", []),
        ("{{ x | nofilter }}", [("syntax", 1)]),
        ('{# {{ ev.table("a") }} #}', []),
    ],
)
def test_what_cannot_be_read_is_a_fault(body: str, expected: list[tuple[Trouble, int]]) -> None:
    assert troubles(read(body)) == expected


def test_names_of_the_configuration_and_the_front_matter_are_defined() -> None:
    assert troubles(read("{{ edition }} {{ author }}", front="author: a", names=frozenset({"edition"}))) == []
    assert troubles(read("{{ anything }}", names=None)) == []


@pytest.mark.parametrize("front", ["render_macros: false", "render_macros: no"])
def test_a_page_that_opts_out_publishes_its_calls(front: str) -> None:
    page = read('{{ ev.table("a") }}\n\n`{{ ev.table("b") }}`\n', front=front)
    assert not page.macros_enabled
    assert page.calls == ()
    assert troubles(page) == [("unrendered", 4)]


def test_front_matter_without_dashes_counts() -> None:
    page = read_page("docs/page.md", 'render_macros: false\n\n{{ ev.table("a") }}\n', MacroSettings())
    # MkDocs reads this as the text "false", which mkdocs-macros does not take for false.
    assert page.macros_enabled


def test_pages_opt_in_by_front_matter_or_path() -> None:
    closed = {"render_by_default": False}
    assert not read("x", **closed).macros_enabled
    assert read("x", front="render_macros: true", **closed).macros_enabled
    assert read("x", force_render_paths=("page.md",), **closed).macros_enabled
    assert not read("x", force_render_paths=("other/",), **closed).macros_enabled


def test_a_front_matter_key_that_hides_the_macros_is_a_fault() -> None:
    assert troubles(read("x", front="title: a\nev: b")) == [("shadowed", 3)]
    assert troubles(read("x", front="ignore_macros: true")) == [("front-matter", 2)]
    assert troubles(read("x", front="a: [1")) == [("front-matter", 1)]
    assert troubles(read("x", front="a: 1\na: 2")) == [], "of two equal keys the build takes the last"


def test_a_call_in_front_matter_is_not_read() -> None:
    front = 'description: x\ntitle: \'{{ ev.value("a", "b") }}\''
    assert troubles(read("x", front=front)) == [("included", 3)]


def test_other_delimiters_are_used() -> None:
    markers = {**MacroSettings().markers, "variable_start_string": "[[", "variable_end_string": "]]"}
    assert only(read('[[ ev.table("a") ]] {{ not_jinja }}', markers=markers)).subject == "a"


def test_a_page_nested_too_deeply_is_a_fault() -> None:
    assert troubles(read("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}")) == [("syntax", 1)]
