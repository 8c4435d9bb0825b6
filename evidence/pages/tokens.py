"""Owns what stands for HTML while a page goes through Markdown: tokens, where they ended up, and what replaces them.

A token is letters and digits only, so that Markdown passes it on as a word, and holds a number drawn for this build, so
that nothing written in a page or a log can be one. The number is decimal: what changes the case of a title leaves it.
"""

from __future__ import annotations

import bisect
import itertools
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Literal

Position = Literal["flow", "text", "heading", "link", "code", "comment", "attribute"]
"""Where in HTML a token stands. `flow`: where a block may stand; `text`: among words of a paragraph or cell."""

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_CODE = frozenset({"code", "pre", "script", "style", "textarea", "title", "svg", "math", "option"})
_FLOW = frozenset(
    {
        *("article", "aside", "blockquote", "body", "dd", "details", "div", "figure", "footer", "header", "li", "main"),
        *("nav", "section", "td", "th"),
    }
)
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_EMPTY_PARAGRAPH = re.compile(r"<p(?:\s[^<>]*)?>(?:\s|<br\s*/?>)*</p>\n?")


@dataclass(frozen=True, slots=True)
class Piece:
    """What a token stands for: HTML for the page, text for titles, and whether it is a block."""

    html: str
    text: str
    is_block: bool


@dataclass(frozen=True, slots=True)
class Found:
    """A token in HTML, and where it stands."""

    index: int
    start: int
    end: int
    position: Position
    divides: bool
    """It stands alone on a line of a paragraph: a block there ends the paragraph and begins another."""


class Mint:
    """The tokens of one build."""

    def __init__(self) -> None:
        """Draw the number that makes this build's tokens its own."""
        self._number = f"{secrets.randbits(128):039d}"
        self.mark = f"ev{self._number}"
        self.pattern = re.compile(rf"{self.mark}x([0-9]+)x")
        self._count = itertools.count()

    def token(self) -> tuple[int, str]:
        """Return the next token's number and its text."""
        index = next(self._count)
        return index, f"{self.mark}x{index}x"

    def indices(self, text: str) -> list[int]:
        """Return the numbers of the tokens in a text, in order."""
        return [int(match[1]) for match in self.pattern.finditer(text)] if self.mark in text else []

    def is_in(self, text: str) -> bool:
        """Say whether any token, or what is left of one, stands in a text."""
        return self._number in text

    def replace(self, text: str, by: Callable[[int], str]) -> str:
        """Put something else in the place of every token of a text."""
        return self.pattern.sub(lambda match: by(int(match[1])), text) if self.mark in text else text

    def find(self, html: str) -> Iterator[Found]:
        """Yield the tokens of a page's HTML in order, each with its position."""
        if self.mark not in html:
            return
        outline = _Outline(html)
        for match in self.pattern.finditer(html):
            tags = outline.around(match.start())
            divides = tags[-1:] == ("p",) and _is_alone(html, *match.span())
            position = "flow" if divides else _position(tags)
            yield Found(int(match[1]), *match.span(), position, divides)

    def place(self, html: str, tokens: Iterable[Found], piece: Callable[[int], Piece]) -> str:
        """Replace every token of a page by its HTML, as they were found in it."""
        parts, end = [], 0
        for found in tokens:
            token = html[found.start : found.end]
            divides = found.divides and piece(found.index).is_block
            parts += [html[end : found.start], f"</p>{token}<p>" if divides else token]
            end = found.end
        divided = "".join([*parts, html[end:]])
        if f"</p>{self.mark}" in divided:
            divided = _EMPTY_PARAGRAPH.sub("", divided)
        return self.replace(divided, lambda index: piece(index).html)


class _Outline(HTMLParser):
    """Which elements are open at each offset; `#comment` and `#tag` stand for the inside of those."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=False)
        self._lines = [0, *(match.end() for match in re.finditer("\n", html))]
        self._offsets: list[int] = []
        self._around: list[tuple[str, ...]] = []
        self._open: tuple[str, ...] = ()
        self.feed(html)
        self.close()

    def around(self, offset: int) -> tuple[str, ...]:
        """Return the open elements at an offset, outermost first."""
        at = bisect.bisect_right(self._offsets, offset) - 1
        return self._around[at] if at >= 0 else ()

    def _note(self, tags: tuple[str, ...]) -> None:
        line, column = self.getpos()
        self._offsets.append(self._lines[line - 1] + column)
        self._around.append(tags)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note((*self._open, "#tag"))
        if tag not in _VOID:
            self._open = (*self._open, tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note((*self._open, "#tag"))

    def handle_endtag(self, tag: str) -> None:
        self._note((*self._open, "#tag"))
        if tag in self._open:
            self._open = self._open[: len(self._open) - 1 - self._open[::-1].index(tag)]

    def handle_data(self, data: str) -> None:
        self._note(self._open)

    def handle_entityref(self, name: str) -> None:
        self._note(self._open)

    def handle_charref(self, name: str) -> None:
        self._note(self._open)

    def handle_comment(self, data: str) -> None:
        self._note((*self._open, "#comment"))

    def handle_decl(self, decl: str) -> None:
        self._note((*self._open, "#comment"))

    def handle_pi(self, data: str) -> None:
        self._note((*self._open, "#comment"))

    def unknown_decl(self, data: str) -> None:
        self._note((*self._open, "#comment"))


def _position(tags: tuple[str, ...]) -> Position:
    kinds: tuple[tuple[frozenset[str], Position], ...] = (
        (frozenset({"#comment"}), "comment"),
        (frozenset({"#tag"}), "attribute"),
        (_CODE, "code"),
        (frozenset({"a"}), "link"),
        (_HEADINGS, "heading"),
    )
    for elements, position in kinds:
        if elements.intersection(tags):
            return position
    return "flow" if not tags or tags[-1] in _FLOW else "text"


def _is_alone(html: str, start: int, end: int) -> bool:
    """Say whether nothing else stands on the token's line within its paragraph."""
    before = re.split(r"\n|<p(?:\s[^<>]*)?>|<br\s*/?>", html[max(0, start - 4096) : start])[-1]
    after = re.split(r"\n|</p>|<br\s*/?>", html[end : end + 4096], maxsplit=1)[0]
    return not before.strip() and not after.strip()
