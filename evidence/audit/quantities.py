"""Owns a printed number: the interval of values that round to it, its unit, and by which factors a field becomes it."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from evidence.audit.words import words

UNITS: dict[str, tuple[str, float]] = {
    "ns": ("time", 1e-9),
    "us": ("time", 1e-6),
    "µs": ("time", 1e-6),
    "μs": ("time", 1e-6),
    "ms": ("time", 1e-3),
    "s": ("time", 1.0),
    "sec": ("time", 1.0),
    "secs": ("time", 1.0),
    "seconds": ("time", 1.0),
    "second": ("time", 1.0),
    "minutes": ("time", 60.0),
    "min": ("time", 60.0),
    "hours": ("time", 3600.0),
    "%": ("share", 0.01),
    "percent": ("share", 0.01),
    "x": ("ratio", 1.0),
    "×": ("ratio", 1.0),
    "B": ("bytes", 1.0),
    "bytes": ("bytes", 1.0),
    "K": ("count", 1e3),
    "k": ("count", 1e3),
    "M": ("count", 1e6),
    "W": ("power", 1.0),
    "J": ("energy", 1.0),
    "GHz": ("frequency", 1e9),
    "MHz": ("frequency", 1e6),
    **{
        f"{prefix}{letter}": ("bytes", base**power)
        for power, prefix in enumerate("KMGT", start=1)
        for letter, base in (("B", 1000.0), ("iB", 1024.0))
    },
    "kB": ("bytes", 1e3),
    **{
        f"{prefix}{word}": ("rate", factor)
        for prefix, factor in (("", 1.0), ("k", 1e3), ("K", 1e3), ("M", 1e6))
        for word in ("tok/s", "tokens/s", "token/s", "t/s", "req/s", "requests/s", "it/s", "samples/s", "steps/s")
    },
    "tokens/sec": ("rate", 1.0),
    "tok/sec": ("rate", 1.0),
    "tokens per second": ("rate", 1.0),
    "requests per second": ("rate", 1.0),
    **{
        f"{prefix}{word}": ("bytes/s", factor)
        for prefix, factor in (
            ("", 1.0),
            ("k", 1e3),
            ("K", 1e3),
            ("M", 1e6),
            ("G", 1e9),
            ("T", 1e12),
            ("Mi", 2.0**20),
            ("Gi", 2.0**30),
        )
        for word in ("B/s",)
    },
    **{
        f"{prefix}{word}": ("flops", factor)
        for prefix, factor in (("G", 1e9), ("T", 1e12), ("P", 1e15), ("M", 1e6))
        for word in ("FLOP/s", "FLOPS", "FLOPs")
    },
}
"""Unit as printed -> what it measures, and how many base units it is. A bare B may also be billions."""
FIELD_UNITS: dict[str, tuple[str, float]] = {
    "ns": ("time", 1e-9),
    "us": ("time", 1e-6),
    "ms": ("time", 1e-3),
    "s": ("time", 1.0),
    "bytes": ("bytes", 1.0),
    "kb": ("bytes", 1e3),
    "mb": ("bytes", 1e6),
    "gb": ("bytes", 1e9),
    "kib": ("bytes", 2.0**10),
    "mib": ("bytes", 2.0**20),
    "gib": ("bytes", 2.0**30),
    "throughput": ("rate", 1.0),
    "percent": ("share", 0.01),
    "pct": ("share", 0.01),
}
_BINARY = {2.0**10, 2.0**20, 2.0**30, 2.0**40}
_DECIMAL = (1.0, 1e-3, 1e3, 1e-6, 1e6, 1e-9, 1e9)
PERCENT = 100.0

_UNIT_PATTERN = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
_COUNTED = r"(?:NVIDIA|AMD|Intel|GPUs?|accelerators?|devices?|nodes?|replicas?|cores?|cards?|hosts?|ranks?)\b"
NUMBER = re.compile(
    r"(?P<about>[~≈]|\babout |\baround |\broughly |\bca\. |\bapprox\. )?(?<![\w.,/#:@^])"
    r"(?P<sign>[+\-−–](?=\d))?"
    r"(?P<digits>(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?)"
    rf"(?:[ \u00a0\u202f]?(?P<unit>{_UNIT_PATTERN})(?![\w/])(?<![x×](?=[ \u00a0]?(?:\d|[A-Z]{{1,4}}\d|{_COUNTED}))))?"
    r"(?![\w]|\.\d|,\d{3})"
)
"""A number that stands by itself, and its unit; part of a name (`H200`, `pp512`, `1.2.3`) is none."""
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Quantity:
    """A printed number: the closed interval of values that any rounding to its last digit turns into it."""

    text: str
    value: float
    low: float
    high: float
    unit: str
    digits: int
    """Significant digits; trailing zeros of a whole number count, because a reader reads them."""
    is_about: bool = False

    @property
    def kind(self) -> str:
        """What the unit measures: time, bytes, share, ratio, … or nothing where there is no unit."""
        return UNITS[self.unit][0] if self.unit else ""

    @property
    def step(self) -> float:
        """One unit of the last printed digit."""
        return self.high - self.low

    def holds(self, value: float) -> bool:
        """Whether a value, in the printed unit, rounds to what is printed."""
        slack = 1e-12 * max(abs(self.low), abs(self.high))
        return self.low - slack <= value <= self.high + slack

    @property
    def is_ratio_like(self) -> bool:
        """Whether it says how two other numbers relate."""
        return self.kind in ("ratio", "share")


def find(text: str) -> Iterator[tuple[re.Match[str], Quantity]]:
    """Yield the numbers of a text in order."""
    for match in NUMBER.finditer(text):
        if len(match["digits"]) <= _LONGEST:
            yield match, _quantity(match)


def read(text: str, unit: str = "") -> Quantity | None:
    """Return a text that is one number and nothing else, or None."""
    match = NUMBER.fullmatch(text.strip())
    return _quantity(match, unit) if match and len(match["digits"]) <= _LONGEST else None


def _quantity(match: re.Match[str], unit: str = "") -> Quantity:
    digits = match["digits"].replace(",", "")
    number = Decimal(digits)
    if match["sign"] and match["sign"] != "+":
        number = -number
    half = Decimal(5).scaleb(int(number.as_tuple().exponent) - 1)
    if match["about"] and number == number.to_integral():
        coarse = len(digits) - len(digits.rstrip("0")) if digits.strip("0") else 0
        half = Decimal(5).scaleb(coarse - 1) if "." not in digits else half
    low, high = float(number - half), float(number + half)
    significant = len(number.as_tuple().digits) if number else 1
    return Quantity(
        match[0].strip(), float(number), low, high, match["unit"] or unit, significant, match["about"] is not None
    )


@functools.lru_cache(maxsize=65536)
def unit_of_field(name: str) -> tuple[str, float] | None:
    """Return what a field measures and in how many base units, as far as the end of its name says."""
    found = words(name)
    if {"token", "s"} <= set(found) or {"request", "s"} <= set(found):
        return "rate", 1.0
    return next((FIELD_UNITS[word] for word in reversed(found) if word in FIELD_UNITS), None)


def unit_of_header(text: str) -> str:
    """Return the unit that the head of a column names, in brackets or as a word of its own."""
    for candidate in re.findall(r"[\[(]([^\])]{1,24})[\])]", text):
        if candidate.strip() in UNITS:
            return str(candidate.strip())
    return next(
        (word for word in re.split(r"[\s,()\[\]]+", text) if word in UNITS and word not in ("x", "B", "K", "M", "k")),
        "",
    )


def factors(quantity: Quantity, have: tuple[str, float] | None) -> tuple[float, ...]:
    """Return what a field's value may be multiplied by to become the printed one, the likeliest first.

    One factor where both units are known; none where they measure different things.
    """
    if not quantity.unit:
        return (*_DECIMAL, PERCENT)
    kind, unit = UNITS[quantity.unit]
    if quantity.unit == "B" and have != ("bytes", 1.0):
        return 1e-9, 1.0
    if kind == "share":
        return (1.0,) if have == ("share", 0.01) else (PERCENT, 1.0)
    if kind in ("ratio", "power", "energy"):
        return (1.0,)
    if have is None:
        return _unconfirmed(unit)
    if have[0] == "rate" and kind in ("bytes/s", "flops"):  # a field called throughput may be any of them
        return _unconfirmed(unit)
    if have[0] != kind:
        return (1.0,) if kind in ("count", "rate", "flops") or have[0] == "rate" else ()
    exact = have[1] / unit
    if kind == "bytes":  # MB is printed for MiB as often as not
        mistaken = {"MB": 2.0**20, "GB": 2.0**30, "KB": 2.0**10}.get(quantity.unit)
        return (exact, have[1] / mistaken) if mistaken else (exact,)
    return (exact,)


def _unconfirmed(unit: float) -> tuple[float, ...]:
    if unit in _BINARY:
        return 1.0, 1 / unit, 2.0**10 / unit, 2.0**20 / unit
    return tuple(dict.fromkeys((1.0, 1 / unit, *_DECIMAL)))


def told(factor: float) -> str:
    """Say a factor in words; empty where nothing was changed."""
    if factor == 1.0:
        return ""
    if factor == 100.0:
        return "as percent"
    power = Decimal(repr(factor)) if factor < 1 else Decimal(repr(1 / factor))
    for base, name in ((1024.0, "1,024"), (1000.0, "1,000")):
        for exponent in (1, 2, 3, 4):
            if abs(factor * base**exponent - 1) < 1e-12:
                return f"divided by {name}{'' if exponent == 1 else f'^{exponent}'}"
            if abs(factor / base**exponent - 1) < 1e-12:
                return f"times {name}{'' if exponent == 1 else f'^{exponent}'}"
    return f"times {factor:g}" if power else ""
