"""Owns docs/benchmark_logs: the only module that opens record files. It scans, loads and saves, and touches no log.

A store is a directory of `<domain>/<name>_<YYYYMMDD>[-n]/record.json` with artifacts beside each, and SHA256SUMS.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from evidence import ledger
from evidence.errors import EvidenceError, RecordError, UnknownNameError
from evidence.schema import Cell, Record, Timed, gate_holds, log_date, series
from evidence.schema.text import dump, parse, read

RECORD_NAME = "record.json"
INCOMPLETE = ".incomplete"
"""Raw streams of runs that have not ended; never committed, and not logs."""
MAXIMUM_LOG_BYTES = 5 * 1024 * 1024

_READABLE = "make it readable, or restore it from version control"
T = TypeVar("T")

_RUN = re.compile(r"-([1-9][0-9]*)$")


class Entry(NamedTuple):
    """One log directory: its name, and its record or why there is none."""

    log: str
    """Path below the store, POSIX."""
    path: Path
    """The record file."""

    @property
    def series(self) -> str:
        """The log's name without its date."""
        return series(self.log)


@dataclass(frozen=True, slots=True)
class Loaded:
    """One record as read: its bytes are known by their digest only."""

    entry: Entry
    record: Record
    sha256: str
    size: int
    texts: Sequence[str] = field(repr=False, compare=False)
    """Every text in it, in no order."""
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` makes of the record, made once for each key: a record never changes."""
        if key not in self._made:
            self._made[key] = make()
        found: T = self._made[key]
        return found

    def cell(self, arm: str, workload: str) -> Cell:
        """Return the one cell of an arm on a workload.

        Raises:
            KeyError: there is none.
        """
        cells = self.once("cells", lambda: {(cell.arm, cell.workload): cell for cell in self.record.cells})
        return cells[arm, workload]


class Problem(NamedTuple):
    """Something in the store that is not a readable record: carried, not lost and not fatal."""

    path: Path
    line: int
    pointer: str
    message: str
    fix: str
    error: EvidenceError | None


class Store:
    """The logs below one directory, indexed by name and loaded on demand."""

    def __init__(self, root: Path, *, cached: int = 256) -> None:
        """Point at a directory; nothing is read before it is asked for. `cached` records are kept in memory."""
        self.root = root
        self._cached = cached
        self._load = functools.lru_cache(maxsize=cached)(self._read)

    @functools.cached_property
    def _scan(self) -> tuple[dict[str, Entry], tuple[Problem, ...], tuple[str, ...]]:
        problems: list[Problem] = []
        root = str(self.root)
        files = tuple(_files(root, "", problems)) if self.root.is_dir() else ()
        split = (file.rpartition("/") for file in files)
        logs = [folder or "." for folder, _, name in split if name == RECORD_NAME]
        return {log: Entry(log, Path(f"{root}/{log}/{RECORD_NAME}")) for log in logs}, tuple(problems), files

    @functools.cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Every log directory with a record file, by series, the oldest of each first; `-10` is younger than `-9`."""
        return tuple(sorted(self._scan[0].values(), key=_age))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the scan could not follow, such as links out of the tree."""
        return self._scan[1]

    @property
    def files(self) -> tuple[str, ...]:
        """Every file of the store but its ledger, as POSIX paths below it."""
        return self._scan[2]

    def load(self, log: str) -> Loaded:
        """Return the record of a log.

        Raises:
            UnknownNameError: there is no such log.
            RecordError: its file is not a record.
        """
        if log not in self._scan[0]:
            raise UnknownNameError("log", log, self._scan[0])
        return self._load(self._scan[0][log])

    def __contains__(self, log: str) -> bool:
        """Whether there is a log of that name, date included."""
        return log in self._scan[0]

    def __iter__(self) -> Iterator[Loaded | Problem]:
        """Load every record once, in the order of `entries`."""
        return self.stream(self.entries)

    def stream(self, entries: Iterable[Entry]) -> Iterator[Loaded | Problem]:
        """Load some records once, in the order given; they are kept only if all of the store fit into memory."""
        load = self._load if len(self.entries) <= self._cached else self._read
        for entry in entries:
            try:
                yield load(entry)
            except RecordError as error:
                yield Problem(entry.path, error.line, error.pointer, error.message, error.fix, error)

    def has_series(self, name: str) -> bool:
        """Whether any log has that series."""
        return name in self._series

    def series_of(self, name: str) -> tuple[Entry, ...]:
        """Return the logs of a series, oldest name first.

        Raises:
            UnknownNameError: no log has that series.
        """
        if name not in self._series:
            raise UnknownNameError("series", name, self._series)
        return self._series[name]

    @functools.cached_property
    def _series(self) -> dict[str, tuple[Entry, ...]]:
        found: dict[str, list[Entry]] = {}
        for entry in self.entries:
            found.setdefault(entry.series, []).append(entry)
        return {name: tuple(entries) for name, entries in found.items()}

    def newest(self, name: str) -> Loaded:
        """Return the newest log of a series, by name: the date, then the run of that day.

        Raises:
            UnknownNameError: no log has that series.
            RecordError: its file is not a record.
        """
        return self.load(self.series_of(name)[-1].log)

    def _read(self, entry: Entry) -> Loaded:
        try:
            with open(entry.path, "rb") as stream:  # noqa: PTH123 - hot
                data = stream.read()
        except OSError as error:
            raise RecordError(f"cannot be read: {error.strerror}", fix=_READABLE) from None
        record, texts = read(data)
        return Loaded(entry, record, hashlib.sha256(data).hexdigest(), len(data), texts)


def _age(entry: Entry) -> tuple[str, str, int]:
    return entry.series, log_date(entry.log), _run_of(entry.log)


def _run_of(log: str) -> int:
    match = _RUN.search(log)
    return int(match[1]) if match else 1


def _files(folder: str, below: str, problems: list[Problem]) -> Iterator[str]:
    """Walk the store in order of name: no hidden entries, no links, nothing outside the tree."""
    try:
        with os.scandir(folder) as found:
            children = sorted(found, key=lambda child: child.name)
    except OSError as error:
        problems.append(Problem(Path(folder), 1, "", f"cannot be read: {error.strerror}", _READABLE, None))
        return
    for child in children:
        if child.name.startswith(".") or child.name == ledger.FILE_NAME:
            continue
        if child.is_symlink():
            message, fix = "a link; a log is made of files that lie in it", "replace the link by the file, or remove it"
            problems.append(Problem(Path(child.path), 1, "", message, fix, None))
        elif child.is_dir(follow_symlinks=False):
            yield from _files(child.path, f"{below}{child.name}/", problems)
        elif child.is_file(follow_symlinks=False):
            yield f"{below}{child.name}"


def save(root: Path, record: Record, artifacts: Mapping[str, bytes] | None = None) -> str:
    """Add a log to the store and return its name; a second run of one day gets `-2`, `-3`.

    The directory is built under a temporary name, flushed and renamed, so a crash leaves either the whole log or none.
    A record that would not read back, or whose own counts contradict a passed gate, is refused before it is written.

    Args:
        root: The store's directory; made if it is not there.
        record: What to save; its `log` carries the wanted name.
        artifacts: Bytes of each file that `record.artifacts` lists, by path.

    Raises:
        RecordError: the record does not hold, or its artifacts are not the files given.
        LedgerError: SHA256SUMS is malformed; nothing is written then.
    """
    files = dict(artifacts or {})
    record = _validated(record)
    _refuse_unsound(record, files)
    root.mkdir(parents=True, exist_ok=True)
    with _locked(root):
        _settle(root)
        name = _free_name(root, record.log)
        record = record.model_copy(update={"log": name})
        data = dump(record)
        if parse(data) != record:
            raise RecordError("the record does not read back as it was written", fix="report this as a bug")
        _land(root, name, {RECORD_NAME: data, **files})
    return name


def _validated(record: Record) -> Record:
    """Validate again: `model_construct` builds a record without looking at it."""
    try:
        return Record.model_validate(record.__dict__)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = "/".join(map(str, first["loc"]))
        raise RecordError(f"{place or 'record'}: {first['msg']}", fix="build the record with its constructor") from None


def _refuse_unsound(record: Record, files: Mapping[str, bytes]) -> None:
    listed = {artifact.path: artifact for artifact in record.artifacts}
    if listed.keys() != files.keys():
        odd = sorted(listed.keys() ^ files.keys())
        raise RecordError(f"artifacts listed and given differ: {', '.join(odd)}", fix="list every file, once")
    for path, content in files.items():
        if (listed[path].sha256, listed[path].bytes) != (hashlib.sha256(content).hexdigest(), len(content)):
            raise RecordError(f"{path}: listed with another digest or size", fix="digest the bytes that are saved")
    gates = {gate.name: gate for gate in record.gates}
    for cell in record.cells:
        if isinstance(cell, Timed):
            for outcome in (cell.gate, *cell.further):
                if fault := gate_holds(gates[outcome.gate], outcome):
                    raise RecordError(f"{cell.arm} on {cell.workload}: {fault}", fix="a failed gate has no timings")


def _free_name(root: Path, wanted: str) -> str:
    """Return the first name of that day that no log has, nor had: the ledger remembers those that were removed."""
    name, run = wanted, _run_of(wanted)
    stem = _RUN.sub("", wanted)
    listed = {path.rsplit("/", 1)[0] for path in ledger.read(root) if path.endswith(f"/{RECORD_NAME}")}
    while (root / name).exists() or name in listed:
        run += 1
        name = f"{stem}-{run}"
    return name


def _land(root: Path, name: str, files: Mapping[str, bytes]) -> None:
    """Write the log's directory, then its ledger lines: each by one rename, with the lines pending in between."""
    target = root / name
    target.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=".tmp-", dir=root))
    try:
        for path, content in files.items():
            _write(building / path, content)
        building.chmod(0o755)
        lines = {f"{name}/{path}": hashlib.sha256(content).hexdigest() for path, content in files.items()}
        _replace(root / ledger.PENDING_NAME, ledger.dump(lines))
        building.rename(target)
        _sync(target.parent)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    _settle(root)


def _settle(root: Path) -> None:
    """Fold the lines of a save into the ledger, this one's or one that was cut short, and clear what it left."""
    pending = root / ledger.PENDING_NAME
    if pending.is_file():
        _replace(root / ledger.FILE_NAME, ledger.dump(ledger.read(root)))
        pending.unlink()
        _sync(root)
    for left in root.glob(".tmp-*"):
        shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _replace(path: Path, text: str) -> None:
    building = path.with_name(f".tmp-{path.name}")
    building.unlink(missing_ok=True)
    _write(building, text.encode())
    building.replace(path)
    _sync(path.parent)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Hold the store against another run's save; the lock goes with the process, however it ends."""
    descriptor = os.open(root, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
