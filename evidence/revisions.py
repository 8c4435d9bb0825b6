"""Owns a site as of a commit: its claims files, its lock and the records they stand on, in a folder of their own."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evidence.book import Book
from evidence.claims import Placed
from evidence.errors import EvidenceError
from evidence.lock import Lock
from evidence.movement import Side
from evidence.printed import facts_of
from evidence.project import Project
from evidence.repository import Repository
from evidence.schema import series as series_of
from evidence.schema.claims import Claim, Configured, Status, TableSpec
from evidence.store import RECORD_NAME, Store


class RevisionError(EvidenceError):
    """A commit that holds no site to compare."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One key of a claim, table or log's status that somebody changed. A side that does not have it is empty."""

    path: str
    line: int
    what: str
    old: str
    new: str


def work_tree(project: Project) -> Side:
    """Return the site as it stands in the work tree."""
    return _side(project)


def at_commit(repository: Repository, commit: str, project: Project, into: Path) -> Side:
    """Lay out a site as of a commit below a folder, and return it.

    Raises:
        RevisionError: the commit has no claims files where the project has them now.
        RepositoryError: git could not answer.
    """
    docs = project.docs.resolve().relative_to(repository.root.resolve()).as_posix()
    there = dataclasses.replace(project, root=into, config=into / project.config.name, docs=into / docs)
    claims = there.claims.relative_to(into).as_posix()
    logs = there.logs.relative_to(into).as_posix()
    files = repository.files_of(commit, claims, logs)
    found = [path for path in files if path.startswith(f"{claims}/") and "/" not in path.removeprefix(f"{claims}/")]
    if not found:
        raise RevisionError(f"commit {commit[:12]} has no claims files in {claims}", fix="name a later one")
    _write(repository, commit, found, into)
    named = Book(there, Store(there.logs))
    wanted = _logs_of(named, {path.removeprefix(f"{logs}/").removesuffix(f"/{RECORD_NAME}") for path in files})
    _write(repository, commit, [f"{logs}/{log}/{RECORD_NAME}" for log in sorted(wanted)], into)
    return _side(there)


def _side(project: Project) -> Side:
    book = Book(project, Store(project.logs))
    held = book.lock or Lock()
    return Side(held.facts or facts_of(book), book)


def _logs_of(book: Book, there: set[str]) -> set[str]:
    """Return the logs that a site stands on: those its lock names, dated ones, and all of a series it does not name."""
    pins = (book.lock or Lock()).pins
    wanted: set[str] = set()
    for name in {name for id_ in book.ids for name in book.series_of(id_)}:
        wanted |= {name, pins[name]} if name in pins else {name, *(log for log in there if series_of(log) == name)}
    return wanted & there


def _write(repository: Repository, commit: str, paths: list[str], into: Path) -> None:
    for path in paths:
        content = repository.file_at(commit, path)
        if content is not None:
            (into / path).parent.mkdir(parents=True, exist_ok=True)
            (into / path).write_bytes(content)


def edits(before: Book, after: Book) -> Iterator[Edit]:
    """Yield what somebody changed in the claims files, key by key."""
    sides = [_placed(book) for book in (before, after)]
    for name in sorted({*sides[0], *sides[1]}):
        old, new = sides[0].get(name), sides[1].get(name)
        one, other = (_keys(side.item) if side is not None else {} for side in (old, new))
        for key in dict.fromkeys((*one, *other)):
            if one.get(key) != other.get(key):
                placed = new or old
                assert placed is not None
                at = placed.at(key)
                yield Edit(at.path, at.line, f"{name}.{key}", one.get(key, ""), other.get(key, ""))


def _placed(book: Book) -> dict[str, Placed[TableSpec] | Placed[Claim] | Placed[Status]]:
    """Return everything that claims files hold, by what a reader would call it."""
    found: dict[str, Placed[TableSpec] | Placed[Claim] | Placed[Status]] = {}
    found |= {f"tables.{id_}": placed for id_, placed in book.claims.tables.items()}
    found |= {f"claims.{id_}": placed for id_, placed in book.claims.claims.items()}
    found |= {f"logs.{log}": placed for log, placed in book.claims.logs.items()}
    return found


def _keys(item: Configured) -> dict[str, str]:
    document = item.model_dump(mode="json", exclude_defaults=True)
    return {
        key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for key, value in document.items()
    }
