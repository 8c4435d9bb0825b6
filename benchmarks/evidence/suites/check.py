"""Owns the suite `check`: what the check of this repository's own site costs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks import ROOT
from benchmarks.evidence.faults import edit_digit
from benchmarks.evidence.projects import digest_of_files, files_of, git
from benchmarks.evidence.suite import (
    CPU_TIME,
    PEAK_MEMORY,
    WALL_TIME,
    Check,
    Ran,
    Side,
    Sizes,
    Suite,
    exits_clean,
    metric,
    run_untimed,
)
from evidence.project import Project
from evidence.repository import Repository
from evidence.store import Store

_EDITED = "EV005"


def _prepare(folder: Path, sizes: Sizes) -> Path:
    return ROOT


def _files(inputs: Path) -> tuple[Path, ...]:
    project = Project.find(inputs)
    return (project.config, *files_of(project.docs))


def _settings(inputs: Path, sizes: Sizes) -> Mapping[str, str]:
    project = Project.find(inputs)
    return {
        "logs": str(len(Store(project.logs).entries)),
        "pages": str(len(project.pages())),
        "docs sha256": digest_of_files(project.docs),
    }


def _command(inputs: Path, written: Path) -> tuple[str, ...]:
    return "-m", "evidence.check", "--no-cache", "--root", str(inputs)


def _held(ran: Ran, sizes: Sizes) -> Iterator[Check]:
    yield exits_clean(ran)


def _gate(inputs: Path, scratch: Path, sizes: Sizes) -> Iterator[Check]:
    """The check passes the site, and finds the log in a copy of it of which one digit was edited."""
    done = run_untimed(_command(inputs, scratch), ROOT)
    yield exits_clean(Ran(inputs, scratch, done.stdout or done.stderr, done.returncode))
    logs = [entry.log for entry in Store(Project.find(inputs).logs).entries]
    if not logs:
        yield Check("an edited digit", "the site has no log to edit")
        return
    copy = _copied(Project.find(inputs), scratch / "copy")
    path = edit_digit(copy, logs[0])
    done = run_untimed((*_command(copy, scratch), "--format", "json"), ROOT)
    yield Check("exit code of the edited site", "" if done.returncode == 1 else f"{done.returncode}, not 1")
    try:
        found = {(one["code"], one["path"]) for one in json.loads(done.stdout)["diagnostics"]}
    except ValueError:
        found = set()
    is_found = (_EDITED, path) in found
    yield Check("an edited digit", "" if is_found else f"{_EDITED} was not found at {path}")


def _copied(project: Project, copy: Path) -> Path:
    """Clone a project's repository with its history, put the docs in it as they are now, and return the project."""
    repository = Repository.find(project.root)
    top = project.root if repository is None else repository.root
    if repository is None:
        shutil.copytree(top, copy)
    else:
        git(top, "clone", "--quiet", "--shared", str(top), str(copy))
    root = copy / project.root.resolve().relative_to(top.resolve())
    shutil.copyfile(project.config, root / project.config.name)
    docs = root / project.docs.relative_to(project.root.resolve())
    shutil.rmtree(docs, ignore_errors=True)
    shutil.copytree(project.docs, docs)
    return root


SUITE = Suite(
    name="check",
    module=__name__,
    summary="the check of this repository's own site",
    sizes={},
    prepare=_prepare,
    warmed=_files,
    settings=_settings,
    sides=(Side("check", "baseline", "evidence.cli:main", _command, "faults", _gate, _held),),
    axes=(),
    metrics=(metric(WALL_TIME, "target"), metric(CPU_TIME, "target"), metric(PEAK_MEMORY, "guard")),
    measured=("evidence/checker/**/*.py", "evidence/pages/*.py", "evidence/book.py", "evidence/tables/*.py"),
    gates=("benchmarks/evidence/faults.py", "benchmarks/evidence/suites/check.py"),
    limitations=(
        "one site, as it was when it was measured: it grows with every log, and the time with it",
        "the page cache is warm: a fresh process reads files that were read before; cold means no more than fresh",
    ),
)
