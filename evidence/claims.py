"""Owns reading docs/claims/*.yml: YAML 1.2 with line numbers, no duplicate keys, one namespace of ids.

A file that cannot be parsed is one finding; an item that is malformed is one finding and is not there for its callers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from evidence import yaml_lines
from evidence.diagnostics import Finding, Location
from evidence.errors import nearest
from evidence.schema.claims import (
    VERDICT_WORDS,
    Also,
    AuthorError,
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
_GUIDE = "see docs/guides/write-a-feature-section.md"
_BRANCH = re.compile(r"[\[\]\-() ]|^(literal|dict|str|DerivedColumn|constrained)")

Lines = dict[tuple[str | int, ...], int]
Item = TypeVar("Item", Claim, TableSpec, Status, Sentence)


@dataclass(frozen=True, slots=True)
class Placed(Generic[Item]):
    """An item with where it and its parts stand."""

    id: str
    item: Item
    path: str
    lines: Mapping[tuple[str | int, ...], int]
    origins: Mapping[tuple[str | int, ...], int] = field(default_factory=dict)
    """Where parts are written that a merge key or an alias brings in."""

    def at(self, *parts: str | int) -> Location:
        """Return the place of a part of the item, or of what holds it."""
        return _place(self.path, self.lines, parts)

    def origin(self, *parts: str | int) -> Location:
        """Return where a part of the item is written: elsewhere than it stands, if it is brought in."""
        return _place(self.path, {**self.lines, **self.origins}, parts)


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
    is_whole: bool = True
    """Whether every file could be read; of what is not there, nothing is known otherwise."""

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
    found: dict[str, dict[str, Any]] = {section: {} for section in ClaimsFile.model_fields}
    faults = Faults()
    malformed: set[str] = set()
    seen: dict[str, Location] = {}
    is_whole = True
    for path in sorted(directory.glob("*.y*ml")):
        name = path.relative_to(root).as_posix()
        document = _read(path, name, faults)
        if document is None:
            is_whole = False
            continue
        malformed |= document.lost
        for section, kind in _KINDS.items():
            for id_, value, lines, origins in document.items_of(section):
                at = Location(name, lines[()])
                if section in _NAMED and id_ in seen:
                    message = f"{_short(id_)!r} stands here and at {seen[id_]}; claims and tables share one namespace"
                    faults.add(DUPLICATE, Finding(at, message, "rename one of them"))
                    # Which of the two a page means is not known, so neither is there for its callers.
                    malformed.add(id_)
                    found["claims"].pop(id_, None)
                    found["tables"].pop(id_, None)
                    continue
                if section in _NAMED:
                    seen[id_] = at
                placed = _validate(id_, kind, value, name, lines, origins, section)
                if isinstance(placed, _Refused):
                    faults.add(MALFORMED, placed.finding, placed.origin)
                    malformed.update({id_, kebab(id_)} if section in _NAMED else ())
                else:
                    found[section][f"{name}#{id_}" if section == "sentences" else id_] = placed
    sentences = tuple(found.pop("sentences").values())
    return Claims(**found, sentences=sentences, findings=faults.told, malformed=frozenset(malformed), is_whole=is_whole)


_KINDS: Mapping[str, Any] = {"tables": TableSpec, "claims": Claim, "logs": Status, "sentences": Sentence}


class Faults:
    """Findings with where their cause is written, so that what merge keys spread is told once."""

    def __init__(self) -> None:
        """Begin with none."""
        self._found: list[tuple[str, Finding, Location]] = []

    def add(self, code: str, finding: Finding, origin: Location | None = None) -> None:
        """Add one; `origin` is where its cause is written, if that is elsewhere."""
        self._found.append((code, finding, origin or finding.at))

    @property
    def told(self) -> tuple[tuple[str, Finding], ...]:
        """All but the echoes: what stands elsewhere than its cause, which is told at its own place too."""
        causes = {(code, finding.at) for code, finding, origin in self._found if finding.at == origin}
        return tuple(
            (code, finding)
            for code, finding, origin in self._found
            if finding.at == origin or (code, origin) not in causes
        )


def kebab(text: str) -> str:
    """Return the id that somebody meant who wrote another form of it."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


class _Document(NamedTuple):
    values: dict[str, Any]
    lines: Lines
    origins: Lines
    lost: frozenset[str] = frozenset()
    """Ids below a key that is misspelt."""

    def items_of(self, section: str) -> Iterator[tuple[str, Any, Lines, Lines]]:
        held = self.values.get(section)
        if not held:
            return
        lines, origins = _by_item(self.lines, section), _by_item(self.origins, section)
        for id_, value in held.items() if isinstance(held, dict) else enumerate(held):
            yield str(id_), value, lines[id_], origins.get(id_, {})


def _by_item(lines: Lines, section: str) -> dict[str | int, Lines]:
    found: dict[str | int, Lines] = {}
    for key, line in lines.items():
        if len(key) > 1 and key[0] == section:
            found.setdefault(key[1], {})[key[2:]] = line
    return found


