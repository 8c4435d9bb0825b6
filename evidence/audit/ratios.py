"""Owns numbers made of two others: ratios, changes in percent, differences, of cells beside them or of fields."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evidence.audit import words
from evidence.audit.binding import Binder
from evidence.audit.documents import Kind
from evidence.audit.index import Leaf, members
from evidence.audit.pages import Page, Printed, Role
from evidence.audit.quantities import UNITS, Quantity
from evidence.audit.verdicts import Judged, Source, Verdict

Formula = Callable[[float, float], float]
_HEAD = re.compile(
    r"%|Δ|\bdelta\b|\bdiff|speed-?up|\bratio\b|\bvs\.?\b|\bchange|\bgain|improve|\brelative\b|\bfaster\b|\bslower\b|(?<![A-Za-z])[x×]\s*\)?$",
    re.IGNORECASE,
)
_ARROW = re.compile(r"[^.;\n]{0,12}?(?:->|→|=>|⇒|\bto\b|\bvs\.?(?=\s)|\bversus\b|\bagainst\b)[^.;\n\d]{0,24}$")
_DIGIT = re.compile(r"\d")
_REACH = 120
_MOST_ROWS = 40
_CHANCE = 0.05

RATIOS: dict[str, Formula] = {
    "{b} / {a}": lambda a, b: b / a,
    "{a} / {b}": lambda a, b: a / b,
}
CHANGES: dict[str, Formula] = {
    "({b} - {a}) / {a}": lambda a, b: (b - a) / a,
    "({a} - {b}) / {b}": lambda a, b: (a - b) / b,
    "({a} - {b}) / {a}": lambda a, b: (a - b) / a,
    "({b} - {a}) / {b}": lambda a, b: (b - a) / b,
}
_DIFFERENCES: Mapping[str, Formula] = {"{b} - {a}": lambda a, b: b - a, "{a} - {b}": lambda a, b: a - b}


@dataclass(frozen=True, slots=True)
class Operand:
    """A printed number that another may be made of: what it is bound to, or what it prints as."""

    judged: Judged
    values: tuple[float, ...]
    """The unrounded value where it is bound, and the two ends of what the printed one rounds from."""

    @property
    def name(self) -> str:
        """Return how it is called in a report."""
        return self.judged.printed.head if self.judged.printed.table is not None else self.judged.printed.text


def is_ratio(printed: Printed) -> bool:
    """Whether a number says how two others relate."""
    if printed.quantity is None or printed.role is not Role.MEASURED:
        return False
    if printed.table is not None and _HEAD.search(printed.head):
        return True
    return printed.quantity.is_ratio_like


def operand(judged: Judged) -> Operand | None:
    """Return a judged number as something to calculate with."""
    quantity = judged.printed.quantity
    if quantity is None or not quantity.value:
        return None
    slack = 1e-12 * abs(quantity.value)
    printed = (quantity.value, quantity.low - slack, quantity.high + slack)
    if judged.verdict is Verdict.BOUND and judged.sources:
        scaled = _in_printed_unit(judged.sources[0].value, quantity)
        if scaled is not None:
            return Operand(judged, (scaled, *printed))
    return Operand(judged, printed)


def _in_printed_unit(value: float, quantity: Quantity) -> float | None:
    factors = (1.0, 100.0, 1e-3, 1e3, 1e-6, 1e6, 1e-9, 1e9, 2.0**-10, 2.0**-20, 2.0**-30)
    return next((value * factor for factor in factors if quantity.holds(value * factor)), None)


def formulas(quantity: Quantity, *, may_differ: bool = True) -> Iterator[tuple[str, Formula, float]]:
    """Yield what a number may be of two others, with the factor that its sign of percent asks for."""
    if quantity.kind == "share":
        yield from ((text, formula, 100.0) for text, formula in (CHANGES | RATIOS).items())
    elif quantity.kind == "ratio":
        yield from ((text, formula, 1.0) for text, formula in RATIOS.items())
    else:
        yield from ((text, formula, 1.0) for text, formula in RATIOS.items())
        yield from ((text, formula, 100.0) for text, formula in CHANGES.items())
        yield from ((text, formula, 1.0) for text, formula in CHANGES.items())
        if may_differ:
            yield from ((text, formula, 1.0) for text, formula in _DIFFERENCES.items())


def makes(quantity: Quantity, a: Operand, b: Operand, formula: Formula, factor: float) -> bool:
    """Whether two operands make a number: unrounded, as printed, or, if one is known nowhere, as it may have been."""
    a, b = _in_one_unit(a, b)
    if _holds(quantity, formula, factor, a.values[0], b.values[0]):
        return True
    if _holds(quantity, formula, factor, a.values[-3], b.values[-3]):
        return True
    if len(a.values) == len(b.values) == 4:
        return False
    ends = [
        value * factor
        for first in a.values[-2:]
        for second in b.values[-2:]
        if (value := _safe(formula, first, second)) is not None
    ]
    return bool(ends) and min(ends) <= quantity.high and quantity.low <= max(ends)


def _in_one_unit(a: Operand, b: Operand) -> tuple[Operand, Operand]:
    """Bring a number in seconds and one in milliseconds together."""
    first, second = a.judged.printed.quantity, b.judged.printed.quantity
    if first is None or second is None or first.unit == second.unit or not first.unit or not second.unit:
        return a, b
    scale = UNITS[second.unit][1] / UNITS[first.unit][1]
    return a, Operand(b.judged, tuple(value * scale for value in b.values))


def _holds(quantity: Quantity, formula: Formula, factor: float, a: float, b: float) -> bool:
    value = _safe(formula, a, b)
    return value is not None and (
        quantity.holds(value * factor) or (quantity.kind == "share" and _unsigned(quantity, value * factor))
    )


def _unsigned(quantity: Quantity, value: float) -> bool:
    """Whether a change is printed without its sign, as in 'reduces it by 12 %'."""
    return quantity.text[0] not in "+-−–" and quantity.holds(abs(value))


def _safe(formula: Formula, a: float, b: float) -> float | None:
    try:
        return formula(a, b)
    except (ZeroDivisionError, OverflowError):
        return None


@dataclass(slots=True)
class Derivation:
    """Judges the numbers of a page that are made of others; those others are judged already."""

    binder: Binder
    page: Page
    judged: dict[int, Judged]
    """By identity of the printed number; the verdicts found here are added."""

    def run(self) -> None:
        """Judge every ratio of the page."""
        columns: dict[tuple[int, int, int], list[Printed]] = defaultdict(list)
        for one in self.page.numbers:
            if is_ratio(one) and id(one) not in self.judged:
                if one.table is not None:
                    columns[id(one.table), one.column, one.part].append(one)
                else:
                    self.judged[id(one)] = self._in_prose(one)
        for printed in columns.values():
            self._column(printed)

    def _beside(self, table: int) -> dict[tuple[int, int], dict[int, Operand]]:
        """Return the operands of a table: by column, then by row."""
        found: dict[tuple[int, int], dict[int, Operand]] = defaultdict(dict)
        for one in self.page.numbers:
            if id(one.table) != table or id(one) not in self.judged or one.part or is_ratio(one):
                continue
            made = operand(self.judged[id(one)])
            if one.role is Role.MEASURED and made is not None:
                found[one.column, one.part][one.row] = made
        return found

    def _column(self, printed: Sequence[Printed]) -> None:
        """Judge a column of ratios by the formula over two columns, or over a row, that explains most of it."""
        columns = self._beside(id(printed[0].table))
        best: tuple[int, int, str] = (0, 0, "")
        chosen: Callable[[Printed], tuple[Operand, Operand, str, Formula, float] | None] | None = None
        ways = list(self._ways(printed, columns))
        for make, distance in ways:
            hit = [one for one in printed if self._is_hit(one, make)]
            hits = len(hit)
            if len(columns) > 2 and _chance_of(hit) * len(ways) > _CHANCE:
                continue
            if (hits, -distance, "") > best:
                best, chosen = (hits, -distance, ""), make
        for one in printed:
            made = chosen(one) if chosen is not None else None
            if (direct := self._direct(one)) is not None:
                self.judged[id(one)] = direct
            elif made is not None and self._is_hit(one, chosen):
                self.judged[id(one)] = _derived(one, made)
            elif made is not None and best[0] * 2 >= len(printed) and best[0] > 0:
                self.judged[id(one)] = self._wrong(one, made, chosen, printed)
            elif (only := self._only_two(one, columns)) is not None:
                self.judged[id(one)] = only
            else:
                self.judged[id(one)] = self._of_fields(one)

    def _ways(
        self, printed: Sequence[Printed], columns: Mapping[tuple[int, int], Mapping[int, Operand]]
    ) -> Iterator[tuple[Callable[[Printed], tuple[Operand, Operand, str, Formula, float] | None], int]]:
        """Yield how the column could be made, with how far-fetched that is."""
        column = printed[0].column
        quantity = printed[0].quantity
        assert quantity is not None
        is_share = "%" in printed[0].head or quantity.kind == "share"
        for text, formula, factor in formulas(quantity):
            if is_share and text not in CHANGES and text not in RATIOS:
                continue
            for first in columns:
                for second in columns:
                    if first < second:
                        far = abs(column - second[0]) + abs(column - first[0])
                        yield _of_columns(columns[first], columns[second], text, formula, factor), far
            for only in columns:
                for fixed in columns[only]:
                    far = 100 + abs(column - only[0]) + (fixed if fixed else -50)
                    yield _of_rows(columns[only], fixed, text, formula, factor), far

    def _is_hit(
        self, one: Printed, make: Callable[[Printed], tuple[Operand, Operand, str, Formula, float] | None] | None
    ) -> bool:
        made = make(one) if make is not None else None
        if made is None or one.quantity is None:
            return False
        a, b, _, formula, factor = made
        return makes(one.quantity, a, b, formula, factor)

    def _direct(self, one: Printed) -> Judged | None:
        """Return the verdict for a ratio that is stored as one, under a name that its label names."""
        assert one.quantity is not None
        judged = self.binder.judge(one)
        if judged.verdict not in (Verdict.BOUND, Verdict.AMBIGUOUS, Verdict.STALE) or not judged.sources:
            return None
        name = judged.sources[0].field
        label = one.head if one.table is not None else one.sentence[max(0, one.start - 60) : one.start + 60]
        return judged if words.agreement(label, name) >= (0.01 if judged.verdict is Verdict.BOUND else 0.5) else None

    def _wrong(
        self,
        one: Printed,
        made: tuple[Operand, Operand, str, Formula, float],
        make: Callable[[Printed], tuple[Operand, Operand, str, Formula, float] | None] | None,
        others: Sequence[Printed],
    ) -> Judged:
        assert one.quantity is not None
        a, b, text, formula, factor = made
        value = _safe(formula, *(side.values[0] for side in _in_one_unit(a, b)))
        named = text.format(a=a.name, b=b.name)
        message = f"{named} is {value * factor:.4g}, not {one.quantity.text}" if value is not None else named
        for other in others:
            theirs = make(other) if make is not None and other is not one else None
            if theirs is not None and makes(one.quantity, theirs[0], theirs[1], formula, factor):
                message += f"; it is that of line {other.at.line}"
                break
        return Judged(one, Verdict.OPERANDS, _sources(a, b), named, message)

    def _only_two(self, one: Printed, columns: Mapping[tuple[int, int], Mapping[int, Operand]]) -> Judged | None:
        """Judge a ratio with exactly two comparable numbers in its row, which do not make it."""
        assert one.quantity is not None
        beside = [column[one.row] for column in columns.values() if one.row in column]
        if len(beside) != 2 or one.quantity.is_ratio_like is False or not _comparable(beside[0], beside[1]):
            return None
        a, b = beside
        values = [f"{a.values[0] / b.values[0]:.4g}", f"{b.values[0] / a.values[0]:.4g}"]
        message = f"{a.name} and {b.name} make {values[0]} or {values[1]}, not {one.quantity.text}"
        return Judged(one, Verdict.OPERANDS, _sources(a, b), "", message)

    def _in_prose(self, one: Printed) -> Judged:
        """Judge a ratio in a sentence: by the two numbers said with it, by a stored ratio, or by two fields."""
        assert one.quantity is not None
        beside = [
            made
            for other in self.page.numbers
            if other.table is None
            and other.sentence == one.sentence
            and other.at.path == one.at.path
            and abs(other.start - one.start) < _REACH
            and id(other) in self.judged
            and not is_ratio(other)
            and (made := operand(self.judged[id(other)])) is not None
        ]
        for a, b in _pairs(beside):
            for text, formula, factor in formulas(one.quantity):
                if _comparable(a, b) and makes(one.quantity, a, b, formula, factor):
                    return _derived(one, (a, b, text, formula, factor))
        for a, b in _pairs(beside):
            first, second = a.judged.printed, b.judged.printed
            between = one.sentence[first.start + len(first.text) : second.start]
            if _ARROW.search(between) and not _DIGIT.search(between) and _comparable(a, b):
                before, after = _in_one_unit(a, b)
                value = after.values[0] / before.values[0]
                shown = f"{(value - 1) * 100:+.3g} %" if one.quantity.kind == "share" else f"{value:.3g}x"
                message = f"{first.text} and {second.text} make {shown}, not {one.quantity.text}"
                return Judged(one, Verdict.OPERANDS, _sources(a, b), "", message)
        return self._direct(one) or self._of_fields(one)

    def _of_fields(self, one: Printed) -> Judged:
        """Look for two fields that make a ratio: one field in two rows, or two fields of one row."""
        assert one.quantity is not None
        # The head of a column of ratios names one side of them only.
        pool = self.binder.pool(one) if one.table is None else self.binder.pools.of_row(one.table, one.row)
        if pool.rows.bit_count() > _MOST_ROWS:
            return Judged(
                one, Verdict.NOWHERE, (), "", "no numbers beside it make it, and its labels point to no few rows"
            )
        leaves: dict[str, list[Leaf]] = defaultdict(list)
        for row in members(pool.rows, _MOST_ROWS):
            for leaf in self.binder.matcher.leaves(row):
                if leaf.kind is Kind.SCALAR and leaf.value and words.is_metric(leaf.field):
                    leaves[leaf.field].append(leaf)
        label = one.head if one.table is not None else one.sentence
        named = words.named(label, leaves)
        found: list[tuple[Leaf, Leaf, str]] = []
        tried: set[tuple[float, float]] = set()
        for name in named or leaves:
            for a, b in _leaf_pairs(leaves[name]):
                if a.row == b.row or (a.value, b.value) in tried:
                    continue
                tried.add((a.value, b.value))
                for text, formula, factor in formulas(one.quantity, may_differ=False):
                    if _holds(one.quantity, formula, factor, a.value, b.value):
                        found.append((a, b, text))
                        break
        chance = len(tried) * 2 * one.quantity.step / max(abs(one.quantity.value), one.quantity.step)
        if not found:
            return Judged(one, Verdict.NOWHERE, (), "", "no two numbers beside it, and no two fields, make it")
        a, b, text = found[0]
        sources = (self.binder.matcher.source(a), self.binder.matcher.source(b))
        told = text.format(a=f"{a.field} of {sources[0].place}", b=f"{b.field} of {sources[1].place}")
        if len(found) == 1 and chance <= _CHANCE and pool.is_labelled:
            return Judged(one, Verdict.BOUND, sources, told)
        message = f"{len(found)} pairs of rows make it, of {len(tried)} tried: a match may be chance"
        return Judged(one, Verdict.AMBIGUOUS, sources, told, message)


def _chance_of(hit: Sequence[Printed]) -> float:
    """Return how likely one formula makes all of these numbers by chance."""
    chance = 1.0
    for one in hit:
        assert one.quantity is not None
        chance *= min(1.0, one.quantity.step / max(abs(one.quantity.value), one.quantity.step))
    return chance


def _of_columns(
    first: Mapping[int, Operand], second: Mapping[int, Operand], text: str, formula: Formula, factor: float
) -> Callable[[Printed], tuple[Operand, Operand, str, Formula, float] | None]:
    def make(one: Printed) -> tuple[Operand, Operand, str, Formula, float] | None:
        if one.row in first and one.row in second:
            return first[one.row], second[one.row], text, formula, factor
        return None

    return make


def _of_rows(
    column: Mapping[int, Operand], fixed: int, text: str, formula: Formula, factor: float
) -> Callable[[Printed], tuple[Operand, Operand, str, Formula, float] | None]:
    def make(one: Printed) -> tuple[Operand, Operand, str, Formula, float] | None:
        return (column[fixed], column[one.row], text, formula, factor) if one.row in column else None

    return make


def _derived(one: Printed, made: tuple[Operand, Operand, str, Formula, float]) -> Judged:
    a, b, text, _, factor = made
    told = text.format(a=a.name, b=b.name) + (" as percent" if factor == 100.0 else "")
    without = [made.judged for made in (a, b) if made.judged.verdict is not Verdict.BOUND]
    if not without:
        return Judged(one, Verdict.BOUND, _sources(a, b), told)
    worst = without[0]
    shown = " and ".join(
        f"{judged.printed.head if one.table else ''} {judged.printed.text}".strip() for judged in without
    )
    message = f"it follows from the numbers beside it, of which {shown} is {worst.verdict.value}"
    return Judged(one, worst.verdict, _sources(a, b), told, message)


def _sources(*operands: Operand) -> tuple[Source, ...]:
    return tuple(source for one in operands if one.judged.verdict is Verdict.BOUND for source in one.judged.sources[:1])


def _comparable(a: Operand, b: Operand) -> bool:
    """Whether two printed numbers can be of one metric: of one unit, or one of them without."""
    first, second = a.judged.printed.quantity, b.judged.printed.quantity
    if first is None or second is None:
        return False
    if a.judged.printed.role is not Role.MEASURED and b.judged.printed.role is not Role.MEASURED and not first.unit:
        return False
    return first.kind == second.kind or not first.unit or not second.unit


def _pairs(operands: Sequence[Operand]) -> Iterator[tuple[Operand, Operand]]:
    ordered = sorted(operands, key=lambda one: one.judged.printed.start)
    for place, a in enumerate(ordered):
        for b in ordered[place + 1 :]:
            yield a, b


def _leaf_pairs(leaves: Iterable[Leaf]) -> Iterator[tuple[Leaf, Leaf]]:
    held = list(leaves)
    for place, a in enumerate(held):
        for b in held[place + 1 :]:
            yield a, b
