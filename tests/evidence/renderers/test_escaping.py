"""Text from records is hostile: whatever stands in any field, the page has the same elements and nothing else."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence.diagnostics import Finding, Location
from evidence.renderers import html, markdown, terminal
from evidence.renderers.json import to_json
from evidence.renderers.markup import address, anchor, escape
from evidence.renderers.text import TEXT_LIMIT, visible
from evidence.views import Absent, Ceiling, Figure, Shown, Statement, Table
from tests.evidence.renderers import views_factory as views
from tests.evidence.renderers.markup_checks import parsed

ATTACKS = (
    "<script>alert(1)</script>",
    "</td></tr></table><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)" x=\'',
    "a | b || c",
    "`code` ``more`` ```",
    "{{ config }} {% raw %} {# x #} ${{ x }}",
    "]]> <![CDATA[ <!-- --> <?php",
    "\u202egnp.exe\u2066\u200f\u200b\ufeff",
    "nul \x00 bell \x07 escape \x1b[31m",
    "\ud800 lone",
    "line\n\n\nbreaks\r\nand\ttabs\u2028\u2029",
    "[link](javascript:alert(1)) https://example.invalid www.example.invalid",
    "javascript:alert(1)",
    "&lt;b&gt; &amp; &#60;",
    "*bold* _under_ ~strike~ $math$ @name #1 !img",
    "# heading",
    "- item",
    "1. item",
    "",
    " ",
    "/evidence --><b>",
)
hostile = st.one_of(
    st.sampled_from(ATTACKS),
    st.text(),
    st.text(alphabet="<>&\"'`{}|[]()*_\\#!-/=\n\r\t \u202e\x00ab1.", max_size=40),
)
relaxed = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

# Chosen from closed sets: no text of a record reaches them. Labels of a stance are ours too.
CLOSED = {"kind", "outcome", "verdict", "state", "status", "is_baseline"}


def poisoned(value: Any, deal: Callable[[str], str]) -> Any:
    """The view with other text in every field that holds text and is not empty."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        closed = {"verdict"} if isinstance(value, Statement) else CLOSED
        changes = {name: poisoned(part, deal) for name, part in fields.items() if name not in {*closed, "stance"}}
        if "stance" in fields:
            changes["stance"] = tuple((label, deal(text)) for label, text in fields["stance"])
        return dataclasses.replace(value, **changes)
    if isinstance(value, tuple):
        return tuple(poisoned(item, deal) for item in value)
    return deal(value) if isinstance(value, str) and value else value


def poison(view: Any, data: st.DataObject) -> Any:
    """A few texts, dealt out in turn, equal ones for equal ones: one draw a field would be hundreds."""
    texts = itertools.cycle(data.draw(st.lists(hostile.filter(bool), min_size=1, max_size=7)))
    dealt: dict[str, str] = {}
    return poisoned(view, lambda text: dealt.setdefault(text, next(texts)))


BLOCKS: dict[str, Callable[[Table, Statement], str]] = {
    "table": lambda table, _: html.table(table, "../"),
    "forest": lambda table, _: html.chart(table, "forest", "../"),
    "bars": lambda table, _: html.chart(table, "bars", "../"),
    "roofline": lambda table, claim: html.roofline(
        views.roofline(
            id=table.id,
            title=table.title,
            unit=claim.note,
            arms=((claim.word, True),),
            points=(
                views.point(table.title, claim.word, 0.75, views.measured(210.0, 4.0)),
                views.point(table.title, claim.word, None, Absent("crashed", claim.note)),
            ),
            ceilings=(Ceiling("measured", 9e14, 1e12, claim.note, claim.kind, table.title),),
            unknown=(claim.note,),
            evidence=table.evidence,
        ),
        "../",
    ),
    "claim": lambda _, claim: html.claim(claim, "../"),
    "says": lambda _, claim: html.says(claim, "../", claim.kind),
    "board": lambda table, claim: html.board([html.Listed(claim, claim.id), html.Unshown(table.id, table.title, None)]),
    "environment": lambda table, _: html.environment(table.evidence[0]),
    "reproduce": lambda table, _: html.reproduce(table.evidence),
    "value": lambda _, claim: html.value(Figure(claim.note, claim.kind, claim.verdict), claim.id, "../", claim.id),
    "error": lambda table, claim: html.error_box(
        table.id, [(table.title, Finding(Location(claim.id), claim.note, claim.kind))]
    ),
    "mark": lambda table, claim: html.error_mark(table.id, claim.id),
    "waiver": lambda table, claim: html.waiver(table.id, claim.note, claim.kind, date(2030, 1, 1)),
    "borrowed": lambda table, claim: html.borrowed("external", claim.note, claim.kind),
}
# Shapes that say whether a path led anywhere, and marks that say whether a sense could be read.
LINKS = {"a", "span"}


