"""Owns what the last check said, and when that may be said again: where all it looks at is the same, byte for byte.

What is kept lies in the user's own cache folder, never in a repository: no commit can bring an answer along. It is one
small file for each project and way of asking, and may be deleted at any time. Its key covers every file that git does
not ignore and every file of the docs, each read and hashed anew each time; the names of what git ignores, and what it
says of the repository; the project's configuration; the options and the day; this package's own source, the
interpreter, and the names of what is installed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from evidence.project import Project
from evidence.repository import Repository, RepositoryError

FOLDER = "perf-evidence"
VARIABLE = "XDG_CACHE_HOME"

_PACKAGE = Path(__file__).parents[1]
_SETTINGS = ("evidence.toml", "pyproject.toml")
_AT_ONCE = 256
"""Files that one thread hashes in a row."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a check printed and how it ended."""

    text: str
    summary: str
    code: int
    holds: bool
    """All was checked: a check that could not be made is made again."""


def answered(project: Project, question: Mapping[str, object], check: Callable[[], Answer]) -> Answer:
    """Return the answer to a question about a project: the last one if it holds still, else what a check says now.

    An answer is kept only if nothing changed while it was made.
    """
    file = _file(project, question)
    before = _key(project, question) if file is not None else None
    if file is None or before is None:
        return check()
    answer = _read(file, before)
    if answer is None:
        answer = check()
        if answer.holds and _key(project, question) == before:
            _write(file, before, answer)
    return answer


def _key(project: Project, question: Mapping[str, object]) -> str | None:
    """Return the digest of all that an answer follows from; None if something cannot be read."""
    try:
        parts = (json.dumps(question, sort_keys=True), repr(project), *_machine(), *_sources(project))
    except (OSError, RecursionError, RepositoryError):
        return None
    return _digest("\0".join(parts))


def _read(file: Path, key: str) -> Answer | None:
    """Return what was kept under this key; None if that is nothing, or if its file is not whole."""
    try:
        head, _, body = file.read_text(encoding="utf-8").partition("\n")
        return Answer(**json.loads(body)) if head == f"{key} {_digest(body)}" else None
    except (OSError, ValueError, TypeError):
        return None


def _write(file: Path, key: str, answer: Answer) -> None:
    """Keep an answer in place of the last one; where that cannot be done, the next check is made in full."""
    body = json.dumps(asdict(answer))
    building = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        building.write_text(f"{key} {_digest(body)}\n{body}", encoding="utf-8")
        building.replace(file)
    except OSError:
        with contextlib.suppress(OSError):
            building.unlink(missing_ok=True)


def _file(project: Project, question: Mapping[str, object]) -> Path | None:
    """Return where the answer to a question is kept; None where there is no folder for it outside the project."""
    folder, repository = _folder(), Repository.find(project.root)
    homes = (project.root, *(() if repository is None else (repository.root,)))
    if folder is None or any(folder.resolve().is_relative_to(home.resolve()) for home in homes):
        return None
    lasting = {name: value for name, value in question.items() if name != "day"}
    return folder / f"{_digest(f'{project.config} {json.dumps(lasting, sort_keys=True)}')[:32]}.json"


def _folder() -> Path | None:
    named = os.environ.get(VARIABLE, "")
    if Path(named).is_absolute():
        return Path(named) / FOLDER
    try:
        return Path.home() / ".cache" / FOLDER
    except RuntimeError:
        return None


def _machine() -> Iterator[str]:
    """Yield what a check uses beside the project: its own code, the interpreter, names of what is installed."""
    yield sys.version
    yield from _lines(sorted(str(path) for path in _PACKAGE.rglob("*.py")))
    for folder in (*sys.path, *os.environ.get("PATH", "").split(os.pathsep)):
        if folder and Path(folder) != _PACKAGE.parent:
            yield f"{folder} {_names_in(folder)}"


def _names_in(folder: str) -> str:
    try:
        return _digest("\0".join(sorted(os.listdir(folder))))  # noqa: PTH208 - names only
    except OSError:
        return "closed"


def _sources(project: Project) -> Iterator[str]:
    """Yield a line for each file that a check may read; the docs are hashed while git is asked for the others."""
    with ThreadPoolExecutor(1) as aside:
        of_docs = aside.submit(lambda: tuple(_lines(_walk(project.docs))))
        listed = [f"{project.root}/{name}" for name in _SETTINGS]
        repository = Repository.find(project.root)
        if repository is None:
            listed += _walk(project.root)
        else:
            yield repository.state()
            names, ignored = repository.files(), repository.ignored()
            yield from (*names, *ignored)
            if any(f"{project.root}/".startswith(f"{repository.root}/{name}") for name in ignored):
                listed += _walk(project.root)
            docs = f"{project.docs}/"
            for path in (f"{repository.root}/{name[2:]}" for name in names):
                if not path.startswith(docs):
                    listed += _walk(Path(path)) if os.path.isdir(path) else (path,)  # noqa: PTH112 - hot
        yield from _lines(listed)
        yield from of_docs.result()


def _walk(folder: Path) -> list[str]:
    """Return all that lies below a folder, but nothing of git's; where links lead to one folder, it is entered once."""
    found: list[str] = []
    entered: set[str] = set()
    folders = [str(folder)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                is_link = entry.is_symlink()
                is_folder = entry.is_dir()
                if is_link or not is_folder:
                    found.append(entry.path)
                if is_link and is_folder:
                    target = os.path.realpath(entry.path)
                    is_folder = target not in entered
                    entered.add(target)
                if is_folder and entry.name != ".git":
                    folders.append(entry.path)
    return found


def _lines(paths: Sequence[str]) -> Iterator[str]:
    """Yield digest and path of each file; hashing lets go of the interpreter, so that threads share the work."""
    parts = [paths[first : first + _AT_ONCE] for first in range(0, len(paths), _AT_ONCE)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for part, digests in zip(parts, pool.map(_digests, parts), strict=True):
            yield from map(" ".join, zip(digests, part, strict=True))


def _digests(paths: Sequence[str]) -> list[str]:
    return [_digest_of(path) for path in paths]


def _digest_of(path: str) -> str:
    """Return what stands at a path: a file by its bytes, a link by where it leads and what is there."""
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            is_file = os.path.isfile(path)  # noqa: PTH113 - hot
            return f"link {_digest(os.readlink(path))} {_digest_of(os.path.realpath(path)) if is_file else ''}"  # noqa: PTH115
        if not stat.S_ISREG(mode):
            return f"no file {mode}"
        with open(path, "rb") as stream:  # noqa: PTH123 - hot
            return hashlib.sha256(stream.read()).hexdigest()
    except FileNotFoundError:
        return "absent"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
