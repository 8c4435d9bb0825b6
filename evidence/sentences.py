"""Owns the templates of statements: `{[reading.]quantity[.reducer][:unit]}` and `{[reading.]fact}`, and their lint.

Digits are never chosen by an author, and a best case never stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from evidence import statistics, units
from evidence.errors import ItemError, nearest
from evidence.evaluation import CONTRADICTED, Reading, Value, tally
from evidence.pages.numbers import typed_numbers
from evidence.readings import coordinates
from evidence.schema.claims import ABSOLUTE_WORDS, QUANTITIES, REDUCERS, STANDALONE_DIGITS
from evidence.selection import in_words
from evidence.statistics import Interval, Verdict
from evidence.units import Scale
from evidence.views import Figure

UNKNOWN_FIELD, OVER_SCOPED, MEAN_OF_RATIOS, CROSS_LOG = "EV622", "EV604", "EV408", "EV414"

_FIELD = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)(?::(\S+))?")
_BETWEEN = re.compile(r"\s*(?:to|→|-+>|–|-|/|versus|vs\.?|against|instead of|rather than)\s*")
_BEST_CASE = re.compile(r"\bup to\s*$", re.IGNORECASE)
_OTHER_DEVICE = re.compile(
    r"(?<![\w/.-])(?:A(?:10G?|30|40|100|800)|H(?:20|100|200|800)|B(?:100|200|300)|G[BH][23]00|L4|L40S?|T4|[VP]100"
    r"|MI\d{3}[AX]?|RTX[ ]?\d{4})(?![\w-])"
)
_MEAN = re.compile(r"\b(?:means?|average)\s*(?:(?:of|is|at|speed-?ups?|gains?|ratios?)\s*)*[:=(]?\s*$", re.IGNORECASE)
_AS_A_GAIN = re.compile(r"\s*(?:times\s+)?(?:faster|sooner|quicker|better)\b", re.IGNORECASE)
_AS_A_LOSS = re.compile(r"\s*(?:times\s+)?(?:slower|later|worse)\b", re.IGNORECASE)
_THAN = re.compile(r"[^.;,{}]*?\b(?:than|against|versus|vs\.?)\s+(?:the\s+)?(\S*[\w])", re.IGNORECASE)
_PLACES = {"waive": "reason of a waiver"}
_TYPED = "write a field in its place: an axis such as {batch}, or in a statement a number such as {ratio}"
_ABSOLUTE = ("baseline", "candidate", "value")


def lint(text: str, devices: Iterable[str], *parts: str | int) -> None:
    """Refuse what a free text must not say by hand; `parts` is where the text stands in its item.

    Raises:
        ItemError: digits that stand alone, a device name, or an absolute word.
    """
    text, where = _FIELD.sub(" ", text), _PLACES.get(str(parts[0]), parts[0])
    if "{" in text or "}" in text:
        message = f"a brace without its other in the {where}"
        raise ItemError(UNKNOWN_FIELD, message, *parts, fix="write each field as {name}, in one pair of braces")
    if digits := STANDALONE_DIGITS.search(text):
        message = f"{digits[0]!r} is typed into the {where}"
        raise ItemError(UNKNOWN_FIELD, message, *parts, fix=_TYPED)
    if typed := next(typed_numbers(text), None):
        message = f"{typed.text!r} is typed into the {where}"
        raise ItemError(UNKNOWN_FIELD, message, *parts, fix=_TYPED)
    if absolute := ABSOLUTE_WORDS.search(text):
        message = f"{absolute[0]!r} is wider than any measurement"
        raise ItemError(OVER_SCOPED, message, *parts, fix="name the scope with a field")
    for name in _device_names(devices):
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE):
            raise ItemError(
                UNKNOWN_FIELD, f"the device {name!r} is typed into the {where}", *parts, fix="write {device}"
            )
    if other := _OTHER_DEVICE.search(text):
        message = f"the device {other[0]!r} is typed into the {where}, and no log here is of it"
        raise ItemError(UNKNOWN_FIELD, message, *parts, fix="write {device}, or read a log of that device under 'also'")


def with_facts(text: str, facts: Mapping[str, Iterable[str]], *parts: str | int) -> str:
    """Fill a text that stands on no reading, such as the title of a table: its fields are facts of what is shown.

    Raises:
        ItemError: a field that is no fact.
    """

    def fact(match: re.Match[str]) -> str:
        if match[1] in facts:
            return in_words(facts[match[1]])
        hint = nearest(match[1], facts)
        message = f"{match[0]} is no fact of what the table shows"
        if match[1].split(".")[0] in QUANTITIES:
            message = f"{match[0]} is a number, and the texts of a table have none"
        fix = f"did you mean {{{hint}}}?" if hint else f"facts: {', '.join(facts)}"
        raise ItemError(UNKNOWN_FIELD, message, *parts, fix=fix)

    return _FIELD.sub(fact, text)


def require_plain(text: str, *parts: str | int) -> None:
    """Refuse a field in a text that stands on no reading, so that nothing could fill it."""
    if field := _FIELD.search(text):
        message = f"{field[0]} in the {parts[0]} has no reading that could fill it"
        raise ItemError(UNKNOWN_FIELD, message, *parts, fix="write plain words")


def _device_names(devices: Iterable[str]) -> Iterator[str]:
    """Yield the models themselves, then the words in them that name one: the H200 of NVIDIA H200."""
    models = [model for names in devices for model in names.split(", ")]
    yield from models
    for model in models:
        yield from (word for word in model.split() if re.search(r"[A-Za-z]", word) and re.search(r"[0-9]", word))


def render(text: str, readings: Mapping[str, Reading], *parts: str | int) -> tuple[str | Figure, ...]:
    """Fill a template from its readings; `parts` is where it stands in its item.

    Raises:
        ItemError: a field that means nothing here, asks one number of several cells, or states a best case alone.
    """
    for match in _FIELD.finditer(text):
        if _BEST_CASE.search(text[: match.start()]) and not _reducer(match[1]).startswith("max"):
            message = f"'up to' before {{{match[1]}}}, which is not a maximum"
            raise ItemError(OVER_SCOPED, message, *parts, fix="write {….max}, or leave 'up to' out")
    found = filled(text, readings, *parts)
    _require_company([match[1] for match in _FIELD.finditer(text)], *parts)
    _require_one_pair(text, readings, *parts)
    _require_one_log(text, readings, *parts)
    for match in _FIELD.finditer(text):
        _require_honest_words(text, match, readings, *parts)
    return found


def plain(text: str, readings: Mapping[str, Reading], *parts: str | int) -> str:
    """Fill a template that is shown as plain text."""
    return "".join(part if isinstance(part, str) else part.text for part in render(text, readings, *parts))


def filled(text: str, readings: Mapping[str, Reading], *parts: str | int) -> tuple[str | Figure, ...]:
    """Fill a template, whatever its words then say: for those who have to see what a rerun made of it.

    Raises:
        ItemError: a field that means nothing here, or asks one number of several cells.
    """
    found: list[str | Figure] = []
    position = 0
    for match in _FIELD.finditer(text):
        if before := text[position : match.start()]:
            found.append(before)
        found.append(figure(match[1], readings, *parts))
        position = match.end()
    if position < len(text):
        found.append(text[position:])
    return tuple(found)


def _require_one_log(text: str, readings: Mapping[str, Reading], *parts: str | int) -> None:
    """Refuse absolute numbers of one metric from two logs: they were not measured side by side."""
    seen: dict[tuple[str, str], tuple[str, str]] = {}
    for match in _FIELD.finditer(text):
        of, quantity, _ = _taken_apart(match[1], readings)
        if quantity not in _ABSOLUTE:
            continue
        reading = readings[of]
        key, log = (reading.quantity.metric, reading.unit), reading.loaded.entry.log
        first = seen.setdefault(key, (log, match[0]))
        if first[0] != log:
            message = (
                f"{first[1]} and {match[0]} are {key[0]} of two logs, {first[0]} and {log}, not measured side by side"
            )
            raise ItemError(CROSS_LOG, message, *parts, fix="write the ratio of each log, or measure both in one run")


def _require_honest_words(text: str, match: re.Match[str], readings: Mapping[str, Reading], *parts: str | int) -> None:
    """Refuse words round a ratio that it contradicts: a loss called faster, another arm, a mean that is none."""
    of, quantity, words = _taken_apart(match[1], readings)
    reading = readings[of]
    if quantity != "ratio" or not reading.is_comparison:
        return
    if _MEAN.search(text[: match.start()]) and words != ["geomean"]:
        message = f"{match[0]} is no mean, and ratios have no other than the geometric one"
        raise ItemError(MEAN_OF_RATIOS, message, *parts, fix="write {ratio.geomean}, or leave the word out")
    after, verdict = text[match.end() :], figure(match[1], readings, *parts).verdict
    if verdict is None and len(reading.counts) == 1:
        verdict = reading.verdict
    for worded, against in ((_AS_A_GAIN, Verdict.WORSE), (_AS_A_LOSS, Verdict.BETTER)):
        if (said := worded.match(after)) and verdict is against:
            message = f"{match[0]}{said[0]}: the log says {reading.word}"
            raise ItemError(CONTRADICTED, message, *parts, fix="word it as the log has it; {ratio} above 1 is a gain")
    than = _THAN.match(after)
    arms = {arm.name for arm in reading.loaded.record.arms}
    if than and than[1] in arms - {reading.baseline}:
        message = f"{match[0]} is against {reading.baseline!r}, and the sentence says {than[1]!r}"
        raise ItemError(CONTRADICTED, message, *parts, fix="name the baseline, or read that comparison under 'also'")


def _require_one_pair(text: str, readings: Mapping[str, Reading], *parts: str | int) -> None:
    """Refuse an "a to b" whose ends are of two readings: their quotient is the ratio of neither."""
    for one, other in pairwise(_FIELD.finditer(text)):
        ends = [_taken_apart(field[1], readings) for field in (one, other)]
        are_values = all(quantity in ("baseline", "candidate", "value") for _, quantity, _ in ends)
        if are_values and ends[0][0] != ends[1][0] and _BETWEEN.fullmatch(text[one.end() : other.start()]):
            message = f"'{one[0]} … {other[0]}' sets the numbers of two readings side by side"
            raise ItemError(CONTRADICTED, message, *parts, fix="write {baseline} and {candidate} of one reading")


def _reducer(name: str) -> str:
    """Return the reducer of a field, also where the quantity is left out: `max` and `pairs.max` are of a value."""
    bare = name.split(":", 1)[0]
    return next((one for one in sorted(REDUCERS, key=len, reverse=True) if f".{bare}".endswith(f".{one}")), "")


def _require_company(names: list[str], *parts: str | int) -> None:
    reducers = {_reducer(name) for name in names}
    company = reducers & {"geomean", "range", "min"} or any(name.split(".")[-1] == "tally" for name in names)
    if "max" in reducers and not company:
        message = "a .max alone: a best case never stands alone"
        raise ItemError(OVER_SCOPED, message, *parts, fix="add .range, .geomean, .min or {tally}")


def figure(name: str, readings: Mapping[str, Reading], *key: str | int) -> Figure:
    """Render one field; `key` is where it stands in its item.

    Raises:
        ItemError: it means nothing here; the nearest field is named.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        is_spaced = _NAME.fullmatch(name.strip()) is not None
        fix = f"write {{{name.strip()}}}" if is_spaced else "write {quantity}, {reading.quantity} or {fact}"
        raise ItemError(UNKNOWN_FIELD, f"{{{name}}} is not a field", *key, fix=fix)
    of, quantity, words = _taken_apart(match[1], readings)
    reading, unit = readings[of], match[2] or ""
    if quantity:
        return _quantity(name, quantity, ".".join(words), unit, reading, key)
    facts = reading.facts()
    if words[0] in facts and len(words) == 1 and not unit:
        return Figure(in_words(facts[words[0]]))
    known = (*QUANTITIES, *facts, *(other for other in readings if other))
    hint = nearest(words[0], known)
    rest = "".join(f".{word}" for word in words[1:])
    fix = f"did you mean {{{hint}{rest}}}?" if hint else f"fields: {', '.join(known)}"
    raise ItemError(UNKNOWN_FIELD, f"{{{name}}} is neither a quantity, a reading nor a fact of the log", *key, fix=fix)


