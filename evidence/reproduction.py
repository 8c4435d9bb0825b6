"""Owns running the command of a record again, and whether what it then measures is what is claimed.

Records are untrusted. What is run is this interpreter with a runner that this tree declares and with words that the
runner's own parser took; nothing else that a record holds is ever executed, and no shell is asked.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evidence import ledger, runners
from evidence.book import Book
from evidence.errors import EvidenceError, UnknownNameError
from evidence.evaluation import Reading, compared, readings_of, value_of
from evidence.pages.programs import program_of
from evidence.project import Project
from evidence.readings import Quantity, device_of, unit_of
from evidence.repository import Repository
from evidence.schema import GitSource, Provenance, Rejected, Timed, series
from evidence.statistics import Interval
from evidence.store import Loaded, Problem, Store

Outcome = Literal["inside", "outside", "inconclusive", "not comparable", "no number"]


class RefusedError(EvidenceError):
    """A record whose command is not run: it is not this tree's, or not one that can be understood."""


@dataclass(frozen=True, slots=True)
class Rerun:
    """A command that may be run: what a registered runner is told, where, and with which variables."""

    id: str
    loaded: Loaded
    runner: runners.Runner
    name: str
    words: tuple[str, ...]
    directory: Path
    variables: Mapping[str, str]
    notes: tuple[str, ...]

    def argv(self, logs: Path, *, brief: bool) -> tuple[str, ...]:
        """Return what is run, with results going to `logs`."""
        return (sys.executable, "-m", self.name, *self.runner.rerun(self.words, logs, brief=brief))


@dataclass(frozen=True, slots=True)
class Judged:
    """One number of a claim or table, then and now."""

    what: str
    claimed: Interval | None
    found: Interval | None
    outcome: Outcome
    note: str = ""


def plan(project: Project, id_: str, *, log: str = "") -> Rerun:
    """Return the command of a claim or table, ready to be run again.

    Raises:
        UnknownNameError: no such claim or table, or no such log of it.
        RefusedError: its record's command is not to be run, and why.
    """
    book = Book(project, Store(project.logs))
    loaded = _record_of(book, project, id_, log)
    provenance = loaded.record.provenance
    if provenance is None:
        raise RefusedError(f"{loaded.entry.log} was imported: no command of this project made it")
    repository = Repository.find(project.root)
    root = repository.root if repository is not None else project.root
    runner = _runner_of(provenance, root)
    notes = tuple(_require_of_this_tree(loaded, provenance, repository))
    words = program_of(provenance.argv).arguments
    options = runners.parse(runner, words)
    configuration = runner.configuration(options) if options is not None else None
    if options is None or configuration is None:
        raise RefusedError(f"the command of {loaded.entry.log} measures nothing")
    recorded = runner.recorded(loaded.record)
    if changed := runners.differences({name: configuration.get(name, "") for name in recorded}, recorded):
        told = "; ".join(f"{name} is {now} now, {then} in the record" for name, now, then in changed)
        raise RefusedError(f"the command of {loaded.entry.log} would measure something else: {told}")
    directory = (root / provenance.directory).resolve()
    if not directory.is_dir() or not directory.is_relative_to(root.resolve()):
        raise RefusedError(f"there is no folder {provenance.directory} to run in")
    held = {setting.name: setting.value for setting in provenance.variables}
    variables = {name: held[name] for name in runner.variables(options, held)}
    return Rerun(id_, loaded, runner, provenance.runner, words, directory, variables, notes)


def _record_of(book: Book, project: Project, id_: str, log: str) -> Loaded:
    """Return the one record that an item stands on, or the one of several that is asked for."""
    if id_ not in book.ids:
        raise UnknownNameError("claim or table", id_, book.ids)
    if id_ in book.claims.claims and not log:
        return book.log(book.claims.claims[id_].item.series)
    logs = book.logs_of(id_)
    if log and log not in logs:
        raise UnknownNameError(f"log of {id_}", log, logs)
    if not log and len(logs) != 1:
        listed = ", ".join(logs) or "none that can be read"
        raise RefusedError(f"{id_} stands on {len(logs)} logs: {listed}", fix="name one by --log")
    return Store(project.logs).load(log or logs[0])