def _read(path: Path, name: str, faults: Faults) -> _Document | None:
    """Parse one file; None if it is no claims file, which is one finding and leaves open what it held."""
    try:
        if path.suffix != ".yml":
            raise YamlError("claims files end in .yml", fix="rename it")  # noqa: TRY301 - as any other fault
        found = yaml_lines.read(path.read_bytes().decode())
    except YamlError as error:
        faults.add(MALFORMED, Finding(Location(name, error.line), error.message, error.fix))
        return None
    except (OSError, UnicodeDecodeError) as error:
        message = f"not a claims file: {_short(str(error))}"
        faults.add(MALFORMED, Finding(Location(name), message, "store plain YAML as UTF-8"))
        return None
    document, lines = found.value, found.lines
    if document is None:
        message = "the file holds nothing: whether something was lost, it cannot say"
        faults.add(MALFORMED, Finding(Location(name), message, "write `claims:` or `tables:` in it, or remove it"))
        return None
    known = tuple(ClaimsFile.model_fields)
    if not isinstance(document, dict):
        message = "a claims file is a mapping, and this one is not"
        faults.add(MALFORMED, Finding(Location(name), message, f"begin with one of {', '.join(known)}"))
        return None
    is_readable = True
    lost: set[str] = set()
    for key, section in document.items():
        at = Location(name, lines.get((key,), 1))
        if key not in known:
            hint = nearest(str(key), known)
            fix = f"did you mean {hint!r}?" if hint else f"a claims file has {', '.join(known)}"
            faults.add(MALFORMED, Finding(at, f"unknown key {_short(str(key))!r}", fix))
            lost |= set(map(str, section)) if isinstance(section, dict) else set()
        elif section is not None and not isinstance(section, _form(key)):
            is_list = _form(key) is list
            message = f"{key} is not a list" if is_list else f"{key} is not a mapping of ids"
            fix = (
                "write `- {page: README.md, pattern: …, claim: …}` below it" if is_list else "write `id: {…}` below it"
            )
            faults.add(MALFORMED, Finding(at, message, fix))
            is_readable = False
    values = {key: value for key, value in document.items() if key in known}
    return _Document(values, lines, found.origins, frozenset(lost)) if is_readable else None


class _Refused(NamedTuple):
    """An item that is malformed: what to say, and where the cause is written."""

    finding: Finding
    origin: Location


def _validate(
    id_: str, kind: type[Item], value: object, path: str, lines: Lines, origins: Lines, section: str
) -> Placed[Item] | _Refused:
    """Build one item, or say what is wrong with it at the line of the key at fault."""
    try:
        if section in _NAMED:
            _ID.validate_python(id_)
        return Placed(id_, kind.model_validate(value), path, lines, origins)
    except ValidationError as error:
        first = min(error.errors(include_url=False), key=_helpfulness)
        return _refused(first, kind, path, (section, id_), lines, origins)


def _refused(
    error: ErrorDetails, kind: type[BaseModel], path: str, owner: tuple[str, str], lines: Lines, origins: Lines
) -> _Refused:
    message, fix = _explain(error, kind, _parts(error["loc"]))
    raised = _raised(error)
    parts = (*_parts(error["loc"]), *(raised.parts if raised is not None else ()))
    where = ".".join(_short(str(part)) for part in (*owner, *parts))
    finding = Finding(_place(path, lines, parts), f"{where}: {message}", fix)
    return _Refused(finding, _place(path, {**lines, **origins}, parts))


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
            return "is not an id", "ids are kebab-case: lower-case letters, digits, single dashes, 80 at most"
        case "string_pattern_mismatch":
            return "is not of the form it needs", _FORMS.get(str(parts[0]), _GUIDE)
        case "string_too_long":
            return "is longer than a sentence or two", "keep it below 4,000 characters"
        case "model_type":
            return "is not a mapping", f"write it as {{key: value}} with the keys {', '.join(_keys_at(kind, parts))}"
        case "dict_type":
            form = "{name: {metric: …, expect: …}}" if parts[-1:] == ("also",) else "{axis: value}"
            return "is not a mapping", f"write {form}"
        case "tuple_type":
            return "is not a list", f"write [{_short(str(error['input']))}]"
        case "string_type" if isinstance(error["input"], dict):
            return "is a mapping and should be text", "put quotes round it: YAML takes what begins with { for a mapping"
        case "string_type" if error["input"] is None:
            return "has no value", "write one, or drop the key"
        case "string_type":
            return "is not text", "write one text, in quotes if it looks like a number or a date"
        case "int_type" | "greater_than_equal":
            return "is not a whole number", "write how many cells have that verdict"
        case "date_parsing" | "date_type" | "date_from_datetime_parsing" | "date_from_datetime_inexact":
            return "is not a date", "write it as 2027-01-31"
        case "string_too_short":
            return "is empty", "write a text"
        case "too_short":
            return "is empty", "write at least one"
        case _:
            raised = _raised(error)
            return str(error["msg"]).removeprefix("Value error, "), raised.fix if raised is not None else _GUIDE


def _raised(error: ErrorDetails) -> AuthorError | None:
    """Return the error of ours that a validation error stands for, if it does."""
    raised = error.get("ctx", {}).get("error")
    return raised if isinstance(raised, AuthorError) else None


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
