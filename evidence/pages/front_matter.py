"""Owns where a page's front matter ends and its body begins, as MkDocs decides it, so that lines are exact."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from evidence import mkdocs_yaml

_YAML = re.compile(r"^-{3}[ \t]*\n(.*?\n)(?:\.{3}|-{3})[ \t]*\n", re.DOTALL)
_PLAIN = re.compile(r"^[ ]{0,3}(?P<key>[A-Za-z0-9_-]+):\s*(?P<value>.*)")
_PLAIN_MORE = re.compile(r"^([ ]{4}|\t)(\s*)(?P<value>.*)")


class FrontMatter(NamedTuple):
    """A page in its two parts."""

    meta: Mapping[str, Any]
    body: str
    offset: int
    """Lines before the body: line n of the body is line n + offset of the file."""
    fault: str = ""
    """Why the front matter cannot be read; MkDocs then publishes it as text."""
    head: str = ""
    """What stands above the body, as written."""

    def line_of(self, text: str, key: str) -> int:
        """Return the line of a top-level key in the page's text, 1 if it has none."""
        head = text.split("\n")[: self.offset]
        return next((n for n, line in enumerate(head, start=1) if re.match(rf"\s*['\"]?{key}\b", line)), 1)


def split(text: str) -> FrontMatter:
    """Take a page apart: YAML between dashes, else `key: value` lines, which MkDocs takes for front matter as well."""
    match = _YAML.match(text)
    if match is None:
        return _plain(text)
    meta, fault = _load(match[1])
    if meta is None:
        return FrontMatter({}, text, 0, fault)
    body = text[match.end() :].lstrip("\n")
    return FrontMatter(meta, body, text.count("\n") - body.count("\n"), head=text[: len(text) - len(body)])


def _load(source: str) -> tuple[Mapping[str, Any] | None, str]:
    try:
        data = mkdocs_yaml.load(source)
    except mkdocs_yaml.YamlError as error:
        return None, error.message
    if isinstance(data, dict):
        return data, ""
    return None, "not a mapping of keys to values"


def _plain(text: str) -> FrontMatter:
    meta: dict[str, str] = {}
    key = ""
    lines = text.split("\n")
    taken = 0
    for line in lines:
        if not line.strip():
            taken += 1
            break
        if match := _PLAIN.match(line):
            key = match["key"].lower().strip()
            value = match["value"].strip()
            meta[key] = f"{meta[key]} {value}" if key in meta else value
        elif key and (match := _PLAIN_MORE.match(line)):
            meta[key] += f" {match['value'].strip()}"
        else:
            break
        taken += 1
    body = "\n".join(lines[taken:]).lstrip("\n")
    return FrontMatter(meta, body, text.count("\n") - body.count("\n"), head=text[: len(text) - len(body)])
