"""Owns what a repository holds that commands name: modules, scripts, targets of make, console scripts, other files.

Only what can be told without running is judged; a program of another project is not ours to miss.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib.machinery import PathFinder
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from evidence.errors import nearest
from evidence.pages import makefiles
from evidence.pages.commands import Command, read_commands

_SKIPPED = frozenset({"node_modules", "site", "build", "dist", "__pycache__", "benchmark_logs"})
_BUILT = frozenset({"build", "out", "target", "dist", "venv"})
"""Folders that commands make and repositories ignore."""
_REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.-]*")
_FETCHED = re.compile(r"clone:([^/]+)(?:/(.*))?")
_SWITCHES = frozenset({"-q", "-qq", "-v", "-vv", "-x", "-s", "-l", "-ra", "--lf", "--ff", "--sw", "--pdb", "--verbose"})
"""Options of pytest that take no word."""
_CLOSE = 0.8
"""How alike a mistyped console script is to the one that was meant; an unknown program is usually just that."""


class Lack(NamedTuple):
    """Something that a command names and that is not there."""

    message: str
    fix: str = ""


class Tree(NamedTuple):
    """A repository as commands see it; `address` is where it can be cloned from, if known."""

    root: Path
    address: str | None = None

    def lack(self, command: Command) -> Lack | None:
        """Return the first thing that a command needs and that the tree lacks; None where it cannot be told."""
        folder = self._folder(command)
        program = command.program
        if folder is None or not program.name or "$" in program.name:
            return None
        if program.kind == "module":
            found = self._module(program.name, folder)
        elif program.kind == "script":
            found = self._file(program.name, folder, command)
        elif program.kind == "make":
            found = self._targets(command, folder)
        else:
            found = self._name(program.name)
        return found or next(filter(None, (self._file(path, folder, command) for path in _files_of(command))), None)

    def recipes(self, command: Command) -> Iterator[tuple[str, Command]]:
        """Yield what a target of make or a shell script would run, each command with the place it stands at."""
        folder = self._folder(command)
        if folder is None:
            return
        if command.program.kind == "make":
            yield from self._made(command, folder)
        elif command.program.kind == "script" and command.program.name.endswith((".sh", ".bash")):
            path = folder / command.program.name
            if path.is_file() and path.resolve().is_relative_to(self.root):
                for inner in read_commands(path.read_text(encoding="utf-8", errors="replace")):
                    yield f"{self._named(path)}:{inner.line}", inner

    def _made(self, command: Command, folder: Path) -> Iterator[tuple[str, Command]]:
        asked = _asked(command.program.arguments)
        path = makefiles.find(folder / asked.folder) if not asked.file else folder / asked.folder / asked.file
        if path is None or not path.is_file():
            return
        made = _makefile(path)
        for target in asked.targets or list(made.targets)[:1]:
            for line, text in made.commands_of(target, asked.variables):
                for inner in read_commands(text):
                    yield f"{self._named(path)}:{line}", inner

    def _named(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.name

    def source(self, command: Command) -> str:
        """Return the Python source that a command runs, empty if it is none of this tree."""
        folder, name = self._folder(command), command.program.name
        paths = {"module": (f"{name.replace('.', '/')}.py", f"{name.replace('.', '/')}/__main__.py"), "script": (name,)}
        if folder is None or not name:
            return ""
        for path in paths.get(command.program.kind, ()):
            place = folder / path
            if place.suffix == ".py" and place.is_file() and place.resolve().is_relative_to(self.root):
                return place.read_text(encoding="utf-8", errors="replace")
        return ""

    def _folder(self, command: Command) -> Path | None:
        if command.directory is None:
            return None
        fetched = _FETCHED.fullmatch(command.directory)
        if fetched is None:
            top = command.directory.partition("/")[0]
            is_ours = (self.root / command.directory).is_dir() or not (top in command.made or top in _BUILT)
            return self.root / command.directory if is_ours else None
        return self.root / (fetched[2] or "") if self._is_own(fetched[1]) else None

    def _is_own(self, folder: str) -> bool:
        if self.address is None:
            return folder == self.root.name
        return folder == self.address.rstrip("/").removesuffix(".git").rpartition("/")[2]

    def _module(self, name: str, folder: Path) -> Lack | None:
        top = name.partition(".")[0]
        for base in (folder, folder / "src"):
            if (base / top).is_dir() or (base / f"{top}.py").is_file():
                path = base / name.replace(".", "/")
                if path.with_suffix(".py").is_file() or (path / "__main__.py").is_file():
                    return None
                what = "is a package without __main__" if path.is_dir() else "is not in the repository"
                return Lack(f"the module {name} {what}", _meant(name, self._modules))
        if top in sys.stdlib_module_names or _is_installed(top) or self._declares(top):
            return None
        meant = nearest(name, self._modules)
        return Lack(f"there is no module {name}", f"did you mean {meant}?") if meant else None

    def _file(self, path: str, folder: Path, command: Command) -> Lack | None:
        if path.startswith(("/", "~", "-", "$")) or "$" in path or any(character in path for character in "*?[{"):
            return None
        path = path.partition("::")[0].removeprefix("./")
        top = path.partition("/")[0]
        made = {path, top, path.rpartition("/")[2]}
        if (folder / path).exists() or made & command.made or any(one.endswith("/" + path) for one in command.made):
            return None
        if path.endswith("/activate") or (top != path and (top in _BUILT or top.startswith(".")) and top != ".."):
            return None
        name = path.rpartition("/")[2]
        moved = [one for one in self._files if one.rpartition("/")[2] == name]
        return Lack(f"there is no {path}", f"it is {moved[0]} now" if len(moved) == 1 else _meant(path, self._files))

    def _targets(self, command: Command, folder: Path) -> Lack | None:
        asked = _asked(command.program.arguments)
        if not (folder / asked.folder).is_dir():
            return Lack(f"there is no folder {asked.folder if asked.folder != '.' else command.directory} to make in")
        path = folder / asked.folder / asked.file if asked.file else makefiles.find(folder / asked.folder)
        if path is None or not path.is_file():
            return Lack(f"there is no {asked.file or 'Makefile'} for make to read")
        made = _makefile(path)
        for target in asked.targets:
            if target not in made.targets and made.is_whole and not (folder / asked.folder / target).exists():
                return Lack(f"make has no target {target}", _meant(target, made.targets))
            recipe = made.targets.get(target)
            if recipe is not None and made.is_whole and not (recipe.commands or recipe.needs):
                return Lack(f"the target {target} of make runs nothing", "write its recipe")
        return None

    def _name(self, name: str) -> Lack | None:
        scripts = self._scripts
        if not scripts or name in scripts or shutil.which(name) or not re.fullmatch(r"[\w.-]+", name):
            return None
        import difflib

        meant = difflib.get_close_matches(name, scripts, n=1, cutoff=_CLOSE)
        return Lack(f"there is no program {name}", f"did you mean {meant[0]}?") if meant else None

    @property
    def _scripts(self) -> tuple[str, ...]:
        return tuple(_project_of(self.root).get("scripts", {}))

    def _declares(self, module: str) -> bool:
        project = _project_of(self.root)
        listed = [
            *project.get("dependencies", ()),
            *(x for e in project.get("optional-dependencies", {}).values() for x in e),
        ]
        names = {match[0].lower().replace("-", "_") for one in listed if (match := _REQUIREMENT.match(str(one)))}
        return module.lower() in names

    @property
    def _files(self) -> tuple[str, ...]:
        return _listing(self.root)

    @property
    def _modules(self) -> tuple[str, ...]:
        paths = (path.removesuffix(".py").removesuffix("/__main__") for path in self._files if path.endswith(".py"))
        return tuple(path.removeprefix("src/").replace("/", ".") for path in paths if not path.endswith("__init__"))


class _Asked(NamedTuple):
    """What a call of make asks for."""

    targets: tuple[str, ...]
    folder: str
    file: str
    variables: Mapping[str, str]


def _asked(arguments: tuple[str, ...]) -> _Asked:
    targets: list[str] = []
    variables: dict[str, str] = {}
    named = {"-C": ".", "-f": ""}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        option = {"--directory": "-C", "--file": "-f", "--makefile": "-f"}.get(word.partition("=")[0], word[:2])
        if option in named:
            value = word.partition("=")[2] if word.startswith("--") else word[2:]
            named[option] = value or (rest.pop(0) if rest else "")
        elif word.startswith("-"):
            if word in ("-j", "-l", "-o", "-W", "-I") and rest and (rest[0].isdigit() or word in ("-o", "-W", "-I")):
                rest.pop(0)
        elif "=" in word:
            name, _, value = word.partition("=")
            variables[name.rstrip(":+?")] = value
        else:
            targets.append(word)
    return _Asked(tuple(targets), named["-C"], named["-f"], variables)


def _files_of(command: Command) -> Iterator[str]:
    """Yield the files of this repository that well-known programs are told to read."""
    program, words = command.program, command.program.arguments
    if program.name in ("pytest", "py.test"):
        for option, word in zip(("", *words), words, strict=False):
            is_value = option.startswith("-") and "=" not in option and option not in _SWITCHES
            if not is_value and not word.startswith("-") and re.search(r"\.py(?:$|::)|/", word):
                yield word
    elif program.name in ("pip", "pip3", "uv"):
        for option, value in pairwise(words):
            if option in ("-r", "-c", "--requirement", "--constraint") and "://" not in value:
                yield value
    elif program.name == "mkdocs" or (program.name in ("docker", "podman") and {"build", "compose"} & {*words}):
        yield from (value for option, value in pairwise(words) if option in ("-f", "--config-file"))


def _meant(name: str, known: tuple[str, ...] | Mapping[str, object]) -> str:
    meant = nearest(name, known)
    return f"did you mean {meant}?" if meant else ""


def _is_installed(module: str) -> bool:
    """Whether a module is there, by its path first: other finders may act when asked, as that of setuptools on pip."""
    try:
        return (PathFinder.find_spec(module) or importlib.util.find_spec(module)) is not None
    except (ImportError, ValueError):
        return False


@functools.lru_cache(maxsize=16)
def _read(path: Path, stamp: tuple[int, int]) -> makefiles.Makefile:
    del stamp
    return makefiles.parse(path.read_text(encoding="utf-8", errors="replace"))


def _makefile(path: Path) -> makefiles.Makefile:
    status = path.stat()
    return _read(path, (status.st_mtime_ns, status.st_size))


def _project_of(root: Path) -> Mapping[str, dict[str, list[str]]]:
    """Return the [project] table of a tree; empty where there is none that can be read."""
    path = root / "pyproject.toml"
    try:
        status = path.stat()
        return _project_table(path, (status.st_mtime_ns, status.st_size))
    except (OSError, ValueError):
        return {}


@functools.lru_cache(maxsize=16)
def _project_table(path: Path, stamp: tuple[int, int]) -> Mapping[str, dict[str, list[str]]]:
    del stamp
    found = tomllib.loads(path.read_text(encoding="utf-8")).get("project", {})
    return found if isinstance(found, dict) else {}


def _listing(root: Path) -> tuple[str, ...]:
    """Every file of a tree that a command might mean; read only to say what was meant."""
    found: list[str] = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        if "pyvenv.cfg" in files:
            folders.clear()
            continue
        here = Path(folder).relative_to(root).as_posix()
        found += [name if here == "." else f"{here}/{name}" for name in sorted(files)]
    return tuple(found)
