"""Tests of sites as of commits, in real repositories: what is laid out, and what somebody edited between them."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.project import Project
from evidence.repository import Repository
from evidence.revisions import RevisionError, at_commit, edits, work_tree
from evidence.store import RECORD_NAME
from tests import factories
from tests.evidence import splitkv
from tests.evidence.checker.sites import commit, git, write_lock
from tests.evidence.splitkv import FIRST, SECOND, SERIES


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository whose first commit stands on the first session."""
    made = splitkv.write(tmp_path / "site", splitkv.splitkv())
    write_lock(made)
    git(made, "init", "--quiet")
    commit(made)
    return made


def edit(root: Path, old: str, new: str) -> None:
    path = root / "docs/claims/features.yml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def repository(root: Path) -> Repository:
    found = Repository.find(root)
    assert found is not None
    return found


def head(root: Path) -> str:
    found = repository(root).commit()
    assert found is not None
    return found


def test_a_site_is_laid_out_as_it_was(root: Path, tmp_path: Path) -> None:
    before = work_tree(Project.find(root))
    factories.loaded(splitkv.splitkv(SECOND, splitkv.SLOWER), root / "docs/benchmark_logs")
    edit(root, "Splitting the cache gives", "A split cache gives")
    then = at_commit(repository(root), head(root), Project.find(root), tmp_path / "then")
    assert then.facts == before.facts
    assert then.book.statement("splitkv").text.startswith("Splitting the cache")


def test_only_what_it_stands_on_is_laid_out(root: Path, tmp_path: Path) -> None:
    factories.loaded(splitkv.splitkv(SECOND), root / "docs/benchmark_logs")
    commit(root)
    at_commit(repository(root), head(root), Project.find(root), tmp_path / "then")
    logs = [path.parent.name for path in (tmp_path / "then").rglob(RECORD_NAME)]
    assert logs == [FIRST.rpartition("/")[2]]


def test_a_commit_before_there_was_a_lock_stands_on_the_newest_log(root: Path, tmp_path: Path) -> None:
    (root / "docs/claims/evidence.lock").unlink()
    factories.loaded(splitkv.splitkv(SECOND, splitkv.SLOWER), root / "docs/benchmark_logs")
    commit(root)
    then = at_commit(repository(root), head(root), Project.find(root), tmp_path / "then")
    assert then.facts["series", SERIES, "log"] == "20261128"


def test_a_project_below_the_top_of_its_repository(root: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    root.rename(outer / "site")
    git(outer, "init", "--quiet")
    (outer / "site/.git").rename(outer / "gone")
    commit(outer)
    then = at_commit(repository(outer), head(outer), Project.find(outer / "site"), tmp_path / "then")
    assert then.book.ids == ("splitkv", "splitkv-l4")


def test_a_commit_without_claims_is_an_error(tmp_path: Path) -> None:
    root = splitkv.write(tmp_path / "site", splitkv.splitkv())
    git(root, "init", "--quiet")
    (root / ".gitignore").write_text("docs\n", encoding="utf-8")
    commit(root)
    with pytest.raises(RevisionError, match="has no claims files in docs/claims"):
        at_commit(repository(root), head(root), Project.find(root), tmp_path / "then")


def test_edits_are_told_key_by_key_with_their_line(root: Path, tmp_path: Path) -> None:
    edit(root, "expect: {better: 5, worse: 1}", "expect: better")
    edit(root, "columns: [time, {ratio: time}]", "columns: [time]\n    where: {B: 1}")
    edit(root, "claims:", f"logs:\n  {FIRST}: {{historical: the first}}\nclaims:")
    then = at_commit(repository(root), head(root), Project.find(root), tmp_path / "then")
    found = {one.what: (one.old, one.new) for one in edits(then.book, work_tree(Project.find(root)).book)}
    assert found == {
        "claims.splitkv.expect": ('{"better": 5, "worse": 1}', "better"),
        "tables.splitkv-l4.columns": ('["time", {"ratio": "time"}]', '["time"]'),
        "tables.splitkv-l4.where": ("", '{"B": ["1"]}'),
        f"logs.{FIRST}.historical": ("", "the first"),
    }
    (expect,) = [one for one in edits(then.book, work_tree(Project.find(root)).book) if one.what.endswith("expect")]
    text = (root / "docs/claims/features.yml").read_text(encoding="utf-8").split("\n")
    assert text[expect.line - 1].strip() == "expect: better"
