"""Owns the checker's settings, `[tool.evidence]` of pyproject.toml or evidence.toml, and what is ignored in them."""

from __future__ import annotations

import datetime
import fnmatch
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from evidence.checker.ages import Ages, read_ages
from evidence.claims import Claims
from evidence.diagnostics import Diagnostic, Location
from evidence.errors import ProjectError, nearest
from evidence.pages.calls import Page
from evidence.pages.waivers import Waiver

FILE_NAMES = ("evidence.toml", "pyproject.toml")

_KEYS = ("base", "ignore", "ignore_markdown", "maximum_age")
_ENTRY_KEYS = ("rule", "path", "reason", "owner", "until")
_ENTRY = re.compile(r"^\s*\[\[\s*(?:tool\s*\.\s*evidence\s*\.\s*)?ignore\s*\]\]", re.MULTILINE)


class Ignore(NamedTuple):
    """Findings of one rule that somebody accepts for a time."""

    rule: str
    """Code or name of one rule."""
    path: str | None
    """Pattern of the paths it covers, from the project's root; None: all."""
    reason: str
    owner: str
    until: datetime.date
    """The last day it holds."""
    at: Location
    lines: tuple[int, int] | None = None
    """First and last line of the claim, table or block of a page it speaks of; None: it stands in the settings."""

    def covers(self, diagnostic: Diagnostic) -> bool:
        """Whether a diagnostic is one it speaks of: at a place it covers, or printed from there.

        A block of a page covers what is wrong in a log only if no other place prints that log.
        """
        if self.rule not in (diagnostic.code, diagnostic.name):
            return False
        if self.lines is not None:
            return self._spans(diagnostic.at) or (bool(diagnostic.cited) and all(map(self._spans, diagnostic.cited)))
        places = (diagnostic.at, *diagnostic.cited)
        return self.path is None or any(fnmatch.fnmatchcase(place.path, self.path) for place in places)

    def covers_place(self, diagnostic: Diagnostic) -> bool:
        """Whether a diagnostic of any rule stands in the claim, table or block that this is about."""
        return self._spans(diagnostic.at)

    def _spans(self, place: Location) -> bool:
        if self.lines is None or place.path != self.at.path:
            return False
        return self.lines[0] <= place.line <= self.lines[1]


@dataclass(frozen=True, slots=True)
class Settings:
    """What the project says about its own check."""

    base: str | None = None
    """The branch that the ledger is compared with."""
    ignores: tuple[Ignore, ...] = ()
    ignored_markdown: tuple[str, ...] = ()
    """Patterns, in the form of .gitignore, of Markdown outside docs that is not held to the claims."""
    ages: Ages = field(default_factory=Ages)
    """How old evidence may be."""


def waivers_of(claims: Claims) -> Iterator[Ignore]:
    """Yield what claims and tables waive for themselves."""
    for id_, at, waiver in claims.waivers:
        lines = (claims.claims.get(id_) or claims.tables[id_]).lines.values()
        span = (min(lines), max(lines))
        yield Ignore(waiver.rule, None, waiver.why, waiver.owner, waiver.until, at, span)


def page_waivers(pages: Iterable[Page]) -> Iterator[Ignore]:
    """Yield what pages waive for the block below a comment; a comment that lacks something waives nothing."""
    for page in pages:
        for one in page.waivers:
            if not one.fault and one.until is not None:
                span = (page.at(one.lines[0]).line, page.at(one.lines[1]).line)
                yield Ignore(one.rule, None, one.because, one.owner, one.until, page.at(one.line), span)


def document_waivers(found: Iterable[tuple[Location, Waiver, Location]]) -> Iterator[Ignore]:
    """Yield what documents outside the site waive, in the same way: each with where it begins and ends to cover."""
    for at, one, end in found:
        if not one.fault and one.until is not None:
            yield Ignore(one.rule, None, one.because, one.owner, one.until, at, (at.line, end.line))


def read_settings(root: Path) -> Settings:
    """Read the settings of a project; without any, nothing is ignored.

    Raises:
        ProjectError: both files hold settings, or a setting is not one.
    """
    found = [(path, table) for path in (root / name for name in FILE_NAMES) if (table := _table(path)) is not None]
    if len(found) > 1:
        raise ProjectError("evidence.toml and pyproject.toml both hold settings", fix="keep them in one file")
    if not found:
        return Settings()
    path, table = found[0]
    _refuse_unknown(path.name, table, _KEYS)
    base = table.get("base")
    if base is not None and not (isinstance(base, str) and base):
        raise ProjectError(f"{path.name}: base is not the name of a branch", fix='write base = "origin/main"')
    entries = table.get("ignore", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ProjectError(f"{path.name}: ignore is not an array of tables", fix="write [[tool.evidence.ignore]]")
    lines = _lines(path.read_text(encoding="utf-8"))
    return Settings(
        base,
        tuple(
            _ignore(Location(path.name, lines[index] if index < len(lines) else 1), entry)
            for index, entry in enumerate(entries)
        ),
        _patterns(path.name, table.get("ignore_markdown", [])),
        read_ages(path.name, table.get("maximum_age")),
    )


def _patterns(where: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise ProjectError(
            f"{where}: ignore_markdown is not a list of patterns", fix='write ignore_markdown = ["/tests/"]'
        )
    return tuple(value)


def _table(path: Path) -> Mapping[str, object] | None:
    if not path.is_file():
        return None
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProjectError(f"{path.name}: {error}", fix="correct the file") from None
    if path.name == FILE_NAMES[0]:
        return document
    tools = document.get("tool")
    table = tools.get("evidence") if isinstance(tools, dict) else None
    return table if isinstance(table, dict) else None


def _lines(text: str) -> list[int]:
    return [text.count("\n", 0, match.end()) + 1 for match in _ENTRY.finditer(text)]


def _ignore(at: Location, entry: Mapping[str, object]) -> Ignore:
    _refuse_unknown(str(at), entry, _ENTRY_KEYS)
    texts: dict[str, str] = {}
    for key in ("rule", "reason", "owner"):
        value = entry.get(key)
        if not (isinstance(value, str) and value.strip()):
            raise ProjectError(f"{at}: an ignore needs {key}", fix="name a rule, a reason, an owner and a last day")
        texts[key] = value.strip()
    until, path = entry.get("until"), entry.get("path")
    if isinstance(until, datetime.datetime) or not isinstance(until, datetime.date):
        raise ProjectError(f"{at}: an ignore needs until, a date", fix="write until = 2026-12-31, without quotes")
    if path is not None and not isinstance(path, str):
        raise ProjectError(f"{at}: path is not text", fix="write a path or a pattern such as docs/benchmark_logs/cpu/*")
    return Ignore(texts["rule"], path, texts["reason"], texts["owner"], until, at)


def _refuse_unknown(where: str, table: Mapping[str, object], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            hint = nearest(key, known)
            raise ProjectError(
                f"{where}: unknown key {key!r}", fix=f"did you mean {hint!r}?" if hint else f"keys: {', '.join(known)}"
            )
