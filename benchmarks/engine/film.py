"""Owns how runs are drawn as they went: one panel an arm, one row a request, one clock for all.

The first frame is the end of it, with the numbers that the figure states, so whoever sees a still sees the result. The
same runs and words make the same bytes; the colours are those of the site on paper.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.engine.replay import Course, Run

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

Colour = tuple[int, int, int]
PAPER, INK, MUTED, HAIRLINE = (255, 255, 255), (28, 33, 40), (89, 99, 110), (217, 221, 226)
BASELINE, CANDIDATE, CACHED = (107, 117, 128), (31, 95, 191), (138, 90, 0)
_WIDTH, _MARGIN, _PANELS = 880, 24, 300
_LINE, _HEAD, _GAP = 21, 26, 14
_FRAMES, _FRAME_MS = 90, 70
_STILL_MS, _END_MS = 4000, 2500
_SHADES = 10
_PLAIN = str.maketrans(
    {"×": "x", "–": "-", "\u2212": "-", "µ": "u", "÷": "/", "\u202f": " ", "\u2007": " ", "\xa0": " "}
)
"""What the typeface lacks."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a film says."""

    title: str
    numbers: str
    """What the runs show, with its numbers."""
    about: str
    """What stands below: the device, the model, the log."""


def gif(runs: Sequence[Run], words: Words) -> bytes:
    """Return the film of runs on one workload, the baseline first."""
    stage = _Stage(runs, words)
    length_s = stage.length_s
    # A whole share first: multiplied and divided, the end may come out before the end.
    moments = [length_s, *(length_s * (frame / _FRAMES) for frame in range(_FRAMES + 1))]
    first, *rest = [_indexed(stage.at(moment)) for moment in moments]
    durations = [_STILL_MS, *[_FRAME_MS] * _FRAMES, _END_MS]
    kept = io.BytesIO()
    first.save(kept, "GIF", save_all=True, append_images=rest, duration=durations, loop=0, optimize=False, disposal=1)
    return kept.getvalue()


def seconds(value: float) -> str:
    """Return a moment as text, in the unit that a whole film has."""
    return f"{value * 1e3:.0f} ms" if value < 1 else f"{value:.2f} s"


