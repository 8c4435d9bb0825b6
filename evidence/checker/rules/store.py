"""Owns EV0: whether the store can be read, is what its ledger says, and only ever grows."""

from __future__ import annotations

import collections
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from evidence import ledger
from evidence.checker.corpus import Corpus, Fault
from evidence.checker.registry import corpus_rule, load_rule, record_rule
from evidence.diagnostics import Finding, Location, Severity
from evidence.errors import LedgerError, UnknownVersionError
from evidence.schema import log_date, series
from evidence.store import MAXIMUM_LOG_BYTES, RECORD_NAME, Loaded, Problem

_LEAST_SHAPES = 2


@load_rule("EV001", "unreadable-record")
def unreadable_record(problem: Problem) -> bool:
    """A file that should be a record is not one.

    ## What it checks
    Every `record.json` below benchmark_logs is read as strict UTF-8 JSON, without duplicate keys, and against the
    record's models: no unknown key, no missing one, every name resolved, every pair of arm and workload present.
    Links in the store are refused too. A fault in a field that another rule owns (an environment, a gate) is
    reported under that rule. Of a record that does not load nothing else is said.

    ## Why it matters
    What cannot be read cannot back a claim, and a file skipped in silence looks like a clean one.

    ## How to fix it
    Restore the file from version control, or rerun the benchmark; records are never edited by hand.
    """
    del problem
    return True


@load_rule("EV002", "unknown-schema-version")
def unknown_schema_version(problem: Problem) -> bool:
    """A record's schema version is not one that this package reads.

    ## What it checks
    `schema_version` is a whole number between 1 and the version this package writes. Every older version has a
    migration, so an old record keeps loading.

    ## Why it matters
    A newer record may hold a field that changes what its numbers mean; reading it as an older one would drop that.

    ## How to fix it
    Upgrade perf-evidence to a release that knows the version.
    """
    return isinstance(problem.error, UnknownVersionError)


@record_rule("EV003", "path-mismatch", waivable=False, stands=True)
def path_mismatch(loaded: Loaded, corpus: Corpus) -> Iterator[Finding]:
    """A record lies under another path, or another date, than the one it was written for.

    ## What it checks
    The directory below benchmark_logs is the record's own `log`, and the date in it is the day (UTC) of `started_at`.

    ## Why it matters
    A log that was moved or renamed after the fact can pass for another run: for a newer one, or one of another series.

    ## How to fix it
    Move the log back to the path in its `log` field; to publish a new run, run the benchmark again.
    """
    record, log = loaded.record, loaded.entry.log
    if record.log != log:
        yield from corpus.fault(loaded, [Fault(f"lies at {log}, but was written as {record.log}", ("log",))])
    elif (day := record.started_at.date().isoformat().replace("-", "")) != log_date(log):
        message = f"is named for {log_date(log)}, but the run started on {day} (UTC)"
        yield from corpus.fault(loaded, [Fault(message, ("started_at",))])


@corpus_rule("EV004", "duplicate-record", waivable=False)
def duplicate_record(corpus: Corpus) -> Iterator[Finding]:
    """Two logs hold the same samples.

    ## What it checks
    No column of six or more samples that are not all equal stands in two logs. Samples of separate runs never agree
    digit for digit, so this finds a copy whatever was renamed in it: an arm, a date, a device. Of imported aggregates
    the list of a cell's values is compared in the same way. No column stands in one log twice, and no log has most of
    its columns from another in another order or multiplied by a factor.

    ## Why it matters
    A copy under another name passes for a second session, or for a measurement of something that never ran.

    ## How to fix it
    Remove the log that is the copy: the one whose path does not agree with how it was measured.
    """
    memory = corpus.memory
    if not memory.repeated and _all_differ(memory.prints) and _all_differ(memory.shapes):
        return
    first_with: dict[int, str] = {}
    shaped: dict[int, list[str]] = {}
    # By date, so that of a log and its copy the one that came later is named.
    for log, prints in sorted(corpus.memory.prints.items(), key=lambda one: (log_date(one[0]), one[0])):
        shared = [other for one in prints if (other := first_with.setdefault(one, log)) != log]
        shapes = corpus.memory.shapes.get(log, ())
        if shared:
            message = f"{len(shared)} of {len(prints)} columns of values are those of {min(shared)}, digit for digit"
            yield _copy(corpus, log, message)
        elif (repeated := corpus.memory.repeated.get(log)) is not None:
            yield _copy(corpus, log, f"{repeated} columns of values stand in it twice, digit for digit")
        elif other := _reshaped(shapes, shaped):
            message = f"most columns of values are those of {other} in another order, or multiplied by a factor"
            yield _copy(corpus, log, message)
        for one in shapes:
            shaped.setdefault(one, []).append(log)


