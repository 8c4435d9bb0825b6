"""Owns charts as pictures of their own, for a README or a pull request: one SVG file with its style, light and dark.

Colours and chart rules are cut from the site's stylesheet, so that there is one source of them.
"""

from __future__ import annotations

import re

from evidence.errors import ChartError
from evidence.renderers.charts import Kind, panels
from evidence.renderers.markup import anchor, escape
from evidence.renderers.panel import Panel
from evidence.renderers.svg import fit, number
from evidence.views import Table

_WIDTH, _HEAD, _FOOT, _GAP = 720, 58, 34, 20
_MARGINS: dict[str, tuple[int, int]] = {"forest": (170, 190), "bars": (16, 40)}
_TOKENS = re.compile(r"/\* tokens: (light|dark) \*/[^{]*\{([^}]*)\}")
_RULES = re.compile(r"/\* picture begins \*/(.*?)/\* picture ends \*/", re.DOTALL)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def standalone(view: Table, kind: Kind, stylesheet: str) -> str:
    """The chart as an SVG document; `stylesheet` is the text of the site's `evidence.css`.

    Raises:
        ChartError: nothing to draw, or a stylesheet without tokens and chart rules.
    """
    drawn = panels(view, kind)
    tops = [0.0]
    for panel in drawn:
        tops.append(tops[-1] + _HEAD + panel.canvas.height + _FOOT + _GAP)
    body = "".join(_place(panel, top) for panel, top in zip(drawn, tops, strict=False))
    name = anchor(view.id)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {number(tops[-1])}" width="{_WIDTH}" '
        f'height="{number(tops[-1])}" role="img" aria-labelledby="{name}-title {name}-description">'
        f'<title id="{name}-title">{escape("; ".join(panel.title for panel in drawn))}</title>'
        f'<desc id="{name}-description">{escape("; ".join(panel.canvas.description for panel in drawn))}</desc>'
        f"<style>{style(stylesheet)}</style>"
        f'<rect class="ev-picture" width="{_WIDTH}" height="{number(tops[-1])}"/>{body}</svg>\n'
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
        f":root{{{tokens['light']}--ev-small:13px}}"
        f"@media(prefers-color-scheme:dark){{:root{{{tokens['dark']}}}}}"
        f"{rules.group(1)}"
        "text{font-family:-apple-system,'Segoe UI',Roboto,'Liberation Sans',Arial,sans-serif}"
        ".ev-picture{fill:var(--ev-paper)}.ev-heading{font-weight:600;font-size:15px!important}"
    )
    return re.sub(r"\s*([{};:,])\s+", r"\1", re.sub(r"\s+", " ", _COMMENT.sub("", text))).strip()


def _place(panel: Panel, top: float) -> str:
    left, right = _MARGINS[panel.canvas.kind]
    words = (
        f'<svg class="ev-plot" y="{number(top)}" width="{_WIDTH}" height="{_HEAD}">'
        f'<text class="ev-heading" x="16" y="24">{escape(fit(panel.title, _WIDTH - 110))}</text>'
        f'<text class="t" x="16" y="44">{escape(fit(panel.subtitle, _WIDTH - 40))}</text></svg>'
    )
    plot = (
        f'<svg class="ev-plot ev-plot--{panel.canvas.kind}" x="{left}" y="{number(top + _HEAD)}" '
        f'width="{_WIDTH - left - right}" height="{number(panel.canvas.height)}">{"".join(panel.canvas.parts)}</svg>'
    )
    return words + plot
