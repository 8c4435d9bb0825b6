"""Owns synthetic projects on disk: a git work tree with a store of synthetic logs, and pages that cite every series."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.evidence.records import GATE_LOG, RUNS, Tree, gate_log_of, log_of, record
from evidence import ledger, lock, printed
from evidence.book import Book
from evidence.ledger import digest_of
from evidence.project import CLAIMS_NAME, LOGS_NAME, Project
from evidence.repository import Repository
from evidence.schema import Record, series
from evidence.schema.text import dump
from evidence.store import RECORD_NAME, Store

LOGS = f"docs/{LOGS_NAME}"
CLAIMS = f"docs/{CLAIMS_NAME}/synthetic.yml"

_MEASURED = "synthetic/ops.py"
_PAGE_CALLS = 50
_MKDOCS = """\
site_name: Synthetic
plugins:
  - macros: {modules: [evidence.macros], on_undefined: strict}
  - evidence
"""
_CLAIM = """\
  claim-{number}:
    statement: On {{device}}, fusing runs {{ratio.range}} faster.
    series: {series}
    metric: time
    baseline: plain
    candidate: fused
    expect: better
    mechanism: {{unknown: nothing was profiled}}
"""
_TABLE = """\
  table-{number}:
    title: The op of one series
    series: {series}
    rows: [N]
    across: arm
    columns: [time, {{ratio: time}}]
    baseline: plain
"""

_PROSE = "The op of series {number} is fused: one pass over its inputs, and nothing is written in between."
_USES = (
    '{{{{ ev.says("claim-{number}") }}}}',
    '{{{{ ev.claim("claim-{number}") }}}}',
    '{{{{ ev.table("table-{number}") }}}}',
)

Change = Callable[[Record], Record]


@dataclass(frozen=True, slots=True)
class Site:
    """How much there is beside the records of a project."""

    claims: int = 10
    """Kernel series, at most, with a claim and a table each."""
    pages: int = 0
    """Pages, at least: every series is shown on one, and as many more are written as are asked for."""
    calls: int = 0


def write_store(
    root: Path, records: int, seed: int, changes: Mapping[int, Change] | None = None, site: Site | None = None
) -> None:
    """Write a project of which the check finds nothing, unless `changes` spoil records before they are written.

    Its source and its ledger are committed, always under the same commit ids; its records, pages and claims are not.
    """
    tree = write_source(root, _MKDOCS)
    lines: dict[str, str] = {}
    for index in range(records):
        change = (changes or {}).get(index, _unchanged)
        lines |= write_log(root, change(record(index, tree, seed)), gate_log_of(index))
    write(root / LOGS / ledger.FILE_NAME, ledger.dump(lines))
    commit(root, f"{LOGS}/{ledger.FILE_NAME}")
    found = list(dict.fromkeys(series(log_of(index)) for index in range(records)))
    claimed = [name for name in found if name.startswith("kernels/")][: (site or Site()).claims]
    write(root / CLAIMS, _claims(claimed))
    for name, text in _pages(found, len(claimed), site or Site()):
        write(root / "docs" / name, text)
    write_lock(root)


def _unchanged(made: Record) -> Record:
    return made


def write_source(root: Path, mkdocs: str) -> Tree:
    """Write and commit the code that synthetic logs say they measured."""
    write(root / _MEASURED, "SYNTHETIC = True\n")
    write(root / "mkdocs.yml", mkdocs)
    git(root, "init", "--quiet", "--object-format=sha1", "--initial-branch=main")
    commit(root, _MEASURED, "mkdocs.yml")
    repository = Repository(root)
    head = repository.commit() or ""
    return Tree(head, repository.commit_tree_sha256(head), _MEASURED, digest_of(root / _MEASURED))


def write_log(root: Path, made: Record, gate_log: bytes | None = None) -> dict[str, str]:
    """Write a log into the store and return its lines of the ledger.

    The store's own way to save one syncs every file and writes the ledger anew: right for a log, too slow for all.
    """
    files = {RECORD_NAME: dump(made)} | ({} if gate_log is None else {GATE_LOG: gate_log})
    folder = root / LOGS / made.log
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return {f"{made.log}/{name}": hashlib.sha256(content).hexdigest() for name, content in files.items()}


def write_lock(root: Path) -> None:
    """Write the lock of a project, each series on its newest log, as `evidence update` does the first time."""
    project = Project.read(root / "mkdocs.yml")
    book = Book(project, Store(project.logs), pins={})
    write(project.claims / lock.FILE_NAME, lock.dump(printed.facts_of(book)))


def _claims(names: list[str]) -> str:
    numbered = list(enumerate(names))
    claims = "".join(_CLAIM.format(number=number, series=name) for number, name in numbered)
    return f"claims:\n{claims}tables:\n" + "".join(
        _TABLE.format(number=number, series=name) for number, name in numbered
    )


def _pages(names: list[str], claimed: int, site: Site) -> Iterator[tuple[str, str]]:
    calls = [f'{{{{ ev.{macro}("{macro}-{number}") }}}}' for number in range(claimed) for macro in ("claim", "table")]
    yield "index.md", "\n\n".join(["# Synthetic", *calls]) + "\n"
    for first in range(0, len(names), _PAGE_CALLS):
        shown = names[first : first + _PAGE_CALLS]
        calls = [f'{{{{ ev.environment("{name}") }}}}' for name in shown]
        yield f"series-{first:05d}.md", "\n\n".join(["# Series", *calls]) + "\n"
    written = 1 + -(-len(names) // _PAGE_CALLS)
    yield from _guides(max(0, site.pages - written), max(0, site.calls - 2 * claimed - len(names)), claimed)


def _guides(pages: int, calls: int, claimed: int) -> Iterator[tuple[str, str]]:
    """Yield pages of prose, with calls spread over them evenly."""
    for page in range(pages):
        parts = [f"# Guide {page}"]
        for call in range(page, calls, pages):
            number = call // len(_USES) % claimed
            use = _USES[call % len(_USES)].format(number=number)
            # A block stands on a page once; a sentence may be said again.
            parts += [_PROSE.format(number=number), _USES[0].format(number=number) if use in parts else use]
        yield f"guides/guide-{page:05d}.md", "\n\n".join(parts) + "\n"


def write(path: Path, text: str) -> None:
    """Write a text file, and the folders it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def commit(root: Path, *paths: str) -> None:
    """Commit files as nobody, at one moment, so that equal files make equal commits."""
    git(root, "add", "--", *paths)
    git(root, "commit", "--quiet", "--message", "Synthetic")


def git(root: Path, *arguments: str) -> None:
    """Run git in a synthetic project, whatever this machine's configuration is."""
    names = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "nobody"), ("EMAIL", "nobody@example.invalid"), ("DATE", "2026-01-01T00:00:00Z"))
    }
    environment = {**os.environ, **names, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    config = ("-c", "commit.gpgsign=false", "-c", "core.autocrlf=false", "-c", "gc.auto=0")
    subprocess.run(["git", *config, *arguments], cwd=root, env=environment, check=True, capture_output=True)


def files_of(root: Path) -> tuple[Path, ...]:
    """Return every file of a project but git's own, in order of path."""
    return tuple(sorted(path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts))


def digest_of_files(root: Path) -> str:
    """Return the sha256 over the lines of a ledger of every file of a project."""
    lines = {path.relative_to(root).as_posix(): digest_of(path) for path in files_of(root)}
    return hashlib.sha256(ledger.dump(lines).encode()).hexdigest()


def series_in(records: int) -> int:
    """Return how many series so many records make."""
    return -(-records // RUNS)
