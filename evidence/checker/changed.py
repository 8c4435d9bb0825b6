"""Owns what a change adds: the findings of a project that it did not have at the commit it started from.

Both are checked whole. A log, a claim or a setting that changes can make a page wrong that nobody touched, so the
files of a change do not say where its findings are.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from evidence.errors import EvidenceError, ProjectError
from evidence.project import Project
from evidence.repository import Repository

if TYPE_CHECKING:
    from evidence.checker.runs import Report
    from evidence.diagnostics import Diagnostic


def start_of(project: Project, ref: str) -> str:
    """Return the commit where a project's work tree and a branch parted.

    Raises:
        EvidenceError: there is no repository, no such branch, or no common commit.
    """
    repository = _repository(project)
    commit = repository.resolve(ref)
    if commit is None:
        raise EvidenceError(f"git knows no {ref!r}", fix="fetch the branch, or name another")
    head = repository.commit()
    start = repository.merge_base(head, commit) if head is not None else None
    if start is None:
        raise EvidenceError(f"{ref} and the work tree share no commit that is here", fix="fetch the whole history")
    return start


def report_at(commit: str, project: Project, check: Callable[[Project], Report]) -> Report | None:
    """Check a project as of a commit, in a clone that is thrown away; None if it was no project then.

    Raises:
        EvidenceError: there is no repository, or git could not lay it out.
    """
    repository = _repository(project)
    config = project.config.resolve().relative_to(repository.root.resolve())
    with tempfile.TemporaryDirectory(prefix="evidence-") as folder:
        there = Path(folder).resolve() / "start"
        repository.lay_out(commit, there)
        try:
            return check(Project.read(there / config))
        except (ProjectError, FileNotFoundError):
            return None


def added(report: Report, before: Report, kept: Collection[str]) -> Report:
    """Return a report without the findings that were there before, counted instead.

    A finding is the same if its rule, file and message are: lines move. Rules whose codes are `kept` hide nothing.
    """
    there = Counter(map(_key, before.diagnostics))
    new = []
    for diagnostic in report.diagnostics:
        if diagnostic.code not in kept and there[_key(diagnostic)] > 0:
            there[_key(diagnostic)] -= 1
        else:
            new.append(diagnostic)
    return replace(report, diagnostics=tuple(new), before=len(report.diagnostics) - len(new))


def _repository(project: Project) -> Repository:
    repository = Repository.find(project.root)
    if repository is None:
        raise EvidenceError(f"{project.root} is not in a git work tree", fix="check without --changed")
    return repository


def _key(diagnostic: Diagnostic) -> tuple[str, str, str]:
    return diagnostic.code, diagnostic.at.path, diagnostic.message
