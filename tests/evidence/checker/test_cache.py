"""An answer is given again only where every byte it follows from is the same; nothing in a repository is believed."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from evidence import cli
from evidence.checker import cache, runs
from tests.evidence.checker.sites import KERNEL, LOG, Site, commit, git

CLEAN = "evidence: 0 errors, 0 warnings in 1 log, 1 page\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the checks that are made in full."""
    made: list[int] = []
    run = runs.run

    def counted(*arguments: object, **options: object) -> runs.Report:
        made.append(1)
        return run(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(runs, "run", counted)
    return made


def check(site: Site, *options: str) -> str:
    return CliRunner().invoke(cli.cli, ["check", "--root", str(site.root), *options]).output


def answers(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.json"))


def test_an_unchanged_project_is_checked_once(site: Site, folder: Path, checks: list[int]) -> None:
    site.add(site.record())
    assert [check(site) for _ in range(3)] == [CLEAN] * 3
    assert len(checks) == 1
    assert len(answers(folder)) == 1
    assert stat.S_IMODE(answers(folder)[0].parent.stat().st_mode) == 0o700


def test_findings_and_exit_codes_are_given_again(site: Site, folder: Path, checks: list[int]) -> None:
    path = site.add(site.record())
    path.write_bytes(path.read_bytes().replace(b"synthetic numbers", b"Synthetic numbers"))
    runner = CliRunner()
    first, second = (runner.invoke(cli.cli, ["check", "--root", str(site.root)]) for _ in range(2))
    assert (first.exit_code, first.output) == (second.exit_code, second.output)
    assert first.exit_code == 1
    assert "EV005" in first.output
    assert len(checks) == 1


def test_no_cache_neither_reads_nor_writes(site: Site, folder: Path, checks: list[int]) -> None:
    site.add(site.record())
    check(site, "--no-cache")
    assert not folder.exists()
    check(site)
    check(site, "--no-cache")
    assert len(checks) == 3


def test_the_cache_can_be_deleted(site: Site, folder: Path, checks: list[int]) -> None:
    site.add(site.record())
    check(site)
    for path in answers(folder):
        path.unlink()
    assert check(site) == CLEAN
    assert len(checks) == 2


def _same_size_and_time(path: Path, content: bytes) -> None:
    before = path.stat()
    assert len(content) == before.st_size
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _edit_record(site: Site) -> None:
    path = site.logs / LOG / "record.json"
    _same_size_and_time(path, path.read_bytes().replace(b"synthetic numbers", b"Synthetic numbers"))


def _link_log(site: Site) -> None:
    (site.logs / LOG).rename(site.root / "moved")
    (site.logs / LOG).symlink_to(site.root / "moved")


CHANGES: dict[str, Callable[[Site], object]] = {
    "a record, its size and time kept": _edit_record,
    "a ledger": lambda site: (site.logs / "SHA256SUMS").write_text(""),
    "a page": lambda site: site.write("docs/index.md", "# Nothing\n"),
    "a new page": lambda site: site.write("docs/new.md", "# New\n"),
    "a hidden file of the docs": lambda site: site.write("docs/.hidden", "x"),
    "claims": lambda site: site.write("docs/claims/a.yml", "claims: {}\n"),
    "the configuration": lambda site: site.write("mkdocs.yml", "site_name: Other\n"),
    "the settings": lambda site: site.write("evidence.toml", 'base = "main"\n'),
    "a log that became a link": _link_log,
    "a readme": lambda site: site.write("README.md", "# Two times faster\n"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_any_change_is_checked(site: Site, folder: Path, checks: list[int], change: Callable[[Site], object]) -> None:
    site.add(site.record())
    check(site)
    change(site)
    changed = check(site)
    assert changed == check(site, "--no-cache")
    assert len(checks) == 3


@pytest.mark.parametrize(
    "options", [["--release"], ["--strict"], ["--base", "main"], ["--format", "json"], ["--select", "EV1"]]
)
def test_other_questions_have_other_answers(site: Site, folder: Path, checks: list[int], options: list[str]) -> None:
    site.add(site.record())
    check(site)
    assert check(site, *options) == check(site, *options, "--no-cache")
    assert len(checks) == 3


def test_what_git_says_is_part_of_the_key(tmp_path: Path, site: Site, folder: Path, checks: list[int]) -> None:
    site.add(site.record())
    assert check(site) == CLEAN
    git(site.repository, "branch", f"another-{tmp_path.name}")
    check(site)
    assert len(checks) == 2
    git(site.repository, "branch", "--delete", f"another-{tmp_path.name}")
    kernel = site.repository / KERNEL
    before = kernel.read_bytes()
    try:
        kernel.write_text("def toy(): return 1\n", encoding="utf-8")
        assert "EV108" in check(site)
    finally:
        kernel.write_bytes(before)


def test_an_answer_for_other_bytes_is_never_believed(site: Site, folder: Path, checks: list[int]) -> None:
    """A clean answer is put in the place of one of a spoilt project: whole, and under its own key."""
    path = site.add(site.record())
    check(site)
    clean = answers(folder)[0].read_bytes()
    path.write_bytes(path.read_bytes().replace(b"synthetic numbers", b"Synthetic numbers"))
    assert "EV005" in check(site)
    answers(folder)[0].write_bytes(clean)
    assert "EV005" in check(site)


@pytest.mark.parametrize(
    "spoil",
    [lambda data: data[:-9], lambda data: data.replace(b"0 errors", b"1 errors"), lambda _: b"", lambda _: b"\xff\n{}"],
)
def test_a_file_that_is_not_whole_is_no_answer(
    site: Site, folder: Path, checks: list[int], spoil: Callable[[bytes], bytes]
) -> None:
    site.add(site.record())
    check(site)
    file = answers(folder)[0]
    file.write_bytes(spoil(file.read_bytes()))
    assert check(site) == CLEAN
    assert len(checks) == 2


def test_a_check_that_could_not_be_made_is_made_again(site: Site, folder: Path, checks: list[int]) -> None:
    site.write("docs/index.md", "# Nothing to check\n")
    check(site)
    check(site)
    assert len(checks) == 2
    assert not answers(folder)


def test_what_changes_while_it_is_checked_is_not_kept(
    site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.add(site.record())
    run = runs.run

    def slow(*arguments: object, **options: object) -> runs.Report:
        report = run(*arguments, **options)  # type: ignore[arg-type]
        site.write("docs/late.md", "# Late\n")
        return report

    monkeypatch.setattr(runs, "run", slow)
    check(site)
    assert not answers(folder)


def test_a_cache_inside_the_repository_is_never_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add(site.record())
    inside = site.root / "docs" / "cache"
    monkeypatch.setenv(cache.VARIABLE, str(inside))
    assert check(site) == CLEAN
    assert not inside.exists()


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, os.devnull)
    site.add(site.record())
    assert [check(site), check(site)] == [CLEAN] * 2


def test_a_project_without_git_is_answered_too(tmp_path: Path, site: Site, folder: Path, checks: list[int]) -> None:
    site.add(site.record())
    alone = tmp_path / "alone"
    site.root.rename(alone)
    site.root = alone
    assert check(site) == check(site)
    assert len(checks) == 1
    (alone / "docs" / "index.md").write_text("# Nothing\n", encoding="utf-8")
    check(site)
    assert len(checks) == 2


READ_BEYOND = """
import json, os, sys
from pathlib import Path
opened = set()
def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        opened.add(os.path.abspath(os.fsdecode(arguments[0])))
sys.addaudithook(hook)
from evidence.checker import cache, catalogue
from evidence.checker.corpus import Corpus, Options
from evidence.checker.runs import run
from evidence.project import Project
project = Project.find(Path(sys.argv[1]))
catalogue.RULES
opened.clear()
run(catalogue.RULES, Corpus(project, Options(processes=1)))
known = {line.split(" ", 1)[-1] for line in cache._sources(project)}
top = str(Path(sys.argv[2]))
beyond = (path for path in opened - known if path.startswith(top) and "/.git/" not in path and os.path.isfile(path))
print(json.dumps(sorted(beyond)))
"""


def test_every_file_that_a_check_opens_is_in_the_key(site: Site) -> None:
    site.add(site.record())
    site.write("README.md", "# Two times faster\n\n```sh\nmake test\npython tool.py\n```\n")
    site.write("Makefile", "test:\n\techo\n")
    site.write("tool.py", "")
    site.write("CHANGELOG.md", "# Changes\n")
    command = [sys.executable, "-c", READ_BEYOND, str(site.root), str(site.repository)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
    assert json.loads(done.stdout) == []


def test_a_commit_is_seen(site: Site, folder: Path, checks: list[int]) -> None:
    site.add(site.record())
    check(site)
    commit(site.repository)
    check(site)
    assert len(checks) == 2
