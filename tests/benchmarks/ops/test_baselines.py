"""Baselines: refs and versions in folders of their own, and a caller whose environment stays as it was."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import ROOT
from benchmarks.ops import baselines
from benchmarks.ops.baselines import BaselineError
from benchmarks.ops.registry import find
from evidence.schema import GitSource, PackageSource
from tests.benchmarks.ops import checkouts

pytest.importorskip("fla", exc_type=ImportError)
RECURRENT = find("linear_attn").implementation("recurrent")
KERNEL = next(entry for entry in find("qk_norm").implementations if entry.package is None)
TORCH = next(entry for entry in find("qk_norm").implementations if entry.package == "torch")
INSTALLED = importlib.metadata.version("fla-core")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    return checkouts.made(tmp_path_factory.mktemp("repositories") / "fla-checkout")


def opened(base: str | None, repository: Path | None = None, implementation=RECURRENT, frozen=()):
    return baselines.opened(implementation, base, repository, root=ROOT, frozen_names=frozen)


def test_a_ref_of_another_checkout_is_laid_out_with_its_source_and_removed(checkout):
    before = checkouts.git(checkout, "status", "--porcelain"), checkouts.git(checkout, "worktree", "list")
    with opened("quick", checkout) as pair:
        assert pair.baseline is not None
        source = pair.baseline.source
        assert isinstance(source, GitSource)
        assert (source.name, source.is_dirty) == ("baseline", False)
        assert source.commit == checkouts.git(checkout, "rev-parse", "quick^{commit}")
        assert [path.path for path in source.paths] == ["fla/ops/linear_attn/naive.py"]
        assert "sleep(0.0)" in (pair.baseline.folder / source.paths[0].path).read_text()
        assert pair.candidate.folder == checkout
        assert pair.notes == ()
        folder = pair.baseline.folder
    assert not folder.exists()
    assert (checkouts.git(checkout, "status", "--porcelain"), checkouts.git(checkout, "worktree", "list")) == before


def test_a_dirty_tree_is_the_candidate_as_it_is_and_says_so(tmp_path):
    checkout = checkouts.made(tmp_path / "c")
    checkouts.write(checkout, delay=0.5)
    with opened("main", checkout) as pair:
        assert isinstance(pair.candidate.source, GitSource)
        assert pair.candidate.source.is_dirty
        assert "changes that are not committed with their commit" in pair.notes[0]
        assert "sleep(0.02)" in (pair.baseline.folder / "fla/ops/linear_attn/naive.py").read_text()
    assert "sleep(0.5)" in (checkout / "fla/ops/linear_attn/naive.py").read_text()


def test_the_branch_that_is_checked_out_is_compared_with_itself_and_says_so(checkout):
    for ref in ("main", "HEAD", checkouts.git(checkout, "rev-parse", "HEAD")):
        with opened(ref, checkout) as pair:
            assert f"{ref} is what is checked out: this compares a commit with itself" in pair.notes[0]


def test_a_remotes_branch_and_a_detached_head_work(tmp_path, checkout):
    clone = tmp_path / "clone"
    checkouts.git(tmp_path, "clone", "-q", str(checkout), str(clone))
    checkouts.git(clone, "checkout", "-q", "--detach", "HEAD~1")
    with opened("origin/main", clone) as pair:
        assert pair.baseline.commit == checkouts.git(checkout, "rev-parse", "main")
        assert pair.notes == ()


@pytest.mark.parametrize(
    ("ref", "said", "fix"),
    [
        ("quik", "no commit 'quik'", "did you mean quick?"),
        ("origin/main", "no commit 'origin/main'", "git fetch origin"),
        ("--help", "no commit '--help'", ""),
    ],
)
def test_a_ref_that_is_none_says_what_may_be_meant(checkout, ref, said, fix):
    with pytest.raises(BaselineError, match=said) as caught, opened(ref, checkout):
        pass
    assert fix in caught.value.fix


def test_a_folder_that_is_no_repository_or_holds_no_such_code_is_refused(tmp_path):
    with pytest.raises(BaselineError, match="is no git repository"), opened("main", tmp_path):
        pass
    checkouts.git(tmp_path, "init", "-q")
    with pytest.raises(BaselineError, match="there is no fla in it"), opened("main", tmp_path):
        pass


def test_a_kernel_of_this_repository_is_laid_out_from_a_commit():
    with opened("HEAD", implementation=KERNEL, frozen=("benchmarks/ops/tolerances.py",)) as pair:
        assert (pair.baseline.folder / "benchmarks/ops/kernels/qk_norm.py").is_file()
        assert pair.baseline.source.paths == ()
        assert pair.frozen_at is not None
        assert set(pair.frozen_at) == {"benchmarks/ops/tolerances.py", "pyproject.toml"}


def test_a_ref_of_this_repository_means_the_version_that_it_pins():
    with opened("HEAD") as pair:
        assert isinstance(pair.baseline.source, PackageSource)
        assert pair.baseline.source.package == f"fla-core=={INSTALLED}"
        assert pair.baseline.folder is None
        assert f"HEAD pins fla-core=={INSTALLED}" in pair.notes[0]
        assert f"compares fla-core=={INSTALLED} with itself" in pair.notes[1]


def wheel(folder: Path) -> Path:
    """A wheel of another version, built by hand, so that no index is asked."""
    checkouts.write(folder / "w")
    info = folder / "w/fla_core-0.0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fla-core\nVersion: 0.0.1\n")
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    files = sorted(path.relative_to(folder / "w").as_posix() for path in (folder / "w").rglob("*") if path.is_file())
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in (*files, f"{info.name}/RECORD")))
    archive = shutil.make_archive(str(folder / "fla_core-0.0.1-py3-none-any"), "zip", folder / "w")
    return Path(archive).rename(folder / "fla_core-0.0.1-py3-none-any.whl")


def test_a_version_is_installed_into_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel(tmp_path).parent))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    before = {(one.metadata["Name"], one.version) for one in importlib.metadata.distributions()}
    with opened("fla-core==0.0.1") as pair:
        assert pair.baseline.source.package == "fla-core==0.0.1"
        assert pair.baseline.source.record_sha256 is not None
        assert (pair.baseline.folder / "fla/ops/linear_attn/naive.py").is_file()
        assert pair.candidate.source.package == f"fla-core=={INSTALLED}"
        assert pair.notes == ()
    assert {(one.metadata["Name"], one.version) for one in importlib.metadata.distributions()} == before
    assert not pair.baseline.folder.exists()


def test_a_version_that_is_not_released_says_what_pip_says(monkeypatch, tmp_path):
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with (
        pytest.raises(BaselineError, match="cannot be installed: ERROR: No matching distribution"),
        opened("fla-core==0.0.2"),
    ):
        pass


def test_a_version_of_another_package_holds_no_such_code():
    with (
        pytest.raises(BaselineError, match="holds no code of recurrent, which comes from fla-core"),
        opened("einops==0.8.0"),
    ):
        pass


def test_an_exception_leaves_nothing_behind(checkout):
    folders = []

    def interrupted() -> None:
        with opened("quick", checkout) as pair:
            folders.append(pair.baseline.folder)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not folders[0].exists()


def test_what_a_killed_run_left_is_removed_by_the_next(checkout):
    program = (
        "import sys, time; from pathlib import Path; from benchmarks import ROOT\n"
        "from benchmarks.ops import baselines\n"
        "from benchmarks.ops.registry import find\n"
        "entry = find('linear_attn').implementation('recurrent')\n"
        "with baselines.opened(entry, 'quick', Path(sys.argv[1]), root=ROOT, frozen_names=()) as pair:\n"
        "    print(pair.baseline.folder, flush=True); time.sleep(600)\n"
    )
    run = subprocess.Popen([sys.executable, "-c", program, str(checkout)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    folder = Path(run.stdout.readline().strip())
    assert folder.is_dir()
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    assert folder.is_dir()
    time.sleep(0.05)
    assert folder.parent in baselines.remove_left_behind()
    assert not folder.exists()


def test_what_both_sides_run_on_is_no_baseline():
    with (
        pytest.raises(BaselineError, match="torch is what everything here runs on"),
        opened("torch==2.0.0", implementation=TORCH),
    ):
        pass
