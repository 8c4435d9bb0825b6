"""Owns the board of all claims. Without script every row shows; with it, filters narrow the rows and the address."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evidence.renderers.fold import scroll
from evidence.renderers.marks import chip, claim_scale, glyph, span, whisker
from evidence.renderers.markup import address, anchor, escape, link
from evidence.renderers.svg import Scale
from evidence.statistics import Verdict
from evidence.views import Statement

_SENTENCE_LIMIT = 400
_CITABLE, _NOT_SHOWN = "citable", "not shown"


@dataclass(frozen=True, slots=True)
class Listed:
    """A claim on the board, and the path of the page that shows it; None where no page does."""

    statement: Statement
    page: str | None


@dataclass(frozen=True, slots=True)
class Unshown:
    """A claim that cannot be shown, and why: it stays on the board."""

    id: str
    reason: str
    page: str | None


@dataclass(frozen=True, slots=True)
class _Entry:
    """What the filters and the row need of either."""

    verdict: Verdict
    word: str
    kind: str
    status: str
    label: str
    note: str
    ratio: str
    where: str


def board(items: Sequence[Listed | Unshown], root: str = "") -> str:
    """Every claim, won, lost or refused, in the order given."""
    ratios = [item.statement.headline for item in items if isinstance(item, Listed) and item.statement.headline]
    scale = claim_scale(ratio.interval for ratio in ratios if ratio.interval)
    entries = [_listed(item, root, scale) if isinstance(item, Listed) else _unshown(item, root) for item in items]
    table = (
        '<table role="table" class="ev-table ev-table--board" aria-label="Claims" data-search-exclude="">'
        '<thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">Verdict</th>'
        '<th scope="col" role="columnheader">Claim</th><th scope="colgroup" colspan="2" role="columnheader" '
        'class="ev-quotient">Ratio <small>95 %, above 1 is better</small></th>'
        '<th scope="col" role="columnheader">Device</th><th scope="col" role="columnheader">Status</th></tr></thead>'
        f'<tbody role="rowgroup">{"".join(map(_row, entries))}</tbody></table>'
    )
    rows = scroll(table, label="Claims")
    return f'<section class="ev-board" aria-label="All claims">{_filters(entries)}{rows}</section>'


def _listed(item: Listed, root: str, scale: Scale) -> _Entry:
    view = item.statement
    text = escape(view.text, _SENTENCE_LIMIT)
    return _Entry(
        verdict=view.verdict,
        word=view.word,
        kind=view.kind,
        status=_status(view),
        label=link(_page(item.page, view.id, root), text),
        note=view.banner.text if view.banner else view.short_note,
        ratio=_ratio(view, scale),
        where=f"{escape(view.device)}<small>{escape(view.date)}</small>",
    )


def _status(view: Statement) -> str:
    if view.banner:
        return view.banner.status.replace("_", " ")
    return "do not cite" if view.verdict is Verdict.REFUSED else _CITABLE


def _unshown(item: Unshown, root: str) -> _Entry:
    return _Entry(
        verdict=Verdict.REFUSED,
        word="",
        kind="",
        status=_NOT_SHOWN,
        label=link(_page(item.page, item.id, root), escape(item.id)),
        note=item.reason,
        ratio=_NO_RATIO,
        where="–",
    )


def _page(page: str | None, claim_id: str, root: str) -> str | None:
    return None if page is None else address(root, page, anchor(claim_id))


_NO_RATIO = (
    '<td role="cell" class="ev-n ev-none">–</td><td role="cell" class="ev-beside ev-none"><small>no ratio</small></td>'
)


def _ratio(view: Statement, scale: Scale) -> str:
    ratio = view.headline
    if ratio is None or ratio.shown is None or ratio.interval is None:
        return _NO_RATIO
    return (
        f'<td role="cell" class="ev-n"><b>{escape(ratio.shown.value)}</b><small>{escape(span(ratio.shown))}</small>'
        "</td>"
        f'<td role="cell" class="ev-beside">{whisker(ratio, scale)}</td>'
    )


def _row(entry: _Entry) -> str:
    stale = "" if entry.status in (_CITABLE, _NOT_SHOWN) else ' class="ev-stale-row"'
    weight = "" if entry.status == _CITABLE else " ev-status--loud"
    note = f"<small>{escape(entry.note)}</small>" if entry.note else ""
    return (
        f'<tr role="row" data-verdict="{entry.verdict}" data-kind="{escape(entry.kind)}" '
        f'data-status="{entry.status}"{stale}><td role="cell" class="ev-verdict">{chip(entry.verdict, entry.word)}</td>'
        f'<th scope="row" role="rowheader">{entry.label}{note}</th>{entry.ratio}'
        f'<td role="cell" class="ev-device">{entry.where}</td><td role="cell" class="ev-state">'
        f'<span class="ev-status{weight}">{entry.status}</span></td></tr>'
    )


def _filters(entries: Sequence[_Entry]) -> str:
    verdicts = [
        _button("verdict", verdict, f"{glyph(verdict)}{verdict}", sum(entry.verdict == verdict for entry in entries))
        for verdict in Verdict
    ]
    return (
        f'<div class="ev-filters" hidden="">{_group("verdict", verdicts)}'
        f"{_group('kind', _buttons('kind', entries, lambda entry: entry.kind))}"
        f"{_group('status', _buttons('status', entries, lambda entry: entry.status))}"
        f'<p class="ev-count" role="status"></p></div>'
    )


def _buttons(group: str, entries: Sequence[_Entry], key: Callable[[_Entry], str]) -> list[str]:
    values = [key(entry) for entry in entries]
    return [_button(group, name, escape(name), values.count(name)) for name in dict.fromkeys(values) if name]


def _group(name: str, buttons: Sequence[str]) -> str:
    return f'<div role="group" aria-label="Filter by {name}"><span>{name}</span>{"".join(buttons)}</div>'


def _button(group: str, name: str, label: str, count: int) -> str:
    return (
        f'<button type="button" data-group="{group}" data-value="{escape(name)}" aria-pressed="false">{label} '
        f"<i>{count}</i></button>"
    )
