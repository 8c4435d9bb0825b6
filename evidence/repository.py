"""Owns what git says of the repository: commits, files of a commit, and the digests of its two trees.

Everything is asked of the `git` program. A machine without it, or a folder that is no work tree, has no `Repository`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from evidence.errors import EvidenceError

DOCS = "docs"
"""Left out of tree digests, so that writing a log does not dirty the source that measured it."""

_LOCATION = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_COMMON_DIR")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_ABSENT = b"000000"
"""The mode of what a tree does not have."""
_SCP_ADDRESS = re.compile(r"(?:[^@/:]+@)?([^/:@]+\.[^/:@]+):(?!//)(.+)")


class RepositoryError(EvidenceError):
    """git could not answer."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A git work tree, by its top folder."""

    root: Path

    @classmethod
    def find(cls, start: Path) -> Repository | None:
        """Return the work tree that holds `start`; None where git is not installed or there is no work tree."""
        if shutil.which("git") is None:
            return None
        folder = start if start.is_dir() else start.parent
        try:
            top = _git(folder, "rev-parse", "--show-toplevel").decode().rstrip("\n")
        except RepositoryError:
            return None
        return cls(Path(top)) if top else None

    def commit(self) -> str | None:
        """Return the commit that is checked out; None before the first one."""
        try:
            return _git(self.root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode().strip()
        except RepositoryError:
            return None

    def has_commit(self, commit: str) -> bool:
        """Whether the repository holds the commit."""
        return commit in self.known_commits((commit,))

    def known_commits(self, commits: Collection[str]) -> frozenset[str]:
        """Return those of `commits` that the repository holds, in one call of git."""
        asked = sorted({commit for commit in commits if _COMMIT.fullmatch(commit)})
        if not asked:
            return frozenset()
        wanted = "".join(f"{commit}^{{commit}}\n" for commit in asked).encode()
        lines = _git(self.root, "cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=wanted).decode()
        found = {line.split(" ")[0] for line in lines.splitlines() if line.endswith(" commit")}
        return frozenset(asked) & found

    def resolve(self, ref: str) -> str | None:
        """Return the commit a branch, tag or id names; None if it names none."""
        try:
            return (
                _git(self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
                .decode()
                .strip()
            )
        except RepositoryError:
            return None

    def history(self) -> frozenset[str]:
        """Return every commit that some branch, tag or HEAD reaches, in one call of git."""
        return frozenset(_git(self.root, "rev-list", "--all").decode().split())

    def files(self) -> tuple[str, ...]:
        """Return every file that is tracked (`H path`) or could be (`? path`)."""
        listed = _git(self.root, "ls-files", "-z", "-t", "--full-name", "--cached", "--others", "--exclude-standard")
        return tuple(os.fsdecode(line) for line in listed.split(b"\0") if line)

    def ignored(self) -> tuple[str, ...]:
        """Return every path that git ignores; of a folder that is ignored, its name with a slash at the end."""
        listed = _git(self.root, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
        return tuple(os.fsdecode(line) for line in listed.split(b"\0") if line)

    def state(self) -> str:
        """Return what else git may be asked about: what is checked out, every ref, where it came from, what is cut."""
        refs = _git(self.root, "for-each-ref", "--format=%(refname) %(objectname)").decode(errors="replace")
        return f"{self.commit()} {self.is_shallow()} {self.remote_url()}\n{refs}"

    def merge_base(self, one: str, other: str) -> str | None:
        """Return the commit where two commits parted; None if they share none that is here."""
        try:
            return _git(self.root, "merge-base", _checked(one), _checked(other)).decode().strip()
        except RepositoryError:
            return None

    def lay_out(self, commit: str, into: Path) -> None:
        """Check a commit out in a new folder, as a clone that borrows this repository's objects.

        Raises:
            RepositoryError: the commit is not here, or the folder is.
        """
        _git(self.root, "clone", "--quiet", "--shared", "--no-checkout", str(self.root), str(into))
        _git(into, "checkout", "--quiet", "--detach", _checked(commit))

    def is_shallow(self) -> bool:
        """Whether history was cut off when the repository was cloned."""
        return _git(self.root, "rev-parse", "--is-shallow-repository").strip() == b"true"

    def commit_tree_sha256(self, commit: str) -> str:
        """Return the digest of a commit's files outside docs/.

        Raises:
            RepositoryError: there is no such commit here.
        """
        found = self.commit_trees_sha256((_checked(commit),))
        if commit not in found:
            raise RepositoryError(f"there is no commit {commit} here")
        return found[commit]

    def commit_trees_sha256(self, commits: Collection[str]) -> dict[str, str]:
        """Return that digest of each of some commits that is here, in two calls of git for all of them.

        git says how each tree differs from the one before it, and the first from the empty one: trees of one
        repository have most of their files in common.
        """
        trees = self._trees_of(commits)
        order = list(dict.fromkeys(trees.values()))
        changes = self._changes(order)
        files: dict[bytes, bytes] = {}
        digests: dict[str, str] = {}
        for tree in order:
            for path, what in changes.get(tree, ()):
                if what is None:
                    del files[path]
                else:
                    files[path] = what
            digests[tree] = _digest(files.items())
        return {commit: digests[tree] for commit, tree in trees.items()}

    def _trees_of(self, commits: Collection[str]) -> dict[str, str]:
        """Return the top tree of each of some commits that is here, by their dates: neighbours differ least."""
        asked = "".join(f"{commit}\n" for commit in commits if _COMMIT.fullmatch(commit)).encode()
        form = ("--no-walk=sorted", "--ignore-missing", "--stdin", "--format=%H %T")
        lines = _git(self.root, "rev-list", *form, stdin=asked).decode().splitlines() if asked else ()
        return dict(line.split() for line in lines if not line.startswith("commit "))

    def _changes(self, trees: Sequence[str]) -> dict[str, list[tuple[bytes, bytes | None]]]:
        """Return what sets each tree apart from the one before it: paths with mode and blob, None for one it lacks."""
        if not trees:
            return {}
        pairs = zip((_empty_tree(trees[0]), *trees), trees, strict=False)
        wanted = "".join(f"{before} {tree}\n" for before, tree in pairs).encode()
        form = ("-r", "-z", "--no-renames", "--ignore-submodules=none")
        told = iter(_git(self.root, "diff-tree", "--stdin", *form, stdin=wanted).split(b"\0"))
        found: dict[str, list[tuple[bytes, bytes | None]]] = {}
        changes = found.setdefault(trees[0], [])
        for head, path in zip(told, told, strict=False):
            *begun, change = head.split(b"\n")
            if begun:  # lines that name two trees each; what follows sets the last pair apart
                changes = found.setdefault(begun[-1].split()[1].decode(), [])
            _, mode, _, blob, _ = change.split(b" ")
            changes.append((path, None if mode == _ABSENT else mode + b" " + blob))
        return found

    def work_tree_sha256(self) -> str:
        """Return the same digest of what a commit of everything would hold now: tracked and untracked, not ignored.

        git itself adds the files, to an index and an object folder that are thrown away, so that modes, links and
        content filters are its own and the repository stays untouched.

        Raises:
            RepositoryError: git could not read the work tree.
        """
        with tempfile.TemporaryDirectory(prefix="evidence-tree-") as scratch:
            index = self._path_of("index")
            if index.is_file():
                shutil.copyfile(index, Path(scratch) / "index")
            objects = Path(scratch) / "objects"
            objects.mkdir()
            aside = {
                "GIT_INDEX_FILE": str(Path(scratch) / "index"),
                "GIT_OBJECT_DIRECTORY": str(objects),
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(self._path_of("objects")),
            }
            _git(self.root, "add", "--all", "--", ":(top)", f":(top,exclude){DOCS}", variables=aside)
            listed = _git(self.root, "ls-files", "--stage", "-z", "--full-name", ":(top)", variables=aside)
        staged = (line.partition(b"\t") for line in listed.split(b"\0") if line)
        return _digest((path, head.rpartition(b" ")[0]) for head, _, path in staged)

    def file_at(self, commit: str, path: str) -> bytes | None:
        """Return the bytes of a file as of a commit; None if either is not there."""
        try:
            return _git(self.root, "cat-file", "blob", f"{_checked(commit)}:{path}")
        except RepositoryError:
            return None

    def files_of(self, commit: str, *folders: str) -> tuple[str, ...]:
        """Return the files of a commit below some folders, as paths from the top, sorted.

        Raises:
            RepositoryError: there is no such commit here.
        """
        listed = _git(self.root, "ls-tree", "-r", "-z", "--name-only", "--full-tree", _checked(commit), "--", *folders)
        return tuple(sorted(name for name in listed.decode(errors="surrogateescape").split("\0") if name))

    def removed_lines(self, path: Path) -> tuple[str, ...]:
        """Return every line that some commit before HEAD took out of a file or changed in it."""
        name = path.resolve().relative_to(self.root.resolve()).as_posix()
        form = (
            "--format=",
            "--patch",
            "-m",
            "--unified=0",
            "--no-renames",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
        )
        try:
            shown = _git(self.root, "log", *form, "--diff-filter=MDT", "HEAD", "--", f":(top,literal){name}")
        except RepositoryError:
            if self.commit() is None:
                return ()
            raise
        lines = shown.decode(errors="replace").split("\n")
        return tuple(dict.fromkeys(line[1:] for line in lines if line.startswith("-") and not line.startswith("--- ")))

    def matching(self, folder: Path, *patterns: str) -> tuple[Path, ...]:
        """Return the files below a folder that git does not ignore and whose path matches a glob, sorted."""
        asked = [f":(glob,icase){pattern}" for pattern in patterns]
        wanted = ("--cached", "--others", "--exclude-standard")
        listed = _git(folder, "ls-files", "-z", *wanted, "--", *asked).decode(errors="surrogateescape")
        return tuple(sorted({folder / name for name in listed.split("\0") if name}))

    def commits_since(self, commit: str, paths: Collection[str]) -> int:
        """Return how many commits since one have touched any of some paths.

        Raises:
            RepositoryError: there is no such commit here.
        """
        asked = [f":(top,literal){path}" for path in paths]
        return int(_git(self.root, "rev-list", "--count", f"{_checked(commit)}..HEAD", "--", *asked))

    def remote_url(self) -> str | None:
        """Return the public address of `origin`, or of the only remote, without credentials; None if it has none."""
        names = _git(self.root, "remote").decode().splitlines()
        name = "origin" if "origin" in names else names[0] if len(names) == 1 else None
        if name is None:
            return None
        return public_address(_git(self.root, "config", "--get", f"remote.{name}.url").decode().strip())

    def _path_of(self, name: str) -> Path:
        found = _git(self.root, "rev-parse", "--git-path", name).decode().rstrip("\n")
        return (self.root / found).resolve()


def public_address(url: str) -> str | None:
    """Return a remote's address without user name, password and query; None for a path on some machine.

    `git@host:owner/name` becomes `https://host/owner/name`, which names the same repository to a reader.
    """
    try:
        parts, port = urlsplit(url), urlsplit(url).port
    except ValueError:
        return None
    if parts.scheme in {"http", "https", "ssh", "git"} and parts.hostname:
        scheme = "https" if parts.scheme in {"ssh", "git"} else parts.scheme
        place = parts.hostname + (f":{port}" if port and parts.scheme != "ssh" else "")
        return urlunsplit((scheme, place, parts.path, "", ""))
    if match := _SCP_ADDRESS.fullmatch(url):
        return f"https://{match[1]}/{match[2].lstrip('/')}"
    return None


def _checked(commit: str) -> str:
    if _COMMIT.fullmatch(commit) is None:
        raise RepositoryError(f"{commit!r} is not a full commit id")
    return commit


def _empty_tree(like: str) -> str:
    """Return the id of the tree without files, in a repository whose ids are as long as another."""
    algorithm = "sha1" if len(like) == 40 else "sha256"
    return hashlib.new(algorithm, b"tree 0\0", usedforsecurity=False).hexdigest()


def _digest(files: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the sha256 over the sorted lines `mode blob-id path` of files outside docs/, given by path."""
    docs = f"{DOCS}/".encode()
    lines = sorted([what + b" " + path for path, what in files if not path.startswith(docs)])
    return hashlib.sha256(b"".join([line + b"\n" for line in lines])).hexdigest()


def _git(folder: Path, *arguments: str, stdin: bytes = b"", variables: Mapping[str, str] | None = None) -> bytes:
    """Run git in a folder and return what it prints, whatever repository the caller's own variables point at."""
    environment = {name: value for name, value in os.environ.items() if name not in _LOCATION}
    environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", **(variables or {})}
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, input=stdin, capture_output=True, env=environment)
    except OSError as error:
        raise RepositoryError(f"git cannot be run: {error.strerror}", fix="install git") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise RepositoryError(f"git {arguments[0]} failed: {said or f'exit code {done.returncode}'}")
    return done.stdout
