"""Owns where a package is imported from: another folder than usual, and the proof of which files were loaded."""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType

from evidence.errors import EvidenceError
from evidence.schema import Setting

PROVED = "code"
"""Name of the setting that says which files of a package were loaded."""
_KERNELS = ("benchmarks", "ops")


class OriginError(EvidenceError):
    """What was imported is not what was to be measured."""


class _Redirect(MetaPathFinder):
    """Finds one package, and what is below it, in one folder only."""

    def __init__(self, package: str, root: Path) -> None:
        self._package, self._root = package, root

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._package and not fullname.startswith(self._package + "."):
            return None
        folder = self._root.joinpath(*fullname.split(".")[:-1])
        found = importlib.machinery.PathFinder.find_spec(fullname, [str(folder)])
        if found is None:
            raise ModuleNotFoundError(f"{self._root.name} holds no {fullname}", name=fullname)
        return found


def package_of(target: str) -> str:
    """Return the package that `module:attribute` is measured as a part of.

    That is the top-level package; of this repository, which the harness is a part of too, the room of its kernels.
    """
    parts = target.partition(":")[0].split(".")
    return ".".join(parts[: len(_KERNELS) + 1]) if tuple(parts[: len(_KERNELS)]) == _KERNELS else parts[0]


def import_root(package: str, folder: Path) -> Path:
    """Return the folder inside a checkout or an overlay that `package` is imported from.

    Raises:
        OriginError: it is in neither `folder` nor its `src`.
    """
    for root in (folder, folder / "src"):
        place = root.joinpath(*package.split("."))
        if place.is_dir() or place.with_suffix(".py").is_file():
            return root
    raise OriginError(f"there is no {package} in it", fix="name a checkout or a version of what the op's code is in")


def redirect(package: str, root: Path) -> None:
    """Import `package` from `root` from now on, in this process.

    Raises:
        OriginError: some of it is imported already, so what is measured would be a mixture.
    """
    if loaded := sorted(name for name in sys.modules if name == package or name.startswith(package + ".")):
        raise OriginError(f"{loaded[0]} is imported already, before its origin was chosen")
    sys.meta_path.insert(0, _Redirect(package, root))


def proof(package: str, root: Path | None) -> Setting:
    """Return how many files of `package` this process loaded and the digest of their paths and bytes.

    `root` is the folder they must come from; None: the one that they are installed in.

    Raises:
        OriginError: a file lies elsewhere, or nothing was loaded.
    """
    home = root if root is not None else _home(package)
    digest, count = hashlib.sha256(), 0
    for path in _files(package):
        if not path.is_relative_to(home.resolve()):
            raise OriginError(f"{package} was to come from {home.name}, and {path.name} lies elsewhere")
        name = path.relative_to(home.resolve()).as_posix()
        digest.update(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n".encode())
        count += 1
    if not count:
        raise OriginError(f"no file of {package} was loaded")
    return Setting(name=PROVED, value=f"{package}: {count} files, sha256 {digest.hexdigest()}")


def _files(package: str) -> list[Path]:
    modules = [module for name, module in sorted(sys.modules.items()) if f"{name}.".startswith(package + ".")]
    files = {Path(file).resolve() for module in modules if (file := getattr(module, "__file__", None))}
    return sorted(files)


def _home(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not (spec.origin or spec.submodule_search_locations):
        raise OriginError(f"{package} is not installed")
    place = Path(next(iter(spec.submodule_search_locations or ()), spec.origin or ""))
    return place.parents[package.count(".")]