def _all_differ(prints: Mapping[str, Collection[int]]) -> bool:
    return len(set().union(*prints.values())) == sum(map(len, prints.values()))


def _copy(corpus: Corpus, log: str, message: str) -> Finding:
    file = f"{log}/{RECORD_NAME}"
    return Finding(_place(corpus, file), message, "", _cited(corpus, file))


def _reshaped(shapes: Collection[int], shaped: Mapping[int, list[str]]) -> str:
    """Return a log that has most of these columns but for order and scale; empty if there is none."""
    counted = collections.Counter(other for one in shapes for other in shaped.get(one, ()))
    other, count = counted.most_common(1)[0] if counted else ("", 0)
    return other if 2 * count > len(shapes) and count >= _LEAST_SHAPES else ""


@corpus_rule("EV005", "ledger-mismatch", waivable=False)
def ledger_mismatch(corpus: Corpus) -> Iterator[Finding]:
    """A file of the store is not what SHA256SUMS says it is.

    ## What it checks
    Every file below benchmark_logs is listed in SHA256SUMS with the digest of its bytes, and every listed file is
    there. `sha256sum -c SHA256SUMS` says the same. A file that a record lists and that is missing is EV007's finding,
    and of a record that does not load the reason is said instead.

    ## Why it matters
    The ledger is what makes raw evidence raw: an edit of one digit changes a line that version control shows.

    ## How to fix it
    Restore the file from version control; a new log gets its lines when it is saved, never by hand.
    """
    path = corpus.store.root / ledger.FILE_NAME
    name = corpus.name(path)
    try:
        entries = ledger.read(corpus.store.root)
    except LedgerError as error:
        yield Finding(Location(name, error.line), f"cannot be read: {error.message}", error.fix)
        return
    files = corpus.store.files
    if files and not path.is_file():
        message = f"there is no {ledger.FILE_NAME}, so nothing shows that {len(files)} files are as they were written"
        yield Finding(Location(name), message, "restore it from version control")
        return
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for file in files:
        if file not in entries:
            yield Finding(
                _place(corpus, file),
                f"is not listed in {ledger.FILE_NAME}",
                "save logs with the runner",
                _cited(corpus, file),
            )
        elif (digest := _digest(corpus, file)) != entries[file]:
            message = f"has the sha256 {digest}, {ledger.FILE_NAME} says {entries[file]}"
            if _log_of(file) not in corpus.memory.unread:
                yield Finding(_place(corpus, file), message, "", _cited(corpus, file))
    for file in sorted(entries.keys() - set(files) - corpus.memory.artifacts.keys()):
        yield Finding(Location(name, ledger.line_of(text, file)), f"lists {file}, which is not there")


def _digest(corpus: Corpus, file: str) -> str | None:
    log, _, name = file.rpartition("/")
    if name == RECORD_NAME and log in corpus.memory.seen:
        return corpus.memory.seen[log]
    return corpus.digest(f"{corpus.store.root}/{file}")


def _log_of(file: str) -> str:
    return "/".join(file.split("/")[:2])


def _place(corpus: Corpus, file: str) -> Location:
    return Location(corpus.name(corpus.store.root / file))


def _cited(corpus: Corpus, file: str) -> tuple[Location, ...]:
    return corpus.cited.get(_log_of(file), ())


@corpus_rule("EV006", "ledger-rewritten", waivable=False)
def ledger_rewritten(corpus: Corpus) -> Iterator[Finding]:
    """A line that SHA256SUMS had has changed or gone.

    ## What it checks
    Every line that SHA256SUMS holds in the last commit, in the commit where this branch left its base (`--base`, or
    `base` in the settings), or held in any commit before, stands in it unchanged. A base that git cannot find is a
    finding, not a pass. Outside of version control there is nothing to compare with.

    ## Why it matters
    Digests protect files only as long as nobody rewrites the digests: a changed log with a matching new line would
    pass every other check.

    ## How to fix it
    Restore the line and the file it lists; publish a correction as a new log whose record supersedes the old one.
    """
    path = corpus.store.root / ledger.FILE_NAME
    name = corpus.name(path)
    repository = corpus.repository
    if repository is None:
        if corpus.base is not None:
            yield Finding(Location(name), f"could not be compared with {corpus.base}: git cannot be asked")
        return
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    now = _entries(text)
    if now is None:
        return
    commits = {"the last commit": corpus.head}
    if corpus.base is not None:
        head, base = commits["the last commit"], repository.resolve(corpus.base)
        parted = repository.merge_base(head, base) if head and base else None
        if parted is None:
            message = f"could not be compared with {corpus.base}: no common commit is in this clone"
            yield Finding(Location(name), message, "fetch the whole history of both branches")
        commits[corpus.base] = parted
    missing: dict[str, str] = {}
    for where, commit in commits.items():
        for file, digest in (_entries(_at(corpus, commit, path)) or {}).items():
            if now.get(file) != digest:
                missing.setdefault(file, f"{'had another digest' if file in now else 'was listed'} in {where}")
    for line in corpus.unlisted:
        for file, digest in (_entries(line) or {}).items():
            if now.get(file) != digest:
                missing.setdefault(
                    file, f"{'had another digest' if file in now else 'was listed'} in an earlier commit"
                )
    for file, how in sorted(missing.items()):
        yield Finding(Location(name, ledger.line_of(text, file)), f"{file} {how}", "", _cited(corpus, file))