class Asked(NamedTuple):
    """A field taken apart: whose it is, and which quantity, how reduced, in which unit; or which fact."""

    reading: str
    quantity: str
    reducer: str
    unit: str
    fact: str


def fields_of(text: str) -> tuple[str, ...]:
    """Return the fields of a template in order, as written between their braces."""
    return tuple(match[1] for match in _FIELD.finditer(text))


def asked(name: str, readings: Mapping[str, Reading]) -> Asked:
    """Take apart a field that renders."""
    reading, quantity, words = _taken_apart(name, readings)
    unit = name.partition(":")[2]
    rest = ".".join(words)
    return Asked(reading, quantity, rest, unit, "") if quantity else Asked(reading, "", "", "", rest)


def _taken_apart(name: str, readings: Mapping[str, Reading]) -> tuple[str, str, list[str]]:
    """Return the reading that a field is of, its quantity (empty for a fact), and the words left: reducer or fact."""
    words = name.split(":", 1)[0].split(".")
    reading = words.pop(0) if words[0] in readings else ""
    if words and words[0] in QUANTITIES:
        return reading, words[0], words[1:]
    if not words or words[0] in ("min", "max", "range"):
        return reading, "value", words
    return reading, "", words


def _quantity(
    name: str, quantity: str, reducer: str, unit: str, reading: Reading, key: tuple[str | int, ...]
) -> Figure:
    if (
        quantity in ("ratio", "change", "baseline", "verdict", "tally", "count", "identical")
        and not reading.is_comparison
    ):
        raise ItemError(
            UNKNOWN_FIELD, f"{{{name}}} needs two arms, and this reading has one", *key, fix="write {value}"
        )
    if quantity == "value" and reading.is_comparison:
        raise ItemError(
            UNKNOWN_FIELD, f"{{{name}}}: two arms are compared", *key, fix="write {baseline} or {candidate}"
        )
    if reducer and reducer not in REDUCERS:
        hint = nearest(reducer, REDUCERS)
        fix = f"did you mean .{hint}?" if hint else f"reducers: {', '.join(REDUCERS)}"
        raise ItemError(UNKNOWN_FIELD, f"{{{name}}}: there is no reducer {reducer!r}", *key, fix=fix)
    if unit and quantity not in ("baseline", "candidate", "value"):
        raise ItemError(UNKNOWN_FIELD, f"{{{name}}}: a {quantity} has no unit to choose", *key, fix="drop the unit")
    if reducer and quantity in ("verdict", "tally", "count", "identical"):
        raise ItemError(UNKNOWN_FIELD, f"{{{name}}}: {quantity} is of all cells", *key, fix=f"write {{{quantity}}}")
    match quantity:
        case "ratio" | "change":
            return _comparison(name, quantity, reducer, reading, key)
        case "verdict":
            return Figure(reading.word, verdict=reading.verdict)
        case "tally":
            return Figure(tally(reading))
        case "count":
            return Figure(units.format_count(len(reading.comparisons)))
        case "identical":
            return Figure(units.format_count(reading.identical))
        case _:
            arm = reading.baseline if quantity == "baseline" else reading.candidate
            return _value(name, reducer, unit, reading, arm, key)


