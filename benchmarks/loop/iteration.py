"""Owns what a loop does to the world: it runs the contract's commands, adds rows and commits them.

One change, one gated run, one row, one commit: whoever changes code commits it, and `iterate` commits the row with its
log. Both lie below docs, so that neither dirties the source that the next row is measured from.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.loop import contract as contracts
from benchmarks.loop import decision, journal
from benchmarks.loop.contract import Contract
from benchmarks.loop.journal import Row, Status
from benchmarks.loop.options import Bound
from benchmarks.loop.reading import GateState
from benchmarks.loop.reasons import LoopError, Objection, Reason
from benchmarks.ops.exits import Exit
from benchmarks.ops.outcomes import weakening
from evidence.repository import DOCS, Repository
from evidence.store import Loaded, Store

_GATES: Mapping[int, GateState] = {
    Exit.RED_GATE: "red",
    Exit.NO_TEST_SELECTED: "missing",
    Exit.ALL_SKIPPED: "skipped",
    Exit.GATE_MISSING: "missing",
}
"""What a measuring command that keeps no record of it says of its gate, by its exit code."""


@dataclass(frozen=True, slots=True)
class Loop:
    """One task: its contract, its rows as they were verified, and where they lie."""

    repository: Repository
    contract: Contract
    rows: tuple[Row, ...]

    @property
    def root(self) -> Path:
        """The repository's top folder."""
        return self.repository.root

    @property
    def path(self) -> Path:
        """The journal."""
        return self.root / self.contract.folder / journal.FILE_NAME

    @property
    def store(self) -> Store:
        """The logs, as they lie there now."""
        return Store(self.root / self.contract.logs)


def find(start: Path) -> Repository:
    """Return the work tree that a loop belongs to.

    Raises:
        LoopError: there is none, or it has no commit.
    """
    repository = Repository.find(start)
    if repository is None or repository.commit() is None:
        raise LoopError(Reason.USAGE, "a loop needs a git work tree with a commit")
    return repository


def tasks(repository: Repository) -> tuple[str, ...]:
    """Return the tasks that were started, sorted."""
    found = (repository.root / contracts.FOLDER).glob(f"*/{contracts.FILE_NAME}")
    return tuple(sorted(path.parent.name for path in found))


def load(repository: Repository, task: str | None) -> Loop:
    """Read a task and verify every row of it; the only one if none is named.

    Raises:
        LoopError: no such task, or a row that does not hold.
    """
    known = tasks(repository)
    name = task or (known[0] if len(known) == 1 else None)
    if name is None or name not in known:
        raise LoopError(Reason.USAGE, f"which task? {', '.join(known) or 'none was started'}", fix="give --task")
    folder = repository.root / contracts.FOLDER / name
    contract = contracts.read(folder / contracts.FILE_NAME)
    loop = Loop(repository, contract, journal.read(folder / journal.FILE_NAME, contract, repository))
    journal.verify(loop.rows, contract, loop.store, repository)
    for index, row in enumerate(loop.rows):
        if row.bound is not None:
            found = decision.limit(contract, loop.rows[:index], loop.store, row.bound, row.profiled, row.metric)
            if found.text != row.note:
                raise LoopError(Reason.EDITED_ROW, f"row {row.iteration} holds another number than its record gives")
    return loop


def start(repository: Repository, draft: Path) -> Loop:
    """Freeze a contract and commit it; no row stands in its journal yet.

    Raises:
        LoopError: it is no contract, the task has begun, or the work tree is not what is committed.
    """
    contract = contracts.draft(draft, repository.root)
    require_clean(repository)
    folder = repository.root / contract.folder
    if folder.exists():
        raise LoopError(Reason.USAGE, f"the task {contract.task} has begun", fix="a contract is never changed")
    journal.require_frozen(contract, repository, _commit(repository), "the contract")
    source = contract.baseline_source
    if contract.baseline_commit is None and "==" not in source and source != contracts.OWN_TREE:
        message = f"the baseline {source!r} is no commit of this repository"
        raise LoopError(Reason.OTHER_BASELINE, message, fix="name a git ref, name==version, or repository")
    folder.mkdir(parents=True)
    (folder / contracts.FILE_NAME).write_bytes(contracts.dump(contract))
    (folder / journal.FILE_NAME).write_bytes(b"")
    _keep(repository, f"Loop {contract.task}: the contract", contract.folder)
    return Loop(repository, contract, ())


