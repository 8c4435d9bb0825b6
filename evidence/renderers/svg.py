"""Owns a fluid SVG canvas: x in per cent of the plot, y in pixels, so that text keeps its size at every width.

Margins are CSS padding on the svg, and labels reach into them. Colours are classes: one text serves both schemes and
print.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field

from evidence.renderers.markup import escape
from evidence.renderers.text import ELLIPSIS, one_line

GLYPHS = {
    "better": '<path d="M0-5.2 5.4 4.4H-5.4Z"/>',
    "worse": '<path d="M0 5.2-5.4-4.4H5.4Z"/>',
    "same": '<path d="M-5-3.6H5V-.9H-5ZM-5 .9H5V3.6H-5Z"/>',
    "inconclusive": '<circle class="o" r="4.2"/>',
    "incomparable": '<path class="o" d="M-5-2H5M-5 2H5M-2.6 5.2 2.6-5.2"/>',
    "refused": '<path d="M-2.2-5.4H2.2L5.4-2.2V2.2L2.2 5.4H-2.2L-5.4 2.2V-2.2Z"/>',
    "rejected": '<path class="o" d="M-4-4 4 4M4-4-4 4"/>',
    "crashed": '<path class="o" d="M1.2-5.4-2.6 .6H2.6L-1.2 5.4"/>',
    "skipped": '<path class="o" d="M-4.6 0H4.6"/>',
    "missing": '<path class="o" d="M-4.6 0H-2M2 0H4.6"/>',
    "measured": '<circle r="4.2"/>',
    "passed": '<path class="o" d="M-4 .5-1.2 3.6 4.4-3.6"/>',
}
"""One shape a verdict or outcome, 12 by 12, centred on 0 0: colour is never the only sign."""

_WIDE, _BROAD, _NARROW, _USUAL = 14.0, 12.5, 4.5, 7.8
"""Pixels of a character of 13 px text in a wide font (DejaVu Sans): full width, `W` and its like, `i`, the rest."""


_LONGEST_LINE = 400


@dataclass(frozen=True, slots=True)
class Scale:
    """Values to 0..1, clamped at the ends."""

    low: float
    high: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """Where the value lies between the ends."""
        held = min(max(value, self.low), self.high)
        if self.is_log:
            return (math.log(held) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return (held - self.low) / (self.high - self.low)


def number(value: float) -> str:
    """A coordinate: two decimals, no trailing zero, no minus before nothing."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def per_cent(share: float) -> str:
    """A share of the width as an attribute's value."""
    return f"{number(100 * share)}%"


def width_of(text: str) -> float:
    """Pixels that 13 px text takes at most, estimated."""
    return sum(_advance(character) for character in text)


def fit(text: str, pixels: float) -> str:
    """The text as one line no wider than `pixels`; the middle gives way, since labels differ at their ends."""
    return _fitted(text, pixels, _without_middle)


def fit_start(text: str, pixels: float) -> str:
    """The text as one line no wider than `pixels`, cut at its end: for sentences."""
    return _fitted(text, pixels, lambda line, kept: line[:kept] + ELLIPSIS)


def _fitted(text: str, pixels: float, shorten: Callable[[str, int], str]) -> str:
    line = one_line(text, _LONGEST_LINE)
    kept = len(line)
    shown = line
    while width_of(shown) > pixels and kept > 1:
        kept -= 1
        shown = shorten(line, kept)
    return shown


def _without_middle(text: str, kept: int) -> str:
    head = (kept + 1) // 2
    return text[:head] + ELLIPSIS + text[len(text) - (kept - head) :]


def _advance(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return _WIDE
    if character in "mwMWQOG@%…—":
        return _BROAD
    return _NARROW if character in " .,:;'|!iljIt()[]/" else _USUAL if not character.isupper() else 9.2


@dataclass(slots=True)
class Canvas:
    """One plot under construction; `render` closes it. Shapes take x as a share of the width, y in pixels."""

    id: str
    title: str
    description: str
    height: float
    kind: str
    parts: list[str] = field(default_factory=list)

    def line(self, x1: float, y1: float, x2: float, y2: float, classes: str) -> None:
        """A straight line."""
        self.parts.append(
            f'<line class="{classes}" x1="{per_cent(x1)}" y1="{number(y1)}" x2="{per_cent(x2)}" y2="{number(y2)}"/>'
        )

    def rectangle(self, x: float, y: float, width: float, height: float, classes: str) -> None:
        """A filled box."""
        self.parts.append(
            f'<rect class="{classes}" x="{per_cent(x)}" y="{number(y)}" '
            f'width="{per_cent(width)}" height="{number(height)}"/>'
        )

    def text(self, x: float, y: float, content: str, classes: str, shift: float = 0) -> None:
        """One line of text, moved by `shift` pixels to the right."""
        moved = f' dx="{number(shift)}"' if shift else ""
        self.parts.append(
            f'<text class="{classes}" x="{per_cent(x)}" y="{number(y)}"{moved}>{escape(one_line(content))}</text>'
        )

    def mark(self, x: float, y: float, glyph: str, shift: float = 0) -> None:
        """A verdict's or outcome's shape, centred: an inner svg takes a share for x and pixels for its shape."""
        drawing = f'<g transform="translate({number(shift)})">{GLYPHS[glyph]}</g>' if shift else GLYPHS[glyph]
        self.shape(x, y, drawing, f"ev-{glyph}")

    def shape(self, x: float, y: float, drawing: str, classes: str) -> None:
        """A drawing of this package, 12 by 12 and centred on 0 0."""
        place = f'x="{per_cent(x)}" y="{number(y)}"'
        self.parts.append(f'<svg class="{classes}" {place} overflow="visible">{drawing}</svg>')

    def render(self) -> str:
        """The plot for a page that has the stylesheet."""
        return (
            f'<svg class="ev-plot ev-plot--{self.kind}" width="100%" height="{number(self.height)}" role="img" '
            f'aria-labelledby="{self.id}-title {self.id}-description"><title id="{self.id}-title">{escape(self.title)}'
            f'</title><desc id="{self.id}-description">{escape(self.description)}</desc>{"".join(self.parts)}</svg>'
        )
