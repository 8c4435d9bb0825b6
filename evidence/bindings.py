"""Owns sentences bound by pattern: where the words of a pattern stand in a page, and which of its values are not so.

A pattern is a template of the same fields as a statement. Its words must stand in the page as written, however they are
wrapped; each value is looked for by its form (a number, its unit, a tally), so that an old one is found and corrected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from evidence import sentences
from evidence.book import Book
from evidence.claims import Placed
from evidence.errors import ItemError
from evidence.evaluation import Reading
from evidence.readings import device_of
from evidence.renderers.synced import escape
from evidence.schema.claims import Sentence
from evidence.views import Figure

_GAP = r"(?:[ \t\u00a0\u202f]+|[ \t]*\r?\n[ \t>]*)"
_NUMBER = r"[~≈+\-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_UNIT = r"(?:[x×%]|[nuµμm]?s|[kMGT]i?B(?:/s)?|B(?:/s)?|[mkM]?J|[MGTP]?FLOP/s|tok/s|/s|bit/B)"
_WORD = r"(?:faster|slower|smaller|larger|better|worse|same|inconclusive|incomparable|refused)"
_TALLY_ITEM = rf"\d+{_GAP}(?:{_WORD}|with{_GAP}identical{_GAP}configuration{_GAP}left{_GAP}out)"
_TALLY = rf"{_TALLY_ITEM}(?:,{_GAP}{_TALLY_ITEM})*"
_VERDICT = r"[A-Z]{4,12}"
_FACT = r"[^\r\n\0]{1,200}?"
_LETTER = re.compile(r"\w")
_UNFOLLOWED = r"(?!\w|[.,]\d)"


class Value(NamedTuple):
    """One value of a bound sentence as it stands in a page: its offsets, its text, and what the claim gives."""

    start: int
    end: int
    text: str
    wanted: str

    @property
    def is_stale(self) -> bool:
        """Whether it says something else; how it is wrapped is not something else."""
        return self.text.split() != self.wanted.split()


class Binding(NamedTuple):
    """A pattern that can be looked for."""

    placed: Placed[Sentence]
    pattern: re.Pattern[str]
    wanted: tuple[str, ...]

    def find(self, text: str) -> Iterator[tuple[Value, ...]]:
        """Yield the values of each place where the words stand."""
        for match in self.pattern.finditer(text):
            yield tuple(
                Value(*match.span(index), match[index], wanted) for index, wanted in enumerate(self.wanted, start=1)
            )


def bind(placed: Placed[Sentence], book: Book) -> Binding:
    """Fill a pattern from its claim.

    Raises:
        UnknownNameError: there is no such claim.
        Unrenderable: the claim does not stand.
        ItemError: the pattern asks for what the claim does not give, or its values could not be found in a text.
    """
    sentence = placed.item
    book.statement(sentence.claim)
    readings = book.readings(sentence.claim)
    devices = dict.fromkeys(device_of(reading.loaded.record) for reading in readings.values())
    template = sentence.pattern.strip()
    sentences.lint(template, devices, "pattern")
    parts = sentences.render(template, readings, "pattern")
    fields = iter(sentences.fields_of(template))
    written, wanted = [], []
    for index, part in enumerate(parts):
        if isinstance(part, str):
            written.append(_words(part))
            continue
        name = next(fields)
        form = _form(name, part, readings)
        if form == _FACT and not any(isinstance(one, str) and one.strip() for one in parts[index + 1 : index + 2]):
            message = f"nothing says where {{{name}}} ends"
            raise ItemError(sentences.UNKNOWN_FIELD, message, "pattern", fix="end the pattern with the words after it")
        wanted.append(escape(part.text))
        written.append(rf"({_words(wanted[-1])}{_UNFOLLOWED}|{form}{_UNFOLLOWED})")
    first, last = parts[0], parts[-1]
    before = r"(?<![\w.,])" if isinstance(first, Figure) or _LETTER.match(first) else ""
    after = _UNFOLLOWED if isinstance(last, str) and _LETTER.match(last[-1:]) else ""
    return Binding(placed, re.compile(before + "".join(written) + after), tuple(wanted))


def _words(text: str) -> str:
    """A pattern of words however they are wrapped."""
    return "".join(_GAP if piece.isspace() else re.escape(piece) for piece in re.split(r"(\s+)", text) if piece)


def _form(name: str, figure: Figure, readings: Mapping[str, Reading]) -> str:
    """A pattern of what a field may have said before."""
    asked = sentences.asked(name, readings)
    if asked.quantity == "tally":
        return _TALLY
    if asked.quantity == "verdict":
        return _VERDICT
    if not asked.quantity or asked.reducer.endswith(".at"):
        return _FACT
    has_unit = re.fullmatch(rf"{_NUMBER}", figure.text) is None
    one = rf"{_NUMBER}{_GAP}?{_UNIT}" if has_unit else _NUMBER
    return rf"{one}(?:{_GAP}to{_GAP}{one})?" if asked.reducer == "range" else one
