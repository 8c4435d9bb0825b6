"""Owns reading the machine into the record's models: hosts, stacks, sources, provenance and conditions.

Nothing here imports torch or makes a context on a device: what only torch knows comes in a `Probed`, which
`benchmarks.probe` reads in a process of its own. What cannot be read is null with its reason.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks import nvml, privacy
from benchmarks.reading import UnreadableError, read_fields
from evidence import __version__
from evidence.importers.session_stream import Reading
from evidence.ledger import digest_of
from evidence.repository import Repository, RepositoryError
from evidence.schema import (
    Accelerator,
    GitSource,
    Host,
    Missing,
    PackageSource,
    Provenance,
    SourcePath,
    Stack,
    Unavailable,
)

HOST = "h0"
"""Name of the one host of a run; real names are never recorded."""
STACK = "main"
REPOSITORY = "repository"
"""Name of the source that this repository's own code is."""

_CPU_INFO = Path("/proc/cpuinfo")
_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
_MODEL_NAME = re.compile(r"^model name\s*:\s*(.+)$", re.MULTILINE)
_CONTAINER_MARKS = {"/.dockerenv": "docker", "/run/.containerenv": "podman"}


@dataclass(frozen=True, slots=True)
class Probed:
    """What a process with torch said: its accelerator runtime, and a mapping for each device it sees."""

    runtime: str | None
    runtime_reason: str
    devices: tuple[Mapping[str, Any], ...]
    """Each with model, uuid, memory_bytes, l2_bytes, compute_capability."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A host as captured, and which of its accelerators torch's devices are, in torch's order."""

    host: Host
    devices: tuple[int, ...]


def machine(probed: Probed) -> Machine:
    """Capture the host this runs on; devices that only torch sees are described from what it says."""
    try:
        library = nvml.Nvml()
    except UnreadableError as error:
        found = tuple(nvml.from_torch(device, str(error)) for device in probed.devices)
        return Machine(_host(found, None, str(error)), tuple(range(len(found))))
    by_uuid = {_uuid(device["uuid"]): device for device in probed.devices}
    uuids = [_uuid(library.uuid(index)) for index in range(library.count)]
    accelerators = tuple(
        library.accelerator(index, lambda index=index: _l2_bytes(by_uuid.get(uuids[index])))  # type: ignore[misc]
        for index in range(library.count)
    )
    order = tuple(uuids.index(uuid) if uuid in uuids else index for index, uuid in enumerate(by_uuid))
    return Machine(_host(accelerators, library, ""), order)


def _uuid(text: str | None) -> str:
    """Return a UUID as torch and NVML both write it."""
    return (text or "").removeprefix("GPU-").lower()


def _l2_bytes(device: Mapping[str, Any] | None) -> int:
    if device is None:
        raise UnreadableError("the device is not visible to torch, which alone tells its cache size")
    return int(device["l2_bytes"])


def _host(accelerators: tuple[Accelerator, ...], library: nvml.Nvml | None, why: str) -> Host:
    import psutil

    def of_library(name: str) -> object:
        if library is None:
            raise UnreadableError(why)
        return getattr(library, name)()

    fields, missing = read_fields(
        {
            "interconnect": lambda: of_library("interconnect"),
            "driver": lambda: of_library("driver"),
            "cpu_model": _cpu_model,
            "cpu_cores": lambda: psutil.cpu_count(logical=True),
            "cpu_affinity": lambda: tuple(sorted(os.sched_getaffinity(0))),
            "cpu_governor": lambda: _GOVERNOR.read_text(encoding="ascii").strip(),
            "memory_bytes": lambda: psutil.virtual_memory().total,
            "os": _operating_system,
            "kernel": platform.release,
        }
    )
    return Host.model_validate({"name": HOST, "accelerators": accelerators, **fields, "missing": missing})


def _cpu_model() -> str:
    match = _MODEL_NAME.search(_CPU_INFO.read_text(encoding="utf-8", errors="replace"))
    if match is None:
        raise UnreadableError("the kernel names no model for this processor")
    return match[1].strip()


def _operating_system() -> str:
    if platform.system() == "Linux":
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    return f"{platform.system()} {platform.release()}"


def device_slug(host: Host, device: int | None) -> str:
    """Return a short name of what a run measures on, for its log: `h200`, or `x86_64-2c` for a processor."""
    if device is None:
        return f"{platform.machine().lower()}-{len(host.cpu_affinity or ()) or os.cpu_count()}c"
    words = re.sub(r"[^a-z0-9]+", " ", host.accelerators[device].model.lower()).split()
    kept = [word for word in words if word not in {"nvidia", "amd", "intel", "geforce", "tesla", "graphics", "gpu"}]
    return "-".join(kept) or "device"


def log_name(domain: str, name: str, slug: str, started_at: datetime) -> str:
    """Return `<domain>/<name>_<device>_<YYYYMMDD>`."""
    return f"{domain}/{name}_{slug}_{started_at:%Y%m%d}"


def stack(probed: Probed, root: Path) -> Stack:
    """Capture this interpreter and every package installed in it."""

    def runtime() -> str:
        if probed.runtime is None:
            raise UnreadableError(probed.runtime_reason)
        return probed.runtime

    fields, missing = read_fields({"runtime": runtime, "container": _container})
    return Stack.model_validate(
        {
            "name": STACK,
            "executable": privacy.program(sys.executable, root),
            "python": platform.python_version(),
            **fields,
            "packages": packages(),
            "missing": missing,
        }
    )


