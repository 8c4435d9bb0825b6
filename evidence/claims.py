"""Owns reading docs/claims/*.yml: YAML 1.2 with line numbers, no duplicate keys, one namespace of ids.

A file that cannot be parsed is one finding; an item that is malformed is one finding and is not there for its callers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from evidence import yaml_lines
from evidence.diagnostics import Finding, Location
from evidence.errors import nearest
from evidence.schema.claims import (
    VERDICT_WORDS,
    Also,
    Claim,
    ClaimsFile,
    DerivedColumn,
    Id,
    Mechanism,
    Note,
    Omission,
    Sentence,
    Status,
    TableSpec,
    Waiver,
)
from evidence.yaml_lines import YamlError

MALFORMED, DUPLICATE = "EV620", "EV621"
_ID: TypeAdapter[str] = TypeAdapter(Id)
_NAMED = ("tables", "claims")
"""Sections whose keys are ids; those of `logs` are logs, and `sentences` is a list."""
_FORMS = {
    "claim": "write the id of a claim",
    "also": "names of readings are lower-case letters, digits and underscores",
    "waive": "a rule is EV and three digits",
    "status": "superseded_by is the id of a claim",
}
_BRANCH = re.compile(r"[\[\]\-() ]|^(literal|dict|str|DerivedColumn|constrained)")

Item = TypeVar("Item", Claim, TableSpec, Status, Sentence)


@dataclass(frozen=True, slots=True)
class Placed(Generic[Item]):
    """An item with where it and its parts stand."""

    id: str
    item: Item
    path: str
    lines: Mapping[tuple[str | int, ...], int]

    def at(self, *parts: str | int) -> Location:
        """Return the place of a part of the item, or of what holds it."""
        return _place(self.path, self.lines, parts)


@dataclass(frozen=True, slots=True)
class Claims:
    """Everything the claims files hold, and what is wrong with them."""

    tables: Mapping[str, Placed[TableSpec]] = field(default_factory=dict)
    claims: Mapping[str, Placed[Claim]] = field(default_factory=dict)
    logs: Mapping[str, Placed[Status]] = field(default_factory=dict)
    sentences: tuple[Placed[Sentence], ...] = ()
    """Sentences of pages without macros; the id of each is its file and its number in it."""
    findings: tuple[tuple[str, Finding], ...] = ()
    malformed: frozenset[str] = frozenset()
    """Ids that stand in a file and could not be read: calls of them are no finding of their own."""

    @property
    def waivers(self) -> Iterator[tuple[str, Location, Waiver]]:
        """Every waiver, with the id it stands under."""
        for claim in self.claims.values():
            for index, waiver in enumerate(claim.item.waive):
                yield claim.id, claim.at("waive", index), waiver
        for table in self.tables.values():
            for index, waiver in enumerate(table.item.waive):
                yield table.id, table.at("waive", index), waiver


def load(directory: Path, root: Path) -> Claims:
    """Read every claims file of a directory; paths in findings are relative to `root`."""
    tables: dict[str, Placed[TableSpec]] = {}
    claims: dict[str, Placed[Claim]] = {}
    logs: dict[str, Placed[Status]] = {}
    bound: dict[str, Placed[Sentence]] = {}
    findings: list[tuple[str, Finding]] = []
    malformed: set[str] = set()
    seen: dict[str, Location] = {}
    for path in sorted(directory.glob("*.y*ml")):
        name = path.relative_to(root).as_posix()
        if path.suffix != ".yml":
            findings.append((MALFORMED, Finding(Location(name), "claims files end in .yml", "rename it")))
            continue
        document = _read(path, name, findings)
        sections: tuple[tuple[str, Any, dict[str, Any]], ...] = (
            ("tables", TableSpec, tables),
            ("claims", Claim, claims),
            ("logs", Status, logs),
            ("sentences", Sentence, bound),
        )
        for section, kind, target in sections:
            for id_, value, lines in document.items_of(section):
                at = Location(name, lines[()])
                if section in _NAMED and id_ in seen:
                    message = f"{_short(id_)!r} stands here and at {seen[id_]}; claims and tables share one namespace"
                    findings.append((DUPLICATE, Finding(at, message, "rename one of them")))
                    continue
                if section in _NAMED:
                    seen[id_] = at
                placed = _validate(id_, kind, value, name, lines, section)
                if isinstance(placed, Finding):
                    findings.append((MALFORMED, placed))
                    malformed.update({id_} if section in _NAMED else ())
                else:
                    target[f"{name}#{id_}" if section == "sentences" else id_] = placed
    return Claims(tables, claims, logs, tuple(bound.values()), tuple(findings), frozenset(malformed))


@dataclass(frozen=True, slots=True)
class _Document:
    values: dict[str, Any]
    lines: dict[tuple[str | int, ...], int]

    def items_of(self, section: str) -> Iterator[tuple[str, Any, dict[tuple[str | int, ...], int]]]:
        lines: dict[str | int, dict[tuple[str | int, ...], int]] = {}
        for key, line in self.lines.items():
            if len(key) > 1 and key[0] == section:
                lines.setdefault(key[1], {})[key[2:]] = line
        held = self.values.get(section) or {}
        for id_, value in held.items() if isinstance(held, dict) else enumerate(held):
            yield str(id_), value, lines[id_]


def _read(path: Path, name: str, findings: list[tuple[str, Finding]]) -> _Document:
    """Parse one file; whatever is wrong with it as a whole is one finding, and it then counts as empty."""
    empty = _Document({}, {})
    try:
        found = yaml_lines.read(path.read_bytes().decode())
    except YamlError as error:
        findings.append((MALFORMED, Finding(Location(name, error.line), error.message, error.fix)))
        return empty
    except (OSError, UnicodeDecodeError) as error:
        message = f"not a claims file: {_short(str(error))}"
        findings.append((MALFORMED, Finding(Location(name), message, "store plain YAML as UTF-8")))
        return empty
    document, lines = found.value, found.lines
    if document is None:
        return empty
    known = tuple(ClaimsFile.model_fields)
    if not isinstance(document, dict):
        findings.append((MALFORMED, Finding(Location(name), "the root is not a mapping", f"write {', '.join(known)}")))
        return empty
    for key, section in document.items():
        at = Location(name, lines.get((key,), 1))
        if key not in known:
            hint = nearest(str(key), known)
            fix = f"did you mean {hint!r}?" if hint else f"a claims file has {', '.join(known)}"
            findings.append((MALFORMED, Finding(at, f"unknown key {_short(str(key))!r}", fix)))
        elif section is not None and not isinstance(section, _form(key)):
            is_list = _form(key) is list
            message = f"{key} is not a list" if is_list else f"{key} is not a mapping of ids"
            fix = (
                "write `- {page: README.md, pattern: …, claim: …}` below it" if is_list else "write `id: {…}` below it"
            )
            findings.append((MALFORMED, Finding(at, message, fix)))
    values = {key: value for key, value in document.items() if key in known and isinstance(value, _form(key))}
    return _Document(values, lines)


def _validate(
    id_: str, kind: type[Item], value: object, path: str, lines: dict[tuple[str | int, ...], int], section: str
) -> Placed[Item] | Finding:
    """Build one item, or say what is wrong with it at the line of the key at fault."""
    try:
        if section in _NAMED:
            _ID.validate_python(id_)
        return Placed(id_, kind.model_validate(value), path, lines)
    except ValidationError as error:
        first = min(error.errors(include_url=False), key=_helpfulness)
    parts: tuple[str | int, ...] = _parts(first["loc"])
    message, fix = _explain(first, kind, parts)
    where = ".".join(_short(str(part)) for part in (section, id_, *parts))
    return Finding(_place(path, lines, parts), f"{where}: {message}", fix)


def _form(section: str) -> type[dict[str, Any]] | type[list[Any]]:
    return list if section == "sentences" else dict


def _parts(location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Drop from a pydantic location the branch of a union that was taken: its name is in no file."""
    return tuple(part for part in location if isinstance(part, int) or not _BRANCH.search(part))


