"""Owns YAML as MkDocs reads it, version 1.1, without running it: mkdocs.yml and the front matter of pages.

The site is built with PyYAML, so it is read with PyYAML: `no` is false, and of two equal keys the last one holds. What
a tag would make when the site is built (`!ENV`, `!!python/name:…`) stays a `Tagged` here.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import yaml

from evidence.errors import EvidenceError


class YamlError(EvidenceError):
    """Text that MkDocs could not read either."""


@dataclass(frozen=True, slots=True)
class Tagged:
    """A value that only running the build would give."""

    tag: str


class _Map(dict[Any, Any]):
    """A mapping with the line of each key."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[Any, int] = {}


class _List(list[Any]):
    """A sequence with the line of each item."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[Any, int] = {}


def load(text: str, *, keeps_tags: bool = False) -> Any:
    """Return the value of one document; None for an empty one.

    Raises:
        YamlError: it does not parse, a key can be none, or it has a tag and none is kept.
    """
    try:
        return yaml.load(text, Loader=_Tagging if keeps_tags else _Loader)
    except yaml.YAMLError as error:
        said = getattr(error, "problem", None) or error
        mark = getattr(error, "problem_mark", None)
        raise YamlError(f"{' '.join(str(said).split())[:200]}{f' (line {mark.line + 1})' if mark else ''}") from None
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        raise YamlError(f"{type(error).__name__}: {error}"[:200]) from None


def line_of(holder: object, key: Hashable) -> int:
    """Return the line of a key or item; 1 where it is not known, as after a merge."""
    return holder.lines.get(key, 1) if isinstance(holder, _Map | _List) else 1


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The safe loader, with lines."""


class _Tagging(_Loader):
    """It, with tags left as they are."""


def _map(loader: Any, node: yaml.MappingNode) -> Any:
    made = _Map()
    yield made
    loader.flatten_mapping(node)
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        made[key] = loader.construct_object(value_node, deep=True)
        made.lines[key] = key_node.start_mark.line + 1


def _list(loader: Any, node: yaml.SequenceNode) -> Any:
    made = _List()
    yield made
    for index, item in enumerate(node.value):
        made.append(loader.construct_object(item, deep=True))
        made.lines[index] = item.start_mark.line + 1


def _tagged(loader: Any, suffix: str, node: yaml.Node) -> Tagged:
    return Tagged(str(node.tag))


_Loader.add_constructor("tag:yaml.org,2002:map", _map)
_Loader.add_constructor("tag:yaml.org,2002:seq", _list)
for _prefix in ("!", "tag:yaml.org,2002:python/"):
    _Tagging.add_multi_constructor(_prefix, _tagged)