@pytest.mark.parametrize("name", BLOCKS)
@relaxed
@given(data=st.data())
def test_text_in_any_field_changes_no_element(name: str, data: st.DataObject) -> None:
    clean_views = (views.table(), views.stale())
    dirty = poison(clean_views[0], data), poison(clean_views[1], data)
    clean, found = parsed(BLOCKS[name](*clean_views)), parsed(BLOCKS[name](*dirty))
    assert [tag for tag in found.shape if tag not in LINKS] == [tag for tag in clean.shape if tag not in LINKS]
    assert len(found.links) <= len(clean.links)


@given(hostile)
def test_escaped_text_reads_back_as_what_is_visible(text: str) -> None:
    assert parsed(f"<p>{escape(text)}</p>").text == visible(text)


@given(hostile, st.integers(1, 30))
def test_visible_text_is_cut(text: str, limit: int) -> None:
    shown = visible(text, limit)
    assert len(shown) <= 10 * limit
    assert text.replace("\r\n", "\n").startswith(shown) or shown != text


def test_a_megabyte_is_cut_with_an_ellipsis() -> None:
    huge = "<&\u202e" * 400_000
    table = html.table(views.table(title=huge))
    assert len(table) < 120_000
    assert "…" in table
    assert len(visible("x" * 10**6)) == TEXT_LIMIT
    assert visible("x" * 10**6).endswith("…")


def test_what_cannot_be_seen_is_written_out() -> None:
    assert visible("a\u202eb\x00c\ud800d\U000e0041\u2007 e") == "a\\u202eb\\x00c\\ud800d\\U000e0041\u2007 e"


@given(hostile)
def test_ids_are_safe_and_tell_names_apart(name: str) -> None:
    assert anchor(name).replace("-", "").isalnum()
    assert anchor(name).isascii()
    assert anchor(name) != anchor(name + "x")


@given(hostile, st.sampled_from(["", "./", "../", "../../"]), hostile)
def test_addresses_never_leave_the_site(path: str, root: str, fragment: str) -> None:
    target = address(root, path, fragment)
    if target is not None:
        assert target.startswith(root or "./")
        way = target[len(root) :].partition("#")[0]
        assert ":" not in target
        assert "//" not in way
        assert ".." not in way.split("/")


@pytest.mark.parametrize("path", ["/etc/passwd", "//example.invalid/x", "../secret", "a/../../b", "a//b", ".."])
def test_paths_that_leave_the_site_are_no_address(path: str) -> None:
    assert address("../", path) is None


@pytest.mark.parametrize("root", ["/", "https://example.invalid/", "a/", "..//"])
def test_a_root_is_a_relative_way_up(root: str) -> None:
    with pytest.raises(ValueError, match="not a way to the root"):
        address(root, "a")


def cells_of(line: str) -> int:
    """Cells of a GitHub table row: pipes that no backslash precedes."""
    count, escaped = 0, False
    for character in line:
        count += character == "|" and not escaped
        escaped = character == "\\" and not escaped
    return count - 1


@relaxed
@given(data=st.data())
def test_markdown_keeps_the_number_of_cells(data: st.DataObject) -> None:
    table = poison(views.table(), data)
    lines = markdown.table(table).split("\n")
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 2 + len(table.rows)
    assert {cells_of(line) for line in rows} == {len(table.columns)}
    assert "<" not in "".join(lines)
    assert "`" not in "".join(lines).replace("\\`", "")


@given(hostile)
def test_markdown_text_is_one_line_without_markup(text: str) -> None:
    escaped = markdown.escape(text)
    assert not {*escaped} & {*"\n\r\t<>$~@"}
    assert "://" not in escaped


@pytest.mark.parametrize("start", ["- x", "+ x", "1. x", "12) x", "# x", "> x", "=== x"])
def test_a_sentence_in_markdown_never_starts_a_block(start: str) -> None:
    line = markdown.statement(views.statement(sentence=(start,)))
    assert not line[:3].startswith(("- ", "+ ", "1.", "12)", "# ", "> ", "=="))


@relaxed
@given(data=st.data())
def test_a_terminal_gets_no_control_character(data: st.DataObject) -> None:
    text = terminal.table(poison(views.table(), data)) + terminal.statement(poison(views.stale(), data))
    assert not [mark for mark in text if mark != "\n" and not mark.isprintable() and not mark.isspace()]
    assert "\x1b" not in text


@relaxed
@given(data=st.data())
def test_json_keeps_every_text(data: st.DataObject) -> None:
    assert to_json(poison(views.table(), data)).isascii()


def test_empty_ends_are_an_exact_number() -> None:
    exact = dataclasses.replace(views.measured(12, 0, 0), shown=Shown("12"))
    row = views.row("1", "2", exact, exact, views.no_ratio(views.Verdict.REFUSED, ""))
    assert "12 [" not in markdown.table(views.table(rows=(row,)))