def _helpfulness(error: ErrorDetails) -> tuple[int, int]:
    """Order the errors of one item, the one to tell first.

    Of a union every branch complains, and the one that got furthest was meant. A misspelt key is also a missing one.
    """
    ranks = {"extra_forbidden": 0, "missing": 2, "string_type": 3, "dict_type": 3}
    return -len(_parts(error["loc"])), ranks.get(error["type"], 1)


def _explain(error: ErrorDetails, kind: type[BaseModel], parts: tuple[str | int, ...]) -> tuple[str, str]:
    """Say what was written, what is allowed, and the nearest of it."""
    match error["type"]:
        case "extra_forbidden":
            known = _keys_at(kind, parts[:-1])
            hint = nearest(str(parts[-1]), known)
            return "unknown key", f"did you mean {hint!r}?" if hint else f"keys: {', '.join(known)}"
        case "missing":
            return "is required", f"write {parts[-1]}"
        case "literal_error":
            written = _short(repr(error["input"]))
            return f"{written} is not one of {', '.join(VERDICT_WORDS)}", "write one of these words"
        case "string_pattern_mismatch" | "string_too_long" if not parts:
            return "not an id", "ids are kebab-case: lower-case letters, digits, single dashes, 80 at most"
        case "string_pattern_mismatch":
            return "not of the form it needs", _FORMS.get(str(parts[0]), "see the authoring guide")
        case "model_type":
            return "not a mapping", f"keys: {', '.join(_keys_at(kind, parts))}"
        case "dict_type":
            return "not a mapping", "write {axis: value}"
        case "tuple_type":
            return "not a list", "write [ … ]"
        case "string_type":
            return "not text", "write text, quoted if it looks like a number or a date"
        case "too_short" | "string_too_short":
            return "empty", "write at least one"
        case _:
            return str(error["msg"]).removeprefix("Value error, "), "see the authoring guide"


def _keys_at(kind: type[BaseModel], parts: tuple[str | int, ...]) -> tuple[str, ...]:
    inner: dict[str, type[BaseModel]] = {
        "also": Also,
        "mechanism": Mechanism,
        "status": Status,
        "waive": Waiver,
        "columns": DerivedColumn,
    }
    inner |= {"omit": Omission, "not_covered": Omission, "notes": Note}
    return tuple(inner.get(str(parts[0]), kind).model_fields if parts else kind.model_fields)


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"


def _place(path: str, lines: Mapping[tuple[str | int, ...], int], parts: tuple[str | int, ...]) -> Location:
    for end in range(len(parts), -1, -1):
        if parts[:end] in lines:
            return Location(path, lines[parts[:end]])
    return Location(path)
