"""Owns a page read for an audit: every number in its tables and prose, and the labels that say what each is of."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

from evidence.audit import quantities, words
from evidence.audit.index import Vocabulary, column_key
from evidence.audit.quantities import Quantity
from evidence.diagnostics import Location
from evidence.errors import EvidenceError
from evidence.pages import front_matter, masks
from evidence.project import MacroSettings

_RULE = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_BAR = re.compile(r"(?<!\\)\|")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_MARKS = re.compile(r"(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|`|~~")
_HEADING = re.compile(r"[ ]{0,3}(#{1,6})[ \t]+(.*?)[ \t#]*")
_BULLET = re.compile(r"[ \t>]*(?:[-*+]|\d{1,4}[.)])[ \t]+")
_SENTENCE = re.compile(r"(?<=[.!?])[*_\"')\]]*[ \t\n]+(?=[A-Z*`\"'(])")
_NO_NUMBERS = re.compile(
    r"\b\d{8}[-_T]\d{4,6}\b|\b\d{4}-\d{2}(?:-\d{2})?(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?\b"
    r"|\b\d{1,2}:\d{2}(?::\d{2})?\b|\bv?\d+(?:\.\d+){2,}\w*"
    r"|\b(?=\w*[a-f])(?=\w*\d)[0-9a-f]{7,40}\b|\b[A-Za-z]{2,}-\d+(?:\.\d+)*\b|(?:PR|issue|pull|step|section|chapter"
    r"|table|figure|fig\.|page)[ \u00a0]*#?\d+",
    re.IGNORECASE,
)
_BLANKS = frozenset({"", "nan", "inf", "-inf", "+inf", "infinity", "null", "none", "undefined", "#n/a", "#div/0!"})
_POWER = re.compile(r"^2\^\d+ = (?=\d)")
_BETWEEN = re.compile(r"[\s()\[\]/,;~≈=<>±→+|-]*|\^", re.DOTALL)
_NAME_BEFORE = re.compile(r"(?:[A-Z][\w.+-]*|\bversion|\bv)[ \u00a0]$")
_RANGE_BEFORE = re.compile(r"[A-Z][\w+-]* \d+(?:\.\d+)?[ \u00a0]?(?:to|and|or|through|–|-)[ \u00a0]?$")
_COUNTED_AFTER = re.compile(r"[ \u00a0-]*([A-Za-z]+)")
_WORD_BEFORE = re.compile(r"([A-Za-z]+)[ \u00a0=:]*(?:of|size|length)?[ \u00a0=:]*$")
_VERSION = re.compile(
    r"\b(?P<name>[A-Za-z][A-Za-z0-9_.-]{0,40}?)(?:[ \u00a0](?:version[ \u00a0])?|==|-|=)v?"
    r"(?P<version>\d+(?:\.\d+){2,}(?:[+-]?[a-z]+\d*)*)(?![\w/-]|\.\d)"
)
_LONGEST_LEAD = 200


class Role(StrEnum):
    """What a printed number is, as far as the page says."""

    MEASURED = "measured"
    SETTING = "setting"
    BLANK = "blank"
    VERSION = "version"


@dataclass(frozen=True, slots=True)
class Cell:
    """A label of a table's row: its column and its text, and the number it is, if it is one."""

    head: str
    text: str
    value: float | None = None


@dataclass(slots=True)
class Table:
    """A table of a page."""

    at: Location
    heads: tuple[str, ...]
    rows: list[tuple[Cell, ...]] = field(default_factory=list)
    """The labels of each row."""
    is_full: tuple[bool, ...] = ()
    """Of each column, whether most of its cells hold something: an empty one is then a gap."""


@dataclass(frozen=True, slots=True, eq=False)
class Printed:
    """A number on the page, or a cell where one should stand."""

    at: Location
    text: str
    quantity: Quantity | None
    role: Role
    head: str = ""
    """The head of its column; in prose, the words round it."""
    labels: tuple[Cell, ...] = ()
    context: tuple[str, ...] = ()
    """Headings above it and the line before its table."""
    table: Table | None = None
    row: int = -1
    column: int = -1
    sentence: str = ""
    start: int = 0
    """Where in its sentence it stands."""
    part: int = 0
    """Which number of its cell it is: 1 is what stands behind a ± or in brackets."""


