from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence.repository import Repository, RepositoryError, public_address


def git(folder: Path, *words: str, stdin: bytes = b"") -> str:
    identity = ("-c", "user.name=Someone", "-c", "user.email=someone@example.invalid")
    return subprocess.run(
        ["git", *identity, *words], cwd=folder, check=True, capture_output=True, input=stdin
    ).stdout.decode()


def commit(folder: Path) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "one")
    return git(folder, "rev-parse", "HEAD").strip()


@pytest.fixture
def repository(tmp_path) -> Repository:
    root = tmp_path / "here"
    (root / "docs").mkdir(parents=True)
    (root / "source.py").write_text("x = 1\n")
    (root / "docs" / "page.md").write_text("page\n")
    (root / ".gitignore").write_text("*.log\n")
    git(root, "init", "--quiet")
    return Repository(root)


def test_the_digest_is_over_sorted_lines_of_mode_blob_and_path(repository):
    made = commit(repository.root)
    lines = sorted(
        f"100644 {git(repository.root, 'hash-object', name).strip()} {name}\n" for name in (".gitignore", "source.py")
    )
    assert repository.commit_tree_sha256(made) == hashlib.sha256("".join(lines).encode()).hexdigest()


def listed_sha256(root: Path, made: str) -> str:
    """The same digest by another way: git lists the one tree."""
    lines = (line.partition("\t") for line in git(root, "ls-tree", "-r", "-z", made).split("\0") if line)
    entries = (f"{head.split()[0]} {head.split()[2]} {path}\n" for head, _, path in lines)
    kept = sorted(entry for entry in entries if not entry.split(" ", 2)[2].startswith("docs/"))
    return hashlib.sha256("".join(kept).encode()).hexdigest()


@pytest.fixture
def commits(repository) -> list[str]:
    """Commits that add, edit, move and remove files, change modes and kinds, and docs alone; one holds nothing."""
    root = repository.root
    made = [commit(root)]
    (root / "docs" / "page.md").write_text("another page\n")
    made.append(commit(root))
    (root / "a b\n.txt").write_text("odd name")
    (root / "deep" / "er").mkdir(parents=True)
    (root / "source.py").rename(root / "deep" / "er" / "source.py")
    made.append(commit(root))
    (root / "a b\n.txt").chmod(0o755)
    (root / "deep" / "er" / "source.py").unlink()
    (root / "deep" / "er" / "source.py").symlink_to("elsewhere")
    made.append(commit(root))
    git(root, "rm", "--quiet", "-r", ".")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{made[0]},module")
    git(root, "commit", "--quiet", "--message", "a submodule")
    made.append(git(root, "rev-parse", "HEAD").strip())
    git(root, "rm", "--quiet", "--cached", "module")
    made.append(commit(root))
    return made


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15, deadline=None)
def test_digests_asked_for_together_are_those_asked_for_alone(repository, commits, data):
    asked = data.draw(st.lists(st.sampled_from([*commits, "0" * 40, "HEAD"]), max_size=9))
    found = repository.commit_trees_sha256(asked)
    assert found == {made: listed_sha256(repository.root, made) for made in asked if made in commits}
    for made, digest in found.items():
        assert repository.commit_tree_sha256(made) == digest


def test_a_repository_of_longer_ids_has_digests_too(tmp_path):
    git(tmp_path, "init", "--quiet", "--object-format=sha256")
    (tmp_path / "source.py").write_text("x = 1\n")
    made = commit(tmp_path)
    assert Repository(tmp_path).commit_trees_sha256((made,)) == {made: listed_sha256(tmp_path, made)}


def test_a_shallow_clone_has_the_digests_of_the_commits_that_are_there(repository, commits, tmp_path):
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=2", f"file://{repository.root}", str(clone))
    there = commits[-2:]
    found = Repository(clone).commit_trees_sha256(commits)
    assert found == {made: listed_sha256(repository.root, made) for made in there}
    with pytest.raises(RepositoryError, match="there is no commit"):
        Repository(clone).commit_tree_sha256(commits[0])


def test_a_clean_tree_has_the_digest_of_its_commit(repository):
    (repository.root / "a b\n.txt").write_text("odd name")
    (repository.root / "link").symlink_to("source.py")
    (repository.root / "run.sh").write_text("#!/bin/sh\n")
    (repository.root / "run.sh").chmod(0o755)
    assert repository.work_tree_sha256() == repository.commit_tree_sha256(commit(repository.root))


@pytest.mark.parametrize("change", ["edit", "add", "remove", "mode", "link"])
def test_every_change_that_a_commit_would_hold_is_seen(repository, change):
    made = commit(repository.root)
    source = repository.root / "source.py"
    if change == "edit":
        source.write_text("x = 2\n")
    elif change == "add":
        (repository.root / "untracked.py").write_text("")
    elif change == "remove":
        source.unlink()
    elif change == "mode":
        source.chmod(0o755)
    else:
        source.unlink()
        source.symlink_to(".gitignore")
    assert repository.work_tree_sha256() != repository.commit_tree_sha256(made)


