"""Owns what holds a site to its lock: each series stands on the log it should, and all that is printed is in it."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping

from evidence import lock, statistics
from evidence.book import Book
from evidence.checker.corpus import Corpus
from evidence.checker.facts import Facts
from evidence.checker.registry import Turn, corpus_rule, record_rule
from evidence.compare import Comparison
from evidence.decisions import NOT_ADOPTED, Refusal, decide, pending
from evidence.diagnostics import Finding, Location, Severity
from evidence.errors import EvidenceError
from evidence.evaluation import Reading, compared
from evidence.lock import Key, Lock, Section
from evidence.printed import item_facts, series_facts
from evidence.readings import Quantity, device_of, unit_of
from evidence.schema import GitSource, Record
from evidence.sentences import ratio_text
from evidence.statistics import Verdict
from evidence.store import Loaded
from evidence.tables import Built
from evidence.views import Statement

_UPDATE = "run `evidence update`, and review what it prints"
_CONFIRMED = re.compile(r"\b(?:confirm|reproduc|replicat)(?:s|es|ed)\b", re.IGNORECASE)
_DECIDED = (Verdict.BETTER, Verdict.WORSE, Verdict.SAME)


@corpus_rule("EV609", "not-adopted")
def not_adopted(corpus: Corpus) -> Iterator[Finding]:
    """A series stands on the newest of its logs that may be cited.

    ## What it checks
    No log of a claimed series started later than the one the lock names, ran on the same device, and has no status.

    ## Why it matters
    A rerun that came out worse is the one most easily forgotten. What was measured last is what holds now.

    ## How to fix it
    Run `evidence update` and review what it prints. Where it refuses, because a claimed cell is lost in the newer log,
    measure again; or adopt the log by name and narrow or drop the claim; or give the log a status with a reason under
    `logs:` of a claims file.
    """
    for series in _pinned(corpus.book):
        decision = decide(corpus.book, series)
        waiting = pending(corpus.book, decision)
        refusals = [*decision.refusals, *([waiting] if waiting else [])]
        for refusal in refusals:
            if refusal.code == NOT_ADOPTED:
                yield at_series(corpus, series, refusal)


def at_series(corpus: Corpus, series: str, refusal: Refusal) -> Finding:
    """Return a refusal at the line of the lock that says what the series stands on."""
    found = corpus.book.lock
    line = found.lines.get(("series", series, "log"), 1) if found is not None else 1
    cited = corpus.cited.get(corpus.book.stand(series).log, ())
    return Finding(_at(corpus, line), refusal.message, refusal.fix, cited)


@corpus_rule("EV610", "lock-mismatch", waivable=False, turn=Turn.EARLY)
def lock_mismatch(corpus: Corpus) -> Iterator[Finding]:
    """The lock holds what is printed, line by line.

    ## What it checks
    `evidence.lock` names for each claimed series the log it stands on, with the record's digest, device and software.
    Every sentence, verdict and row of a table that follows from those logs stands in it as it is printed. Nothing else
    stands in it.

    ## Why it matters
    The lock is what a reviewer reads: no number on any page changes without a line of it. A line typed by hand would
    approve what no log says, and a record changed in its place would go unseen.

    ## How to fix it
    Run `evidence update`, read the lines it prints, and commit the file. Never edit it.
    """
    book = corpus.book
    if book.lock is None:
        if any(item_facts(book, id_) for id_ in book.ids):
            message = "there is no lock: nothing says which logs the numbers stand on"
            yield Finding(_at(corpus, 1), message, "run `evidence update`, review the lines, and commit the file")
        return
    for fault in book.lock.faults:
        yield Finding(_at(corpus, fault.line), fault.message, fault.fix)
    if not book.lock.is_void:
        yield from _differences(corpus, book.lock)


def _differences(corpus: Corpus, held: Lock) -> Iterator[Finding]:
    book = corpus.book
    by_owner: dict[tuple[Section, str], dict[Key, str]] = {}
    for key, text in held.facts.items():
        by_owner.setdefault(key[:2], {})[key] = text
    is_whole = not held.faults  # a line that could not be read is not also a missing one
    unsettled: set[str] = set()
    for series in book.series:
        own = by_owner.pop(("series", series), {})
        fault = _pin_fault(corpus, series, own, is_whole=is_whole)
        if fault is not None:
            unsettled.add(series)
            yield from fault
    for id_ in book.ids:
        section: Section = "tables" if id_ in book.claims.tables else "claims"
        own = by_owner.pop((section, id_), {})
        if book.shown(id_) is not None and unsettled.isdisjoint(book.series_of(id_)):
            wanted = item_facts(book, id_)
            if wanted != own:
                yield from _compared(corpus, held, own, wanted, is_whole=is_whole)
    if not any(code in ("EV620", "EV621") for code, _ in book.claims.findings):
        for (section, owner), own in by_owner.items():
            what = {"claims": "claim", "tables": "table", "series": "claimed series"}[section]
            at = _at(corpus, min(held.lines[key] for key in own))
            yield Finding(at, f"there is no {what} {owner!r}, and the lock has lines of it", _UPDATE)


def _pin_fault(corpus: Corpus, series: str, own: Mapping[Key, str], *, is_whole: bool) -> Iterator[Finding] | None:
    """Return what is wrong with the lines of a series; None if it stands, or if its log has a finding of its own."""
    book = corpus.book
    assert book.lock is not None
    key: Key = ("series", series, "log")
    if key not in own:
        message = f"series {series!r} is not in the lock: nothing says which log it stands on"
        return iter([Finding(_at(corpus, book.lock.place_of(key, "")), message, _UPDATE)] if is_whole else [])
    log = book.lock.pins[series]
    if log not in corpus.store:
        at = _at(corpus, book.lock.lines[key])
        return iter([Finding(at, f"series {series!r} stands on {log!r}, which is not in the store", _LOST)])
    try:
        wanted = series_facts(book, series)
    except EvidenceError:
        return iter(())
    return None if wanted == own else _compared(corpus, book.lock, own, wanted, is_whole=is_whole)


_LOST = "restore the log; or run `evidence update`, which adopts the newest there is"


def _compared(
    corpus: Corpus, held: Lock, own: Mapping[Key, str], wanted: Mapping[Key, str], *, is_whole: bool
) -> Iterator[Finding]:
    """Yield one finding a line; an item that has none at all is one."""
    if not own and is_whole:
        key, text = min(wanted.items())
        yield Finding(_at(corpus, held.place_of(key, text)), f"{key[0]}.{key[1]} is not in the lock", _UPDATE)
        return
    for key in sorted({**own, **wanted}):
        name = lock.line_of(key, "").removesuffix(' = ""')
        if key not in wanted:
            yield Finding(_at(corpus, held.lines[key]), f"{name} is printed nowhere", _UPDATE)
        elif key not in own:
            if is_whole:
                message = f"{name} is missing: the logs say {wanted[key]!r}"
                yield Finding(_at(corpus, held.place_of(key, wanted[key])), message, _UPDATE)
        elif own[key] != wanted[key]:
            message = f"{name} is {own[key]!r}, and the logs say {wanted[key]!r}"
            yield Finding(_at(corpus, held.lines[key]), message, _UPDATE)


def _at(corpus: Corpus, line: int) -> Location:
    return Location(corpus.name(corpus.project.claims / lock.FILE_NAME), line)


def _pinned(book: Book) -> Iterator[str]:
    """Yield the series that the lock names, if their logs can be read; the others have a finding of EV610 or EV0."""
    pins = book.lock.pins if book.lock is not None else {}
    for series in book.series:
        try:
            choice = book.choice(series) if series in pins else None
        except EvidenceError:
            continue
        if choice is not None and choice.pinned is not None:
            yield series


def device_refusals(corpus: Corpus) -> Iterator[Finding]:
    """Yield the logs that a series cannot move to because they ran on another device than it began on."""
    for series in _pinned(corpus.book):
        for refusal in decide(corpus.book, series).refusals:
            if refusal.code != NOT_ADOPTED:
                yield at_series(corpus, series, refusal)


@record_rule("EV616", "ambiguous-source")
def ambiguous_source(loaded: Loaded, corpus: Corpus) -> Iterator[Finding]:
    """Two logs of one source on one device and stack do not contradict each other.

    ## What it checks
    Of a claimed series: no other log without a status, of the same measured files, packages, driver and device, decides
    a comparison that is shown differently from the log it stands on. INCONCLUSIVE contradicts nothing.

    ## Why it matters
    One of the two is wrong, and the one that is shown is the one somebody liked. With different sources a changed
    verdict is news; with one source it is an instrument that cannot be trusted.

    ## How to fix it
    Find out which run was disturbed, and give its log a status with the reason; or measure again until they agree.
    """
    series, log = loaded.entry.series, loaded.entry.log
    if series not in corpus.pinned or log in corpus.book.log_status:
        return
    try:
        stands = corpus.book.log(series)
    except EvidenceError:
        return  # the log it stands on has its own finding
    if stands.entry.log == log or not _is_rival(loaded, stands):
        return
    shown = stands.once("shown", lambda: sorted(_shown(corpus.book, series, stands), key=str))
    apart = list(_contradictions(stands, loaded, shown, corpus.facts(loaded)))
    if apart:
        more = f" (and {len(apart) - 1} more)" if len(apart) > 1 else ""
        message = f"{log!r} has the source and stack of {stands.entry.log!r}, and {apart[0]}{more}"
        yield at_series(corpus, series, Refusal("EV616", log, message, ""))


def _is_rival(loaded: Loaded, stands: Loaded) -> bool:
    """Whether two logs measured the same code on the same stack and device."""
    identity = stands.once("identity", lambda: _identity(stands.record))
    return bool(stands.record.sources) and _identity(loaded.record) == identity


def _identity(record: Record) -> Hashable:
    """Return what was measured on what: equal for two sessions of one source."""
    sources: set[Hashable] = set()
    for source in record.sources:
        if isinstance(source, GitSource):
            sources.add(frozenset((one.path, one.sha256) for one in source.paths) or source.tree_sha256)
        else:
            sources.add((source.package, source.record_sha256))
    stacks = frozenset((stack.python, stack.runtime, stack.packages) for stack in record.stacks)
    drivers = frozenset(host.driver for host in record.hosts)
    return device_of(record), frozenset(sources), stacks, drivers


def _shown(book: Book, series: str, stands: Loaded) -> set[tuple[str, str, Quantity, str]]:
    """Return every comparison of a log that some item shows: baseline, candidate, quantity, workload."""
    found: set[tuple[str, str, Quantity, str]] = set()
    log = stands.entry.log
    for id_ in book.ids:
        built = book.shown(id_) if series in book.series_of(id_) else None
        if isinstance(built, Statement):
            for reading in book.readings(id_).values():
                if reading.is_comparison and reading.loaded.entry.log == log:
                    pair = (reading.baseline, reading.candidate, reading.quantity)
                    found |= {(*pair, workload.name) for workload in reading.workloads}
        elif isinstance(built, Built):
            metrics = {metric for of, metric in built.quantities if of == log}
            for of, baseline, candidate in built.pairs:
                cells = {workload for one, arm, workload in built.shown if (one, arm) == (of, candidate) and of == log}
                found |= {(baseline, candidate, Quantity(m), w) for m in metrics for w in cells}
    return found


def _contradictions(
    stands: Loaded, other: Loaded, shown: Iterable[tuple[str, str, Quantity, str]], facts: Facts
) -> Iterator[str]:
    for baseline, candidate, quantity, workload in shown:
        one = _verdict(stands, baseline, candidate, quantity, workload)
        if one is None or _leaning(facts, baseline, candidate, quantity, workload) is one.verdict:
            continue
        two = _verdict(other, baseline, candidate, quantity, workload)
        if two is not None and one.verdict is not two.verdict:
            said, instead = (f"{side.word} ({ratio_text(side.ratio)})" for side in (two, one) if side.ratio is not None)
            yield f"{quantity} of {candidate!r} against {baseline!r} on {workload} is {said}, not {instead}"


def _leaning(facts: Facts, baseline: str, candidate: str, quantity: Quantity, workload: str) -> Verdict | None:
    """Return the only verdict that a comparison can have if it is decided, at the cost of two means."""
    try:
        before, after = (facts.by_process(arm, workload, quantity) for arm in (baseline, candidate))
        lower_is_better = unit_of(facts.record, quantity)[1] == "lower"
    except (EvidenceError, KeyError):
        return None
    return statistics.leaning(before, after, lower_is_better)


def _verdict(loaded: Loaded, baseline: str, candidate: str, quantity: Quantity, workload: str) -> Comparison | None:
    """Return a comparison that is decided; None if it is not, or its log does not have it."""
    try:
        found = compared(loaded, baseline, candidate, quantity, workload)
    except (EvidenceError, KeyError):
        return None
    return found if found.verdict in _DECIDED and found.ratio is not None and not found.is_identical else None


@corpus_rule("EV617", "single-session", Severity.WARNING)
def single_session(corpus: Corpus) -> Iterator[Finding]:
    """What is called confirmed was measured more than once.

    ## What it checks
    A statement that says confirmed, reproduced or replicated stands on a series with a second log, without a status, on
    the same device, in which every comparison of its main reading has the same verdict.

    ## Why it matters
    Processes of one session share a machine's mood: another day may differ by more than the interval.

    ## How to fix it
    Measure a second session, or leave the word out.
    """
    for id_, placed in corpus.book.claims.claims.items():
        word = _CONFIRMED.search(placed.item.statement)
        if word is None or corpus.book.shown(id_) is None:
            continue
        main = corpus.book.readings(id_)[""]
        if not any(_agrees(main, other) for other in _sessions(corpus, main.loaded)):
            message = f"{id_}: {word[0]!r} needs two sessions that agree, and {main.loaded.entry.series} has one"
            yield Finding(placed.at("statement"), message)


def _sessions(corpus: Corpus, stands: Loaded) -> Iterator[Loaded]:
    for entry in corpus.store.series_of(stands.entry.series):
        if entry.log == stands.entry.log or entry.log in corpus.book.log_status:
            continue
        try:
            other = corpus.store.load(entry.log)
        except EvidenceError:
            continue
        if device_of(other.record) == device_of(stands.record):
            yield other


def _agrees(main: Reading, other: Loaded) -> bool:
    """Whether another session decides every comparison of a reading as the one it stands on does."""
    for one in main.comparisons:
        found = _verdict(other, main.baseline, main.candidate, main.quantity, one.workload)
        if found is None or found.verdict is not one.verdict:
            return False
    return True
