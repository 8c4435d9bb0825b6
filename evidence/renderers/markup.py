"""Owns HTML primitives: the one `escape`, safe ids, and links that can only lead into this site."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import quote

from evidence.renderers.text import TEXT_LIMIT, visible

CODE_LIMIT = 20_000
"""Characters of a command that are shown; the whole of it is in the record."""

_ESCAPES = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&quot;",
        "'": "&#39;",
        # The rest is harmless in HTML, but not if the HTML meets Jinja, Markdown or a table on its way to the page.
        "{": "&#123;",
        "}": "&#125;",
        "|": "&#124;",
        "`": "&#96;",
        "\n": "&#10;",
        "\t": "&#9;",
    }
)
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_ROOT = re.compile(r"(?:\./)?(?:\.\./)*")
_LONGEST_ID = 80


def escape(text: str, limit: int = TEXT_LIMIT) -> str:
    """Any text as HTML text or the value of a quoted attribute, on one line."""
    return visible(text, limit).translate(_ESCAPES)


def anchor(name: str) -> str:
    """The id of an item on its page: `ev-` before its name, so that no heading of the page has the same one.

    A name that is no kebab-case id becomes a digest of itself: still unique, still safe.
    """
    if _ID.fullmatch(name) and len(name) <= _LONGEST_ID:
        return f"ev-{name}"
    return f"ev-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:16]}"


def address(root: str, path: str, fragment: str = "") -> str | None:
    """The escaped address of a path of this site, from a page whose way to the site's root is `root` (`../../`).

    None where the path does not stay below the root: then there is nothing to link to.

    Raises:
        ValueError: `root` is not a relative way up.
    """
    if not _ROOT.fullmatch(root):
        raise ValueError(f"{root!r} is not a way to the root of the site")
    *folders, last = path.split("/")
    if any(part in ("", ".", "..") for part in folders) or last in (".", ".."):
        return None
    # `./` keeps a first segment with a colon from being read as a scheme.
    target = f"{root or './'}{quote(path, safe='/', errors='replace')}"
    return escape(f"{target}#{quote(fragment, safe='', errors='replace')}" if fragment else target)


def link(target: str | None, content: str, *, classes: str = "") -> str:
    """A link around escaped content, or the content alone where there is no address."""
    if target is None:
        return f'<span class="{classes}">{content}</span>' if classes else content
    return f'<a{_class(classes)} href="{target}">{content}</a>'


def _class(classes: str) -> str:
    return f' class="{classes}"' if classes else ""