class _Stage:
    """Where everything stands; only the clock moves."""

    def __init__(self, runs: Sequence[Run], words: Words) -> None:
        from PIL import ImageFont

        self._runs, self._words = runs, words
        self.length_s = max(course.held_until_s for run in runs for course in run.courses)
        self._text, self._bold = ImageFont.load_default(15), ImageFont.load_default(19)
        self._small = ImageFont.load_default(13)
        self._numbers = tuple(_wrapped(words.numbers.translate(_PLAIN), self._text))
        self._about = tuple(_wrapped(words.about.translate(_PLAIN), self._small))
        rows = max(len(run.courses) for run in runs)
        self._row = max(4, min(13, _PANELS // rows))
        self._top = _MARGIN + 30 + _LINE * len(self._numbers) + _GAP
        self._panel = _HEAD + rows * self._row + _GAP
        self.height = self._top + len(runs) * self._panel + (1 + len(self._about)) * _LINE + _MARGIN

    def at(self, moment_s: float) -> Image:
        """Return the picture of one moment."""
        from PIL import Image, ImageDraw

        picture = Image.new("RGB", (_WIDTH, self.height), PAPER)
        draw = ImageDraw.Draw(picture)
        self._write(draw, _MARGIN, _MARGIN, self._words.title, self._bold, INK)
        for line, text in enumerate(self._numbers):
            self._write(draw, _MARGIN, _MARGIN + 30 + line * _LINE, text, self._text, INK)
        for index, run in enumerate(self._runs):
            colour = BASELINE if index == 0 and len(self._runs) > 1 else CANDIDATE
            self._draw_run(draw, self._top + index * self._panel, run, moment_s, colour)
        self._draw_clock(draw, moment_s)
        return picture

    def _x(self, moment_s: float) -> int:
        return _MARGIN + round((_WIDTH - 2 * _MARGIN) * moment_s / self.length_s)

    def _draw_run(self, draw: ImageDraw, top: int, run: Run, moment_s: float, colour: Colour) -> None:
        made = sum(course.made(moment_s) for course in run.courses)
        answered = sum(bool(course.tokens_s) and course.ended_s <= moment_s for course in run.courses)
        total = sum(len(course.tokens_s) for course in run.courses)
        told = f"{made} of {total} tokens, {answered} of {len(run.courses)} requests answered"
        if hits := sum(bool(course.cached_tokens) and course.made(moment_s) > 0 for course in run.courses):
            told = f"{hits} prefixes from the cache, {told}"
        if run.ended_s <= moment_s:
            told += f", the last after {seconds(run.ended_s)}"
        self._write(draw, _MARGIN, top, run.arm, self._text, colour)
        width = self._small.getlength(told)
        self._write(draw, _WIDTH - _MARGIN - round(width), top + 2, told, self._small, MUTED)
        for row, course in enumerate(run.courses):
            y = top + _HEAD + row * self._row
            self._draw_course(draw, y, course, moment_s, colour)

    def _draw_course(self, draw: ImageDraw, y: int, course: Course, moment_s: float, colour: Colour) -> None:
        """Draw a line while it waits, a bar from its first token to its last, and an empty box while it is held."""
        low, high, middle = y, y + self._row - 2, y + (self._row - 2) // 2
        if moment_s < course.enqueued_s:
            return
        first_s = course.tokens_s[0] if course.tokens_s else self.length_s
        draw.line((self._x(course.enqueued_s), middle, self._x(min(moment_s, first_s)), middle), HAIRLINE, 2)
        if moment_s < first_s:
            return
        end = self._x(min(moment_s, course.ended_s))
        draw.rectangle((self._x(first_s), low, end, high), fill=colour)
        if course.cached_tokens:
            draw.rectangle((self._x(first_s), low, self._x(first_s) + 3, high), fill=CACHED)
        if moment_s > course.ended_s and course.held_until_s > course.ended_s:
            _dash(draw, (end + 1, low, self._x(min(moment_s, course.held_until_s)), high))

    def _draw_clock(self, draw: ImageDraw, moment_s: float) -> None:
        bottom = self._top + len(self._runs) * self._panel - _GAP // 2
        draw.line((_MARGIN, bottom, _WIDTH - _MARGIN, bottom), MUTED)
        draw.line((self._x(moment_s), self._top + _HEAD - 4, self._x(moment_s), bottom), INK)
        self._write(draw, _MARGIN, bottom + 6, f"{seconds(moment_s)} of {seconds(self.length_s)}", self._small, INK)
        shown_s = _FRAMES * _FRAME_MS / 1e3
        is_slow = shown_s > self.length_s
        factor = shown_s / self.length_s if is_slow else self.length_s / shown_s
        pace = f"{factor:.1f} times {'slower' if is_slow else 'faster'} than it ran"
        width = self._small.getlength(pace)
        self._write(draw, _WIDTH - _MARGIN - round(width), bottom + 6, pace, self._small, MUTED)
        for line, text in enumerate(self._about, start=1):
            self._write(draw, _MARGIN, bottom + 6 + line * _LINE, text, self._small, MUTED)

    def _write(
        self, draw: ImageDraw, x: int, y: int, text: str, font: FreeTypeFont | ImageFont, colour: Colour
    ) -> None:
        draw.text((x, y), text.translate(_PLAIN), fill=colour, font=font)


def _dash(draw: ImageDraw, box: tuple[int, int, int, int]) -> None:
    left, top, right, bottom = box
    for x in range(left, right, 6):
        for y in (top, bottom):
            draw.line((x, y, min(x + 2, right), y), MUTED)
    draw.line((right, top, right, bottom), MUTED)


def _wrapped(text: str, font: FreeTypeFont | ImageFont) -> Iterator[str]:
    line = ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and font.getlength(longer) > _WIDTH - 2 * _MARGIN:
            yield line
            line = word
        else:
            line = longer
    yield line


def _palette() -> tuple[int, ...]:
    """Return every colour used, and the shades between those of words and the paper that the edges of letters take."""
    colours = (INK, MUTED, BASELINE, CANDIDATE)
    shades = (
        round(paper + (part - paper) * step / _SHADES)
        for colour in colours
        for step in range(1, _SHADES + 1)
        for paper, part in zip(PAPER, colour, strict=True)
    )
    return (*PAPER, *HAIRLINE, *CACHED, *shades)


def _indexed(picture: Image) -> Image:
    from PIL import Image

    palette = Image.new("P", (1, 1))
    palette.putpalette(list(_palette()))
    return picture.quantize(palette=palette, dither=Image.Dither.NONE)
