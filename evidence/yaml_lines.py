"""Owns YAML 1.2 read as plain values with the line of every key and item; keys are text, no key stands twice.

PyYAML composes the nodes (its C parser is some ten times faster than one that keeps comments); what plain scalars mean
is decided here by the core schema of YAML 1.2, in which `off`, `no` and `on` are text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from evidence.errors import EvidenceError

Path = tuple[str | int, ...]

_MAXIMUM_NODES = 100_000
_MAXIMUM_DEPTH = 40
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]{1,40}|0x[0-9a-fA-F]{1,40}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_BASES = {"0o": 8, "0x": 16}
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlError(EvidenceError):
    """Text that is not the YAML it should be, at `line`."""

    def __init__(self, message: str, *, line: int = 1, fix: str = "mend the YAML here") -> None:
        """Carry the line."""
        super().__init__(message, fix=fix)
        self.line = line


@dataclass(slots=True)
class Lines:
    """A document: its plain value, and the line of each part by its path of keys and indices."""

    value: Any
    lines: dict[Path, int] = field(default_factory=dict)
    nodes: int = 0


def read(text: str) -> Lines:
    """Read one document.

    Raises:
        YamlError: it does not parse, a key stands twice, or aliases make it grow beyond reason.
    """
    try:
        node = yaml.compose(text.removeprefix("\ufeff"), Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(f"not YAML: {error.problem or error.context}", line=mark.line + 1 if mark else 1) from None
    except yaml.reader.ReaderError as error:
        raise YamlError(f"not YAML: {error.reason}", fix="store plain YAML as UTF-8") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise YamlError(f"not YAML: {error}") from None
    document = Lines(None, {(): 1})
    document.value = None if node is None else _plain(node, (), document)
    return document


def _plain(node: yaml.Node, path: Path, document: Lines) -> Any:
    document.nodes += 1
    if document.nodes > _MAXIMUM_NODES or len(path) > _MAXIMUM_DEPTH:
        raise YamlError("aliases or nesting beyond what such a file needs", line=node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, document)
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            document.lines[(*path, index)] = item.start_mark.line + 1
        return [_plain(item, (*path, index), document) for index, item in enumerate(node.value)]
    if not isinstance(node, yaml.ScalarNode) or not node.tag.startswith("tag:yaml.org,2002:"):
        raise YamlError(f"the tag {node.tag[:80]!r} means nothing here", line=node.start_mark.line + 1)
    return _scalar(node)


def _mapping(node: yaml.MappingNode, path: Path, document: Lines) -> dict[str, Any]:
    """Build a mapping; what a merge key brings in stands at the line of the merge and gives way to own keys."""
    merged: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise YamlError("a key is not text", line=line, fix="write a plain word before the colon")
        name = key.value
        if name == "<<" and not key.style:
            for one in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if not isinstance(one, yaml.MappingNode):
                    raise YamlError("a merge key needs a mapping", line=line)
                for inherited, content in _mapping(one, path, document).items():
                    merged.setdefault(inherited, content)
            document.lines.update({(*path, inherited): line for inherited in merged})
            continue
        if name in own:
            raise YamlError(f"the key {name[:80]!r} stands twice", line=line)
        document.lines[(*path, name)] = line
        own[name] = _plain(value, (*path, name), document)
    return {**merged, **own}


def _scalar(node: yaml.ScalarNode) -> Any:
    text: str = node.value
    if node.style:  # quoted or a block: text, whatever it looks like
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) < 400 else text
    if _BASED.fullmatch(text):
        return int(text[2:], _BASES[text[:2]])
    return float(text) if _FLOAT.fullmatch(text) else text
