"""Owns the HTML of a page: every block and inline piece that a macro may place, each one line without a blank line.

`root` is always the way from the page to the root of the site, such as `../`; nothing links anywhere else.
"""

from __future__ import annotations

from evidence.renderers.board import Listed, Unshown, board
from evidence.renderers.charts import chart
from evidence.renderers.claim import claim, says, value
from evidence.renderers.figure import figure
from evidence.renderers.fold import environment, gates, reproduce, stance
from evidence.renderers.history import history
from evidence.renderers.marks import chip
from evidence.renderers.markup import anchor, escape
from evidence.renderers.notices import borrowed, diagnostic, error_box, error_mark, waiver
from evidence.renderers.roofline import roofline
from evidence.renderers.table import table

__all__ = [
    "Listed",
    "Unshown",
    "anchor",
    "board",
    "borrowed",
    "chart",
    "chip",
    "claim",
    "diagnostic",
    "environment",
    "error_box",
    "error_mark",
    "escape",
    "figure",
    "gates",
    "history",
    "reproduce",
    "roofline",
    "says",
    "stance",
    "table",
    "value",
    "waiver",
]
