"""Owns claims on a page: the callout, the sentence inside a paragraph, and one value inside a paragraph."""

from __future__ import annotations

from collections.abc import Sequence

from evidence.renderers.fold import banner, folds, short_stance
from evidence.renderers.marks import chip, claim_scale, glyph, span, whisker
from evidence.renderers.markup import address, anchor, escape, link
from evidence.renderers.svg import Scale
from evidence.units import format_number
from evidence.views import Figure, Ratio, Statement


def claim(view: Statement, root: str = "") -> str:
    """The callout, with the anchor that every other mention leads to."""
    mechanism = f'<p class="ev-mechanism"><b>Why</b> {escape(view.mechanism)}</p>' if view.mechanism else ""
    stale = " ev-claim--stale" if view.banner else ""
    return (
        f'<section class="ev-claim ev-{view.verdict}{stale}" id="{anchor(view.id)}" '
        f'aria-label="Claim {escape(view.id)}">{banner(view.banner)}'
        f'<div class="ev-claim-top">{chip(view.verdict, view.word)}{_headline(view.headline)}</div>'
        f'<p class="ev-claim-text">{_sentence(view.sentence)}</p><p class="ev-note">{escape(view.note)}</p>{mechanism}'
        f"{short_stance(view.stance)}{folds(view.evidence, root, view.stance)}</section>"
    )


def says(view: Statement, root: str = "", page: str | None = None) -> str:
    """The sentence and its short note, linked to the callout: on this page, or on `page`, a path of the site."""
    stale = ' <b class="ev-stale">not to be cited</b>' if view.banner else ""
    note = link(_target(view.id, root, page), f"{glyph(view.verdict)}{escape(view.short_note)}", classes="ev-says-note")
    return f'<span class="ev-says ev-{view.verdict}">{_sentence(view.sentence)} ({note}){stale}</span>'


def value(view: Figure, claim_id: str, root: str = "", page: str | None = None) -> str:
    """One field of a claim: glyph, bold value, bracketed interval, and the verdict for those who listen to the page."""
    verdict = f" ev-{view.verdict}" if view.verdict else ""
    interval = f" <span>[{escape(view.interval)}]</span>" if view.interval else ""
    spoken = f'<span class="ev-hidden"> {view.verdict}</span>' if view.verdict else ""
    content = f"{glyph(view.verdict) if view.verdict else ''}<b>{escape(view.text)}</b>{interval}{spoken}"
    return link(_target(claim_id, root, page), content, classes=f"ev-value{verdict}")


def _target(claim_id: str, root: str, page: str | None) -> str | None:
    if page is None:
        return f"#{anchor(claim_id)}"
    return address(root, page, anchor(claim_id))


def _sentence(parts: Sequence[str | Figure]) -> str:
    return "".join(escape(part) if isinstance(part, str) else f"<b>{escape(part.text)}</b>" for part in parts)


def _headline(ratio: Ratio | None) -> str:
    if ratio is None:
        return ""
    if ratio.interval is None or ratio.shown is None:
        return f'<span class="ev-range ev-none">no number{_small(ratio.note)}</span>'
    scale = claim_scale([ratio.interval])
    interval = span(ratio.shown)
    note = f"95 %, {ratio.note}" if ratio.note and interval else "95 %" if interval else ratio.note or "exact"
    return (
        f'<span class="ev-big">{escape(ratio.shown.value)}</span><span class="ev-range">{escape(interval)}'
        f'{_small(note)}</span><div class="ev-claim-axis">{whisker(ratio, scale)}<p>{_ends(scale)}</p></div>'
    )


def _ends(scale: Scale) -> str:
    low = f"1/{format_number(scale.high, 0)}" if scale.high > 2 else "0.5"
    return f"<span>{low}×</span><span>1</span><span>{format_number(scale.high, 0)}×</span>"


def _small(text: str) -> str:
    return f"<small>{escape(text)}</small>" if text else ""
