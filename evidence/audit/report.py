"""Owns what an audit prints: pure renderers, as text by page and line, and as JSON.

Everything quoted is untrusted: control characters are shown, not sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from evidence import __version__
from evidence.audit.verdicts import MEANINGS, Audit, Judged, Mixed, Source, Verdict
from evidence.checker.reports import safe

_MOST_SOURCES = 3


def text(audit: Audit, *, only_findings: bool = False) -> str:
    """Render by page: a line a number with its verdict, then where it comes from, then the counts."""
    lines: list[str] = []
    page = ""
    for one in _ordered(audit):
        at = one.at if isinstance(one, Mixed) else one.printed.at
        if only_findings and isinstance(one, Judged) and not one.verdict.is_finding:
            continue
        if at.path != page:
            page = at.path
            lines.append(safe(page))
        lines += _mixed(one) if isinstance(one, Mixed) else _judged(one)
    for problem in audit.problems:
        place = f" {problem.place}" if problem.place else ""
        lines.append(safe(f"{problem.file}{place}: {problem.message}"))
    lines.append(summary(audit))
    return "\n".join(lines) + "\n"


def _ordered(audit: Audit) -> list[Judged | Mixed]:
    """Return verdicts in the order of the pages; a table that mixes devices stands before its cells."""
    pages = list(dict.fromkeys(one.printed.at.path for one in audit.judged))
    items: list[Judged | Mixed] = [*audit.mixed, *audit.judged]

    def place(one: Judged | Mixed) -> tuple[int, int]:
        at = one.at if isinstance(one, Mixed) else one.printed.at
        return pages.index(at.path), at.line

    return sorted(items, key=place)


def _judged(one: Judged) -> list[str]:
    printed = one.printed
    what = f" [{printed.head}]" if printed.table is not None and printed.head else ""
    shown = printed.text or "(empty)"
    lines = [safe(f"  {printed.at.path}:{printed.at.line}: {one.verdict.value}: {shown}{what}")]
    if one.how:
        lines.append(safe(f"      how: {one.how}"))
    lines += [
        safe(f"      {'from' if one.verdict is Verdict.BOUND else 'see'}: {source}")
        for source in one.sources[:_MOST_SOURCES]
    ]
    if len(one.sources) > _MOST_SOURCES:
        lines.append(f"      and {len(one.sources) - _MOST_SOURCES} more places")
    if one.message:
        lines.append(safe(f"      why: {one.message}"))
    return lines


def _mixed(one: Mixed) -> list[str]:
    names = ", ".join(device for device, _ in one.devices)
    lines = [safe(f"  {one.at}: {Verdict.MIXED_DEVICES.value}: this table holds numbers of {names}")]
    lines += [safe(f"      see: {device}: {source}") for device, source in one.devices[:_MOST_SOURCES]]
    return lines


def summary(audit: Audit) -> str:
    """Return the last line: counts that a script can read."""
    counts = [f"{count} {verdict.value}" for verdict, count in audit.counts().items() if count]
    read = f"{audit.files} files, {audit.rows:,} rows, {audit.values:,} values"
    problems = f", {len(audit.problems)} problems in the files" if audit.problems else ""
    return f"audit: {', '.join(counts) or 'no numbers'}; against {read}{problems}"


def json_text(audit: Audit) -> str:
    """Render as one JSON object."""
    document = {
        "version": __version__,
        "counts": {verdict.value: count for verdict, count in audit.counts().items()},
        "verdicts": {verdict.value: meaning for verdict, meaning in MEANINGS.items()},
        "files": audit.files,
        "rows": audit.rows,
        "values": audit.values,
        "numbers": [_plain(one) for one in audit.judged],
        "mixed_devices": [
            {
                "path": safe(one.at.path),
                "line": one.at.line,
                "devices": [{"device": safe(device), **_source(source)} for device, source in one.devices],
            }
            for one in audit.mixed
        ],
        "problems": [
            {"file": safe(one.file), "place": safe(one.place), "message": safe(one.message)} for one in audit.problems
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _plain(one: Judged) -> dict[str, Any]:
    return {
        "path": safe(one.printed.at.path),
        "line": one.printed.at.line,
        "text": safe(one.printed.text),
        "head": safe(one.printed.head[:200]),
        "verdict": one.verdict.value,
        "how": safe(one.how),
        "message": safe(one.message),
        "sources": _sources(one.sources),
    }


def _sources(sources: Iterable[Source]) -> list[dict[str, Any]]:
    return [_source(source) for source in sources]


def _source(source: Source) -> dict[str, Any]:
    held = safe(source.text) if source.text else source.value
    return {"file": safe(source.file), "row": safe(source.place), "field": safe(source.field), "value": held}
