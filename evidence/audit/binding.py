"""Owns the verdict on each number: from candidates, labels, the rest of its column and the chance of a mere match."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from evidence.audit import quantities, words
from evidence.audit.index import Index, members
from evidence.audit.matching import Match, Matcher, are_copies, plainest
from evidence.audit.pages import Page, Printed, Role
from evidence.audit.pools import Pool, Pools
from evidence.audit.quantities import Quantity
from evidence.audit.twins import Twins
from evidence.audit.verdicts import Judged, Source, Verdict, listed

_CHANCE = 0.05
"""Above this expected number of chance matches a match alone proves nothing."""
_SURELY = 0.01
_NEAR = 0.1
"""How far a stale value may be from the one in its place, as a share."""
_FEWEST_DIGITS = 3
_FEWEST_IN_NAMES = 10
"""Smaller numbers stand in file names for many reasons."""
_MOST_SHOWN = 12
_REACH = 60

Column = tuple[int, int, int]


@dataclass(slots=True)
class Binder:
    """Judges the numbers of pages against an index; ratios of other numbers are not its work."""

    index: Index
    matcher: Matcher
    pools: Pools
    twins: Twins
    lanes: dict[Column, frozenset[tuple[str, float]]] = field(default_factory=dict)
    _without_context: set[int] = field(default_factory=set)
    _usual: str = ""

    def learn(self, page: Page) -> None:
        """Look at whole columns first: which field explains most of each, and whether headings help."""
        columns: dict[Column, list[Printed]] = defaultdict(list)
        for one in page.numbers:
            if one.table is not None and one.quantity is not None and one.role is Role.MEASURED:
                columns[_column(one)].append(one)
        self._weigh_contexts(columns)
        usual: Counter[str] = Counter()
        for key, printed in columns.items():
            self.lanes[key] = self._lanes_of(printed)
            for name, _ in self.lanes[key]:
                usual[name] += len(printed)
        self._usual = min(usual, key=lambda name: (-usual[name], name.count("."), name), default="")

    def _weigh_contexts(self, columns: dict[Column, list[Printed]]) -> None:
        """Leave a table's headings out where most numbers are in rows that the headings do not name."""
        hits: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        for printed in columns.values():
            for one in printed:
                assert one.quantity is not None
                if one.quantity.digits < _FEWEST_DIGITS:
                    continue
                for place, with_context in enumerate((True, False)):
                    rows = self.pools.of(one, with_context=with_context).rows
                    hits[id(one.table)][place] += bool(self.matcher.matches(one.quantity, rows))
        self._without_context |= {table for table, (inside, beside) in hits.items() if inside * 2 < beside}

    def pool(self, printed: Printed) -> Pool:
        """Return the rows a number can be of."""
        return self.pools.of(printed, with_context=id(printed.table) not in self._without_context)

    def _lanes_of(self, printed: Sequence[Printed]) -> frozenset[tuple[str, float]]:
        """Return the fields, with their factors, that explain so many cells of a column that it is no chance."""
        found: Counter[tuple[str, float]] = Counter()
        expected: dict[tuple[str, float], float] = defaultdict(float)
        for one in printed:
            assert one.quantity is not None
            rows = self.pool(one).rows
            matches = self.matcher.matches(one.quantity, rows)
            for lane in {match.lane for match in matches if match.rank[0] == matches[0].rank[0]}:
                found[lane] += 1
                expected[lane] += min(1.0, self.matcher.chance(one.quantity, rows, frozenset((lane[0],))))
        if not found:
            return frozenset()
        most = max(found.values())
        return frozenset(
            lane
            for lane, count in found.items()
            if count == most
            and count * 2 >= len(printed)
            and count > 1
            and expected[lane] ** count / math.factorial(min(count, 20)) * len(found) < _SURELY
        )

    def judge(self, printed: Printed) -> Judged:
        """Return the verdict on one number that is no ratio of others."""
        if printed.role is Role.VERSION:
            return self._version(printed)
        pool = self.pool(printed)
        if printed.quantity is None:
            return self._blank(printed, pool)
        if printed.role is Role.SETTING:
            return self._setting(printed, printed.quantity, pool)
        inside = self.matcher.matches(printed.quantity, pool.rows)
        if inside:
            judged = self._inside(printed, printed.quantity, pool, inside)
            if judged is not None:
                return judged
        return self._outside(printed, printed.quantity, pool)

    def _considered(self, printed: Printed, rows: int) -> tuple[frozenset[str], frozenset[tuple[str, float]]]:
        """Return the fields that the column's head names, and those that the rest of the column speaks for."""
        if printed.table is None:
            before, after = _near_by(printed)
            return self.matcher.named(before, rows) or self.matcher.named(after, rows), frozenset()
        label = " ".join((*words.core(printed.head), "std")) if printed.part else printed.head
        named = self.matcher.named(label, rows) or self._named_by_row(printed, rows)
        return named, self.lanes.get(_column(printed), frozenset())

    def _named_by_row(self, printed: Printed, rows: int) -> frozenset[str]:
        """Return the fields that the labels of the row name, where the head of the column is `Value` or the like."""
        told = " ".join(cell.text for cell in printed.labels if cell.value is None)
        return self.matcher.named(f"{told} {printed.head}", rows) if told.strip() else frozenset()

    def _inside(self, printed: Printed, quantity: Quantity, pool: Pool, inside: list[Match]) -> Judged | None:
        named, lanes = self._considered(printed, pool.rows)
        by_lane = [match for match in inside if match.lane in lanes]
        by_name = [match for match in inside if match.leaf.field in named]
        chosen = plainest([match for match in by_lane if match in by_name] or by_lane or by_name or inside)
        told = bool(by_lane or by_name)
        fields = frozenset(match.leaf.field for match in chosen) if told else None
        if by_name and not by_lane:
            fields = named
        chance = self.matcher.chance(quantity, pool.rows, fields, chosen[0].rank[0])
        if not told and printed.table is not None and (named or lanes):
            if chance > _SURELY:
                return None  # the head names a field, and this is another
            if lanes or any(words.agreement(printed.head, name) == 1.0 for name in named):
                return self._another_field(printed, pool, chosen)
        if len(chosen) > 1 and not are_copies(chosen):
            return self._several(printed, chosen)
        is_placed = pool.is_labelled or pool.rows.bit_count() == 1
        if by_lane or (by_name and is_placed and chance < 1) or chance <= _CHANCE:
            return self._bound(printed, quantity, chosen)
        return Judged(
            printed,
            Verdict.AMBIGUOUS,
            self._sources(chosen),
            quantities.told(chosen[0].factor),
            f"{_chance_text(chance)} would fit a number of {quantity.digits} digits by chance, and no label decides",
        )

    def _another_field(self, printed: Printed, pool: Pool, chosen: Sequence[Match]) -> Judged:
        """Say that the row is right and the field is not the one that the column is of."""
        there = self._expected(printed, pool)
        message = f"of its row, but its column is of {listed(there, 1)}" if there else "its column is of another field"
        return Judged(printed, Verdict.ANOTHER_ROW, self._sources(chosen), "", message)

    def _several(self, printed: Printed, chosen: Sequence[Match]) -> Judged:
        fields = sorted({match.leaf.field for match in chosen})
        if len(fields) > 1:
            message = f"{len(fields)} fields fit equally: {', '.join(fields[:4])}"
        else:
            message = f"{len(chosen)} rows fit equally, and no label tells which"
        return Judged(printed, Verdict.AMBIGUOUS, self._sources(chosen), "", message)

    def _bound(self, printed: Printed, quantity: Quantity, chosen: Sequence[Match]) -> Judged:
        first = chosen[0]
        newer = self.twins.newer(first.leaf)
        if newer is not None and not quantity.holds(newer.value * first.factor):
            message = f"{newer.file} is newer and has {newer.value * first.factor:.6g}"
            return Judged(printed, Verdict.STALE, (self.matcher.source(first.leaf), newer), "", message)
        also = f"also in {len(chosen) - 1} more places" if len(chosen) > 1 else ""
        return Judged(printed, Verdict.BOUND, self._sources(chosen), how(quantity, first.factor, first.value), also)

    def _setting(self, printed: Printed, quantity: Quantity, pool: Pool) -> Judged:
        matches = [
            match
            for match in self.matcher.matches(quantity, pool.rows)
            if (quantity.unit or match.factor == 1.0)
            and (not words.is_metric(match.leaf.field) or words.agreement(printed.head, match.leaf.field) == 1.0)
        ]
        label = printed.head if printed.table is not None else " ".join(_near_by(printed))
        named = words.named(label, {match.leaf.field for match in matches})
        chosen = plainest([match for match in matches if match.leaf.field in named])
        if chosen:
            same = [match for match in chosen if match.leaf.field == chosen[0].leaf.field]
            found = how(quantity, chosen[0].factor, chosen[0].value)
            return Judged(printed, Verdict.CONFIGURATION, self._sources(same), found)
        rows = self.index.by_number.get(quantity.value, 0) & pool.rows
        if rows and quantity.value >= _FEWEST_IN_NAMES:
            row = self.index.rows[next(members(rows, 1))]
            return Judged(printed, Verdict.CONFIGURATION, (), "", f"in a name of {row.file} {row.place}".rstrip())
        if printed.table is not None and self.pools.is_known(printed.head):
            message = pool.absent or f"no row that fits its labels has {printed.head.strip()} {quantity.text}"
            return Judged(printed, Verdict.NOWHERE, (), "", message)
        by_value = [match for match in plainest(matches) if quantity.digits >= _FEWEST_DIGITS]
        if by_value:
            return Judged(printed, Verdict.CONFIGURATION, self._sources(by_value), "", "by its value alone")
        return Judged(printed, Verdict.CONFIGURATION, (), "", "no setting in the files has this value")

    def _version(self, printed: Printed) -> Judged:
        """Compare a version with those that files hold of the same software."""
        shown = printed.text.rpartition(" ")[2]
        known = [
            (version, place)
            for word in words.labels(printed.head)
            for version, place in self.index.versions.get(word, {}).items()
        ]
        sources = []
        for version, (number, name) in known:
            row = self.index.rows[number]
            source = Source(number, row.file, row.place, name, 0.0, version)
            if _is_version(shown, version):
                return Judged(printed, Verdict.CONFIGURATION, (source,), "as stored")
            sources.append(source)
        if not sources:
            return Judged(printed, Verdict.CONFIGURATION, (), "", "no file says which version")
        message = f"the files have {', '.join(sorted({version for version, _ in known})[:4])}"
        return Judged(printed, Verdict.STALE, tuple(sources[:_MOST_SHOWN]), "", message)

    def _blank(self, printed: Printed, pool: Pool) -> Judged:
        expected = self._expected(printed, pool)
        shown = repr(printed.text) if printed.text else "an empty cell"
        message = f"{shown} where {listed(expected, 1)} belongs" if expected else f"{shown}; no row fits its labels"
        return Judged(printed, Verdict.NOT_RENDERED, expected, "", message)

    def _expected(self, printed: Printed, pool: Pool) -> tuple[Source, ...]:
        """Return what the log holds in the place that a number's labels point to."""
        if not pool.is_labelled:
            return ()
        named, lanes = self._considered(printed, pool.rows)
        wanted = frozenset(name for name, _ in lanes) or named or frozenset((self._usual,))
        found = []
        for row in members(pool.rows, _MOST_SHOWN):
            there = [leaf for leaf in self.matcher.leaves(row) if leaf.field in wanted]
            plainest_first = sorted(there, key=lambda leaf: (leaf.kind, leaf.field.count(".")))
            kept = [leaf for leaf in plainest_first if leaf.kind is plainest_first[0].kind]
            found += [leaf for i, leaf in enumerate(kept) if all(leaf.value != other.value for other in kept[:i])]
        return tuple(self.matcher.source(leaf) for leaf in found[:_MOST_SHOWN])

    def _outside(self, printed: Printed, quantity: Quantity, pool: Pool) -> Judged:
        """Judge a number that none of the rows its labels point to holds."""
        expected = self._expected(printed, pool)
        near = self._near(printed, quantity, pool, expected)
        if near is not None and near.verdict is Verdict.ROUNDING:
            return near
        elsewhere = self._elsewhere(printed, quantity, pool)
        if elsewhere is not None:
            return elsewhere
        if near is not None:
            return near
        message = pool.absent or (f"there stands {listed(expected, 2)}" if expected else "")
        return Judged(printed, Verdict.NOWHERE, expected, "", message)

    def _elsewhere(self, printed: Printed, quantity: Quantity, pool: Pool) -> Judged | None:
        if quantity.digits < _FEWEST_DIGITS or not pool.is_labelled:
            return None
        rest = self.index.everything & ~pool.rows
        named, lanes = self._considered(printed, self.index.everything)
        wanted = frozenset(name for name, _ in lanes) or named
        matches = self.matcher.matches(quantity, rest)
        by_field = [match for match in matches if match.leaf.field in wanted]
        chosen = plainest(by_field or matches)
        if not chosen or self.matcher.chance(quantity, rest, wanted if by_field else None) > _CHANCE:
            return None
        if printed.table is None:
            message = "the words round it fit other rows"
            return Judged(printed, Verdict.AMBIGUOUS, self._sources(chosen), "", message)
        there = self._expected(printed, pool)
        message = pool.absent or (
            f"its labels point to {listed(there, 1)}" if there else "its labels point to other rows"
        )
        return Judged(printed, Verdict.ANOTHER_ROW, self._sources(chosen), "", message)

    def _near(self, printed: Printed, quantity: Quantity, pool: Pool, expected: Sequence[Source]) -> Judged | None:
        """Compare a number with the one value in its place: not rounded as printed, or moved since."""
        named, lanes = self._considered(printed, pool.rows)
        if not (named or lanes) or len({source.value for source in expected}) != 1:
            return None
        source = expected[0]
        for factor in quantities.factors(quantity, self.index.units[source.field]):
            value = source.value * factor
            if _is_badly_rounded(quantity, value):
                message = f"{value:.8g} does not round to {quantity.text}"
                return Judged(printed, Verdict.ROUNDING, tuple(expected[:1]), how(quantity, factor, value), message)
            if value and abs(quantity.value - value) <= _NEAR * abs(value):
                message = f"the log has {value:.8g} in its place"
                return Judged(printed, Verdict.STALE, tuple(expected[:1]), how(quantity, factor, value), message)
        return None

    def _sources(self, matches: Iterable[Match]) -> tuple[Source, ...]:
        return tuple(self.matcher.source(match.leaf) for match in list(matches)[:_MOST_SHOWN])


