"""Owns a figure: an image with the sentence it shows for those who do not see it, its caption, and its evidence."""

from __future__ import annotations

from evidence.renderers.fold import banner, folds, short_stance
from evidence.renderers.markup import address, anchor, escape
from evidence.views import Drawn


def figure(view: Drawn, root: str = "") -> str:
    """The image, its caption with the numbers of the log, and the fold below."""
    source = address(root, view.source) or ""
    return (
        f'<figure class="ev-drawn" id="{anchor(view.id)}">{banner(view.banner)}'
        f'<img src="{source}" alt="{escape(view.text)}" loading="lazy"/>'
        f"<figcaption>{escape(view.caption)}</figcaption>"
        f"{short_stance(view.stance)}{folds(view.evidence, root, view.stance)}</figure>"
    )