def packages() -> tuple[str, ...]:
    """Return every installed distribution as `name==version`, sorted; of two of one name the one that is imported."""
    found: dict[str, str] = {}
    for distribution in importlib.metadata.distributions():
        name, version = distribution.metadata["Name"], distribution.version
        if name and version:
            found.setdefault(re.sub(r"[-_.]+", "-", name).lower(), version)
    return tuple(sorted(f"{name}=={version}" for name, version in found.items()))


def _container() -> str:
    for mark, name in _CONTAINER_MARKS.items():
        if Path(mark).exists():
            return name
    raise UnreadableError("no sign of a container")


def git_source(root: Path, paths: Sequence[str], name: str = REPOSITORY) -> GitSource:
    """Capture the source tree at `root`; `paths`, relative to it, are the files that are measured."""
    repository = Repository.find(root)

    def asked() -> Repository:
        if repository is None:
            raise UnreadableError("git is not installed, or the code does not stand in a git work tree")
        return repository

    def commit() -> str:
        found = asked().commit()
        if found is None:
            raise UnreadableError("nothing is committed yet")
        return found

    def address() -> str:
        found = asked().remote_url()
        if found is None:
            raise UnreadableError("no remote with a public address")
        return found

    fields, missing = read_fields(
        {
            "repository": address,
            "commit": commit,
            "commit_tree_sha256": lambda: asked().commit_tree_sha256(commit()),
            "tree_sha256": lambda: asked().work_tree_sha256(),
        },
        RepositoryError,
    )
    missing = tuple(Missing(field=entry.field, reason=privacy.scrubbed(entry.reason, root)) for entry in missing)
    measured = tuple(SourcePath(path=path, sha256=digest_of(root / path)) for path in sorted(set(paths)))
    return GitSource.model_validate({"name": name, **fields, "paths": measured, "missing": missing})


def package_source(distribution: str) -> PackageSource:
    """Capture an installed package, under its own name.

    Raises:
        UnreadableError: it is not installed.
    """
    try:
        found = importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        raise UnreadableError(f"the package {distribution} is not installed") from None
    return source_of(found, distribution)


def source_of(found: importlib.metadata.Distribution, name: str) -> PackageSource:
    """Capture a distribution wherever it lies."""

    def record_sha256() -> str:
        listed = next((path for path in found.files or () if path.name == "RECORD"), None)
        if listed is None:
            raise UnreadableError("the installation lists no files")
        return hashlib.sha256(Path(str(listed.locate())).read_bytes()).hexdigest()

    def commit() -> str:
        origin = json.loads(found.read_text("direct_url.json") or "{}")
        if "commit_id" not in origin.get("vcs_info", {}):
            raise UnreadableError("its metadata names no commit")
        return str(origin["vcs_info"]["commit_id"])

    fields, missing = read_fields({"record_sha256": record_sha256, "commit": commit})
    package = f"{name}=={found.version}"
    return PackageSource.model_validate({"name": name, "package": package, **fields, "missing": missing})


def provenance(
    words: Sequence[str],
    *,
    runner: str,
    seed: int,
    root: Path,
    environment: Mapping[str, str],
    destinations: Sequence[str] = (),
) -> tuple[Provenance, tuple[Unavailable, ...]]:
    """Capture how a run was started, and what of it is withheld.

    Args:
        words: The runner's own arguments, without the interpreter.
        runner: The module that runs, as in `python -m`.
        seed: The seed of everything drawn.
        root: The repository's top folder.
        environment: The variables the measuring processes get.
        destinations: Options that say where results go; see `privacy.command_line`.

    Raises:
        PrivacyError: the command names a place outside the repository, or runs there.
    """
    here = Path.cwd().resolve()
    directory = privacy.directory_of(here, root)
    settings, withheld = privacy.variables(environment)
    argv = ("-m", runner, *privacy.command_line(words, root, here, destinations=destinations))
    reason = "set to a path, an address or a serial, which records do not hold"
    return (
        Provenance(
            argv=(privacy.program(sys.executable, root), *argv),
            directory=directory,
            variables=settings,
            runner=runner,
            runner_version=__version__,
            seed=seed,
            source=REPOSITORY,
        ),
        tuple(Unavailable(what=f"variable {name}", reason=reason) for name in withheld),
    )


class Watch:
    """Reads the conditions of this host and of the accelerators a run uses, at the moments it is asked to."""

    def __init__(self, devices: Collection[int]) -> None:
        """Watch these of the host's accelerators."""
        self._devices = tuple(sorted(devices))
        self._library: nvml.Nvml | None = None
        if self._devices:
            try:
                self._library = nvml.Nvml()
            except UnreadableError:
                # The host already says why; columns of a device that nothing tells of are left out.
                self._devices = ()

    def read(self, at_s: float, own: Collection[int]) -> Reading:
        """Read everything now, `at_s` seconds from the record's start; `own` are the process ids of this run."""
        devices = () if self._library is None else tuple(self._library.reading(index, own) for index in self._devices)
        fields, missing = read_fields({"load": lambda: os.getloadavg()[0], "cpu_clock_hz": _cpu_clock_hz})
        return Reading.model_validate({"host": HOST, "at_s": at_s, **fields, "devices": devices, "missing": missing})


def _cpu_clock_hz() -> float:
    import psutil

    frequency = psutil.cpu_freq()
    if frequency is None or not frequency.current:
        raise UnreadableError("the kernel tells no clock of this processor")
    return float(frequency.current) * 1e6