def _is_version(page: str, log: str) -> bool:
    """Whether a version on a page is that of a file, which may say more: 2.13.0 is 2.13.0+cu126."""
    shown, held = (re.split(r"[.+_-]", text.lower().removeprefix("v")) for text in (page, log))
    return held[: len(shown)] == shown


def how(quantity: Quantity, factor: float, value: float) -> str:
    """Say what turns a stored value into the printed number."""
    rounded = "" if math.isclose(value, quantity.value, rel_tol=1e-12) else "rounded"
    return ", ".join(part for part in (quantities.told(factor), rounded) if part) or "as stored"


def _is_badly_rounded(quantity: Quantity, value: float) -> bool:
    """Whether a value misses the printed one by less than a digit, or fits it if zeros at its end say nothing."""
    if abs(quantity.value - value) <= quantity.step:
        return True
    digits = quantity.text.lstrip("+-−–~≈ ").replace(",", "").split(" ")[0]
    if not digits.isdigit() or not digits.endswith("0") or not digits.strip("0"):
        return False
    zeros = len(digits) - len(digits.rstrip("0"))
    return abs(quantity.value - value) <= 0.5 * 10.0 ** min(zeros, len(digits) - 1)


def _chance_text(chance: float) -> str:
    return f"{chance:.1f} values" if chance < 10 else f"{chance:.0f} values"


def _column(printed: Printed) -> Column:
    return id(printed.table), printed.column, printed.part


def _near_by(printed: Printed) -> tuple[str, str]:
    """Return the words before and after a number in prose, up to the numbers next to it."""
    text, end = printed.sentence, printed.start + len(printed.text)
    numbers = [(match.start(), match.end()) for match, _ in quantities.find(text)]
    last = max((stop for _, stop in numbers if stop <= printed.start), default=0)
    following = min((start for start, _ in numbers if start >= end), default=len(text))
    before = text[max(last, printed.start - _REACH) : end]
    return " ".join(before.split()), " ".join(text[end : min(following, end + _REACH)].split())
