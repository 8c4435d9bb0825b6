"""Owns the rule of age: what a page prints was measured within the days and commits that the project allows."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.checker.ages import Limits
from evidence.checker.corpus import Corpus
from evidence.checker.registry import corpus_rule
from evidence.diagnostics import Finding
from evidence.errors import EvidenceError
from evidence.repository import RepositoryError
from evidence.schema import GitSource
from evidence.store import Loaded


@corpus_rule("EV116", "too-old")
def too_old(corpus: Corpus) -> Iterator[Finding]:
    """A log that a page prints from is not older than the project's policy allows.

    ## What it checks
    Nothing, until `maximum_age` in the settings says how many days a measurement holds, or how many commits on the
    measured paths. Then every log that a page, README or figure prints from: days from the run to today, and commits
    since the measured one that touched a measured path. `classes` give other limits to series of one beginning
    (`kernels/`) or to logs of one status; what is kept as historical has none unless a class gives it one. Where
    commits are limited, the limit stands in the place of EV108: a change within it is allowed.

    ## Why it matters
    Drivers, compilers and the code around a kernel move on; a number nobody has seen again for a year is a memory.

    ## How to fix it
    Run the benchmark again: `evidence update` adopts the new log. Or mark the item `historical`, with the reason.
    """
    ages = corpus.settings.ages
    if ages.is_empty:
        return
    for log, places in sorted(corpus.cited.items()):
        try:
            loaded = corpus.store.load(log)
        except EvidenceError:
            continue  # the check reports the cause where it lies
        statuses = [corpus.book.log_status.get(log) or one for one in corpus.statuses_of(log)]
        for status in statuses:
            message = _exceeded(corpus, loaded, ages.of(loaded.entry.series, status))
            if message:
                yield Finding(corpus.place(loaded, "started_at"), message, cited=places)
                break


def _exceeded(corpus: Corpus, loaded: Loaded, limits: Limits) -> str:
    """Say which limit a log is over; empty if none."""
    days = (corpus.options.today - loaded.record.started_at.date()).days
    if limits.days is not None and days > limits.days:
        return f"{loaded.entry.log} was measured {days} days ago, and the policy allows {limits.days}"
    if limits.commits is None or corpus.repository is None:
        return ""
    for _, source in corpus.trees_here(loaded.record):
        commits = _commits(corpus, source)
        if commits > limits.commits:
            message = f"{commits} commits have touched what {loaded.entry.log} measured, and the policy allows"
            return f"{message} {limits.commits}"
    return ""


def _commits(corpus: Corpus, source: GitSource) -> int:
    """How many commits since the measured one touched what was measured; none where git cannot tell, as EV106 says."""
    if corpus.repository is None or source.commit is None or not source.paths:
        return 0
    try:
        return corpus.repository.commits_since(source.commit, [path.path for path in source.paths])
    except RepositoryError:
        return 0
