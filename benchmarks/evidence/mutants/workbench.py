"""Owns one copy of the clean site under mutation: its texts and records edited as an author would, and the ledger."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.evidence.mutants.mutation import Letter, Mutation, mutation
from benchmarks.evidence.mutants.site import settle
from benchmarks.evidence.projects import LOGS, git, write
from benchmarks.evidence.records import Document
from evidence import ledger
from evidence.schema import series
from evidence.store import RECORD_NAME

LEDGER = f"{LOGS}/{ledger.FILE_NAME}"
_CLAIMS = "docs/claims"
_FIRST = re.compile(r"series: kernels/fuse_(\w+)")
_ID = re.compile(r"^  ([a-z0-9-]+):", re.MULTILINE)


class Mutant:
    """One copy of the clean site, what was touched in it, and the dice."""

    def __init__(self, root: Path, rng: random.Random) -> None:
        """Take a copy; nothing is changed yet."""
        self.root, self.rng = root, rng
        self.touched: set[str] = set()
        """Paths below the root that were changed, made or taken away."""

    @property
    def first(self) -> str:
        """The slug of the device that most logs are of."""
        match = _FIRST.search(self.text(f"{_CLAIMS}/kernels.yml"))
        return match[1] if match else ""

    @property
    def second(self) -> str:
        """The slug of the other device."""
        names = {path.name.split("_")[1] for path in (self.root / LOGS / "kernels").glob("fuse_*")}
        return next(iter(names - {self.first}))

    def text(self, path: str) -> str:
        """Return the text of a file."""
        return (self.root / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        """Write a file whole."""
        write(self.root / path, text)
        self.touched.add(path)

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        """Change a file's text.

        Raises:
            ValueError: the change changes nothing, so that there would be no fault to find.
        """
        before = self.text(path)
        after = change(before)
        if after == before:
            raise ValueError(f"{path}: the mutation changes nothing")
        self.write(path, after)

    def swap(self, path: str, old: str, new: str) -> None:
        """Write something else in the place of the first occurrence of a text."""
        self.edit(path, lambda text: text.replace(old, new, 1))

    def append(self, path: str, text: str) -> None:
        """Write a paragraph at the end of a page."""
        self.edit(path, lambda before: f"{before.rstrip()}\n\n{text}\n")

    def remove(self, path: str) -> None:
        """Take a file or a folder away."""
        target = self.root / path
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink()
        self.touched.add(path)

    def log(self, name: str, *, is_second: bool = False, is_oldest: bool = False) -> str:
        """Return a log of the site by its name without device and date, such as `kernels/fuse`; the newest one."""
        slug = self.second if is_second else self.first
        domain, _, stem = name.partition("/")
        found = sorted((self.root / LOGS / domain).glob(f"{stem}_{slug}_*"))
        return f"{domain}/{found[0 if is_oldest else -1].name}"

    @contextmanager
    def record(self, log: str, *, is_ledger_mended: bool = True) -> Iterator[Document]:
        """Edit the record of a log; its line of the ledger follows, so that only the record can tell."""
        path = f"{LOGS}/{log}/{RECORD_NAME}"
        document = json.loads(self.text(path))
        before = json.dumps(document)
        yield document
        if json.dumps(document) == before:
            raise ValueError(f"{path}: the mutation changes nothing")
        self.write(path, json.dumps(document, indent=1) + "\n")
        if is_ledger_mended:
            self.mend(log)

    def mend(self, log: str) -> None:
        """Give the ledger the digests of a log's files as they are now."""
        root = self.root / LOGS
        lines = {path: digest for path, digest in ledger.read(root).items() if not path.startswith(f"{log}/")}
        for path in sorted((root / log).rglob("*")) if (root / log).is_dir() else ():
            if path.is_file():
                lines[path.relative_to(root).as_posix()] = ledger.digest_of(path)
        write(root / ledger.FILE_NAME, ledger.dump(lines))

    def drawn(self, low: float, high: float, digits: int = 2) -> float:
        """Return a random number as an author would type it."""
        return round(self.rng.uniform(low, high), digits)

    def consumers(self) -> frozenset[str]:
        """Return every path where a finding about what was touched may stand: its files, and whatever reads them."""
        found = set(self.touched)
        if "mkdocs.yml" in found:  # every page is built as the configuration says
            found.update(path.relative_to(self.root).as_posix() for path in (self.root / "docs").glob("*.md"))
        logs = {"/".join(path.removeprefix(f"{LOGS}/").split("/")[:2]) for path in found if path.startswith(LOGS)}
        if logs:
            found.add(LEDGER)
            found.update(f"{LOGS}/{log}/{RECORD_NAME}" for log in logs)
            found.update(self._runs_of({series(log) for log in logs}))
        names = {name for log in logs for name in (log, series(log))}
        for path in sorted((self.root / _CLAIMS).glob("*.yml")):
            name = f"{_CLAIMS}/{path.name}"
            text = path.read_text(encoding="utf-8")
            if f"docs/{path.stem}.md" in self.touched:  # what a page no longer says is missed where it was claimed
                found.add(name)
            if name in found or any(one in text for one in names):
                found |= {name, f"{_CLAIMS}/evidence.lock", *self._callers(text)}
        return frozenset(found)

    def _runs_of(self, names: set[str]) -> Iterator[str]:
        """Yield the records of all logs of some series: one that is compared with another is found at either."""
        root = self.root / LOGS
        for path in root.glob(f"*/*/{RECORD_NAME}"):
            if series(path.parent.relative_to(root).as_posix()) in names:
                yield path.relative_to(self.root).as_posix()

    def _callers(self, claims: str) -> Iterator[str]:
        ids = _ID.findall(claims)
        for path in (*sorted((self.root / "docs").glob("*.md")), self.root / "README.md", self.root / "CHANGELOG.md"):
            text = path.read_text(encoding="utf-8") if path.is_file() else ""
            if any(id_ in text for id_ in ids):
                yield path.relative_to(self.root).as_posix()


