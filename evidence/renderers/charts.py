"""Owns charts of a table as blocks of a page. Every row keeps its place, with or without a number.

A chart carries what its table carries: the banner above, the numbers as a table and the evidence below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from evidence.errors import ChartError
from evidence.renderers.bars import all_bars
from evidence.renderers.fold import banner, data_fold, folds
from evidence.renderers.forest import forests
from evidence.renderers.markup import escape
from evidence.renderers.panel import Panel
from evidence.views import Table

Kind = Literal["forest", "bars"]

_DRAW: dict[Kind, Callable[[Table], tuple[Panel, ...]]] = {"forest": forests, "bars": all_bars}
_FIXES: dict[Kind, str] = {
    "forest": "give the table a ratio column, or draw its values as bars",
    "bars": "give the table a measured column, or draw its ratios as a forest",
}


def chart(view: Table, kind: Kind, root: str = "") -> str:
    """A figure for every ratio (forest) or metric (bars) of the table, and the table's evidence.

    Raises:
        ChartError: the table has no column that the kind could draw.
    """
    figures = "".join(_figure(panel) for panel in panels(view, kind))
    return (
        f'<section class="ev-chart" aria-label="{escape(view.title)}">{banner(view.banner)}{figures}'
        f"{folds(view.evidence, root)}</section>"
    )


def panels(view: Table, kind: Kind) -> tuple[Panel, ...]:
    """The plots of a table, before they become a page's HTML or a picture of their own.

    Raises:
        ChartError: the kind is unknown, or the table has no column that it could draw.
    """
    if kind not in _DRAW:
        raise ChartError(f"no chart {kind!r}", fix=f"charts are {' and '.join(_DRAW)}")
    drawn = _DRAW[kind](view) if view.rows else ()
    if not drawn:
        raise ChartError(f"table {view.id!r} has nothing to draw as {kind}", fix=_FIXES[kind])
    return drawn


def _figure(panel: Panel) -> str:
    title = f"{panel.canvas.id}-heading"
    return (
        f'<section class="ev-figure" aria-labelledby="{title}"><p class="ev-figure-title" id="{title}">'
        f'{escape(panel.title)}</p><p class="ev-figure-subtitle">{escape(panel.subtitle)}</p>{panel.key}'
        f"{panel.canvas.render()}{data_fold(panel.data)}</section>"
    )
