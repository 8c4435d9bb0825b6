"""Owns what may leave a machine as text: command lines, environment variables and messages, without who and where."""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath

from evidence.errors import EvidenceError
from evidence.schema.base import Setting

ALLOWED_VARIABLES = (
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_DEVICE_ORDER",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_VISIBLE_DEVICES",
    "FLA_",
    "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY",
    "KMP_BLOCKTIME",
    "MALLOC_ARENA_MAX",
    "MKL_NUM_THREADS",
    "NCCL_",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_",
    "OPENBLAS_NUM_THREADS",
    "PYTHONHASHSEED",
    "PYTHONMALLOC",
    "PYTHONOPTIMIZE",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "TORCHDYNAMO_",
    "TORCHINDUCTOR_",
    "TORCH_",
    "TRITON_",
)
"""Environment variables that may change a measurement; a trailing underscore allows every name that starts so."""

_WITHHELD_WORDS = re.compile(
    r"HOST|ADDR|URL|URI|USER|TOKEN|KEY|SECRET|PASS|DIR|PATH|HOME|IFNAME|PORT|PROXY|SOCKET|FILE"
)
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9_.,:+=\[\]-]{0,200}")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|(?:GPU|MIG)-|:\d{4,5}$")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+")
_ABSOLUTE_PATH = re.compile(r"(?<![\w.…/-])(?:/[^\s/:;,'\"<>()\[\]{}|]+)+/?")
_MESSAGE_LENGTH = 2000


class PrivacyError(EvidenceError):
    """Something that a record would have to hold names a place outside the repository."""


def program(executable: str, root: Path) -> str:
    """Return an interpreter as a record names it: relative to the repository if it lies there, else its bare name."""
    path = Path(executable)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def command_line(
    words: Sequence[str], root: Path, directory: Path, *, destinations: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return a command without absolute paths: those below the repository become relative to `directory`.

    `destinations` are options that say where results go and not what is measured; one that points outside the
    repository is left out with its value.

    Raises:
        PrivacyError: another word names an absolute path outside the repository.
    """
    kept: list[str] = []
    following = iter(words)
    for word in following:
        option, joined, value = word.partition("=")
        if option in destinations:
            value = value if joined else next(following, "")
            shown = _inside(value, root, directory)
            kept += [] if shown is None else [f"{option}={shown}"] if joined else [option, shown]
            continue
        if not option.startswith("-"):
            option, joined, value = "", "", word
        shown = _inside(value, root, directory)
        if shown is None:
            raise PrivacyError(
                f"{word!r} names a place outside the repository, which a record must not hold",
                fix="give a path below the repository, relative to where the command runs",
            )
        kept.append(f"{option}{joined}{shown}")
    return tuple(kept)


def _inside(value: str, root: Path, directory: Path) -> str | None:
    """Return a value as a record may hold it; None for a path that lies outside the repository."""
    path = PurePath(value)
    if ".." in path.parts:
        resolved = (directory / path).resolve()
    elif path.is_absolute():
        resolved = Path(value)
    else:
        return value
    if not resolved.is_relative_to(root):
        return None
    return Path(os.path.relpath(resolved, directory)).as_posix()


def directory_of(directory: Path, root: Path) -> str:
    """Return a working directory relative to the repository.

    Raises:
        PrivacyError: it lies outside.
    """
    if not directory.is_relative_to(root):
        raise PrivacyError("the command runs outside the repository", fix="run it from the repository's top folder")
    return directory.relative_to(root).as_posix()


def variables(environment: Mapping[str, str]) -> tuple[tuple[Setting, ...], tuple[str, ...]]:
    """Return the allow-listed variables that are set, and the names of those whose value is withheld.

    Withheld is what holds a path, an address or a device's serial, by its name or by its value.
    """
    settings: list[Setting] = []
    withheld: list[str] = []
    for name, value in sorted(environment.items()):
        if not any(name == entry or (entry.endswith("_") and name.startswith(entry)) for entry in ALLOWED_VARIABLES):
            continue
        plain = _PLAIN_VALUE.fullmatch(value) and not _ADDRESS.search(value) and not _WITHHELD_WORDS.search(name)
        if plain:
            settings.append(Setting(name=name, value=value))
        else:
            withheld.append(name)
    return tuple(settings), tuple(withheld)


def scrubbed(text: str, root: Path) -> str:
    """Return a message without absolute paths, addresses, user and machine names; 2,000 characters at most."""
    text = text.replace(f"{root}/", "").replace("\x00", "")
    text = _URL.sub("…", text)
    text = _ABSOLUTE_PATH.sub(lambda match: "…/" + match[0].rstrip("/").rpartition("/")[2], text)
    for name in _own_names():
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", "…", text)
    text = text.strip()
    return text if len(text) <= _MESSAGE_LENGTH else "… " + text[-_MESSAGE_LENGTH:]


def _own_names() -> tuple[str, ...]:
    """Return names of this machine and user, where they are no ordinary words."""
    names = [socket.gethostname()]
    with contextlib.suppress(OSError, KeyError, ImportError):
        names.append(getpass.getuser())
    return tuple(name for name in names if len(name) > 2 and name not in {"localhost", "root"})
