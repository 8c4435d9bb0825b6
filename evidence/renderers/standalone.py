"""Owns charts as pictures of their own, for a README or a pull request: one SVG file with its style, light and dark.

Colours and chart rules are cut from the site's stylesheet, so that there is one source of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from evidence.errors import ChartError
from evidence.renderers.charts import Kind, panels
from evidence.renderers.markup import anchor, escape
from evidence.renderers.panel import Panel
from evidence.renderers.svg import fit, number, width_of
from evidence.renderers.text import one_line
from evidence.views import Table

_WIDTH, _EDGE, _FOOT, _GAP = 720, 16, 34, 20
_TITLE_LINE, _LINE = 20, 18
_TITLE_SCALE = 1.25
"""How much wider than 13 px text the bold 15 px of a title is."""

_MARGINS: dict[str, tuple[int, int]] = {"forest": (170, 190), "bars": (16, 40)}
_LONGEST_TITLE = 600
_FONTS = "-apple-system,'Segoe UI',Roboto,'Noto Sans','Liberation Sans',Arial,sans-serif"
_TOKENS = re.compile(r"/\* tokens: (light|dark) \*/[^{]*\{([^}]*)\}")
_RULES = re.compile(r"/\* picture begins \*/(.*?)/\* picture ends \*/", re.DOTALL)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def standalone(view: Table, kind: Kind, stylesheet: str) -> str:
    """The chart as an SVG document; `stylesheet` is the text of the site's `evidence.css`.

    Raises:
        ChartError: nothing to draw, or a stylesheet without tokens and chart rules.
    """
    drawn = panels(view, kind)
    page = _Page()
    if view.banner:
        page.write(f"{view.banner.status.replace('_', ' ')}: {view.banner.text}", "ev-heading")
    for panel in drawn:
        page.place(panel)
    for log in view.evidence:
        page.write(f"{log.log} · sha256 {log.sha256[:12]}", "t")
    height, name = number(page.y + _EDGE), anchor(view.id)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'role="img" aria-labelledby="{name}-title {name}-description">'
        f'<title id="{name}-title">{escape("; ".join(panel.title for panel in drawn))}</title>'
        f'<desc id="{name}-description">{escape("; ".join(panel.canvas.description for panel in drawn))}</desc>'
        f'<style>{style(stylesheet)}</style><rect class="ev-picture" width="{_WIDTH}" height="{height}"/>'
        f"{''.join(page.parts)}</svg>\n"
    )


def style(stylesheet: str) -> str:
    """The part of the stylesheet that a picture needs, on one line, with both schemes.

    Raises:
        ChartError: the stylesheet has not the marks this part is cut at.
    """
    tokens, rules = dict(_TOKENS.findall(stylesheet)), _RULES.search(stylesheet)
    if rules is None or set(tokens) != {"light", "dark"}:
        raise ChartError("the stylesheet has no tokens or no chart rules", fix="use the evidence.css of this version")
    text = (
        f":root{{{tokens['light']}--ev-small:13px;--md-text-font-family:{_FONTS}}}"
        f"@media(prefers-color-scheme:dark){{:root{{{tokens['dark']}}}}}"
        f"{rules.group(1)}"
        ".ev-picture{fill:var(--ev-paper)}.ev-plot .ev-heading{font-weight:600;font-size:15px}"
    )
    return re.sub(r"\s*([{};:,])\s+", r"\1", re.sub(r"\s+", " ", _COMMENT.sub("", text))).strip()


@dataclass(slots=True)
class _Page:
    """What has been placed, from the top down."""

    y: float = 8
    parts: list[str] = field(default_factory=list)

    def write(self, text: str, classes: str) -> None:
        """Add a line, or as many as the text needs."""
        is_title = classes == "ev-heading"
        width = (_WIDTH - 2 * _EDGE) / (_TITLE_SCALE if is_title else 1)
        for line in _wrapped(text, width):
            self.y += _TITLE_LINE if is_title else _LINE
            self._text(_EDGE, line, classes)

    def place(self, panel: Panel) -> None:
        """Add a plot under its words and the names of its colours."""
        self.write(panel.title, "ev-heading")
        self.write(panel.subtitle, "t")
        self._legend(panel.arms)
        self.y += 12
        canvas, (left, right) = panel.canvas, _MARGINS[panel.canvas.kind]
        self.parts.append(
            f'<svg class="ev-plot ev-plot--{canvas.kind}" x="{left}" y="{number(self.y)}" '
            f'width="{_WIDTH - left - right}" height="{number(canvas.height)}">{"".join(canvas.parts)}</svg>'
        )
        self.y += canvas.height + _FOOT + _GAP

    def _legend(self, arms: Sequence[tuple[str, str]]) -> None:
        x = float(_WIDTH)
        for colour, name in arms:
            label = fit(name, _WIDTH / 2)
            if x + width_of(label) > _WIDTH - 3 * _EDGE:
                x, self.y = _EDGE, self.y + _LINE
            self.parts.append(
                f'<g class="ev-plot"><rect class="bar {colour}" x="{number(x)}" y="{number(self.y - 10)}" width="12" '
                'height="12"/></g>'
            )
            self._text(x + 18, label, "")
            x += 18 + width_of(label) + _EDGE

    def _text(self, x: float, line: str, classes: str) -> None:
        self.parts.append(
            f'<g class="ev-plot"><text class="{classes}" x="{number(x)}" y="{number(self.y)}">{escape(line)}</text></g>'
        )


def _wrapped(text: str, width: float) -> list[str]:
    """The text in lines no wider than `width`, broken at spaces; a word that is too long loses its middle."""
    lines: list[str] = []
    for word in one_line(text, _LONGEST_TITLE).split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(fit(word, width))
    return lines