def mutate(mutation: Mutation, clean: Path, copy: Path, seed: int) -> Mutant:
    """Copy the clean site to a path that is not there yet, and do one thing to the copy."""
    shutil.copytree(clean, copy, symlinks=True)
    mutant = Mutant(copy, random.Random(f"{mutation.name} {seed}"))
    if mutation.base is not None:
        git(copy, "switch", "--quiet", "--create", "work")
    mutation.act(mutant)
    # Only the ledger is compared with commits: a page that is not committed yet is checked as it is.
    if mutation.is_committed and any(path.startswith(LOGS) for path in mutant.touched):
        settle(copy)
    return mutant


def cells(record: Document, arm: str | None = None, workload: str | None = None) -> Iterator[Document]:
    """Yield the timed cells of a record, or those of one arm or workload."""
    for cell in record["cells"]:
        if cell["kind"] == "timed" and arm in (None, cell["arm"]) and workload in (None, cell["workload"]):
            yield cell


def processes(record: Document, arm: str | None = None, workload: str | None = None) -> Iterator[Document]:
    """Yield the processes of the timed cells of a record."""
    for cell in cells(record, arm, workload):
        yield from cell["processes"]


def rescale(record: Document, metric: str, factor: Callable[[Any], float], arm: str | None = None) -> None:
    """Multiply every value of a metric; the factor is a function of the cell."""
    for cell in cells(record, arm):
        times = factor(cell)
        for process in cell["processes"]:
            for samples in process["samples"]:
                if samples["metric"] == metric:
                    samples["values"] = [float(f"{value * times:.9g}") for value in samples["values"]]


def rescale_requests(record: Document, factor: float, arm: str, workload: str | None = None) -> None:
    """Multiply all times of the requests of an arm, and the wall time with them."""
    for process in processes(record, arm, workload):
        rows = process["requests"]
        for column in ("ttft_s", "latency_s"):
            rows[column] = [round(value * factor, 9) for value in rows[column]]
        for samples in process["samples"]:
            if samples["metric"] == "wall_time":
                samples["values"] = [round(value * factor, 9) for value in samples["values"]]


def recorded(
    letter: Letter,
    name: str,
    codes: str,
    log: str,
    fault: int | None,
    what: str,
    change: Callable[[Mutant, Document], object],
) -> Mutation:
    """Make a mutation that edits the record of a log; `codes` are parted by spaces, `what` says what it does."""

    def act(mutant: Mutant) -> None:
        with mutant.record(mutant.log(log)) as record:
            change(mutant, record)

    act.__name__ = name.replace("-", "_")
    act.__doc__ = what
    return mutation(letter, *codes.split(), fault=fault)(act)