def iterate(loop: Loop, direction: str, environment: Mapping[str, str]) -> Row:
    """Measure the change that is checked out, add its row and commit it.

    Raises:
        LoopError: the loop has ended or stalled, the tree is dirty, a frozen file changed, or more than one change was
            made on the best.
    """
    _require_open(loop)
    if set_here := weakening(environment):
        names = ", ".join(f"{one.name}={one.value}" for one in set_here)
        raise LoopError(Reason.ENVIRONMENT, f"{names} is set, which weakens a gate", fix="unset it")
    require_clean(loop.repository)
    if touched := contracts.changed(loop.contract, loop.root):
        raise LoopError(Reason.FROZEN_CHANGED, f"{touched[0]} is frozen and was changed", fix="restore it")
    _require_one_change(loop)
    _require_going_on(loop)
    if (failed := _validate(loop, environment)) is not None:
        return _add(loop, _row(loop, direction, "drop", gate="red", note=failed))
    found, code = _measure(loop, environment)
    if found is None:
        if code not in _GATES:
            message = f"the measuring command ended with {code} and kept no record"
            raise LoopError(Reason.NOTHING_MEASURED, message, fix="see what it printed; no row was added")
        return _add(loop, _row(loop, direction, "drop", gate=_GATES[code], note=f"it ended with {code}"))
    journal.require_source(found.record, loop.repository, _commit(loop.repository))
    gate, change, status = journal.judged(loop.contract, loop.rows, found, loop.store)
    row = _row(loop, direction, status, gate=gate)
    row = row.model_copy(update={"record": found.entry.log, "record_sha256": found.sha256, "change": change})
    return _add(loop, row)


def note(loop: Loop, text: str, profiled: str) -> Row:
    """Add a note of what was read, with the log whose profile it was read from: it lets a stalled loop go on.

    Raises:
        LoopError: the log holds no profile, nor the reason why there is none.
    """
    _require_open(loop)
    record = loop.store.load(profiled).record
    reasons = [one.reason for one in record.unavailable if "profile" in one.what and "not taken" not in one.reason]
    if not record.profiles and not reasons:
        message = f"{profiled} holds no profile, and does not say why none could be taken"
        raise LoopError(Reason.NO_MECHANISM, message, fix="measure the best again with a profile")
    row = _row(loop, text, "note", gate=None).model_copy(update={"profiled": profiled})
    return _add(loop, row)


def promote(loop: Loop) -> tuple[Objection, ...]:
    """Promote the best if nothing speaks against it, and add the row; return what does."""
    _require_open(loop)
    found = decision.promotion(loop.contract, loop.rows, loop.store)
    if not found:
        best = journal.best_of(loop.rows)
        assert best is not None
        _add(loop, _row(loop, f"iteration {best.iteration}: {best.direction}", "promoted", gate=None))
    return found


def no_go(loop: Loop, bound: Bound, log: str | None, metric: str | None) -> tuple[Objection, ...]:
    """End the loop without a promotion if that is a conclusion; return what it lacks.

    Raises:
        LoopError: the bound has no number.
    """
    _require_open(loop)
    found = decision.no_go(loop.contract, loop.rows, loop.store)
    if not found:
        limit = decision.limit(loop.contract, loop.rows, loop.store, bound, log, metric)
        row = _row(loop, f"no-go: {bound}", "no-go", gate=None, note=limit.text)
        _add(loop, row.model_copy(update={"profiled": limit.log, "bound": bound, "metric": limit.metric or None}))
    return found


def require_clean(repository: Repository) -> None:
    """Refuse a work tree whose code is not what is committed.

    Raises:
        LoopError: it differs.
    """
    if repository.work_tree_sha256() != repository.commit_tree_sha256(_commit(repository)):
        raise LoopError(Reason.DIRTY_SOURCE, "the work tree is not what is committed", fix="commit the one change")


def _commit(repository: Repository) -> str:
    commit = repository.commit()
    if commit is None:
        raise LoopError(Reason.USAGE, "a loop needs a commit")
    return commit


def _require_open(loop: Loop) -> None:
    if loop.rows and loop.rows[-1].status in journal.END:
        raise LoopError(Reason.ENDED, f"the loop has ended: {loop.rows[-1].status}", fix="start another task")


