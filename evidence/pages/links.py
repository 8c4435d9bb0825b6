"""Owns finding what a page refers to on its own site: links, and logs named in text. Whether they are there: a rule."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from evidence.pages import masks
from evidence.project import LOGS_NAME

_INLINE = re.compile(r"\]\(\s*<?(?P<target>[^\s)>]+)")
_REFERENCE = re.compile(r"^[ ]{0,3}\[[^\]\n]+\]:\s*<?(?P<target>[^\s>]+)", re.MULTILINE)
_HTML = re.compile(r"<a\b[^>]*?\bhref\s*=\s*[\"'](?P<target>[^\"']+)", re.IGNORECASE)
_NAMED = re.compile(rf"(?<![\w/.-])(?:docs/)?{LOGS_NAME}/(?P<target>[\w./*?\[\]@+-]+)")


class Link(NamedTuple):
    """One reference: its line in the body, the path below docs it leads to (empty: this page), and its fragment."""

    line: int
    target: str
    path: str
    fragment: str = ""


def links(body: str, uri: str) -> Iterator[Link]:
    """Yield the links of a page that lead into this site."""
    visible = masks.comments(masks.code(body))
    for pattern in (_INLINE, _REFERENCE, _HTML):
        for match in pattern.finditer(visible):
            target = match["target"]
            parts = urlsplit(target) if "[" not in target else None
            if parts is None or parts.scheme or parts.netloc or target.startswith("/"):
                continue
            path = posixpath.normpath(posixpath.join(posixpath.dirname(uri), unquote(parts.path))) if parts.path else ""
            yield Link(visible.count("\n", 0, match.start()) + 1, target, path, unquote(parts.fragment))


def named_logs(body: str) -> Iterator[Link]:
    """Yield the paths below benchmark_logs that a page names in its text or in code spans, blocks left out."""
    visible = masks.comments(masks.blocks(body))
    for match in _NAMED.finditer(visible):
        before = visible[max(0, match.start() - 2) : match.start()]
        if before.endswith(("](", '="', "='", "/")) or match["target"].startswith("."):
            continue
        target = match["target"].rstrip(".")
        yield Link(visible.count("\n", 0, match.start()) + 1, target, f"{LOGS_NAME}/{target}".rstrip("/"))
