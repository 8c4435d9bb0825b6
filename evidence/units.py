"""Owns numbers as text: stored SI values become shown text here, and text becomes numbers again.

Prefixes are decimal throughout: 1 kB is 1,000 B. Rounding is half to even, on the shortest decimal that reads back as
the stored float, so 549.495 prints as 549, 549.5 or 549.50; no number is ever rounded to tens, because the zero of
"550" reads as a digit. Nothing that is not finite has a text: every function here raises ValueError for it.
"""

from __future__ import annotations

import re
import sys
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import NamedTuple, Protocol

MINUS = "\u2212"
FIGURE_SPACE = "\u2007"
PUNCTUATION_SPACE = "\u2008"

_EXACT = Context(prec=1000, rounding=ROUND_HALF_EVEN)
_SENTENCE_DIGITS = 4
_TABLE_DIGITS = 6
_MOST_DECIMALS = 350
_LARGEST = sys.float_info.max


class Bounded(Protocol):
    """An estimate between two bounds; `statistics.Interval` is one."""

    @property
    def value(self) -> float:
        """The estimate."""

    @property
    def low(self) -> float:
        """The lower bound."""

    @property
    def high(self) -> float:
        """The upper bound."""


class Scale(NamedTuple):
    """A unit as shown: its text, and the power of ten of stored units that one of it holds."""

    suffix: str
    power: int

    @property
    def factor(self) -> float:
        """How many stored units one shown unit is."""
        return float(f"1e{self.power}")


PLAIN = Scale("", 0)

_SCALES = {
    "s": (Scale("ns", -9), Scale("µs", -6), Scale("ms", -3), Scale("s", 0)),
    "B": (Scale("B", 0), Scale("kB", 3), Scale("MB", 6), Scale("GB", 9), Scale("TB", 12)),
    "J": (Scale("mJ", -3), Scale("J", 0), Scale("kJ", 3), Scale("MJ", 6)),
    "1": (PLAIN,),
    "1/s": (Scale("/s", 0),),
    "token/s": (Scale("tok/s", 0),),
    "B/s": (Scale("B/s", 0), Scale("kB/s", 3), Scale("MB/s", 6), Scale("GB/s", 9), Scale("TB/s", 12)),
    "FLOP/s": (
        Scale("FLOP/s", 0),
        Scale("MFLOP/s", 6),
        Scale("GFLOP/s", 9),
        Scale("TFLOP/s", 12),
        Scale("PFLOP/s", 15),
    ),
    "bit/B": (Scale("bit/B", 0),),
}

# People type u, the micro sign or the Greek letter.
_SPELLINGS = {"us": "µs", "\u03bcs": "µs", "token/s": "tok/s", "tokens/s": "tok/s", "1/s": "/s"}

_QUANTITY = re.compile(
    rf"([-+{MINUS}]?)(\d{{1,3}}(?:,\d{{3}})+|\d+)(\.\d+)?[ \u00a0\u202f]?(\D.*)?", re.DOTALL | re.ASCII
)


def scale_for(smallest: float, unit: str) -> Scale:
    """The shown unit of a column from its smallest value: the largest that leaves it at least 1, in absolute terms.

    Zero asks for nothing and takes the stored unit.

    Raises:
        ValueError: a value that is not finite, or a unit that is not stored.
    """
    size = abs(_decimal(smallest))
    scales = _scales(unit)
    if size == 0:
        return next(scale for scale in scales if scale.power == 0)
    return next((scale for scale in reversed(scales) if _shown(size, scale) >= 1), scales[0])


def scale_named(suffix: str, unit: str) -> Scale:
    """The shown unit an author chose, such as `ms`, for a stored unit that it must fit.

    Raises:
        ValueError: the unit has no such scale; the message lists those it has.
    """
    scales = _scales(unit)
    wanted = _SPELLINGS.get(suffix, suffix)
    for scale in scales:
        if scale.suffix == wanted:
            return scale
    raise ValueError(f"{unit} is not shown in {suffix!r} but in {', '.join(scale.suffix or '1' for scale in scales)}")


def sentence_decimals(bounds: Bounded, scale: Scale = PLAIN) -> int:
    """Decimals for a sentence: down to the first significant digit of the half-width, four significant at most."""
    half = _half_width(bounds, scale)
    return _held(bounds, scale, half, -half.adjusted(), _SENTENCE_DIGITS)


def table_decimals(bounds: Bounded, scale: Scale = PLAIN) -> int:
    """Decimals for a table: two significant digits of the half-width if it starts with 1 or 2, else one.

    Six significant digits at most, so that a half-width of rounding noise does not print as precision.
    """
    half = _half_width(bounds, scale)
    return _held(bounds, scale, half, _half_width_decimals(half), _TABLE_DIGITS)


def sentence_ratio_decimals(ratio: Bounded) -> int:
    """Decimals of a ratio in a sentence: as the interval says, one or two below ten, one less a decade above."""
    return _ratio_decimals(ratio, sentence_decimals(ratio), finest=2)


def table_ratio_decimals(ratio: Bounded) -> int:
    """Decimals of a ratio in a table: two or three below ten, never finer than 0.1 %; one less a decade above."""
    return _ratio_decimals(ratio, table_decimals(ratio), finest=3)


def table_change_decimals(change: Bounded) -> int:
    """Decimals of a percentage in a table: at most one, 0.1 %; `change` is a fraction."""
    half = _half_width(change, PLAIN)
    return min(max(_half_width_decimals(half) - 2, 0), 1) if half else 1


def format_number(value: float, decimals: int) -> str:
    """A number with a comma between thousands and a true minus sign: `−1,234.50`.

    Raises:
        ValueError: a value that is not finite, or a negative number of decimals.
    """
    return _text(_decimal(value), decimals)


