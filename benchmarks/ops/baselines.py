"""Owns baselines: the code of a git ref or a package's version, laid out in a folder of its own and removed afterwards.

Nothing is installed into the caller's environment and no work tree is switched: a ref is checked out in a clone that
borrows the repository's objects, a version is installed into a folder by pip. Workers import from that folder and prove
it, see `benchmarks.ops.origins`. A run that was killed leaves its folder; the next one removes it.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks import capture, privacy
from benchmarks.ops.origins import OriginError, import_root, package_of
from benchmarks.ops.registry import Implementation
from benchmarks.reading import UnreadableError
from evidence.errors import EvidenceError, nearest
from evidence.repository import Repository, RepositoryError
from evidence.schema import GitSource, PackageSource, Source

SOURCE = "baseline"
"""Name of the baseline's source in a record."""
CHECKOUT = "checkout"
"""Name of the source that is another checkout's work tree."""
_VERSION = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9][A-Za-z0-9.!+_-]*)")
_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;#]+)", re.MULTILINE)
_PREFIX = "evidence-baseline-"
_FOLDER = re.compile(rf"{_PREFIX}([0-9]+)-")
_CONSTRAINTS = "constraints.txt"
_INSTALL_S = 900.0
_STACK = frozenset({"torch", "triton"})


class BaselineError(EvidenceError):
    """A baseline that cannot be had here."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where one arm's code comes from."""

    source: Source
    folder: Path | None
    """What the code's package is imported from; None: where it is installed."""
    commit: str | None
    """The commit it is, where it is one."""
    repository: Path | None
    """The repository of that commit."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Both sides of a comparison; `notes` are what a reader of it must know."""

    candidate: Origin
    baseline: Origin | None
    notes: tuple[str, ...]
    frozen_at: Mapping[str, bytes] | None
    """The gate's files as they are at the baseline; None: the baseline is no commit of this repository."""


def is_version(base: str) -> bool:
    """Whether a baseline names a package's version, not a git ref."""
    return _VERSION.fullmatch(base) is not None


