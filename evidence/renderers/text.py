"""Owns untrusted text before a format's own escaping: no control or invisible character, and an end."""

from __future__ import annotations

import unicodedata

TEXT_LIMIT = 2_000
"""Characters of one text that any renderer shows; a record may hold megabytes."""

LABEL_LIMIT = 80
"""Characters of what must stay on one line beside others: names, numbers, words, heads."""

ELLIPSIS = "…"


def cut(text: str, limit: int) -> str:
    """The text if it fits, else its beginning and an ellipsis, `limit` characters in all."""
    return text if len(text) <= limit else text[: limit - 1] + ELLIPSIS


def visible(text: str, limit: int = TEXT_LIMIT) -> str:
    r"""The text, cut, with what a reader could not see written out: a right-to-left override becomes `\u202e`.

    Newlines and tabs stay; spaces of every width stay.
    """
    shortened = cut(text, limit).replace("\r\n", "\n")
    return shortened if shortened.isprintable() else "".join(map(_visible_character, shortened))


def one_line(text: str, limit: int = TEXT_LIMIT) -> str:
    """`visible`, with newlines and tabs as spaces: for a cell of a table or a line of a terminal."""
    return visible(text, limit).replace("\n", " ").replace("\t", " ")


def _visible_character(character: str) -> str:
    if character.isprintable() or character in "\n\t" or unicodedata.category(character) == "Zs":
        return character
    point = ord(character)
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