def _runner_of(provenance: Provenance, root: Path) -> runners.Runner:
    """Return the runner that a command names as `python -m NAME`; it must be one that this tree declares."""
    program = program_of(provenance.argv)
    declared = runners.known(root)
    plain = provenance.argv[1:3] == ("-m", provenance.runner)
    if not plain or program.kind != "module" or program.name not in declared:
        known = ", ".join(sorted(declared)) or "none"
        message = f"its command does not call a runner of this tree, so it is not run: {provenance.argv[0]!r} …"
        raise RefusedError(message, fix=f"runners declared here, in the group {runners.GROUP}: {known}")
    return runners.load(declared[program.name])


def _require_of_this_tree(loaded: Loaded, provenance: Provenance, repository: Repository | None) -> Iterator[str]:
    """Refuse a record that another project's tree made; yield what has changed in this one since.

    Raises:
        RefusedError: neither its commit nor its address is this repository's.
    """
    source = next((one for one in loaded.record.sources if one.name == provenance.source), None)
    commit = source.commit if isinstance(source, GitSource) else None
    address = source.repository if isinstance(source, GitSource) else None
    if repository is None:
        raise RefusedError("this is no git work tree, so nothing says that the record is of it")
    is_known = commit is not None and repository.has_commit(commit)
    if not is_known and (address is None or address != repository.remote_url()):
        message = f"{loaded.entry.log} was made from commit {commit or 'unknown'}, which this repository does not hold"
        raise RefusedError(message, fix="run it in the repository that it was measured in")
    if isinstance(source, GitSource) and source.tree_sha256 != repository.work_tree_sha256():
        yield f"this is not the tree that was measured (commit {commit}); {_changed(source, repository.root)}"


def _changed(source: GitSource, root: Path) -> str:
    """Say which of the measured files are others now."""
    paths = [root / one.path for one in source.paths if (root / one.path).is_file()]
    digests = {path.relative_to(root).as_posix(): ledger.digest_of(path) for path in paths}
    other = [one.path for one in source.paths if digests.get(one.path) != one.sha256]
    if not other:
        return f"its {len(source.paths)} measured files are the same"
    return f"{', '.join(other[:3])}{' and more' if len(other) > 3 else ''} changed since, so a difference may be theirs"


def run(rerun: Rerun, logs: Path, *, brief: bool) -> int:
    """Run the command and return its exit code; its own output goes to the caller's."""
    environment = {**os.environ, **rerun.variables}
    done = subprocess.run(rerun.argv(logs, brief=brief), cwd=rerun.directory, env=environment, check=False)
    return done.returncode


def found_in(logs: Path) -> Loaded:
    """Return the one record of a store that a run has just filled.

    Raises:
        RefusedError: there is none that can be read.
    """
    found = list(Store(logs))
    if len(found) != 1 or isinstance(found[0], Problem):
        why = found[0].message if found and isinstance(found[0], Problem) else f"it wrote {len(found)} logs"
        raise RefusedError(f"the run left no record to compare with: {why}")
    return found[0]


def gates(then: Loaded, now: Loaded) -> Iterator[Judged]:
    """Judge a run that only had to work: whether each cell that was timed passes its gate and is timed again."""
    cells = {(cell.arm, cell.workload): cell for cell in now.record.cells}
    for cell in then.record.cells:
        if isinstance(cell, Timed):
            again = cells.get((cell.arm, cell.workload))
            failed = f": {again.gate.message}" if isinstance(again, Rejected) else ""
            note = "gate passed" if isinstance(again, Timed) else f"{again.kind if again else 'missing'}{failed}"
            outcome: Outcome = "inside" if isinstance(again, Timed) else "no number"
            yield Judged(f"{cell.arm} on {cell.workload}", None, None, outcome, note)


def judge(project: Project, id_: str, then: Loaded, now: Loaded) -> Iterator[Judged]:
    """Compare every number of a claim or table that stands on a log with the same number of a new run."""
    devices = device_of(then.record), device_of(now.record)
    if devices[0] != devices[1]:
        yield Judged(f"{id_}", None, None, "not comparable", f"measured on {devices[0]}, run on {devices[1]}")
        return
    book = Book(project, Store(project.logs))
    if id_ in book.claims.claims:
        yield from _claim(book, id_, then, now)
    else:
        yield from _table(book, id_, then, now)


