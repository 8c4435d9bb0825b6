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
_FIXES = {
    "mapping values are not allowed": "put the text in quotes, or below `>-`: it holds a colon and a space",
    "did not find expected key": "check indentation and quotes here and above; a text that begins with { or a quotation"
    " mark needs quotes round all of it, or `>-` before it",
    "tab character": "indent with spaces",
    "cannot start any token": "indent with spaces, and put a text that begins with such a character in quotes",
    "undefined alias": "name it above with `&`, in this file, before it is used with `*`",
    "unexpected end of stream": "close the quotation mark or bracket that is open",
    "expected ',' or": "close the bracket, or put the text in quotes",
    "but found another document": "keep one document a file: drop the `---`",
}
"""What the library complains of -> what to do, for who has never read its source."""
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
    origins: dict[Path, int] = field(default_factory=dict)
    """Where a part is written that a merge key or an alias brings in; `lines` has where it is brought in."""
    nodes: int = 0
    held: set[int] = field(default_factory=set)
    """The nodes met so far, by identity: one that is met again is an alias of the first."""


def read(text: str) -> Lines:
    """Read one document.

    Raises:
        YamlError: it does not parse, a key stands twice, or aliases make it grow beyond reason.
    """
    try:
        node = yaml.compose(text.removeprefix("\ufeff"), Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or ""
        fix = next((fix for said, fix in _FIXES.items() if said in problem), "mend the YAML here")
        raise YamlError(f"not YAML: {problem}", line=mark.line + 1 if mark else 1, fix=fix) from None
    except yaml.reader.ReaderError as error:
        raise YamlError(f"not YAML: {error.reason}", fix="store plain YAML as UTF-8") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise YamlError(f"not YAML: {error}") from None
    document = Lines(None, {(): 1})
    document.value = None if node is None else _plain(node, (), document, None)
    return document


def _plain(node: yaml.Node, path: Path, document: Lines, brought_in: int | None) -> Any:
    """Return the value of a node; `brought_in` is the line of the merge key or alias that it came by, if it did."""
    document.nodes += 1
    if document.nodes > _MAXIMUM_NODES or len(path) > _MAXIMUM_DEPTH:
        raise YamlError("aliases or nesting beyond what such a file needs", line=node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, document, brought_in)
    if isinstance(node, yaml.SequenceNode):
        found = []
        for index, item in enumerate(node.value):
            own = (*path, index)
            by = brought_in or _line_of_alias(item, document.lines.get(path, 1), document)
            _place(own, item.start_mark.line + 1, by, document)
            found.append(_plain(item, own, document, by))
        return found
    if not isinstance(node, yaml.ScalarNode) or not node.tag.startswith("tag:yaml.org,2002:"):
        raise YamlError(f"the tag {node.tag[:80]!r} means nothing here", line=node.start_mark.line + 1)
    return _scalar(node)


def _line_of_alias(node: yaml.Node, line: int, document: Lines) -> int | None:
    """Return the line of what refers to a node that was met before; None for one that stands here itself."""
    if isinstance(node, yaml.ScalarNode):
        return None
    if id(node) in document.held:
        return line
    document.held.add(id(node))
    return None


def _place(path: Path, written: int, brought_in: int | None, document: Lines) -> None:
    """Note the line of a part: where it is written, or where it is brought in, and then both."""
    document.lines[path] = brought_in or written
    document.origins.pop(path, None)
    if brought_in:
        document.origins[path] = written


def _mapping(node: yaml.MappingNode, path: Path, document: Lines, brought_in: int | None) -> dict[str, Any]:
    """Build a mapping; what a merge key brings in stands at the line of the merge and gives way to own keys."""
    merged: dict[str, Any] = {}
    own: dict[str, Any] = {}
    # Merges first, so that the lines of what gives way are overwritten as its values are.
    for key, value in sorted(node.value, key=lambda pair: pair[0].value != "<<"):
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise YamlError("a key is not text", line=line, fix="write a plain word before the colon")
        name = key.value
        if name == "<<" and not key.style:
            for one in reversed(value.value) if isinstance(value, yaml.SequenceNode) else [value]:
                if not isinstance(one, yaml.MappingNode):
                    raise YamlError("a merge key needs a mapping", line=line, fix="write `<<: *name` of a mapping")
                document.held.add(id(one))
                merged |= _mapping(one, path, document, brought_in or line)
            continue
        own_path = (*path, name)
        if name in own:
            message = f"the key {name[:80]!r} stands twice, here and on line {document.lines[own_path]}"
            raise YamlError(message, line=line, fix="drop or rename one of them")
        _place(own_path, line, brought_in, document)
        own[name] = _plain(value, own_path, document, brought_in or _line_of_alias(value, line, document))
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