def format_count(count: int) -> str:
    """An exact count, whole: `10,304`."""
    return f"{count:,}".replace("-", MINUS)


def counted(number: int, what: str) -> str:
    """A number of things: `1 log`, `2 logs`."""
    return f"{number} {plural(number, what)}"


def plural(number: int, what: str) -> str:
    """What there is a number of: `log` of 1, else `logs`."""
    return what if number == 1 else f"{what}s"


def format_value(value: float, scale: Scale, decimals: int) -> str:
    """A stored value in its shown unit: `69.8 µs`."""
    return _with_suffix(_text(_shown(_decimal(value), scale), decimals), scale)


def format_interval(bounds: Bounded, decimals: int, scale: Scale = PLAIN) -> str:
    """The bounds in the shown unit: `1.15–1.17`, or `−3 to 2` where a dash would read as a minus."""
    low, high = (_text(_shown(_decimal(bound), scale), decimals) for bound in (bounds.low, bounds.high))
    dash = " to " if MINUS in low + high else "–"
    return _with_suffix(f"{low}{dash}{high}", scale)


def format_ratio(ratio: float, decimals: int) -> str:
    """How many times: `1.16×`."""
    return f"{format_number(ratio, decimals)}×"


def format_change(change: float, decimals: int = 0) -> str:
    """A signed percentage of a fraction: 1.31 is `+131 %`, and what rounds to nothing is `0 %`.

    A sentence shows whole percents, because less than 1 % is never claimed.
    """
    text = _text(_decimal(change).scaleb(2, _EXACT), decimals)
    is_gain = not text.startswith(MINUS) and any(digit in text for digit in "123456789")
    return f"{'+' if is_gain else ''}{text} %"


def parse_number(text: str) -> float:
    """Read a number as this module shows it.

    Raises:
        ValueError: the text is not one number, or is too large for a float.
    """
    value, suffix = _read(text)
    if suffix:
        raise ValueError(f"{text!r} is not a number alone")
    return _float(value)


def parse_quantity(text: str) -> tuple[float, str]:
    """Read a number with its shown unit: `69.8 µs` is 6.98e-5 of the stored unit `s`; no unit is `1`.

    Raises:
        ValueError: the text is not a number followed by a shown unit.
    """
    value, suffix = _read(text)
    wanted = _SPELLINGS.get(suffix, suffix)
    for unit, scales in _SCALES.items():
        for scale in scales:
            if scale.suffix == wanted:
                return _float(value.scaleb(scale.power, _EXACT)), unit
    raise ValueError(f"{suffix!r} is not a unit shown here")


def _scales(unit: str) -> tuple[Scale, ...]:
    if unit not in _SCALES:
        raise ValueError(f"{unit!r} is not a stored unit: {', '.join(_SCALES)}")
    return _SCALES[unit]


def _decimal(value: float) -> Decimal:
    if not abs(value) <= _LARGEST:
        raise ValueError(f"{value} has no text: only finite numbers are shown")
    return Decimal(value) if isinstance(value, int) else Decimal(repr(float(value)))


def _float(value: Decimal) -> float:
    number = float(value)
    if abs(number) > _LARGEST:
        raise ValueError("a number larger than any float")
    return number


def _shown(value: Decimal, scale: Scale) -> Decimal:
    return value.scaleb(-scale.power, _EXACT)


def _half_width(bounds: Bounded, scale: Scale) -> Decimal:
    width = _EXACT.subtract(_decimal(bounds.high), _decimal(bounds.low))
    if width < 0:
        raise ValueError(f"bounds ({bounds.low}, {bounds.high}) in the wrong order")
    return _shown(_EXACT.divide(width, Decimal(2)), scale)


def _half_width_decimals(half: Decimal) -> int:
    return -half.adjusted() + (half.as_tuple().digits[0] < 3)


def _held(bounds: Bounded, scale: Scale, half: Decimal, wanted: int, digits: int) -> int:
    """Hold decimals between none and what leaves `digits` significant; an exact value takes those of a sentence."""
    shown = _shown(_decimal(bounds.value), scale)
    if shown == 0:
        return max(0, wanted) if half else 0
    return max(0, min(wanted, digits - 1 - shown.adjusted()) if half else _SENTENCE_DIGITS - 1 - shown.adjusted())


def _ratio_decimals(ratio: Bounded, wanted: int, finest: int) -> int:
    value = _decimal(ratio.value)
    finest -= max(0, value.adjusted()) if value else 0
    return max(0, min(finest, max(finest - 1, wanted)))


def _text(value: Decimal, decimals: int) -> str:
    if not 0 <= decimals <= _MOST_DECIMALS:
        raise ValueError(f"{decimals} decimals: numbers are never rounded to tens, nor beyond what a float holds")
    rounded = value.quantize(Decimal(1).scaleb(-decimals), context=_EXACT)
    return f"{rounded if rounded else abs(rounded):,f}".replace("-", MINUS)


def _with_suffix(text: str, scale: Scale) -> str:
    return f"{text} {scale.suffix}" if scale.suffix else text


def _read(text: str) -> tuple[Decimal, str]:
    cleaned = text.replace(FIGURE_SPACE, "").replace(PUNCTUATION_SPACE, "").strip()
    match = _QUANTITY.fullmatch(cleaned)
    if match is None:
        raise ValueError(f"{text!r} is not a number")
    sign, whole, fraction, suffix = match.groups("")
    number = Decimal(whole.replace(",", "") + fraction)
    return -number if sign in ("-", MINUS) else number, suffix.strip()
