"""Owns telling attributes from rows: `{"ttft": {"value": 5, "unit": "ms"}, …}` says five things of one measurement."""

from __future__ import annotations

import re
from typing import Any

_NAMES = ("tag", "name", "metric", "key", "label", "title")
_VALUES = frozenset({"value", "data"})
"""Keys that name nothing: what the value is of is said by the key above, or by a name beside it."""
_MOST = 64
_DEEPEST = 4
_NUMERIC = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?", re.ASCII)


def are_attributes(children: list[dict[str, Any]]) -> bool:
    """Whether each of some objects is a value and what is said of it, so that all describe what holds them."""
    is_few = len(children) <= _MOST
    return is_few and all(not _VALUES.isdisjoint(child) and numbers_in(child) <= 1 for child in children)


def named(values: list[Any]) -> dict[str, dict[str, Any]] | None:
    """Return a list of attributes by their names; None where it is a list of rows, or names do not tell them apart."""
    if not all(isinstance(value, dict) for value in values) or not are_attributes(values):
        return None
    for key in _NAMES:
        names = [value.get(key) for value in values]
        if all(isinstance(name, str) and name for name in names) and len(set(names)) == len(names):
            return {str(name): value for name, value in zip(names, values, strict=True)}
    return None


def numbers_in(node: Any, depth: int = 0) -> int:
    """Count the numbers in a part of a document, those written as text too; more than one is not counted further."""
    if isinstance(node, bool) or node is None:
        return 0
    if isinstance(node, int | float):
        return 1
    if isinstance(node, str):
        return int(len(node) < 40 and _NUMERIC.fullmatch(node) is not None)
    if depth == _DEEPEST:
        return 2
    found = 0
    for child in node.values() if isinstance(node, dict) else node:
        found += numbers_in(child, depth + 1)
        if found > 1:
            return found
    return found