def _comparison(name: str, quantity: str, reducer: str, reading: Reading, key: tuple[str | int, ...]) -> Figure:
    shown = [(one.workload, one.ratio, one.verdict) for one in reading.comparisons if one.ratio is not None]
    if not shown:
        reason = reading.comparisons[0].reason if reading.comparisons else "no cell is compared"
        raise ItemError(
            UNKNOWN_FIELD, f"{{{name}}}: there is no ratio: {reason}", *key, fix="claim a cell that was measured"
        )
    ratios = [ratio for _, ratio, _ in shown]
    if reducer == "geomean":
        if quantity != "ratio":
            raise ItemError(
                UNKNOWN_FIELD, f"{{{name}}}: a geometric mean is of ratios", *key, fix="write {ratio.geomean}"
            )
        mean = statistics.geometric_mean(ratios).interval
        return Figure(ratio_text(mean), ratio_interval(mean), reading.verdict)
    if not reducer:
        if len(shown) > 1:
            fix = f"narrow 'where', or write {{{name}.range}}, {{{name}.min}}, {{{name}.max}} or {{ratio.geomean}}"
            raise ItemError(
                UNKNOWN_FIELD, f"{{{name}}} is one number, but {len(shown)} cells are selected", *key, fix=fix
            )
        return _one_comparison(quantity, ratios[0], reading, shown[0][2])
    low, high = min(shown, key=lambda one: one[1].value), max(shown, key=lambda one: one[1].value)
    if reducer == "range":
        ends = (_one_comparison(quantity, end[1], reading, end[2]).text for end in (low, high))
        return Figure(" to ".join(dict.fromkeys(ends)))
    end = low if reducer.startswith("min") else high
    if reducer.endswith(".at"):
        return Figure(_place(reading, end[0]))
    return _one_comparison(quantity, end[1], reading, end[2])


