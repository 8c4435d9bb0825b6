"""Owns what of family EV7 concerns words: what was measured is not typed, compared or concluded without a record."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from evidence.book import Unrenderable
from evidence.checker.corpus import Corpus
from evidence.checker.registry import Turn, corpus_rule
from evidence.diagnostics import Finding, Location, Severity
from evidence.errors import EvidenceError
from evidence.evaluation import value_of
from evidence.pages import front_matter, masks, sources, words
from evidence.pages.calls import Call
from evidence.pages.numbers import Typed, typed_numbers
from evidence.pages.results import spoken_code, typed
from evidence.pages.sections import Section, feature, sections
from evidence.readings import Quantity, device_of
from evidence.schema import is_same_workload
from evidence.statistics import Interval, Verdict
from evidence.tables import Built
from evidence.views import Ratio, Statement

SHOWING = frozenset({"claim", "says", "value", "diagnostic", "table", "chart", "roofline", "figure", "reproduce"})
"""Macros that show what a record holds."""
_RELEASED = re.compile(r"(?:readme|change|release|history|news)", re.IGNORECASE)
_RESULTS = re.compile(r"(?:results?|benchmarks?|performance|perf|speed)(?:$|[_-])", re.IGNORECASE)
"""Files beside the site that are named for their numbers."""
_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*", re.MULTILINE)
_APART = 0.05


class _Text(NamedTuple):
    """A page of the site or a document outside it, as far as its words go."""

    path: str
    offset: int
    """Lines before the body."""
    body: str
    prose: str
    shown: tuple[tuple[int, str], ...]
    """Line of the body and id of everything that is rendered from a record."""
    is_strict: bool
    """A number beside claims, in a README or in release notes is an error; elsewhere it is a warning."""
    is_page: bool

    def at(self, line: int) -> Location:
        return Location(self.path, line + self.offset)

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(id_ for _, id_ in self.shown)


def _texts(corpus: Corpus) -> Iterator[_Text]:
    held = {one.document.name: one for one in corpus.documents.held}
    for page in corpus.pages:
        body, prose = page.front.body, page.prose
        calls = [call for call in page.calls if call.macro in SHOWING]
        shown = [(call.at.line - page.front.offset, call.subject) for call in calls]
        if document := held.pop(page.path, None):
            body = front_matter.split(document.prose).body
            prose = masks.prose(body, corpus.project.macros.markers)
            shown += [(use.at.line - page.front.offset, use.id) for use in document.uses]
        is_strict = bool(shown) or _RELEASED.match(PurePosixPath(page.path).stem) is not None
        yield _Text(page.path, page.front.offset, body, prose, tuple(shown), is_strict, is_page=True)
    for document in held.values():
        body = document.prose
        prose = masks.prose(body, corpus.project.macros.markers)
        shown = [(use.at.line, use.id) for use in document.uses]
        if shown or _RELEASED.match(document.document.path.stem) or _RESULTS.match(document.document.path.stem):
            yield _Text(document.document.name, 0, body, prose, tuple(shown), is_strict=True, is_page=False)


@corpus_rule("EV701", "bare-number", turn=Turn.EARLY)
def bare_number(corpus: Corpus) -> Iterator[Finding]:
    """A number that looks measured is rendered from a record, or says where it is from.

    ## What it checks
    The text of every page, README, change log and file of results for typed ratios (`1.8×`, "twice as fast"),
    percentages that compare, rates, bandwidths, FLOP rates, times, tables that hold measurements, and blocks of pasted
    output: the first of each line. Beside claims, in a README and in release notes it is an error, elsewhere a warning.
    `ev.external` must name a source that can be found, an address or a citation, and `ev.spec` a device.

    Read too are what the page shows of its front matter, titles and texts in mkdocs.yml, HTML files beside the pages,
    texts that only look like code (`1.8x faster` in backticks beside claims) and those of attributes such as `title`.
    Code, comments, mathematics, addresses of links and what `evidence sync` fills are not. Left alone by the words
    around them are shapes, counts of devices, versions, dates, sizes, thresholds ("must stay within 5 %"), settings
    ("a timeout of 30 s"), offered load and tables that explain options.

    Words decide, and the words are English. So some hits are wrong: a number in an example that does not say it is one,
    a limit phrased like a result, what follows from a setting. And some are missed: a bare percentage without a word
    that compares, minutes and hours, a table whose head names neither unit nor quantity, counts of tokens or bytes.

    ## Why it matters
    A typed number has no environment, no gate and no samples, and nothing notices when it stops being true.

    ## How to fix it
    Render it: a field of a claim (`ev.value`), a sentence (`ev.says`) or a table (`ev.table`). A number that was not
    measured here goes through `ev.external`, `ev.spec` or `ev.target`, which print where it is from.

    If it is none, put it in code, or accept it for a time with
    `<!-- evidence: allow EV701 because="…" owner="@…" until=2027-01-31 -->` above the paragraph, list or table.
    """
    for text in _texts(corpus):
        severity = Severity.ERROR if text.is_strict else Severity.WARNING
        spoken = spoken_code(text.body) if text.is_strict else ()
        for one in (*typed(text.prose, text.body), *spoken):
            yield _typed(text.at(one.line), one, severity)
    yield from _typed_in_settings(corpus)
    yield from _typed_in_html(corpus)
    for page in corpus.pages:
        for call in page.calls:
            if call.is_literal and (fault := sources.fault_of(call.macro, call.arguments, call.keywords)):
                yield Finding(call.at, f"ev.{call.macro}({call.subject!r}): {fault.message}", fault.fix)


def _typed(at: Location, one: Typed, severity: Severity) -> Finding:
    return Finding(at, f"{one.text!r} is typed: {_FORMS[one.family]}", severity=severity)


def _typed_in_settings(corpus: Corpus) -> Iterator[Finding]:
    """Numbers in what is shown of a page or the site beside its text: front matter, titles in mkdocs.yml."""
    for page in corpus.pages:
        lines = "\n".join(f"{key}: {value}" for key, value in page.front.meta.items() if isinstance(value, str))
        if any(typed_numbers(lines)):
            head = page.front.head
            for one in typed_numbers(head):
                yield _typed(Location(page.path, one.line), one, Severity.ERROR)
    config = corpus.project.config
    text = _COMMENT.sub("", config.read_text(encoding="utf-8-sig"))
    for one in typed_numbers(text):
        yield _typed(Location(corpus.name(config), one.line), one, Severity.ERROR)


def _typed_in_html(corpus: Corpus) -> Iterator[Finding]:
    """Numbers on pages that MkDocs copies as they are."""
    for path in corpus.project.copied(".html", ".htm"):
        body = path.read_text(encoding="utf-8", errors="replace")
        for one in typed(masks.prose(body, corpus.project.macros.markers), body):
            yield _typed(Location(corpus.name(path), one.line), one, Severity.ERROR)


_FORMS = {
    "ratio": "a ratio",
    "percentage": "a percentage that compares",
    "rate": "a rate",
    "bandwidth": "a bandwidth",
    "FLOP rate": "a rate of operations",
    "time": "a time",
    "size": "a saving of memory",
    "table": "a table of results",
    "output": "results in a block",
}


@corpus_rule("EV712", "contradicting-claims", turn=Turn.EARLY)
def contradicting_claims(corpus: Corpus) -> Iterator[Finding]:
    """One quantity has one value on all pages.

    ## What it checks
    What claims and tables on pages show of different logs: where metric, workload, implementation, switches and device
    are the same, the intervals of the two values must meet, or lie within 5 % of each other. Logs and items with a
    status (historical, superseded, not to be cited) say so themselves and are left out. Workloads are told by name and
    content: one that was renamed between the logs is not recognised.

    ## Why it matters
    A reader who finds two values for one thing trusts neither, and is right.

    ## How to fix it
    Show both places from one log. If the older one has to stay, give its log or item a status that says why.
    """
    seen: dict[tuple[str, str, str, str], dict[str, tuple[Location, Quantity]]] = {}
    for call, (log, arm, workload, quantity) in _shown_values(corpus):
        key = (log.partition("/")[0], arm, workload, str(quantity))
        seen.setdefault(key, {}).setdefault(log, (call.at, quantity))
    told: set[tuple[str, str]] = set()
    for (_, arm, workload, _), logs in seen.items():
        first, *others = logs
        for other in others:
            if (first, other) not in told and (said := _contradiction(corpus, arm, workload, logs, first, other)):
                told.add((first, other))
                yield Finding(logs[other][0], f"{said}; the other is shown at {logs[first][0]}")


_Shown = tuple[str, str, str, Quantity]


def _shown_values(corpus: Corpus) -> Iterator[tuple[Call, _Shown]]:
    """Every value that a page shows: log, arm, workload, quantity."""
    book = corpus.book
    for call in corpus.calls:
        if call.macro not in ("claim", "says", "value", "table", "chart", "roofline") or _has_status(
            corpus, call.subject
        ):
            continue
        for shown in _values_of(corpus, call.subject):
            if shown[0] not in book.log_status:
                yield call, shown


def _has_status(corpus: Corpus, id_: str) -> bool:
    """Whether an item has a status, which says by itself that it is not today's value."""
    return corpus.book.status(id_) is not None


