"""Owns the pass over the records: each is read once and every record rule applied to it, in one process or several.

A series stays in one process, because rules compare a log with the one before it. What a process remembers of its share
is merged, so that a report is the same however many there were. Rules over the whole that need nothing of that do not
wait for it: the first process applies some, after what is claimed is evaluated, and the last one those that take long.
The others come last. A process that gives no answer is a finding.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, NamedTuple, TypeAlias

from evidence.checker.registry import Rule, Turn
from evidence.diagnostics import Finding, Location
from evidence.errors import EvidenceError
from evidence.store import Entry, Loaded, Problem

if TYPE_CHECKING:
    from evidence.checker.corpus import Corpus

CRASHED = "EV901"
"""The rule that reports rules that could not be checked."""

_LAST_RESORT = "EV001"
"""The rule that takes every record that cannot be loaded and that no other rule owns."""
_MOST_PROCESSES = 4
_TURNS = (Turn.EARLY, Turn.APART, Turn.LAST)
_WORTH_A_PROCESS = 20
"""Records that take longer than starting a process and taking over what it found."""
_BYTES_OF_THE_REST = 7_500_000
"""Bytes of records that take as long as evaluating what is claimed takes longer than the rules apart."""

Found: TypeAlias = list[tuple[str, Finding]]
"""Codes with what their rules found."""


def crash(rule: Rule, error: Exception, at: Location) -> Finding:
    """Return the finding that a rule could not be checked."""
    fix = error.fix if isinstance(error, EvidenceError) else ""
    return Finding(at, f"{rule.code} {rule.name} could not be checked: {type(error).__name__}: {error}", fix)


class _Rules(NamedTuple):
    """The rules of a pass, by what they are applied to."""

    owners: tuple[Rule, ...]
    """Those that take records that do not load."""
    applied: tuple[Rule, ...]
    standing: tuple[Rule, ...]
    """Those of them that are applied to logs that are not to be cited too."""
    early: tuple[Rule, ...]
    apart: tuple[Rule, ...]
    """Those over the whole that need nothing of what the pass remembers: of the first process, and of the last."""
    last: tuple[Rule, ...]
    """Those over the whole that need it."""


def over_records(owners: Iterable[Rule], applied: Iterable[Rule], others: Iterable[Rule], corpus: Corpus) -> Found:
    """Apply rules to every record of the store, and to the whole. Of a record that does not load only why is said.

    Args:
        owners: The rules that take records that do not load.
        applied: The rules over records that do.
        others: The rules over the whole, each applied when it is its turn.
        corpus: What is checked; it remembers of the records what rules over the whole need.
    """
    by_rank = sorted(owners, key=lambda rule: rule.code == _LAST_RESORT)
    applied = tuple(applied)
    others = tuple(others)
    early, apart, last = (tuple(rule for rule in others if rule.turn is turn) for turn in _TURNS)
    chosen = _Rules(tuple(by_rank), applied, tuple(rule for rule in applied if rule.stands), early, apart, last)
    found: Found = []
    for problem in corpus.store.problems:
        found.append(_unread(problem, chosen, corpus))
    entries = corpus.store.entries
    first, *rest = _shares(entries, corpus.options.processes or _processes(len(entries)))
    with _without_collection():
        corpus.prepare()
        workers = [_Worker(share, chosen, corpus, is_last=share is rest[-1]) for share in rest]
        try:
            found += _pass(first, chosen, corpus)
            if workers:
                corpus.read_ahead()
            found += over_whole(early if workers else (*early, *apart), corpus)
            for worker in workers:
                found += worker.result(corpus)
            found += over_whole(last, corpus)
        finally:
            for worker in workers:
                worker.end()
    return found


def over_whole(rules: Iterable[Rule], corpus: Corpus) -> Found:
    """Apply rules to the corpus; an exception of any kind becomes EV901, so that no crash is a pass."""
    found: Found = []
    for rule in rules:
        try:
            found += [(rule.code, finding) for finding in rule.check(corpus)]
        except Exception as error:  # noqa: BLE001 - the check fails closed whatever a rule does
            found.append((CRASHED, crash(rule, error, corpus.home)))
    return found


def _processes(records: int) -> int:
    """Return how many processes a pass takes: no more than there are cores, or than there is work for.

    A process with threads is not forked: one of them could hold a lock that nothing in the other would give back.
    """
    if not hasattr(os, "fork") or threading.active_count() > 1:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(_MOST_PROCESSES, cores, records // _WORTH_A_PROCESS))


def _shares(entries: Sequence[Entry], count: int) -> list[list[Entry]]:
    """Part the logs into shares, each of whole series and in the order given.

    All are of about one size, but the first process has more to do and reads less.
    """
    if count == 1:
        return [list(entries)]
    series: dict[str, list[tuple[Entry, int]]] = {}
    for entry in entries:
        series.setdefault(entry.series, []).append((entry, _size(entry)))
    total = sum(size for logs in series.values() for _, size in logs)
    placed = min(_BYTES_OF_THE_REST, total // (count - 1))
    whole = max(1, placed + total)
    shares: list[list[Entry]] = [[] for _ in range(count)]
    for logs in series.values():
        size = sum(size for _, size in logs)
        shares[min(count - 1, (2 * placed + size) * count // (2 * whole))] += [entry for entry, _ in logs]
        placed += size
    return shares


def _size(entry: Entry) -> int:
    """Return the bytes of a record, which tell how long it takes; one that is gone takes no time."""
    try:
        return os.stat(entry.path).st_size  # noqa: PTH116 - hot
    except OSError:
        return 0


def _pass(entries: Iterable[Entry], rules: _Rules, corpus: Corpus) -> Found:
    found: Found = []
    for item in corpus.store.stream(entries):
        if isinstance(item, Problem):
            found.append(_unread(item, rules, corpus))
            continue
        corpus.remember(item)
        for rule in rules.standing if corpus.is_set_aside(item.entry.log) else rules.applied:
            # Sixty rules a record make every call count: nothing is called here but the rule.
            try:
                for finding in rule.check(item, corpus):
                    found.append((rule.code, finding))
            except Exception as error:  # noqa: BLE001 - the check fails closed whatever a rule does
                found.append((CRASHED, crash(rule, error, _place(item, corpus))))
    corpus.look_back()
    return found


def _place(loaded: Loaded, corpus: Corpus) -> Location:
    return Location(corpus.name(loaded.entry.path))


def _unread(problem: Problem, rules: _Rules, corpus: Corpus) -> tuple[str, Finding]:
    corpus.remember_unread(problem)
    owner = next(rule for rule in rules.owners if rule.owns is not None and rule.owns(problem))
    at = Location(corpus.name(problem.path), problem.line, problem.pointer)
    return owner.code, Finding(at, problem.message, problem.fix)


class _Worker:
    """A process that makes a share of the pass, forked from this one: it starts with all that is read already."""

    def __init__(self, share: list[Entry], rules: _Rules, corpus: Corpus, *, is_last: bool) -> None:
        self._share = share
        reading, writing = os.pipe()
        self._id = os.fork()
        if self._id == 0:
            os.close(reading)
            _work(share, rules, corpus, writing, is_last=is_last)
        os.close(writing)
        self._stream: IO[bytes] = open(reading, "rb")  # noqa: SIM115, PTH123 - a descriptor
        self._is_over = False

    def result(self, corpus: Corpus) -> Found:
        """Take over what the process found and remembers, once it has said so; it has to give back its memory yet."""
        found: Found
        try:
            found, memory = pickle.loads(self._stream.read())
        except (EOFError, pickle.UnpicklingError):
            code = self._wait()
            logs = f", {self._share[0].log} to {self._share[-1].log}" if self._share else ""
            message = f"{len(self._share)} records were not checked{logs}: a process ended with {code}"
            return [(CRASHED, Finding(corpus.home, message, "run the check again, with --jobs 1 if it fails again"))]
        corpus.memory.merge(memory)
        return found

    def end(self) -> None:
        """See the process end: one that still runs has given its answer, or the pass was given up."""
        self._stream.close()
        if not self._is_over:
            os.kill(self._id, signal.SIGKILL)
            self._wait()

    def _wait(self) -> int:
        _, status = os.waitpid(self._id, 0)
        self._is_over = True
        return os.waitstatus_to_exitcode(status)


def _work(share: list[Entry], rules: _Rules, corpus: Corpus, writing: int, *, is_last: bool) -> None:
    """Make a share of the pass in a forked process, and end it: nothing of the parent's is flushed or run twice."""
    code = 1
    try:
        found = _pass(share, rules, corpus)
        if is_last:
            found += over_whole(rules.apart, corpus)
        with open(writing, "wb") as stream:
            pickle.dump((found, corpus.memory), stream, protocol=pickle.HIGHEST_PROTOCOL)
        code = 0
    finally:
        os._exit(code)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Records hold no cycles; looking for some after every few thousand objects costs a third of the pass."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