@dataclass(frozen=True, slots=True)
class Page:
    """All numbers of one page."""

    path: str
    numbers: tuple[Printed, ...]
    tables: tuple[Table, ...]


def read(data: bytes, path: str) -> Page:
    """Read a Markdown page, or a CSV file that serves as one.

    Raises:
        EvidenceError: the bytes are no text.
    """
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        told = f"not {encoding.removesuffix('-sig').upper()} at byte {error.start:,}"
        raise EvidenceError(f"{path}:{line}: {told}", fix="store the page as UTF-8") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if path.lower().endswith((".csv", ".tsv")):
        numbers, tables = _read_csv(text, path)
    else:
        numbers, tables = _read_markdown(text, path)
    return Page(path, tuple(numbers), tuple(tables))


def _read_csv(text: str, path: str) -> tuple[list[Printed], list[Table]]:
    delimiter = max(",;\t", key=text.split("\n", 1)[0].count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    rows: list[tuple[int, list[str]]] = []
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise EvidenceError(f"{path}:{reader.line_num}: not CSV: {error}", fix="quote its cells whole") from None
    if len(rows) < 2:
        return [], []
    found: list[Printed] = []
    table = _judge_table(path, rows[0], rows[1:], (), found)
    return found, [table]


def _read_markdown(text: str, path: str) -> tuple[list[Printed], list[Table]]:
    split = front_matter.split(text)
    found: list[Printed] = []
    tables: list[Table] = []
    lines = masks.comments(masks.blocks(split.body)).split("\n")
    prose = masks.prose(split.body, MacroSettings().markers).split("\n")
    headings: list[tuple[int, str]] = []
    lead = ""
    number = 0
    block: list[int] = []

    def close() -> None:
        if block:
            context = tuple(text for _, text in headings)
            found.extend(_read_block(path, split.offset, [(n, prose[n]) for n in block], context))
            block.clear()

    while number < len(lines):
        line = lines[number]
        if heading := _HEADING.fullmatch(line):
            close()
            headings = [one for one in headings if one[0] < len(heading[1])]
            found += _read_block(path, split.offset, [(number, prose[number])], (), is_heading=True)
            headings.append((len(heading[1]), plain(heading[2])))
            lead = ""
        elif (
            number + 1 < len(lines) and "|" in line and "|" in lines[number + 1] and _RULE.fullmatch(lines[number + 1])
        ):
            close()
            last = number + 2
            while last < len(lines) and "|" in lines[last] and lines[last].strip():
                last += 1
            rows = [(n + 1 + split.offset, _cells(lines[n])) for n in range(number + 2, last)]
            context = (*(text for _, text in headings), lead)
            head = (number + 1 + split.offset, _cells(line))
            tables.append(_judge_table(path, head, rows, context, found))
            number = last
            continue
        elif not line.strip():
            close()
        else:
            if _BULLET.match(line):
                close()
            block.append(number)
            lead = plain(line)[:_LONGEST_LEAD]
        number += 1
    close()
    return found, tables


def plain(text: str) -> str:
    """Return a cell's or heading's text without its markup."""
    text = _TAG.sub(" ", _LINK.sub(r"\1", text))
    return _MARKS.sub("", text).replace("\\|", "|").strip()


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix(">").strip()
    parts = _BAR.split(inner)
    if inner.startswith("|"):
        parts = parts[1:]
    if parts and inner.endswith("|") and not inner.endswith("\\|"):
        parts = parts[:-1]
    return [plain(part) for part in parts]


def _numbers_of(text: str) -> list[Quantity] | None:
    """Return the numbers of a cell that holds nothing else; None for a label, and for a cell of words."""
    text = _POWER.sub("", text)
    if _NO_NUMBERS.search(text):
        return None
    found: list[Quantity] = []
    end = 0
    for match, quantity in quantities.find(text):
        if not _BETWEEN.fullmatch(text[end : match.start()]):
            return None
        found.append(quantity)
        end = match.end()
    return found if found and _BETWEEN.fullmatch(text[end:]) else None


def _judge_table(
    path: str,
    head: tuple[int, Sequence[str]],
    rows: Sequence[tuple[int, Sequence[str]]],
    context: tuple[str, ...],
    found: list[Printed],
) -> Table:
    """Add a table's numbers: which columns are labels, settings and results is read from heads and cells."""
    heads = tuple(head[1])
    width = len(heads)
    grid = [[*cells[:width], *[""] * (width - len(cells))] for _, cells in rows]
    _repeat_above(grid)
    filled = [sum(bool(row[column]) for row in grid) for column in range(width)]
    table = Table(Location(path, head[0]), heads, is_full=tuple(count * 2 >= len(grid) for count in filled))
    roles: list[Role | None] = []
    for column in range(width):
        roles.append(_role(heads[column], [row[column] for row in grid], roles))
    told = set(word for one in heads for word in words.labels(one))
    about = tuple(" ".join(word for word in words.labels(text) if word not in told) for text in context)
    for index, ((line, _), cells) in enumerate(zip(rows, grid, strict=True)):
        labels = tuple(
            Cell(heads[column], cells[column], _only(cells[column]))
            for column in range(width)
            if roles[column] is not Role.MEASURED
        )
        table.rows.append(labels)
        for column in range(width):
            found.extend(_printed(table, line, cells[column], (index, column), roles[column], labels, about))
    return table


def _repeat_above(grid: list[list[str]]) -> None:
    """Fill the blanks that begin a row from the row above: a name is often written once for several rows."""
    for above, row in pairwise(grid):
        for column, text in enumerate(row):
            if text or not above[column] or _numbers_of(above[column]):
                break
            row[column] = above[column]


def _only(text: str) -> float | None:
    numbers = _numbers_of(text)
    return numbers[0].value if numbers and len(numbers) == 1 and not numbers[0].unit else None


def _role(head: str, cells: Sequence[str], before: Sequence[Role | None]) -> Role | None:
    """Say what a column holds; None is a column of labels."""
    parsed = [_numbers_of(cell) for cell in cells]
    numeric = [one for one in parsed if one]
    marked = sum(cell.lower() in _BLANKS and cell != "" for cell in cells)
    worded = sum(1 for cell, one in zip(cells, parsed, strict=True) if not one and cell.lower() not in _BLANKS)
    if (not numeric and not marked) or worded > len(numeric) + marked:
        return None
    if words.is_metric(head) or quantities.unit_of_header(head):
        return Role.MEASURED
    if words.is_setting(head):
        return Role.SETTING
    if marked > len(numeric):
        return Role.MEASURED
    is_first = all(role in (None, Role.SETTING) for role in before)
    is_whole = all(len(one) == 1 and one[0].value == int(one[0].value) and not one[0].unit for one in numeric)
    return Role.SETTING if is_first and is_whole and not marked else Role.MEASURED


def _printed(
    table: Table,
    line: int,
    text: str,
    place: tuple[int, int],
    role: Role | None,
    labels: tuple[Cell, ...],
    context: tuple[str, ...],
) -> Iterator[Printed]:
    at = Location(table.at.path, line)
    if role is None:
        yield from _versions(text, at, context)
        return
    row, column = place
    head = table.heads[column]
    numbers = _numbers_of(text)
    if numbers is None:
        if role is Role.MEASURED and text.lower() in _BLANKS and (text or table.is_full[column]):
            yield Printed(at, text, None, Role.BLANK, head, labels, context, table, row, column)
        return
    unit = quantities.unit_of_header(head)
    if role is Role.SETTING:  # a setting tells its own row apart, but is not evidence for itself
        labels = tuple(label for label in labels if label.head != head)
    for part, quantity in enumerate(numbers):
        if not quantity.unit and unit and (part == 0 or "±" in text):
            quantity = _with_unit(quantity, unit)
        yield Printed(at, quantity.text, quantity, role, head, labels, context, table, row, column, part=part)


def _with_unit(quantity: Quantity, unit: str) -> Quantity:
    return Quantity(
        quantity.text, quantity.value, quantity.low, quantity.high, unit, quantity.digits, quantity.is_about
    )


def _read_block(
    path: str, offset: int, lines: Sequence[tuple[int, str]], context: tuple[str, ...], *, is_heading: bool = False
) -> Iterator[Printed]:
    """Yield the numbers of a paragraph, sentence by sentence."""
    texts = [
        line if index else _BULLET.sub(lambda match: " " * len(match[0]), line, count=1)
        for index, (_, line) in enumerate(lines)
    ]
    text = "\n".join(texts)
    start = 0
    for end in [*(match.start() for match in _SENTENCE.finditer(text)), len(text)]:
        sentence = text[start:end]
        yield from _versions(sentence, Location(path, lines[text.count("\n", 0, start)][0] + 1 + offset), context)
        masked = _NO_NUMBERS.sub(lambda match: " " * len(match[0]), sentence)
        for match, quantity in quantities.find(masked):
            if is_heading and (not quantity.unit or quantity.kind in ("bytes", "count")):
                continue  # the size of a model or of a device: a label
            line = lines[text.count("\n", 0, start + match.start())][0] + 1 + offset
            role = _role_in(masked, match, quantity)
            at = Location(path, line)
            head = " ".join(plain(sentence).split())
            yield Printed(at, quantity.text, quantity, role, head, (), context, sentence=sentence, start=match.start())
        start = end


def _versions(text: str, at: Location, context: tuple[str, ...]) -> Iterator[Printed]:
    """Yield the versions of software that a text names."""
    for match in _VERSION.finditer(text):
        place = Location(at.path, at.line + text.count("\n", 0, match.start()))
        shown = f"{match['name']} {match['version']}"
        yield Printed(place, shown, None, Role.VERSION, match["name"], (), context)


def _role_in(sentence: str, match: re.Match[str], quantity: Quantity) -> Role:
    """Say whether a number in prose is a result or a setting."""
    if quantity.unit in ("B", "K", "k", "M"):
        return Role.SETTING
    if quantity.unit and quantity.unit != "s":
        return Role.MEASURED
    before = sentence[: match.start()]
    after = _COUNTED_AFTER.match(sentence, match.end())
    previous = _WORD_BEFORE.search(before)
    near = [found[1].lower() for found in (after, previous) if found]
    if any(word in words.SETTINGS or word.rstrip("s") in words.SETTINGS for word in near):
        return Role.SETTING
    if quantity.text.replace(",", "").isdigit():
        is_result = words.is_metric(sentence) and quantity.value >= 100 and not 1990 <= quantity.value <= 2100
        return Role.MEASURED if is_result else Role.SETTING
    is_name = _NAME_BEFORE.search(before) or _RANGE_BEFORE.search(before)
    return Role.SETTING if not quantity.unit and is_name else Role.MEASURED


def vocabulary(pages: Sequence[Page]) -> Vocabulary:
    """Collect what the pages can refer to rows by."""
    found_words: set[str] = set()
    numbers: set[float] = set()
    texts: set[str] = set()
    columns: set[str] = set()
    for page in pages:
        for one in page.numbers:
            for text in (one.head, *one.context):
                found_words.update(words.labels(text))
            if one.quantity is not None:
                numbers.add(one.quantity.value)
        for table in page.tables:
            columns.update(column_key(head) for head in table.heads)
            for labels in table.rows:
                for cell in labels:
                    found_words.update(words.labels(cell.text))
                    texts.add(cell.text.strip().lower())
                    if cell.value is not None:
                        numbers.add(cell.value)
    numbers.update(float(word) for word in found_words if words.is_number(word))
    return Vocabulary(frozenset(found_words), frozenset(numbers), frozenset(texts), frozenset(columns))