def _values_of(corpus: Corpus, id_: str) -> Iterator[_Shown]:
    try:
        if id_ in corpus.book.claims.tables:
            for row in corpus.book.built_table(id_).origins:
                for one in filter(None, row):
                    for arm in filter(None, (one.arm, one.baseline)):
                        yield one.log, arm, one.workload, one.quantity
        elif id_ in corpus.book.claims.claims:
            corpus.book.statement(id_)
            for reading in corpus.book.readings(id_).values():
                for workload in reading.workloads:
                    for arm in filter(None, (reading.candidate, reading.baseline)):
                        yield reading.loaded.entry.log, arm, workload.name, reading.quantity
    except EvidenceError:
        return


def _contradiction(
    corpus: Corpus, arm: str, workload: str, logs: dict[str, tuple[Location, Quantity]], first: str, other: str
) -> str:
    """What two logs say of one quantity, if it is one and they say two things."""
    one, two = corpus.store.load(first), corpus.store.load(other)
    same = (
        device_of(one.record) == device_of(two.record)
        and one.record.arm(arm).implementation == two.record.arm(arm).implementation
        and one.record.arm(arm).switches == two.record.arm(arm).switches
        and is_same_workload(one.record.workload(workload), two.record.workload(workload))
    )
    if not same:
        return ""
    quantity = logs[first][1]
    a = value_of(one, one.cell(arm, workload), quantity)
    b = value_of(two, two.cell(arm, workload), quantity)
    if a is None or b is None or _agree(a.interval, b.interval):
        return ""
    return (
        f"{quantity} of {arm} on {workload} is {a.interval.value:.4g} in {first} and {b.interval.value:.4g} in {other}"
    )


