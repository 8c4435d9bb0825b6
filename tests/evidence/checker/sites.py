"""Owns synthetic projects for tests of the checker: a git repository, and sites in it with logs of invented numbers."""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from evidence import ledger, lock, printed
from evidence.book import Book
from evidence.checker.catalogue import RULES
from evidence.checker.corpus import Corpus, Options
from evidence.checker.runs import Report, run
from evidence.diagnostics import Diagnostic
from evidence.project import Project
from evidence.repository import Repository
from evidence.schema import GitSource, Record, SourcePath
from evidence.schema.text import dump
from evidence.store import Store
from tests import factories

MKDOCS = """\
site_name: Synthetic
plugins:
  - macros:
      modules: [evidence.macros]
      on_undefined: strict
      on_error_fail: true
  - evidence
"""
KERNEL = "benchmarks/ops/kernels/toy.py"
LOG = "kernels/toy_20260901"


def git(root: Path, *arguments: str) -> str:
    """Run git as nobody in particular."""
    names = {
        f"GIT_{who}_{what}": "synthetic@example.invalid"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    config = ("-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main")
    environment = {**os.environ, **names, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *config, *arguments], cwd=root, env=environment, capture_output=True, check=True)
    return done.stdout.decode().strip()


def commit(root: Path, message: str = "A change") -> str:
    """Commit everything and return the commit."""
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(root, "rev-parse", "HEAD")


def repository(root: Path) -> Path:
    """Make a repository with one measured file in its one commit."""
    kernel = root / KERNEL
    kernel.parent.mkdir(parents=True)
    kernel.write_text("def toy(): ...\n", encoding="utf-8")
    (root / ".gitignore").write_text("/sites/\n", encoding="utf-8")
    git(root, "init", "--quiet")
    commit(root)
    return root


def source(root: Path, **changes: Any) -> GitSource:
    """The source of a run in that repository, as it stands."""
    found = Repository(root)
    head = found.commit()
    assert head is not None
    digest = hashlib.sha256((root / KERNEL).read_bytes()).hexdigest()
    tree = found.commit_tree_sha256(head)
    values = {
        "commit": head,
        "commit_tree_sha256": tree,
        "tree_sha256": tree,
        "paths": (SourcePath(path=KERNEL, sha256=digest),),
    }
    return factories.git_source(**{**values, **changes})


def write_lock(root: Path) -> None:
    """Write the lock of a project on the newest log of each series, as `evidence update` does the first time."""
    project = Project.find(root)
    book = Book(project, Store(project.logs), pins={})
    if book.ids:
        (project.claims / lock.FILE_NAME).write_text(lock.dump(printed.facts_of(book)), encoding="utf-8")


class Site:
    """One documentation project below a repository, with the logs that a test puts there."""

    _numbers = itertools.count()
    keeps_lock = False
    """Whether the lock is the test's own; else it is written anew before each check."""

    def __init__(self, repository: Path) -> None:
        self.repository = repository
        self.root = repository / "sites" / f"s{next(self._numbers)}"
        self.logs = self.root / "docs" / "benchmark_logs"
        self.logs.mkdir(parents=True)
        self.write("mkdocs.yml", MKDOCS)
        self.source = source(repository)

    def write(self, path: str, text: str) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    def record(self, log: str = LOG, **changes: Any) -> Record:
        """A sound record of a run in this repository."""
        return factories.record(log, **{"sources": (self.source, factories.package_source()), **changes})

    def add(self, record: Record | bytes, log: str = "", files: Mapping[str, bytes] | None = None) -> Path:
        """Put a log into the store and its lines into the ledger, without asking whether it is sound."""
        name = log or (record.log if isinstance(record, Record) else LOG)
        data = dump(record) if isinstance(record, Record) else record
        lines = ledger.read(self.logs)
        for path, content in {"record.json": data, **(files or {})}.items():
            target = self.logs / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            lines[f"{name}/{path}"] = hashlib.sha256(content).hexdigest()
        (self.logs / ledger.FILE_NAME).write_text(ledger.dump(lines), encoding="utf-8")
        self.cite()
        return self.logs / name / "record.json"

    def cite(self) -> None:
        """Let the front page call the environment of every log."""
        logs = sorted(path.parent.relative_to(self.logs).as_posix() for path in self.logs.glob("*/*/record.json"))
        calls = "\n\n".join(f'{{{{ ev.environment("{log}") }}}}' for log in logs)
        self.write("docs/index.md", f"# Synthetic\n\n{calls}\n")

    def corpus(self, **options: Any) -> Corpus:
        return Corpus(Project.find(self.root), Options(**options))

    def report(self, **options: Any) -> Report:
        if not self.keeps_lock:
            write_lock(self.root)
        return run(RULES, self.corpus(**options))

    def check(self, *families: str, **options: Any) -> list[Diagnostic]:
        """Return what the rules of some families find, or all."""
        found = self.report(**options).diagnostics
        return [one for one in found if not families or one.code.startswith(families)]


def codes(found: Iterable[Diagnostic]) -> list[str]:
    return [one.code for one in found]