def _claim(book: Book, id_: str, then: Loaded, now: Loaded) -> Iterator[Judged]:
    claim = book.claims.claims[id_].item
    mine = series(then.entry.log)

    def load(name: str) -> Loaded:
        return now if series(name) == mine else book.log(name)

    again = readings_of(claim, load)
    for name, reading in book.readings(id_).items():
        if reading.loaded.entry.log == then.entry.log:
            yield from _reading(reading, again[name])


def _reading(then: Reading, now: Reading) -> Iterator[Judged]:
    label = f"{then.name}: " if then.name else ""
    for workload in then.workloads:
        if then.is_comparison:
            ends = [
                next((one for one in reading.all_comparisons if one.workload == workload.name), None)
                for reading in (then, now)
            ]
            ratios = [one.ratio if one is not None else None for one in ends]
            reason = ends[1].reason if ends[1] is not None else "the cell is not there"
            what = f"{label}{then.quantity}, {then.candidate} against {then.baseline} on {workload.name}"
        else:
            ratios = [_value(one.loaded, one.candidate, workload.name, one.quantity) for one in (then, now)]
            reason = "the cell has no such number"
            what = f"{label}{then.quantity}, {then.candidate} on {workload.name}"
        yield _judged(what, ratios[0], ratios[1], reason)


def _table(book: Book, id_: str, then: Loaded, now: Loaded) -> Iterator[Judged]:
    built = book.built_table(id_)
    log = then.entry.log
    metrics = sorted(metric for of, metric in built.quantities if of == log)
    shown = sorted({(arm, workload) for of, arm, workload in built.shown if of == log})
    pairs = sorted((baseline, candidate) for of, baseline, candidate in built.pairs if of == log)
    for metric in metrics:
        quantity = Quantity(metric)
        has_direction = unit_of(then.record, quantity)[1] != "neither"
        for arm, workload in shown:
            baselines = [baseline for baseline, candidate in pairs if candidate == arm] if has_direction else []
            for baseline in baselines:
                old, new = (_ratio(one, baseline, arm, quantity, workload) for one in (then, now))
                yield _judged(f"{metric}, {arm} against {baseline} on {workload}", old, new, "it has no ratio")
            if not pairs:
                old, new = (_value(one, arm, workload, quantity) for one in (then, now))
                yield _judged(f"{metric}, {arm} on {workload}", old, new, "the cell has no such number")


def _ratio(loaded: Loaded, baseline: str, candidate: str, quantity: Quantity, workload: str) -> Interval | None:
    try:
        return compared(loaded, baseline, candidate, quantity, workload).ratio
    except (EvidenceError, KeyError):
        return None


def _value(loaded: Loaded, arm: str, workload: str, quantity: Quantity) -> Interval | None:
    try:
        found = value_of(loaded, loaded.cell(arm, workload), quantity)
    except (EvidenceError, KeyError):
        return None
    return found.interval if found is not None else None


def _judged(what: str, claimed: Interval | None, found: Interval | None, reason: str) -> Judged:
    if claimed is None:
        return Judged(what, None, found, "not comparable", "the record has no such number")
    if found is None:
        return Judged(what, claimed, None, "no number", reason)
    if claimed.low <= found.value <= claimed.high:
        return Judged(what, claimed, found, "inside")
    if found.high < claimed.low or found.low > claimed.high:
        return Judged(what, claimed, found, "outside")
    return Judged(what, claimed, found, "inconclusive", "outside, but the intervals overlap")


def worst(found: Sequence[Judged]) -> Outcome:
    """Return what decides a whole run: not comparable, then no number, outside, inconclusive, inside."""
    order: tuple[Outcome, ...] = ("not comparable", "no number", "outside", "inconclusive", "inside")
    outcomes = {one.outcome for one in found}
    return next((outcome for outcome in order if outcome in outcomes), "no number")