def _require_going_on(loop: Loop) -> None:
    if journal.stalled(loop.rows):
        message = f"{journal.STALL} rows in a row were not kept"
        raise LoopError(Reason.STALLED, message, fix="profile the best, read the journal, add a note: iterate --note")
    is_another_session = _is_best(loop)
    if is_another_session:
        return
    if journal.measured(loop.rows) >= loop.contract.cap:
        raise LoopError(Reason.ENDED, f"the cap of {loop.contract.cap} iterations is reached", fix="promote or no-go")
    if loop.rows and (best := journal.best_of(loop.rows)) is not None and best.status == "floor":
        raise LoopError(Reason.ENDED, "the floor is reached: nothing is left to gain", fix="promote or no-go")


def _is_best(loop: Loop) -> bool:
    best = journal.best_of(loop.rows)
    return best is not None and _tree(loop, best.commit) == _tree(loop, _commit(loop.repository))


def _tree(loop: Loop, commit: str) -> str:
    return loop.repository.commit_tree_sha256(commit)


def _require_one_change(loop: Loop) -> None:
    """Refuse what is not exactly one commit of code on top of the best: two changes at once teach nothing.

    The best itself is another session of it, and is let through.
    """
    best = journal.best_of(loop.rows)
    if best is None or _is_best(loop):
        return
    changes = _git(loop.root, "rev-list", "--first-parent", "--max-count=1", "HEAD", "--", ".", f":(exclude){DOCS}")
    parent = loop.repository.resolve(f"{changes.strip()}^")
    if parent is None or _tree(loop, parent) != _tree(loop, best.commit):
        message = f"HEAD is not one change on top of iteration {best.iteration}, the best"
        raise LoopError(Reason.NOT_ONE_CHANGE, message, fix="go back to the best's code, then commit one change")


def _validate(loop: Loop, environment: Mapping[str, str]) -> str | None:
    """Run the validation command; return how it failed, None if it did not or there is none."""
    if not loop.contract.validation:
        return None
    code = _run(loop, loop.contract.validation, environment)
    return f"the validation command ended with {code}" if code else None


def _measure(loop: Loop, environment: Mapping[str, str]) -> tuple[Loaded | None, int]:
    """Run the measuring command; return the one log that it added, and its exit code."""
    before = {entry.log for entry in loop.store.entries}
    code = _run(loop, loop.contract.benchmark, environment)
    added = [entry.log for entry in loop.store.entries if entry.log not in before]
    if len(added) > 1:
        raise LoopError(Reason.NOTHING_MEASURED, f"the measuring command added {len(added)} logs: {', '.join(added)}")
    return (loop.store.load(added[0]) if added else None), code


def _run(loop: Loop, command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command of the contract where it stands; `python` is this interpreter. What it prints goes to stderr."""
    words = [sys.executable, *command[1:]] if command[0] in ("python", "python3") else list(command)
    try:
        return subprocess.run(words, cwd=loop.root, env=dict(environment), stdout=sys.stderr, check=False).returncode
    except OSError as error:
        raise LoopError(Reason.USAGE, f"{command[0]} cannot be run: {error.strerror}") from None


def _row(loop: Loop, direction: str, status: Status, *, gate: GateState | None, note: str = "") -> Row:
    rows = loop.rows
    return Row(
        iteration=len(rows),
        at=datetime.now(UTC).replace(microsecond=0),
        direction=direction,
        gate=gate,
        record=None,
        record_sha256=None,
        commit=_commit(loop.repository),
        change=None,
        status=status,
        note=note,
        profiled=None,
        bound=None,
        metric=None,
        contract_sha256=contracts.digest(loop.contract),
        previous=journal.link_of(rows, loop.contract),
    )


def _add(loop: Loop, row: Row) -> Row:
    """Append a row and commit it with its log; the file is opened to append only."""
    with loop.path.open("ab") as stream:
        stream.write(journal.line_of(row))
        stream.flush()
        os.fsync(stream.fileno())
    subject = f"Loop {loop.contract.task} {row.iteration}: {row.status}"
    _keep(loop.repository, subject, loop.contract.folder, *([loop.contract.logs] if row.record else []))
    return row


def appended(loop: Loop, row: Row) -> Loop:
    """Return the loop with one row more, as it stands after `iterate`."""
    return replace(loop, rows=(*loop.rows, row))


def _keep(repository: Repository, subject: str, *paths: str) -> None:
    _git(repository.root, "add", "--", *paths)
    _git(repository.root, "commit", "--quiet", "--message", subject, "--", *paths)


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LoopError(Reason.USAGE, f"git {words[0]} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
