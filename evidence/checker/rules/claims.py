"""Owns family EV6: a claim says what its logs say, no more and no less, and hides no row beside it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from evidence.book import Unrenderable
from evidence.checker.corpus import Corpus
from evidence.checker.registry import Turn, book_rule, corpus_rule
from evidence.checker.rules.lock import device_refusals
from evidence.diagnostics import Finding, Location
from evidence.errors import UnknownNameError
from evidence.evaluation import Reading, compared, numbers_of
from evidence.readings import Quantity
from evidence.schema import Metric
from evidence.sentences import ratio_text
from evidence.statistics import Verdict, leaning
from evidence.store import Loaded
from evidence.tables.layout import CellKey

SENTENCES = ("claim", "says", "value")


@book_rule("EV601", "unbacked-claim", waivable=False)
def unbacked_claim() -> None:
    """A claim or table names a series, metric, arm, axis and value that its log has.

    ## What it checks
    Every name in a claims file refers to something stored, and the cells it selects hold numbers.

    ## Why it matters
    A number without a record behind it is a story.

    ## How to fix it
    Correct the name; the message lists what the log has and names the nearest. If nothing was measured, measure it
    first.
    """


@book_rule("EV602", "contradicted-claim", waivable=False)
def contradicted_claim() -> None:
    """A claim's `expect` is what the log says.

    ## What it checks
    The verdicts of all compared cells, computed from the samples, are those the claim expects: one word for every cell,
    or an exact tally.

    ## Why it matters
    A sentence that was true of the last log may be false of this one.

    ## How to fix it
    Reread the statement. If the log is right, write the verdict it gives; if it is not, find out why before measuring
    again.
    """


@book_rule("EV604", "over-scoped")
def over_scoped() -> None:
    """A statement claims no more than was measured.

    ## What it checks
    No "always", "never", "any", "every" or "universally"; "up to" stands before a maximum; a maximum never stands
    alone.

    ## Why it matters
    A single run on one device says nothing universal, and a best case by itself says nothing typical.

    ## How to fix it
    Write scope as fields (`{device}`, `{batch}`), and put `.range`, `.geomean` or `{tally}` beside a `.max`.
    """


@dataclass
class _Shown:
    """What one page shows of its logs."""

    first: dict[str, Location] = field(default_factory=dict)
    """Log -> the first table call that shows it."""
    tables: dict[str, str] = field(default_factory=dict)
    """Log -> id of the first table that shows it."""
    cells: set[CellKey] = field(default_factory=set)
    quantities: set[tuple[str, str]] = field(default_factory=set)
    pairs: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """(log, baseline, candidate) -> the item that shows it."""
    claims: dict[str, Location] = field(default_factory=dict)


def _by_page(corpus: Corpus) -> Iterator[tuple[str, _Shown]]:
    """Yield what each page shows; items that cannot be shown are findings of their own.

    A page with a table that cannot be shown is left out: what that table would have shown is not known yet. A claim
    outside the site says itself of how many cells it speaks, and leads to its record.
    """
    site = {page.path for page in corpus.pages}
    for path, calls in corpus.surfaces:
        shown = _Shown()
        is_whole = True
        for call in calls:
            try:
                if call.macro == "table":
                    _add_table(corpus, call.subject, call.at, shown)
                elif call.macro in SENTENCES:
                    corpus.book.statement(call.subject)
                    if path in site:
                        shown.claims.setdefault(call.subject, call.at)
                    _add_readings(corpus.book.readings(call.subject).values(), call.subject, shown)
            except (UnknownNameError, Unrenderable):
                is_whole = is_whole and call.macro != "table"
        if is_whole:
            yield path, shown


def _add_table(corpus: Corpus, id_: str, at: Location, shown: _Shown) -> None:
    built = corpus.book.built_table(id_)
    for evidence in built.view.evidence:
        shown.first.setdefault(evidence.log, at)
        shown.tables.setdefault(evidence.log, id_)
    shown.cells |= built.shown | built.omitted
    shown.quantities |= built.quantities
    for pair in built.pairs:
        shown.pairs.setdefault(pair, id_)


def _add_readings(readings: Iterable[Reading], id_: str, shown: _Shown) -> None:
    for reading in readings:
        log = reading.loaded.entry.log
        shown.quantities.add((log, reading.quantity.metric))
        if reading.is_comparison:
            shown.pairs.setdefault((log, reading.baseline, reading.candidate), id_)


@corpus_rule("EV605", "hidden-rows", turn=Turn.EARLY)
def hidden_rows(corpus: Corpus) -> Iterator[Finding]:
    """A page that shows a log shows all its cells, or names what it leaves out and why.

    ## What it checks
    Over all tables of a page: every cell of every log shown is in one of them or under `omit` with a reason. Controls
    are the noise floor, printed below the table, and need no row.

    ## Why it matters
    A table cut to its winners is the oldest lie of benchmarking, and it needs no wrong number.

    ## How to fix it
    Widen `where`, add a table for the rest, or name the cells under `omit` with the reason.
    """
    for path, shown in _by_page(corpus):
        for log, at in shown.first.items():
            record = corpus.store.load(log).record
            arms = [arm.name for arm in record.arms if arm.role != "control"]
            every = [(log, arm, workload.name) for workload in record.workloads for arm in arms]
            hidden = [key for key in every if key not in shown.cells]
            if hidden:
                names = ", ".join(f"{arm}/{workload}" for _, arm, workload in hidden[:4]) + (
                    ", …" if len(hidden) > 4 else ""
                )
                share = f"{len(hidden)} of {len(every)} cells of {log!r}"
                message = f"{shown.tables[log]}: {share} are in no table of {path}: {names}"
                yield Finding(corpus.book.place(shown.tables[log]), message, cited=(at,))


@corpus_rule("EV606", "hidden-regression", turn=Turn.EARLY)
def hidden_regression(corpus: Corpus) -> Iterator[Finding]:
    """Whatever got worse beyond the noise is told where the gain is told.

    ## What it checks
    For every pair of arms a page compares, each stored metric with a direction that is WORSE is a column of that log on
    the page, or a reading of one of its claims. A claim over part of a log has a table of that log on the page.

    ## Why it matters
    A headline of less time whose file also says more memory, or fewer equal tokens, is half a result.

    ## How to fix it
    Add the metric as a column, or read it under `also`; put a table of the series beside a claim that narrows it.
    """
    for path, shown in _by_page(corpus):
        for (log, baseline, candidate), id_ in shown.pairs.items():
            loaded = corpus.store.load(log)
            untold = [metric for metric in loaded.record.metrics if (log, metric.name) not in shown.quantities]
            for metric, workload, text in _worse(loaded, untold, baseline, candidate):
                worse = f"{metric} of {candidate!r} is worse than {baseline!r} ({text} on {workload})"
                message = f"{id_}: {path} does not tell that {worse}"
                yield Finding(corpus.book.place(id_), message, f"add the column {metric}, or read it under `also`")
        for id_, at in shown.claims.items():
            for reading in corpus.book.readings(id_).values():
                log, total = reading.loaded.entry.log, len(reading.loaded.record.workloads)
                if len(reading.workloads) < total and log not in shown.first:
                    share = f"{len(reading.workloads)} of {total} cells of {log!r}"
                    message = f"{id_}: claims {share}, and {path} has no table of it"
                    yield Finding(at, message, "call a table of the series on the page")
                    break


def _worse(loaded: Loaded, metrics: Iterable[Metric], baseline: str, candidate: str) -> Iterator[tuple[str, str, str]]:
    """Yield each of these metrics that is worse, with the first cell where it is and by how much.

    Two means tell of most that it cannot be; the others are compared.
    """
    for metric in metrics:
        if metric.better == "neither":
            continue
        quantity, lower_is_better = Quantity(metric.name), metric.better == "lower"
        for workload in loaded.record.workloads:
            before, after = (
                numbers_of(loaded, loaded.cell(arm, workload.name), quantity) for arm in (baseline, candidate)
            )
            if leaning(before, after, lower_is_better) not in (Verdict.WORSE, None):
                continue
            one = compared(loaded, baseline, candidate, quantity, workload.name)
            if one.verdict is Verdict.WORSE and one.ratio is not None:
                yield metric.name, workload.name, ratio_text(one.ratio)
                break


@corpus_rule("EV607", "mixed-devices")
def mixed_devices(corpus: Corpus) -> Iterator[Finding]:
    """Absolute numbers of two devices never stand in one table, and a series stays on one device.

    ## What it checks
    A table over logs of several devices has `device` in its rows and only ratio, change and peak columns. No log of a
    claimed series, without a status, ran on another device than the first one did.

    ## Why it matters
    One format gives opposite verdicts on two devices; side by side, absolutes of both are read as a race. A series that
    moves to a faster device shows a gain that nobody made.

    ## How to fix it
    Write a table a device, or show ratios by device. Give the runs on each device a series of their own, and a log that
    has the wrong name a status.
    """
    yield from device_refusals(corpus)


@book_rule("EV608", "mixed-stacks")
def mixed_stacks() -> None:
    """Absolute numbers of two software stacks never stand in one table.

    ## What it checks
    The logs of a table with value columns ran on one set of package versions.

    ## Why it matters
    A framework's release changes times more than most optimisations do.

    ## How to fix it
    Rerun the older log on the newer stack, or write a table a stack.
    """


@corpus_rule("EV611", "cites-superseded")
def cites_superseded(corpus: Corpus) -> Iterator[Finding]:
    """A claim that another has replaced is not called.

    ## What it checks
    No page calls a claim or table with `superseded_by`.

    ## Why it matters
    An old number that stays on one page contradicts the new one on the next.

    ## How to fix it
    Call the claim that replaced it; the message names it.
    """
    for call in corpus.uses:
        status = corpus.book.status(call.subject)
        if status is not None and status.superseded_by is not None and corpus.book.shown(call.subject) is not None:
            yield Finding(call.at, f"{call.subject} is superseded", f"call {status.superseded_by!r} instead")


@book_rule("EV612", "cites-do-not-cite", waivable=False)
def cites_do_not_cite() -> None:
    """No sentence reads evidence that is marked as not to be cited.

    ## What it checks
    No claim has the status `do_not_cite`, and no reading of one stands on a log that has it, or on a cell of a table
    that has it. A table may show such evidence, under a banner.

    ## Why it matters
    A section that warns of its own numbers and then concludes from them is read for the conclusion.

    ## How to fix it
    Drop the sentence, or measure again and claim the new log.
    """


@book_rule("EV613", "missing-mechanism")
def missing_mechanism() -> None:
    """A claim of better or worse says why, with what shows it, or says that it does not know.

    ## What it checks
    Claims with a cell that is BETTER or WORSE have a `mechanism`: a text with evidence that the log holds (a profile,
    an artifact, a roofline reading, another reading of the claim), or `unknown` with what was tried.

    ## Why it matters
    An effect nobody can explain is often an effect of something else.

    ## How to fix it
    Write `mechanism: {text: …, evidence: …}`, or `mechanism: {unknown: …}`.
    """


@book_rule("EV614", "missing-limitations")
def missing_limitations() -> None:
    """A claim says what it does not cover.

    ## What it checks
    The log, the claim, or what can be computed of both states at least one limitation.

    ## Why it matters
    A reader generalises whatever is not fenced.

    ## How to fix it
    Pass `--limitation` to the runner, or write `limitations:` at the claim.
    """


@corpus_rule("EV615", "unused-claim", turn=Turn.EARLY)
def unused_claim(corpus: Corpus) -> Iterator[Finding]:
    """Every claim and table stands on a page.

    ## What it checks
    Each id of the claims files is called somewhere, or is superseded.

    ## Why it matters
    A claim that no page shows is kept true by nobody reading it, and hides that its section went.

    ## How to fix it
    Call it on its page, or remove it.
    """
    called = {corpus.book.meant(call.subject) for call in itertools.chain(corpus.uses, corpus.dormant)}
    for id_ in corpus.book.ids:
        status = corpus.book.status(id_)
        if id_ not in called and (status is None or status.superseded_by is None):
            yield Finding(corpus.book.place(id_), f"{id_} is called on no page")


@book_rule("EV620", "malformed-claim", waivable=False)
def malformed_claim() -> None:
    """A claims file is YAML of the documented form.

    ## What it checks
    The file parses, holds something and has no key twice; every item has the keys and values the format allows; an axis
    that varies is in rows, columns or `where`, and in one place only; a log named with its date has a status that says
    why, and a historical item names its log with its date.

    While a file cannot be read, that is all that is reported, and the check ends with 2: what calls its items, and what
    the lock holds of them, would be findings too, and none of their own. An item that is malformed hides the same. What
    a merge key or an alias brings in is told where it is written; if only the item that merges it is wrong, at the
    merge.

    ## Why it matters
    A key that is misspelt and ignored is a condition that does not hold.

    ## How to fix it
    Mend the line named; the message says what is allowed and what is nearest.
    """


@book_rule("EV621", "duplicate-id", waivable=False)
def duplicate_id() -> None:
    """Claims and tables of all files share one namespace.

    ## What it checks
    No id stands twice.

    ## Why it matters
    An id is also an anchor; two of one name would show one and check the other.

    ## How to fix it
    Rename one of the two places named.
    """


@book_rule("EV622", "unknown-field", waivable=False)
def unknown_field() -> None:
    """A statement's fields mean something, and it types no number or device by hand.

    ## What it checks
    Every `{field}` is a quantity, a reading or a fact of the log, and asks one number of one cell; the text between has
    no digits that stand alone and no device name. The texts of a table (title, headings, notes, reasons) take facts
    such as `{device}`, and no numbers. Reasons of waivers, and of the status of a log, are plain words.

    ## Why it matters
    A digit typed into a sentence is not held to anything.

    ## How to fix it
    Write the field the message names.
    """