def test_docs_and_ignored_files_do_not_dirty_a_source(repository):
    made = commit(repository.root)
    (repository.root / "docs" / "log.json").write_text("{}")
    (repository.root / "docs" / "page.md").unlink()
    (repository.root / "noise.log").write_text("noise")
    assert repository.work_tree_sha256() == repository.commit_tree_sha256(made)


def test_asking_changes_nothing_in_the_repository(repository):
    commit(repository.root)
    (repository.root / "untracked.py").write_text("")
    before = sorted(path for path in (repository.root / ".git").rglob("*") if path.is_file())
    repository.work_tree_sha256()
    assert sorted(path for path in (repository.root / ".git").rglob("*") if path.is_file()) == before
    assert git(repository.root, "status", "--porcelain") == "?? untracked.py\n"


def test_a_repository_is_found_from_any_place_inside(repository):
    assert Repository.find(repository.root / "docs" / "page.md") == repository
    assert Repository.find(repository.root / "docs") == repository


def test_no_repository_where_there_is_none_or_no_git(repository, tmp_path, monkeypatch):
    assert Repository.find(tmp_path) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Repository.find(repository.root) is None
    with pytest.raises(RepositoryError, match="git cannot be run"):
        repository.work_tree_sha256()


def test_variables_of_a_hook_do_not_lead_elsewhere(repository, monkeypatch, tmp_path):
    made = commit(repository.root)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert repository.commit() == made


def test_commits_are_known_or_not(repository):
    assert repository.commit() is None
    made = commit(repository.root)
    assert repository.commit() == made
    assert repository.has_commit(made)
    assert repository.known_commits((made, "0" * 40, "HEAD", "--all")) == {made}
    assert repository.known_commits(()) == frozenset()
    blob = git(repository.root, "rev-parse", "HEAD:source.py").strip()
    assert not repository.has_commit(blob)
    with pytest.raises(RepositoryError, match="not a full commit id"):
        repository.commit_tree_sha256("HEAD")


def test_files_are_read_as_of_a_commit(repository):
    made = commit(repository.root)
    (repository.root / "source.py").write_text("x = 2\n")
    assert repository.file_at(made, "source.py") == b"x = 1\n"
    assert repository.file_at(made, "absent.py") is None
    assert repository.file_at("0" * 40, "source.py") is None


def test_the_remote_is_public_or_none(repository):
    assert repository.remote_url() is None
    git(repository.root, "remote", "add", "upstream", "git@example.com:owner/name.git")
    assert repository.remote_url() == "https://example.com/owner/name.git"
    git(repository.root, "remote", "add", "origin", "/srv/mirror")
    assert repository.remote_url() is None


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:secret@example.com/a/b.git?x=1#y", "https://example.com/a/b.git"),
        ("ssh://git@example.com:22/a/b", "https://example.com/a/b"),
        ("https://example.com:8443/a/b", "https://example.com:8443/a/b"),
        ("git@example.com:a/b.git", "https://example.com/a/b.git"),
        ("/srv/mirror", None),
        ("../mirror", None),
        ("file:///srv/mirror", None),
        ("C:/mirror", None),
        ("machine:mirror", None),
        ("http://[", None),
        ("https://example.com:port/a", None),
    ],
)
def test_addresses_lose_credentials_and_places(url, shown):
    assert public_address(url) == shown


@given(st.text())
def test_any_address_is_public_or_none(url):
    shown = public_address(url)
    assert shown is None or "@" not in shown.partition("/")[0]


def test_history_is_what_some_branch_reaches(repository):
    assert repository.history() == frozenset()
    first = commit(repository.root)
    git(repository.root, "switch", "--quiet", "--create", "side")
    second = commit(repository.root)
    git(repository.root, "switch", "--quiet", "--detach", first)
    detached = commit(repository.root)
    assert repository.history() == {first, second, detached}
    git(repository.root, "switch", "--quiet", "side")
    assert repository.history() == {first, second}
    assert repository.has_commit(detached)


def test_names_resolve_to_commits_and_commits_to_where_they_parted(repository):
    first = commit(repository.root)
    git(repository.root, "branch", "base")
    git(repository.root, "switch", "--quiet", "--create", "side")
    second = commit(repository.root)
    assert (repository.resolve("base"), repository.resolve("HEAD"), repository.resolve("--all")) == (
        first,
        second,
        None,
    )
    assert repository.merge_base(first, second) == first
    git(repository.root, "switch", "--quiet", "--orphan", "alone")
    assert repository.merge_base(first, commit(repository.root)) is None


def test_a_clone_without_its_history_says_so(repository, tmp_path):
    commit(repository.root)
    commit(repository.root)
    git(tmp_path, "clone", "--quiet", "--depth", "1", repository.root.as_uri(), "cut")
    assert not repository.is_shallow()
    assert Repository(tmp_path / "cut").is_shallow()