@contextlib.contextmanager
def opened(
    implementation: Implementation,
    base: str | None,
    repository: Path | None,
    *,
    root: Path,
    frozen_names: Sequence[str],
) -> Iterator[Pair]:
    """Lay out both sides, and remove what was laid out however this ends.

    Args:
        implementation: Whose code is measured.
        base: A git ref, `NAME==VERSION`, or None for no baseline.
        repository: The checkout that the code comes from, where it is not what is installed here.
        root: This repository.
        frozen_names: Its files that the gate consists of.

    Raises:
        BaselineError: there is no such commit or version, or it holds no such code.
    """
    remove_left_behind()
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
    try:
        try:
            pair = _pair(implementation, base, repository, root, frozen_names, folder)
        except RepositoryError as error:
            raise BaselineError(privacy.scrubbed(error.message, root), fix=error.fix) from None
        except OriginError as error:
            raise BaselineError(f"{base or '--repo'}: {error.message}", fix=error.fix) from None
        yield pair
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_left_behind() -> tuple[Path, ...]:
    """Remove the folders of runs that were killed, and return them."""
    found = {path: _FOLDER.match(path.name) for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*")}
    dead = [path for path, match in found.items() if match and not psutil.pid_exists(int(match[1]))]
    for path in dead:
        shutil.rmtree(path, ignore_errors=True)
    return tuple(dead)


def _pair(
    implementation: Implementation,
    base: str | None,
    checkout: Path | None,
    root: Path,
    frozen_names: Sequence[str],
    folder: Path,
) -> Pair:
    candidate = _installed(implementation, root) if checkout is None else _work_tree(implementation, checkout)
    if base is None:
        return Pair(candidate, None, (), None)
    if is_version(base):
        baseline = _version(implementation, base, root, folder)
        return Pair(candidate, baseline, _same_package(candidate, baseline), None)
    own = _repository(checkout or root)
    commit = resolved(own, base)
    is_here = own.root == root
    before = (
        {name: data for name in frozen_names if (data := own.file_at(commit, name)) is not None} if is_here else None
    )
    if before is not None and (data := own.file_at(commit, "pyproject.toml")) is not None:
        before["pyproject.toml"] = data
    if checkout is None and implementation.package is not None:
        pinned = _pinned(own, commit, implementation.package, base)
        baseline = _version(implementation, pinned, root, folder)
        note = f"{base} pins {pinned}, and that package's code is what {implementation.name} runs"
        return Pair(candidate, baseline, (note, *_same_package(candidate, baseline)), before)
    baseline = _checked_out(implementation, own, commit, folder)
    return Pair(candidate, baseline, _same_commit(own, base, commit), before)


def _installed(implementation: Implementation, root: Path) -> Origin:
    """Return what is imported here anyway: this work tree, or an installed package."""
    if implementation.package is None:
        path = _file_of(implementation)
        source = capture.git_source(root, (path,) if (root / path).is_file() else ())
        return Origin(source, None, source.commit, root)
    try:
        return Origin(capture.package_source(implementation.package), None, None, None)
    except UnreadableError as error:
        raise BaselineError(str(error), fix="install it") from None


def _work_tree(implementation: Implementation, checkout: Path) -> Origin:
    repository = _repository(checkout)
    folder = import_root(package_of(implementation.target), repository.root)
    source = _git_source(implementation, repository.root, folder, CHECKOUT)
    return Origin(source, folder, source.commit, repository.root)


def _repository(folder: Path) -> Repository:
    found = Repository.find(folder)
    if found is None:
        raise BaselineError(f"{folder.name} is no git repository", fix="give --repo the top folder of a checkout")
    return found


def resolved(repository: Repository, ref: str) -> str:
    """Return the commit that a branch, a remote's branch, a tag, an id or HEAD names.

    Raises:
        BaselineError: it names none; the message says what may have been meant.
    """
    commit = repository.resolve(ref)
    if commit is None:
        refs = [line.split("/", 2)[2].partition(" ")[0] for line in repository.state().splitlines()[1:] if "/" in line]
        meant = nearest(ref, refs)
        hint = f"did you mean {meant}?" if meant else "give a branch, a tag, a commit id, or NAME==VERSION"
        if "/" in ref:
            hint += f" A remote's branch has to be fetched first: git fetch {ref.partition('/')[0]}"
        raise BaselineError(f"no commit {ref!r} in this repository", fix=hint)
    return commit


def _pinned(repository: Repository, commit: str, package: str, ref: str) -> str:
    data = repository.file_at(commit, _CONSTRAINTS) or b""
    for name, version in _PIN.findall(data.decode(errors="replace")):
        if name.lower().replace("_", "-") == package.lower():
            return f"{package}=={version}"
    raise BaselineError(
        f"the code comes from {package}, which {_CONSTRAINTS} of {ref} does not pin",
        fix=f"give --base {package}==VERSION, or --repo with a checkout of it",
    )


def _checked_out(implementation: Implementation, repository: Repository, commit: str, folder: Path) -> Origin:
    tree = folder / "tree"
    repository.lay_out(commit, tree)
    root = import_root(package_of(implementation.target), tree)
    source = _git_source(implementation, tree, root, SOURCE)
    if implementation.package is None:
        # Files of this repository are watched for changes since they were measured, and a baseline is meant to be old.
        source = source.model_copy(update={"paths": ()})
    if source.is_dirty is not False:
        raise BaselineError(f"the checkout of {commit[:12]} is not that commit's tree")
    address = repository.remote_url()
    if address is not None:
        missing = tuple(entry for entry in source.missing if entry.field != "repository")
        source = source.model_copy(update={"repository": address, "missing": missing})
    return Origin(source, root, commit, repository.root)


def _git_source(implementation: Implementation, top: Path, import_root: Path, name: str) -> GitSource:
    prefix = import_root.relative_to(top)
    path = (prefix / _file_of(implementation, import_root)).as_posix()
    return capture.git_source(top, (path,), name)


def _file_of(implementation: Implementation, root: Path | None = None) -> str:
    """Return the file of an implementation's module, from where it is imported."""
    name = implementation.target.partition(":")[0].replace(".", "/")
    is_package = root is not None and (root / name).is_dir()
    return f"{name}/__init__.py" if is_package else f"{name}.py"


def _version(implementation: Implementation, requirement: str, root: Path, folder: Path) -> Origin:
    """Return a package's version: what is installed if it is that one, else an overlay made by pip."""
    match = _VERSION.fullmatch(requirement)
    name, version = (match[1], match[2]) if match else (requirement, "")
    if implementation.package is None or name.lower().replace("_", "-") != implementation.package.lower():
        comes_from = implementation.package or "this repository"
        raise BaselineError(
            f"{requirement} holds no code of {implementation.name}, which comes from {comes_from}",
            fix=f"give --base {implementation.package}==VERSION" if implementation.package else "give --base a git ref",
        )
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        installed = importlib.metadata.version(name)
        if version in (installed, installed.partition("+")[0]):
            source = capture.package_source(implementation.package).model_copy(update={"name": SOURCE})
            return Origin(source, None, None, None)
    if implementation.package in _STACK:
        fix = f"install {requirement} and measure there; a record of each says which stack it ran on"
        raise BaselineError(f"{name} is what everything here runs on, so both sides share it", fix=fix)
    overlay = folder / "overlay"
    install(requirement, overlay, root)
    return Origin(_overlay_source(name, overlay), import_root(package_of(implementation.target), overlay), None, None)


def install(requirement: str, overlay: Path, root: Path) -> None:
    """Install one version without what it depends on, which stays as it is here for both sides.

    Raises:
        BaselineError: pip refuses.
    """
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--target", str(overlay), "--", requirement]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_S, check=False)
    except subprocess.TimeoutExpired:
        raise BaselineError(f"installing {requirement} took longer than {_INSTALL_S:g} s") from None
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        said = (errors or done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise BaselineError(
            f"{requirement} cannot be installed: {privacy.scrubbed(said, root)}",
            fix="name a released version, or give --repo with a checkout",
        )


def _overlay_source(name: str, overlay: Path) -> PackageSource:
    found = next(iter(importlib.metadata.distributions(name=name, path=[str(overlay)])), None)
    if found is None:
        raise BaselineError(f"pip installed no {name}")
    source = capture.source_of(found, name)
    return source.model_copy(update={"name": SOURCE})


def _same_package(candidate: Origin, baseline: Origin) -> tuple[str, ...]:
    packages = {origin.source.package for origin in (candidate, baseline) if isinstance(origin.source, PackageSource)}
    if len(packages) != 1:
        return ()
    return (f"this compares {packages.pop()} with itself: whatever it shows is noise",)


def _same_commit(repository: Repository, base: str, commit: str) -> tuple[str, ...]:
    if repository.commit() != commit:
        return ()
    if repository.work_tree_sha256() == repository.commit_tree_sha256(commit):
        return (f"{base} is what is checked out: this compares a commit with itself, and whatever it shows is noise",)
    return (f"{base} is what is checked out: this compares changes that are not committed with their commit",)


def described(origin: Origin) -> str:
    """Return one side's source as a person reads it."""
    source = origin.source
    if isinstance(source, PackageSource):
        return source.package
    state = "" if source.is_dirty is False else ", with changes that are not committed" if source.is_dirty else ""
    return f"{(source.commit or 'no commit')[:12]}{state}"
