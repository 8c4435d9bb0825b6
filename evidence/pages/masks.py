"""Owns which parts of a page's body are prose: code, comments, markup, mathematics and calls are blanked, in place.

Masked text has the length and the lines of the original, so that an offset in one is the offset in the other.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

BLANK = " "

_FENCE = re.compile(r"[ \t>]*(?P<fence>`{3,}|~{3,})(?P<info>[^`\n]*)")
_ITEM = re.compile(r"(?P<indent>[ ]*)(?:[-*+]|\d+[.)]|!!!|\?\?\?\+?|===[!+]*|///|\[\^[^\]]+\]:|:)[ \t]")
_CODE_SPAN = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)(?:.|\n(?!\s*\n))*?(?<!`)(?P=ticks)(?!`)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_OPENER = re.compile(r"(?P<indent>[ ]*)(?P<opener>(?:!!!|\?\?\?\+?|===[!+]*)[ \t].*)")
_RAW_TEXT = re.compile(
    r"<(?P<tag>pre|code|script|style|textarea|svg|math)\b[^>]*>.*?(?:</(?P=tag)\s*>|\Z)", re.DOTALL | re.I
)
_PRE = re.compile(r"<pre\b[^>]*>(?P<text>.*?)(?:</pre\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_CODE_ELEMENT = re.compile(r"<code\b[^>]*>(?P<text>[^<\n]*)</code\s*>", re.IGNORECASE)
_UNSEEN = re.compile(
    r"<(?P<tag>[a-z][\w-]*)\b(?=[^<>]*(?:\shidden\b|display\s*:\s*none|visibility\s*:\s*hidden))[^<>]*>", re.IGNORECASE
)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_MATHS = re.compile(
    r"\$\$.+?\$\$|\\\(.+?\\\)|\\\[.+?\\\]|(?<![\\$\w])\$(?![\s$])[^$\n]+?(?<![\s\\])\$(?![\w$])", re.DOTALL
)
_TARGET = re.compile(r"\](\((?:[^()\n\"]|\([^()\n]*\))*)(?=\)|\"[^\n\"]*\"[ \t]*\))")
_DEFINITION = re.compile(r"^[ ]{0,3}\[(?!\^)[^\]\n]+\]:[^\n\"]*", re.MULTILINE)
_SHOWN = re.compile(
    r"\b(?:title|alt|aria-label|label|placeholder|content)[ \t\n]*=[ \t\n]*(?:\"([^\"<>]*)\"|'([^'<>]*)')",
    re.IGNORECASE,
)
_LITERAL = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'")
_CALL = re.compile(r"\bev\s*\.")
_FACTOR = re.compile(
    r"\$+\s*[~≈]?\d[\d.,]*\s*(?:\\times|\\%|x|\\,?\\?(?:text|mathrm|rm)?\s*\{?[^\\{}$]{1,8}\}?)?\s*\$+"
)
_ADDRESS = re.compile(r"https?://[^\s>)]+")
_ATTRIBUTES = re.compile(r"\{:?[ \t]*[.#][^{}\n]*\}")


class Fence(NamedTuple):
    """A fenced block and the lines of its two marks, counted in the body from 1."""

    info: str
    content: str
    opens: int
    closes: int
    is_closed: bool


_MARKUP = (
    ("{", _ATTRIBUTES),
    ("](", _TARGET),
    ("]:", _DEFINITION),
    ("://", _ADDRESS),
    ("<", _TAG),
    ("$", _MATHS),
    ("\\(", _MATHS),
    ("\\[", _MATHS),
)
"""What is no prose, each with a text that a body holds if it holds any: most bodies hold few of them."""


def _blank_all(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(_blanked, text)


def _blanked(match: re.Match[str]) -> str:
    """A match without its first group, or without all of it where there is none."""
    kept = match[0][: match.start(1) - match.start()] if match.re.groups == 1 and not match.re.groupindex else ""
    return kept + _blank(match[0][len(kept) :])


def _blank(text: str) -> str:
    if "\n" not in text:
        return BLANK * len(text)
    return "\n".join(BLANK * len(line) for line in text.split("\n"))


def _blank_but(text: str, pattern: re.Pattern[str]) -> str:
    """The text with nothing but the groups of a pattern: what a reader is shown of it."""
    parts, end = [], 0
    for match in pattern.finditer(text):
        start, stop = match.span(match.lastindex or 0)
        parts += [_blank(text[end:start]), text[start:stop]]
        end = stop
    return "".join([*parts, _blank(text[end:])])


def _tag(match: re.Match[str]) -> str:
    """A tag, with what its attributes show when it is pointed at or read aloud."""
    return _blank_but(match[0], _SHOWN) if "=" in match[0] else _blank(match[0])


def _maths(match: re.Match[str]) -> str:
    """A formula; a number alone with its unit is none, however it is written."""
    return match[0].replace("$", BLANK) if _FACTOR.fullmatch(match[0]) else _blank(match[0])


@functools.lru_cache(maxsize=256)
def code(body: str) -> str:
    """The body without code: fences, indented blocks, code spans and the elements that hold raw text."""
    without = blocks(body)
    if "<" in without:
        without = _blank_all(without, _RAW_TEXT)
    return _blank_all(without, _CODE_SPAN) if "`" in without else without


def comments(body: str) -> str:
    """The body without HTML comments; apply it to text that has lost its code."""
    return _blank_all(body, _COMMENT) if "<!--" in body else body


def prose(body: str, markers: Mapping[str, str]) -> str:
    """The body with nothing but what a reader reads as text."""
    text = _jinja(comments(code(body)), markers, shows_literals=True)
    for mark, pattern in _MARKUP:
        if mark in text:
            by = _tag if pattern is _TAG else _maths if pattern is _MATHS else _blanked
            text = pattern.sub(by, text)
    return text


def jinja(body: str, markers: Mapping[str, str]) -> str:
    """The body without Jinja expressions, statements and comments."""
    return _jinja(body, markers, shows_literals=False)


def _jinja(body: str, markers: Mapping[str, str], *, shows_literals: bool) -> str:
    for kind in ("comment", "block", "variable"):
        start, end = markers[f"{kind}_start_string"], markers[f"{kind}_end_string"]
        parts, at = [], 0
        while (first := body.find(start, at)) >= 0 and (last := body.find(end, first)) >= 0:
            inside = body[first : last + len(end)]
            # What an expression prints by itself is text, however it came into braces.
            is_text = shows_literals and kind != "comment" and not _CALL.search(inside)
            parts += [body[at:first], _blank_but(inside, _LITERAL) if is_text else _blank(inside)]
            at = last + len(end)
        body = "".join([*parts, body[at:]])
    return body


def raw_text(body: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of what stands there as it was typed, other than fences: `pre` elements, indented code."""
    without, indented = _split(body)
    if "<pre" in without:
        for match in _PRE.finditer(without):
            yield without.count("\n", 0, match.start()) + 1, match["text"]
    if not indented:
        return
    lines = body.split("\n")
    first = indented[0]
    for number, after in itertools.zip_longest(indented, indented[1:]):
        if after is None or any(line.strip() for line in lines[number : after - 1]):
            yield first, "\n".join(line.strip() for line in lines[first - 1 : number])
            first = after or 0


