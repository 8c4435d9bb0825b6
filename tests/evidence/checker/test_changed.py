"""What a change adds, in real repositories: found where it was added, hidden where it stood before."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evidence.cli import cli
from tests.evidence.checker.sites import commit, git
from tests.projects import PAGE, write_project

TYPED = "\nIt is 1.5x faster than before.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A committed site with one finding."""
    made = write_project(tmp_path / "site", {"old.md": f"# Old\n{TYPED}"})
    commit(made)
    git(made, "tag", "start")
    return made


def check(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["check", "--root", str(root), "--no-cache", "--strict", *arguments])


def test_what_stood_before_is_counted_and_not_shown(root: Path) -> None:
    assert check(root).exit_code == 1
    done = check(root, "--changed", "start")
    assert done.exit_code == 0, done.output
    assert "docs/old.md" not in done.output
    assert "from before the change" in done.output


def test_what_is_added_fails_also_where_lines_moved(root: Path) -> None:
    page = root / "docs/old.md"
    page.write_text(f"# Old\n\nA first line.\n{TYPED}", encoding="utf-8")
    assert check(root, "--changed", "start").exit_code == 0
    (root / "docs/features.md").write_text(PAGE + "\nNow 9.9x faster.\n", encoding="utf-8")
    done = check(root, "--changed", "start")
    assert done.exit_code == 1
    assert "docs/features.md" in done.output
    assert "docs/old.md" not in done.output


def test_the_same_finding_once_more_is_new(root: Path) -> None:
    page = root / "docs/old.md"
    page.write_text(page.read_text(encoding="utf-8") + TYPED, encoding="utf-8")
    assert check(root, "--changed", "start").exit_code == 1


def test_a_page_that_a_changed_log_makes_wrong_is_found_although_nobody_touched_it(root: Path) -> None:
    lock = root / "docs/claims/evidence.lock"
    lock.write_text(lock.read_text(encoding="utf-8").replace("1.2", "1.9"), encoding="utf-8")
    done = check(root, "--changed", "start")
    assert done.exit_code == 1
    assert "EV610" in done.output


def test_what_is_never_waived_is_never_hidden(root: Path) -> None:
    ledger = root / "docs/benchmark_logs/SHA256SUMS"
    text = ledger.read_text(encoding="utf-8")
    ledger.write_text(text.replace(text[0], "0" if text[0] != "0" else "1", 1), encoding="utf-8")
    commit(root)
    git(root, "tag", "spoilt")
    done = check(root, "--changed", "spoilt")
    assert done.exit_code == 1
    assert "EV005" in done.output


def test_before_there_was_a_project_everything_is_new(tmp_path: Path) -> None:
    root = tmp_path / "site"
    root.mkdir()
    git(root, "init", "--quiet")
    (root / "notes.txt").write_text("nothing yet\n", encoding="utf-8")
    commit(root)
    git(root, "tag", "empty")
    write_project(root, {"old.md": f"# Old\n{TYPED}"})
    commit(root)
    done = check(root, "--changed", "empty")
    assert done.exit_code == 1
    assert "docs/old.md" in done.output


def test_the_repository_is_left_as_it_was(root: Path) -> None:
    before = sorted(path.relative_to(root) for path in root.rglob("*"))
    check(root, "--changed", "start")
    assert sorted(path.relative_to(root) for path in root.rglob("*")) == before


def test_a_branch_that_is_not_here_could_not_be_checked(root: Path) -> None:
    done = check(root, "--changed", "origin/nowhere")
    assert done.exit_code == 2
    assert "fetch the branch" in done.output
