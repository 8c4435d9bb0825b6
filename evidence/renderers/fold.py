"""Owns what stands around numbers: the stance line, banners, and the evidence folded under every table and claim."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from evidence.renderers.marks import gate_mark
from evidence.renderers.markup import CODE_LIMIT, address, anchor, escape, link
from evidence.units import counted, format_count
from evidence.views import Banner, Evidence, GateLine

LOGS = "benchmark_logs"
"""Where logs lie on the site."""

_SHORT_STANCE = ("date", "device", "precision")
_PASSED = {"passed": "passed", "partly": "partly passed"}
_BANNERS = {"historical": "Historical.", "do_not_cite": "Do not cite.", "superseded": "Superseded."}


def stance(facts: Sequence[tuple[str, str]]) -> str:
    """The facts every number needs, as labels and values."""
    items = "".join(f"<div><dt>{escape(label)}</dt><dd>{escape(text)}</dd></div>" for label, text in facts)
    return f'<dl class="ev-stance" aria-label="Stance">{items}</dl>'


def short_stance(facts: Sequence[tuple[str, str]]) -> str:
    """Date, device and precision; the fold below has all of them."""
    return stance([fact for fact in facts if fact[0].lower() in _SHORT_STANCE])


def banner(view: Banner | None) -> str:
    """The status that must be seen before the thing it stands on."""
    if view is None:
        return ""
    return f'<p class="ev-banner"><b>{_BANNERS[view.status]}</b> {escape(view.text)}</p>'


def command(text: str) -> str:
    """A command as a highlight block, to which the theme adds a copy button."""
    return '<div class="highlight"><pre><code class="language-bash">' + escape(text, CODE_LIMIT) + "</code></pre></div>"


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Labels and texts, one pair a line."""
    items = "".join(f"<div><dt>{escape(label)}</dt><dd>{escape(text)}</dd></div>" for label, text in pairs)
    return f'<dl class="ev-facts">{items}</dl>'


def gates(lines: Sequence[GateLine], root: str = "") -> str:
    """Every gate of a log: state, counts, what was checked, and its output."""
    if not lines:
        return '<p class="ev-muted">The log holds no gate, so none of its timings is shown.</p>'
    return f'<ul class="ev-gates">{"".join(_gate(line, root) for line in lines)}</ul>'


def folds(evidence: Sequence[Evidence], root: str = "", full_stance: Sequence[tuple[str, str]] = ()) -> str:
    """One fold a log; the first opens with the whole stance where the block above shows only part of it."""
    preface = _section("Stance", stance(full_stance)) if full_stance else ""
    return "".join(_fold(log, root, "" if index else preface) for index, log in enumerate(evidence))


def data_fold(table: str) -> str:
    """The numbers of a chart as a table."""
    return (
        '<details class="ev-fold ev-fold--data"><summary><b>Data</b> <span>the same numbers as a table</span></summary>'
        f"{table}</details>"
    )


def scroll(table: str, *, label: str = "", labelled_by: str = "") -> str:
    """A region that scrolls sideways, reachable by keyboard and named."""
    name = f'aria-labelledby="{labelled_by}"' if labelled_by else f'aria-label="{escape(label)}"'
    return f'<div class="ev-scroll" role="region" tabindex="0" {name}>{table}</div>'


def gate_summary(lines: Sequence[GateLine]) -> str:
    """The gates of a log in a few words: `gate passed, 1,536 of 1,536`, `gates: 2 passed, 1 failed`."""
    ran = [line for line in lines if line.state != "none"]
    if not any(line.state in ("passed", "partly") for line in ran):
        return "no passed gate"
    if len(ran) == 1:
        return ", ".join(filter(None, (f"gate {_PASSED[ran[0].state]}", ran[0].counts)))
    tally = [(sum(line.state == state for line in ran), state) for state in ("passed", "partly", "failed")]
    return "gates: " + ", ".join(f"{count} {state}" for count, state in tally if count)


@lru_cache(maxsize=64)
def _fold(log: Evidence, root: str, preface: str) -> str:
    limits = counted(len(log.limitations), "limitation")
    summary = " · ".join(escape(part, 200) for part in (log.log, gate_summary(log.gates), limits))
    return (
        f'<details class="ev-fold"><summary><b>Evidence</b> <span>{summary}</span> '
        f'<code>sha256 {escape(log.sha256[:12])}</code></summary><div class="ev-fold-body">{preface}'
        f"{_section('Command', command(log.command))}{_section('Environment', facts(log.environment))}"
        f"{_section('Gate', gates(log.gates, root))}{_section('Raw', _raw(log, root))}"
        f"{_section('Limitations', _limitations(log.limitations))}</div></details>"
    )


def _section(title: str, content: str) -> str:
    return f'<section><p class="ev-label">{title}</p><div>{content}</div></section>'


def _raw(log: Evidence, root: str) -> str:
    target = address(root, log.raw)
    return (
        f'<p>{link(target, "record.json")} <span class="ev-muted">({format_count(log.bytes)} bytes)</span><br/>'
        f'<code class="ev-digest">{escape(log.sha256)}</code></p>'
    )


def _limitations(texts: Sequence[str]) -> str:
    if not texts:
        return '<p class="ev-muted">None was stated.</p>'
    return f'<ul class="ev-limitations">{"".join(f"<li>{escape(text)}</li>" for text in texts)}</ul>'


def _gate(line: GateLine, root: str) -> str:
    target = address(root, f"{LOGS}/{line.log}") if line.log else None
    output = f" {link(target, 'output')}" if target else ""
    counts = f' <span class="ev-number">{escape(line.counts)}</span>' if line.counts else ""
    text = f"<small>{escape(line.text)}{output}</small>" if line.text or output else ""
    return f"<li>{gate_mark(line)}<div><b>{escape(line.name)}</b>{counts}{text}</div></li>"


def environment(log: Evidence) -> str:
    """The machine of one log as a card."""
    title = f"{anchor(log.log)}-environment"
    return (
        f'<section class="ev-card" aria-labelledby="{title}"><p class="ev-title" id="{title}">Environment '
        f'<span class="ev-muted">{escape(log.log)}</span></p>{facts(log.environment)}</section>'
    )


def reproduce(evidence: Sequence[Evidence]) -> str:
    """The command of each log, to be copied and run from the repository's root."""
    return "".join(
        f'<section class="ev-reproduce" aria-label="Reproduce {escape(log.log)}"><p class="ev-muted">'
        f"{escape(log.log)}</p>{command(log.command)}</section>"
        for log in evidence
    )