def code_spans(body: str) -> Iterator[tuple[int, str]]:
    """Yield offset and text of code among words."""
    for match in _CODE_SPAN.finditer(blocks(body)):
        yield match.start(), match[0].strip("`").strip()
    if "<code" in body:
        for match in _CODE_ELEMENT.finditer(blocks(body)):
            yield match.start(), match["text"].strip()


def fences(body: str) -> Iterator[Fence]:
    """Yield fenced blocks in order, those inside lists and admonitions too."""
    lines = body.split("\n")
    number = 0
    while number < len(lines):
        opened = _FENCE.match(lines[number])
        number += 1
        if opened is None:
            continue
        first, closed = number, False
        while number < len(lines) and not closed:
            closed = _closes(lines[number], opened["fence"])
            number += 1
        content = lines[first : number - 1 if closed else number]
        yield Fence(opened["info"].strip(), "\n".join(content), first, number, closed)


def unseen_lines(body: str) -> tuple[tuple[int, int], ...]:
    """Return the first and last line of every HTML element that is not displayed."""
    text = comments(code(body))
    found = []
    for match in _UNSEEN.finditer(text):
        depth, end = 1, len(text)
        for tag in re.finditer(rf"<(/?){match['tag']}\b[^<>]*>", text[match.end() :], re.IGNORECASE):
            depth += -1 if tag[1] else 1
            if not depth:
                end = match.end() + tag.end()
                break
        found.append((text.count("\n", 0, match.start()) + 1, text.count("\n", 0, end) + 1))
    return tuple(found)


def empty_containers(body: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of admonitions and tabs below which nothing is indented."""
    lines = body.split("\n")
    for number, line in enumerate(blocks(body).split("\n"), start=1):
        if opened := _OPENER.fullmatch(line):
            below = next((other for other in lines[number:] if other.strip()), "")
            if not below.startswith(" " * (len(opened["indent"]) + 4)):
                yield number, opened["opener"].strip()


def _closes(line: str, fence: str) -> bool:
    stripped = line.lstrip(" \t>").rstrip()
    return len(stripped) >= len(fence) and set(stripped) == {fence[0]}


def blocks(body: str) -> str:
    """The body without fenced and indented code."""
    return _split(body)[0]


@functools.lru_cache(maxsize=256)
def _split(body: str) -> tuple[str, tuple[int, ...]]:
    """The body without fenced and indented code, and the numbers of the lines of the latter."""
    indented: list[int] = []
    lines = body.split("\n")
    fenced = {number for fence in fences(body) for number in range(fence.opens, fence.closes + 1)}
    inside: list[int] = []
    was_blank, was_code = True, False
    for index, line in enumerate(lines):
        if index + 1 in fenced:
            lines[index] = BLANK * len(line)
            was_blank = was_code = False
            continue
        if not line.strip():
            was_blank = True
            continue
        indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
        while inside and indent < inside[-1] and was_blank:
            inside.pop()
        base = inside[-1] if inside else 0
        is_code = indent >= base + 4 and (was_blank or was_code)
        if is_code:
            lines[index] = BLANK * len(line)
            indented.append(index + 1)
        elif item := _ITEM.match(line):
            inside.append(len(item["indent"]) + 4)
        was_blank, was_code = False, is_code
    return "\n".join(lines), tuple(indented)