def _agree(a: Interval, b: Interval) -> bool:
    if a.low <= b.high and b.low <= a.high:
        return True
    small, large = sorted((abs(a.value), abs(b.value)))
    return large - small <= _APART * large


@corpus_rule("EV713", "undeclared-negative", Severity.WARNING, turn=Turn.EARLY)
def undeclared_negative(corpus: Corpus) -> Iterator[Finding]:
    """A section whose tables hold losses says where it loses.

    ## What it checks
    Each section of the second level (a page without one counts as a section): if a cell of a table in it lost, the
    section has words that say so (loses, slower, worse, overhead, no gain, …) or shows a claim that is worse. Only that
    there are such words is seen, not whether they tell of the right cell. Evidence marked do not cite is left out:
    nothing may be said of it at all.

    ## Why it matters
    A reader looks at the winning cells. What loses, and when, is what saves them from using it wrongly.

    ## How to fix it
    Write a paragraph, best under a heading such as "Where it loses", that says which cells lose and why; `ev.says` of a
    claim that expects worse keeps it true.
    """
    for text in _pages(corpus):
        found = _sections(text.prose)
        by_section: dict[Section, list[tuple[int, str]]] = {}
        for line, id_ in text.shown:
            by_section.setdefault(feature(found, line), []).append((line, id_))
        for section, shown in by_section.items():
            losing = next(((line, id_) for line, id_ in shown if _loses(corpus, id_)), None)
            if losing and not _is_told(corpus, text, section, shown):
                line, id_ = losing
                yield Finding(text.at(line), f"{id_} holds losing cells, and {_name(section)} says nothing of them")


def _is_told(corpus: Corpus, text: _Text, section: Section, shown: list[tuple[int, str]]) -> bool:
    lines = text.prose.split("\n")[section.first - 1 : section.last]
    if words.admits_losses("\n".join(lines)):
        return True
    statements = (_statement(corpus, id_) for _, id_ in shown)
    return any(one is not None and one.verdict is Verdict.WORSE for one in statements)


def _loses(corpus: Corpus, id_: str) -> bool:
    built = _built(corpus, id_)
    if built is None or _is_barred(corpus, id_):
        return False
    cells = (cell for row in built.view.rows for cell in row.cells)
    return any(isinstance(cell, Ratio) and cell.verdict is Verdict.WORSE for cell in cells)


