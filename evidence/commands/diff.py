"""Owns `evidence diff`: what changed between two logs, or between two commits of a site."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evidence.commands import ROOT, errors, log_named

if TYPE_CHECKING:
    from evidence.diagnostics import Finding
    from evidence.log_difference import LogDifference, Shared
    from evidence.movement import Change
    from evidence.project import Project
    from evidence.revisions import Edit
    from evidence.store import Store


@click.command()
@click.argument("old", metavar="A")
@click.argument("new", metavar="[B]", required=False)
@ROOT
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def diff(old: str, new: str | None, root: Path, form: str) -> None:
    """Show what changed from A to B: two logs, or two commits.

    Of two logs: what differs round the numbers (machine, packages, command, gates), and each cell they share with both
    medians, the ratio and its verdict. Of two commits: the printed lines, numbers and verdicts that moved, and what was
    edited in the claims files. Without B, a commit is compared with the work tree.
    """
    with errors():
        from evidence.project import Project
        from evidence.store import Store

        project = Project.find(root)
        store = Store(project.logs)
        logs = [log for name in (old, new) if name is not None and (log := log_named(name)) in store]
        if len(logs) == 2:
            text = _of_logs(store, logs[0], logs[1], form)
        else:
            text = _of_commits(project, store, old, new, form)
    click.echo(text, nl=False)


def _of_logs(store: Store, old: str, new: str, form: str) -> str:
    from evidence.log_difference import difference

    found = difference(store.load(old), store.load(new))
    return _logs_json(found) if form == "json" else "".join(f"{line}\n" for line in _log_lines(found))


def _log_lines(found: LogDifference) -> Iterator[str]:
    from evidence.checker.reports import safe

    yield safe(f"{found.old} -> {found.new}")
    for fact in found.facts:
        yield f"  {safe(fact.what)}"
        yield f"    - {safe(fact.old or 'not there')}"
        yield f"    + {safe(fact.new or 'not there')}"
    for one in found.shared:
        yield safe(f"  {one.workload} / {one.arm} / {one.metric}: {one.old} -> {one.new}{_verdict(one)}")
    for cell in found.unshared:
        yield safe(f"  {cell.workload} / {cell.arm}: {cell.old or 'not there'} -> {cell.new or 'not there'}")
    words = Counter(one.word.lower() for one in found.shared if one.word)
    said = f": {', '.join(f'{count} {word}' for word, count in words.items())}" if words else ""
    yield f"evidence: {len(found.shared)} numbers compared{said}"


def _verdict(one: Shared) -> str:
    from evidence.sentences import ratio_interval, ratio_text

    if one.ratio is None:
        return f", {one.word}: {one.reason}" if one.word else ""
    return f", {ratio_text(one.ratio)} (95 % {ratio_interval(one.ratio)}) {one.word}"


def _logs_json(found: LogDifference) -> str:
    import dataclasses
    import json

    return json.dumps(dataclasses.asdict(found), indent=1) + "\n"


def _of_commits(project: Project, store: Store, old: str, new: str | None, form: str) -> str:
    from evidence.errors import UnknownNameError
    from evidence.movement import changes, faults
    from evidence.repository import Repository
    from evidence.revisions import RevisionError, at_commit, edits, work_tree

    repository = Repository.find(project.root)
    if repository is None:
        raise RevisionError(f"{project.root} is in no git repository", fix="name two logs instead")
    with tempfile.TemporaryDirectory(prefix="evidence-diff-") as scratch:
        sides = []
        for name in (old, new):
            if name is None:
                sides.append(work_tree(project))
                continue
            commit = repository.resolve(name)
            if commit is None:
                raise UnknownNameError("log or commit", name, [entry.log for entry in store.entries])
            sides.append(at_commit(repository, commit, project, Path(scratch) / str(len(sides))))
        moved, failing = changes(*sides), faults(*sides)
        edited = list(edits(sides[0].book, sides[1].book))
    if form == "json":
        return _commits_json(moved, failing, edited)
    return "".join(f"{line}\n" for line in _commit_lines(moved, failing, edited))


def _commit_lines(
    moved: Sequence[Change], failing: Sequence[tuple[str, Finding]], edited: Sequence[Edit]
) -> Iterator[str]:
    from evidence.checker.reports import safe
    from evidence.commands import changes

    yield from changes.lines(moved)
    for edit in edited:
        yield safe(f"{edit.path}:{edit.line}: {edit.what}")
        yield f"  - {safe(edit.old)}" if edit.old else "  - not there"
        yield f"  + {safe(edit.new)}" if edit.new else "  + not there"
    yield from changes.fault_lines(failing)
    count = f", {changes.count(len(edited), 'key')} of claims files edited" if edited else ""
    yield f"evidence: {changes.tally(moved)}{count}"


def _commits_json(moved: Sequence[Change], failing: Sequence[tuple[str, Finding]], edited: Sequence[Edit]) -> str:
    import dataclasses
    import json

    from evidence.commands import changes

    document: dict[str, Any] = {
        "changes": changes.plain(moved),
        "edits": [dataclasses.asdict(edit) for edit in edited],
        "faults": changes.plain_faults(failing),
    }
    return json.dumps(document, indent=1) + "\n"