def _one_comparison(quantity: str, ratio: Interval, reading: Reading, verdict: Verdict) -> Figure:
    if quantity == "ratio":
        return Figure(ratio_text(ratio), ratio_interval(ratio), verdict)
    change = statistics.change(ratio, reading.lower_is_better)
    ends = f"{units.format_change(change.low)} to {units.format_change(change.high)}"
    return Figure(units.format_change(change.value), ends, verdict)


def _place(reading: Reading, workload: str) -> str:
    """Name a cell by the axes that tell the selected cells apart."""
    facts = {axis: values for axis, values in reading.facts().items() if len(values) > 1 and axis != "workload"}
    one = next(w for w in reading.workloads if w.name == workload)
    place = coordinates(reading.loaded.record, one)
    return ", ".join(f"{axis} {place[axis]}" for axis in facts if axis in place and axis != "shape") or workload


def _value(name: str, reducer: str, unit: str, reading: Reading, arm: str, key: tuple[str | int, ...]) -> Figure:
    values = reading.values(arm)
    if not values:
        raise ItemError(
            "EV601", f"{{{name}}}: {arm} has no {reading.quantity} in the selected cells", *key, fix="widen 'where'"
        )
    if not reducer and len(values) > 1:
        fix = f"narrow 'where', or write {{{name}.range}}, {{{name}.min}} or {{{name}.max}}"
        raise ItemError(UNKNOWN_FIELD, f"{{{name}}} is one number, but {len(values)} cells are selected", *key, fix=fix)
    if reducer == "geomean":
        raise ItemError(
            UNKNOWN_FIELD, f"{{{name}}}: a geometric mean is of ratios", *key, fix="write .range, .min or .max"
        )
    try:
        scale = units.scale_named(unit, reading.unit) if unit else None
    except ValueError as error:
        raise ItemError(
            UNKNOWN_FIELD, f"{{{name}}}: {error}", *key, fix="drop the unit, or write one that fits"
        ) from None
    low, high = min(values, key=lambda one: one.interval.value), max(values, key=lambda one: one.interval.value)
    if reducer == "range":
        return Figure(" to ".join(dict.fromkeys(value_figure(end, reading, scale).text for end in (low, high))))
    end = low if reducer.startswith("min") else high
    if reducer.endswith(".at"):
        return Figure(_place(reading, end.workload.name))
    return value_figure(values[0] if not reducer else end, reading, scale)


