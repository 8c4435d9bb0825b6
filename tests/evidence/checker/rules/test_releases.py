"""EV618 in whole projects: what a release announces is proven, or it is named with all that is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.checker.catalogue import RULES
from evidence.checker.corpus import Corpus, Options
from evidence.checker.runs import run
from evidence.project import Project
from evidence.schema import Record
from tests.evidence.checker.sites import write_lock
from tests.factories import gate
from tests.projects import CLAIMS, rerun, write_project

CHANGES = "# Changes\n\n## 1.0.0\n\n- <!-- evidence: says toy-fused --><!-- /evidence -->\n"
EXPLAINED = CLAIMS.replace("{unknown: nothing was profiled}", "{text: It moves fewer bytes., evidence: time}").replace(
    "    expect: better\n", "    expect: better\n    also: {time: {arm: fused}}\n"
)
TRIED = {"gates": (gate(mutants=8, mutants_killed=8),)}


def site(root: Path, *, claims: str = EXPLAINED, sessions: int = 2, **changes: object) -> Path:
    def changed(made: Record) -> Record:
        return made.model_copy(update=changes)

    write_project(root, claims=claims, change=changed)
    for _ in range(sessions - 1):
        rerun(root, **changes)
    write_lock(root)
    (root / "CHANGELOG.md").write_text(CHANGES, encoding="utf-8")
    return root


def found(root: Path, *, is_release: bool = True) -> list[str]:
    report = run(RULES, Corpus(Project.find(root), Options(is_release=is_release)))
    return [f"{one.at}: {one.message}" for one in report.diagnostics if one.code == "EV618"]


def test_a_gain_that_is_proven_is_announced(tmp_path: Path) -> None:
    assert found(site(tmp_path, **TRIED)) == []


@pytest.mark.parametrize(
    ("claims", "sessions", "changes", "missing"),
    [
        (CLAIMS, 2, TRIED, "its mechanism is not established"),
        (EXPLAINED, 1, TRIED, "it stands on one session"),
        (EXPLAINED, 2, {}, "its gate 'numeric' was never tried against faulty variants"),
        (
            EXPLAINED,
            2,
            {"gates": (gate(mutants=8, mutants_killed=6),)},
            "its gate 'numeric' let 2 of 8 faulty variants pass",
        ),
    ],
)
def test_what_is_missing_is_named(
    tmp_path: Path, claims: str, sessions: int, changes: dict[str, object], missing: str
) -> None:
    (said,) = found(site(tmp_path, claims=claims, sessions=sessions, **changes))
    assert said == f"CHANGELOG.md:5: says toy-fused is announced, and {missing}"


def test_all_that_is_missing_is_one_finding(tmp_path: Path) -> None:
    (said,) = found(site(tmp_path, claims=CLAIMS, sessions=1))
    assert said.count("; ") == 2


def test_it_is_asked_of_a_release_only_and_of_its_log_of_changes_only(tmp_path: Path) -> None:
    root = site(tmp_path, claims=CLAIMS, sessions=1)
    assert found(root, is_release=False) == []
    (root / "CHANGELOG.md").rename(root / "NOTES.md")
    assert found(root) == []
    (root / "CHANGELOG.md").write_text(CHANGES.replace("## 1.0.0", "## Unreleased"), encoding="utf-8")
    assert found(root) == []