@corpus_rule("EV714", "typed-stance", turn=Turn.EARLY)
def typed_stance(corpus: Corpus) -> Iterator[Finding]:
    """What something ran on is rendered beside the numbers, not typed.

    ## What it checks
    The text of pages that show claims for names of devices (those of the logs on the page, and common accelerators and
    processors), versions of packages, commits, and days of measuring. A version that is required or introduced ("needs
    Python 3.11 or newer") is left alone. A heading may name a device, if all that its section shows ran on it. Names of
    devices that no log on the page has and that look like no common one are not recognised.

    ## Why it matters
    After the next run on another stack the numbers move and the typed stance stays.

    ## How to fix it
    Take it out: every table and claim carries its own. In a sentence, `{{ ev.value("id", "device") }}` prints what the
    record holds.
    """
    for text in _pages(corpus):
        if not text.ids:
            continue
        devices = _devices(corpus, text.ids)
        for one in words.typed_stances(text.prose, devices):
            yield Finding(text.at(one.line), f"{one.text!r} is typed: {one.kind}")
        for section in _sections(text.prose):
            named = words.devices_in(section.title)
            ran = _devices(corpus, frozenset(id_ for line, id_ in text.shown if section.holds(line)))
            wrong = sorted(device for device in ran if not any(_is_named(name, device) for name in named))
            if named and wrong:
                message = f"the heading names {named[0]!r}, and what stands below it ran on {wrong[0]!r}"
                yield Finding(text.at(section.first), message)


def _is_named(name: str, device: str) -> bool:
    """Whether a heading's name is a device's, or its last words: `H200` for `NVIDIA H200`."""
    return f" {device} ".find(f" {name} ") >= 0


@corpus_rule("EV715", "unbacked-comparison", Severity.WARNING, turn=Turn.EARLY)
def unbacked_comparison(corpus: Corpus) -> Iterator[Finding]:
    """Words that compare stand where a record bears them out.

    ## What it checks
    Statements that one thing is faster, slower, cheaper or better, beats or outperforms another, in a section of the
    second level that renders no claim, table or block. Questions, wishes, conditions, denials and quotations are left
    alone, as is the direction of a metric ("lower is better"). In a section that shows evidence which is not to be
    cited, no such statement and no conclusion (therefore, pays off, recommended) may stand: there it is an error.

    It sees words, not what they are about: of two statements in a section that renders one claim, both pass.

    ## Why it matters
    "Faster" without a number is a claim all the same, and one that nothing can contradict.

    ## How to fix it
    Show the claim that says it (`ev.says`), or say what the change does instead of how well. What evidence marked do
    not cite seems to say is not said: measure again, then claim.
    """
    for text in _texts(corpus):
        found = _sections(text.prose)
        numbered = {one.line for one in typed(text.prose, text.body)}
        backed = {feature(found, line) for line, _ in text.shown}
        barred = (
            {feature(found, line) for line, id_ in text.shown if _is_barred(corpus, id_)} if text.is_page else set()
        )
        for one in words.comparisons(text.prose):
            section = feature(found, one.line)
            if section.level == 0 and text.shown:
                continue
            if section not in backed and one.line not in numbered:
                yield Finding(text.at(one.line), f"{one.text!r} compares, and {_name(section)} renders no claim")
        for section in barred:
            yield from _concluded(text, section)


def _concluded(text: _Text, section: Section) -> Iterator[Finding]:
    message = "concludes in a section whose evidence is marked do not cite"
    for one in words.conclusions(text.prose):
        if section.holds(one.line):
            yield Finding(text.at(one.line), f"{one.text!r} {message}", severity=Severity.ERROR)


def _is_barred(corpus: Corpus, id_: str) -> bool:
    built = _built(corpus, id_)
    return built is not None and built.view.banner is not None and built.view.banner.status == "do_not_cite"


def _pages(corpus: Corpus) -> Iterator[_Text]:
    return (text for text in _texts(corpus) if text.is_page)


@functools.lru_cache(maxsize=512)
def _sections(prose: str) -> tuple[Section, ...]:
    return sections(prose)


def _name(section: Section) -> str:
    return f"the section {section.title!r}" if section.level else "the page"


def _built(corpus: Corpus, id_: str) -> Built | None:
    try:
        return corpus.book.built_table(id_) if id_ in corpus.book.claims.tables else None
    except Unrenderable:
        return None


def _statement(corpus: Corpus, id_: str) -> Statement | None:
    try:
        return corpus.book.statement(id_) if id_ in corpus.book.claims.claims else None
    except Unrenderable:
        return None


def _devices(corpus: Corpus, ids: frozenset[str]) -> frozenset[str]:
    """The devices that items ran on, as their logs name them."""
    views = [view for id_ in ids if (view := _statement(corpus, id_) or getattr(_built(corpus, id_), "view", None))]
    facts = (dict(view.stance).get("device", "") for view in views)
    return frozenset(name for fact in facts for name in fact.split(", ") if name and name != "per line")