def _entries(text: str) -> dict[str, str] | None:
    """Read ledger text; None if it is malformed, which is EV005's finding."""
    try:
        return ledger.parse(text)
    except LedgerError:
        return None


def _at(corpus: Corpus, commit: str | None, path: Path) -> str:
    if commit is None or corpus.repository is None:
        return ""
    root = corpus.repository.root.resolve()
    data = corpus.repository.file_at(commit, path.resolve().relative_to(root).as_posix())
    return (data or b"").decode(errors="replace")


@record_rule("EV007", "missing-artifact", waivable=False, stands=True)
def missing_artifact(loaded: Loaded, corpus: Corpus) -> Iterable[Finding]:
    """A file that a record lists is not beside it, or is another one.

    ## What it checks
    Each of the record's `artifacts` lies in its directory with the listed size. A file that is there with other bytes
    than its record lists is reported here if the ledger agrees with the file, else under EV005.

    ## Why it matters
    A record pins its gate output, profiles and timelines by digest: one that is gone can no longer be looked at.

    ## How to fix it
    Restore the file from version control.
    """
    faults = []
    for index, artifact in enumerate(loaded.record.artifacts):
        digest = corpus.digest(str(loaded.entry.path.parent / artifact.path))
        if digest is None:
            faults.append(Fault(f"{artifact.path} is listed and not there", ("artifacts", index, "path")))
        elif digest != artifact.sha256 and _is_vouched_for(corpus, f"{loaded.entry.log}/{artifact.path}", digest):
            faults.append(Fault(f"{artifact.path} has other bytes than listed", ("artifacts", index, "sha256")))
    return corpus.fault(loaded, faults)


def _is_vouched_for(corpus: Corpus, path: str, digest: str) -> bool:
    return corpus.ledger.get(path, digest) == digest


@corpus_rule("EV008", "oversized-log", waivable=False)
def oversized_log(corpus: Corpus) -> Iterator[Finding]:
    """The files of one log are larger than 5 MiB together.

    ## What it checks
    The sum of the sizes of a log's files.

    ## Why it matters
    Logs are kept for ever and cloned by everybody; big ones drive projects to delete evidence later.

    ## How to fix it
    Keep the timelines of the first processes of each cell and name the rest under `unavailable`; keep traces as
    parsed summaries with the digest of the original.
    """
    sizes: dict[str, int] = {}
    for file in corpus.store.files:
        log = _log_of(file)
        sizes[log] = sizes.get(log, 0) + os.stat(f"{corpus.store.root}/{file}").st_size  # noqa: PTH116 - hot
    for log, size in sizes.items():
        if size > MAXIMUM_LOG_BYTES:
            message = f"{log} holds {size / 2**20:.1f} MiB, the most is {MAXIMUM_LOG_BYTES // 2**20} MiB"
            yield Finding(_place(corpus, f"{log}/{RECORD_NAME}"), message)


@corpus_rule("EV009", "uncited-log", Severity.WARNING, waivable=False)
def uncited_log(corpus: Corpus) -> Iterator[Finding]:
    """No page prints anything from a series of logs.

    ## What it checks
    Each series has a log that a claim, table or environment call on some page reads. Only the newest log of a series
    is named: older ones stay in the store when a series is rerun. Logs that a later one of their series supersedes are
    left out, and so are logs with a status, unless no log of the series is left: then a table shows them, under the
    banner that says why.

    ## Why it matters
    A run that went badly and is shown nowhere is how a selection of results comes about.

    ## How to fix it
    Show the log in a table, also if it shows no gain; or say in a claims file under `logs:` why it is not to be cited.
    """
    cited = {entry.series for entry in corpus.store.entries if entry.log in corpus.cited}
    cited |= {series(name) for call in corpus.dormant for name in corpus.series_of(call)}
    passed_over = corpus.memory.superseded | corpus.memory.unread
    in_force = {entry.series for entry in corpus.store.entries if not corpus.is_set_aside(entry.log)}
    for entry in corpus.store.entries:
        known = entry.log in passed_over or (corpus.is_set_aside(entry.log) and entry.series in in_force)
        if entry.series not in cited and entry.log in corpus.newest and not known:
            yield Finding(Location(corpus.name(entry.path)), f"no page shows {entry.series}")