def value_figure(value: Value, reading: Reading, scale: Scale | None = None) -> Figure:
    """Render one cell's number for a sentence, in the largest unit that fits or the one given."""
    chosen = scale or units.scale_for(value.interval.value, reading.unit)
    if value.is_exact:
        if float(value.interval.value).is_integer() and not chosen.power:
            suffix = f" {chosen.suffix}" if chosen.suffix else ""
            return Figure(f"{units.format_count(int(value.interval.value))}{suffix}", "exact")
        decimals = units.sentence_decimals(value.interval, chosen)
        return Figure(units.format_value(value.interval.value, chosen, decimals), "exact")
    decimals = units.sentence_decimals(value.interval, chosen)
    return Figure(
        units.format_value(value.interval.value, chosen, decimals),
        units.format_interval(value.interval, decimals, chosen),
    )


def ratio_text(ratio: Interval) -> str:
    """Return a ratio for a sentence: `1.16×`."""
    return units.format_ratio(ratio.value, units.sentence_ratio_decimals(ratio))


def ratio_interval(ratio: Interval) -> str:
    """Return a ratio's interval for a sentence: `1.15–1.17`, with one decimal more where its ends would read alike."""
    decimals = units.sentence_ratio_decimals(ratio)
    ends = {units.format_number(end, decimals) for end in (ratio.low, ratio.high)}
    return units.format_interval(ratio, decimals + (len(ends) == 1 and ratio.low < ratio.high))
