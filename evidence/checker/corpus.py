"""Owns what rules read: the project, its store and ledger, git, claims and pages; and what a pass over it remembers.

Everything is read when it is first asked for. Records stream by; of a large store few are kept, and
a few facts of each.
"""

from __future__ import annotations

import collections
import contextlib
import datetime
import functools
import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evidence import documents, ledger, pictures
from evidence.book import Book, Unrenderable
from evidence.checker.facts import Facts
from evidence.checker.ignores import Ignore, Settings, document_waivers, page_waivers, read_settings, waivers_of
from evidence.checker.memory import Memory, Tree
from evidence.diagnostics import Finding, Location, Severity
from evidence.documents import STALE, Documents, Holding
from evidence.errors import EvidenceError, LedgerError
from evidence.pictures import Pictures
from evidence.project import Project
from evidence.repository import Repository
from evidence.schema import Gate, GitSource, Record, log_date
from evidence.schema.claims import Status
from evidence.schema.places import line_of, pointer_of
from evidence.store import RECORD_NAME, Loaded, Problem, Store

if TYPE_CHECKING:
    from evidence.pages.calls import Call, Page, Place
    from evidence.pages.waivers import Waiver
    from evidence.tables.layout import CellKey

PRINTING = ("claim", "says", "value", "diagnostic", "table", "chart", "history", "roofline", "figure", "reproduce")
"""Macros whose subject is the id of a claim or table."""
STATING = ("claim", "says", "value")
"""Those of them that put a sentence or its number on the page."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a check may be told beside the project."""

    base: str | None = None
    """The branch the ledger is compared with, beside HEAD."""
    is_release: bool = False
    """Warnings that must not stand in a release are errors."""
    processes: int | None = None
    """How many processes make the pass over the records; None: as many as are worth it."""
    today: datetime.date = field(default_factory=lambda: datetime.datetime.now(tz=datetime.UTC).date())


class Fault(NamedTuple):
    """One thing wrong inside a record, and where: the parts of its JSON pointer."""

    message: str
    parts: tuple[str | int, ...] = ()


class Corpus:
    """One project under check."""

    def __init__(self, project: Project, options: Options | None = None) -> None:
        """Point at a project; nothing is read yet."""
        self.project = project
        self.options = options or Options()
        self.store = Store(project.logs)
        self.memory = Memory()
        """What is kept of the records that have gone by in the pass."""
        self.times: dict[int, tuple[str, float]] = {}
        """Hash of series, arm, workload and environment -> the last log that timed it, and its median."""
        self.gates_before: tuple[str, tuple[Gate, ...]] | None = None
        """The log before the last one remembered in its series, with its gates."""
        self._gates: dict[str, tuple[str, tuple[Gate, ...]]] = {}
        self.clean: set[str] = set()
        """Texts of records that are known to hold nothing private."""
        self._facts: Facts | None = None
        self._told: set[str] = set()
        self._last_text: tuple[Path, str] | None = None
        self._last_file: tuple[str, bytes | None] | None = None

    @property
    def home(self) -> Location:
        """Where to point for what concerns the whole project."""
        return Location(self.name(self.project.config))

    def name(self, path: Path) -> str:
        """Return a path as findings name it."""
        return self.project.name(path)

    def remember(self, loaded: Loaded) -> None:
        """Keep of a record what rules over the whole store need."""
        self.memory.add(loaded)
        self.memory.trees[loaded.entry.log] = tuple(
            Tree(index, source.name, source.commit, source.commit_tree_sha256 if source.tree_sha256 else None)
            for index, source in self.trees_here(loaded.record)
            if source.commit is not None
        )
        series = loaded.entry.series
        self.gates_before = self._gates.get(series)
        self._gates[series] = (loaded.entry.log, loaded.record.gates)

    def remember_unread(self, problem: Problem) -> None:
        """Keep which log could not be read; a problem of another file leaves its log readable."""
        if problem.path.name == RECORD_NAME:
            self.memory.unread.add(problem.path.parent.relative_to(self.store.root).as_posix())

    def prepare(self) -> None:
        """Read what every share of the pass needs, so that no process reads it anew; git is asked meanwhile."""
        _ = self.book, self.pinned, self.ledger, self.newest, self.rerun, self.repository
        with ThreadPoolExecutor(1) as aside:
            asked = aside.submit(lambda: (self.history, self.address))
            told = aside.submit(self._read_early, lambda: self.head, lambda: self.unlisted)
            self._read_early(lambda: self.pages, lambda: self.documents)
            asked.result()
            told.result()

    def read_ahead(self) -> None:
        """Evaluate what is claimed while others read records."""
        self._read_early(lambda: self.book.findings)

    def look_back(self) -> None:
        """Ask git for what was committed where the records of this process were measured."""
        self._read_early(lambda: self.committed(self.measured))

    def _read_early(self, *reads: Callable[[], object]) -> None:
        """Read what rules over the whole will ask for: what is wrong with it is for them to say, who ask again."""
        for read in reads:
            with contextlib.suppress(Exception):
                read()

    def facts(self, loaded: Loaded) -> Facts:
        """Return the shared views of a record; those of the last one asked for are kept."""
        if self._facts is None or self._facts.record is not loaded.record:
            self._facts = Facts(loaded.record)
        return self._facts

    def fault(
        self, loaded: Loaded, faults: Iterable[Fault], fix: str = "", severity: Severity | None = None
    ) -> tuple[Finding, ...]:
        """Return one finding for all faults of one kind in a record, at the first of them: one finding an item."""
        found = tuple(faults) if faults else ()
        if not found:
            return ()
        more = f" (and {len(found) - 1} more like it)" if len(found) > 1 else ""
        at = self.place(loaded, *found[0].parts)
        return (Finding(at, f"{found[0].message}{more}", fix, severity=severity),)

    def tell_once(self, message: str, fix: str = "") -> Iterator[Finding]:
        """Yield a finding about the whole project the first time it is met: one cause is not one finding a record."""
        if message not in self._told:
            self._told.add(message)
            yield Finding(self.home, message, fix)

    def place(self, loaded: Loaded, *parts: str | int) -> Location:
        """Return the place of a part of a record; its line is looked for only here, so only for findings."""
        path = self.name(loaded.entry.path)
        if not parts:
            return Location(path)
        pointer = pointer_of(parts)
        return Location(path, line_of(self._text(loaded.entry.path), pointer), pointer)

    def line_with(self, loaded: Loaded, text: str) -> Location:
        """Return the line of a record that a text stands on, as this package writes it; the first if it was not."""
        written = self._text(loaded.entry.path)
        at = written.find(json.dumps(text, ensure_ascii=False))
        return Location(self.name(loaded.entry.path), written.count("\n", 0, at) + 1 if at >= 0 else 1)

    def digest(self, path: str) -> str | None:
        """Return the sha256 of a file, read once; None if there is no such file."""
        digests = self.memory.digests
        if path not in digests:
            data = self.content(path)
            digests[path] = None if data is None else hashlib.sha256(data).hexdigest()
        return digests[path]

    def content(self, path: str) -> bytes | None:
        """Return the bytes of a file, None if there is no such file; rules ask in turn, so the last one is kept."""
        if self._last_file is None or self._last_file[0] != path:
            self._last_file = (path, Path(path).read_bytes() if os.path.isfile(path) else None)  # noqa: PTH113 - hot
        return self._last_file[1]

    @functools.cached_property
    def repository(self) -> Repository | None:
        """The git work tree the project lies in, if git can be asked."""
        return Repository.find(self.project.root)

    @functools.cached_property
    def head(self) -> str | None:
        """The commit that is checked out; None before the first one, or where git cannot be asked."""
        return self.repository.commit() if self.repository else None

    @functools.cached_property
    def history(self) -> frozenset[str]:
        """Every commit that a branch, tag or HEAD reaches; empty where git cannot be asked."""
        return self.repository.history() if self.repository else frozenset()

    def is_here(self, record: Record, source: GitSource) -> bool:
        """Whether a source of a record is a work tree of this repository."""
        if source.repository is None or (record.provenance is not None and source.name == record.provenance.source):
            return True
        return self.address is not None and source.repository.removesuffix(".git") == self.address.removesuffix(".git")

    def trees_here(self, record: Record) -> Iterator[tuple[int, GitSource]]:
        """Yield the sources of a record that are work trees of this repository, each with its number."""
        for index, source in enumerate(record.sources):
            if isinstance(source, GitSource) and self.is_here(record, source):
                yield index, source

    @functools.cached_property
    def address(self) -> str | None:
        """The repository's public address, if it has a remote."""
        return self.repository.remote_url() if self.repository else None

    @functools.cached_property
    def ledger(self) -> Mapping[str, str]:
        """Path below the store -> digest, as SHA256SUMS says; empty if it cannot be read, which EV005 reports."""
        try:
            return ledger.read(self.store.root)
        except LedgerError:
            return {}

    @functools.cached_property
    def unlisted(self) -> tuple[str, ...]:
        """Every line that some commit took out of SHA256SUMS or changed in it."""
        return self.repository.removed_lines(self.store.root / ledger.FILE_NAME) if self.repository else ()

    @functools.cached_property
    def rerun(self) -> frozenset[str]:
        """The series that have more than one log."""
        counted = collections.Counter(entry.series for entry in self.store.entries)
        return frozenset(series for series, count in counted.items() if count > 1)

    @functools.cached_property
    def newest(self) -> frozenset[str]:
        """The newest log of each series."""
        newest: dict[str, tuple[str, int, str]] = {}
        for entry in self.store.entries:
            # A later run of a day has a longer name: `-2`, `-10`.
            order = (log_date(entry.log), len(entry.log), entry.log)
            newest[entry.series] = max(newest.get(entry.series, order), order)
        return frozenset(log for *_, log in newest.values())

    @functools.cached_property
    def book(self) -> Book:
        """The claims and tables, evaluated."""
        return Book(self.project, self.store, outlines=self.memory.outlines)

    @functools.cached_property
    def attributed(self) -> tuple[tuple[str, Finding], ...]:
        """What evaluating the claims and tables, and looking for them outside the site, found, each with its rule.

        That a claim stands on evidence not to be cited is no fault where all that is shown of it is labelled so.
        """
        labelled = {call.subject for call in self.uses if call.macro == "diagnostic"}
        labelled -= {call.subject for call in self.uses if call.macro != "diagnostic"}
        settled = {
            pair for id_ in labelled & set(self.book.ids) for pair in self.book.findings_of(id_) if pair[0] == "EV612"
        }
        kept = (pair for pair in self.book.findings if pair not in settled)
        return (*kept, *(pair for pair in self.documents.all_findings if pair[0] != STALE))

    @functools.cached_property
    def pinned(self) -> frozenset[str]:
        """The claimed series that the lock names a log for which is there."""
        pins = self.book.lock.pins if self.book.lock is not None else {}
        return frozenset(series for series in self.book.series if pins.get(series) in self._names)

    def shown_by(self, table: str) -> frozenset[CellKey]:
        """Return the cells a table shows: log, arm, workload; none if it cannot be shown."""
        try:
            return self.book.built_table(table).shown
        except Unrenderable:
            return frozenset()

    @functools.cached_property
    def settings(self) -> Settings:
        """What the project says about its own check."""
        return read_settings(self.project.root)

    @functools.cached_property
    def ignores(self) -> tuple[Ignore, ...]:
        """Findings to overlook: those of the settings, and those that claims, tables and pages waive for themselves."""
        return (
            *self.settings.ignores,
            *waivers_of(self.book.claims),
            *page_waivers(self.pages),
            *document_waivers(self.document_waivers),
        )

    @functools.cached_property
    def document_waivers(self) -> tuple[tuple[Location, Waiver, Location], ...]:
        """The waivers in documents outside the site, each with the first and last line it covers."""
        from evidence.pages.waivers import waivers

        pages = {page.path for page in self.pages}
        documents = [one.document for one in self.documents.held if one.document.name not in pages]
        return tuple(
            (document.at(one.lines[0]), one, document.at(one.lines[1]))
            for document in documents
            if "allow" in document.text
            for one in waivers(document.text)
        )

    def committed(self, commits: Collection[str]) -> Mapping[str, str]:
        """Return the digest of the files of each of some commits that is here; git is asked once for each commit."""
        digests = self.memory.committed
        if self.repository is not None and (unknown := set(commits) - digests.keys()):
            digests |= self.repository.commit_trees_sha256(unknown)
        return digests

    @property
    def measured(self) -> frozenset[str]:
        """The commits of this repository's history that the records gone by were measured at."""
        return self.history & {tree.commit for trees in self.memory.trees.values() for tree in trees}

    @property
    def base(self) -> str | None:
        """The branch that the ledger is compared with, beside the last commit."""
        return self.options.base or self.settings.base

    @functools.cached_property
    def pages(self) -> tuple[Page, ...]:
        """Every page, as it stands in the sources."""
        from evidence.pages.calls import read_page

        settings = self.project.macros
        return tuple(
            read_page(self.name(path), path.read_text(encoding="utf-8-sig"), settings, uri=self.project.uri(path))
            for path in self.project.pages()
        )

    @property
    def calls(self) -> Iterator[Call]:
        """Every call on every page."""
        for page in self.pages:
            yield from page.calls

    @property
    def dormant(self) -> Iterator[Call]:
        """Every call on pages on which no macro runs: EV904 says so, and nothing else should."""
        for page in self.pages:
            yield from page.dormant

    @functools.cached_property
    def documents(self) -> Documents:
        """The Markdown that no macro runs on, held to the claims."""
        from evidence.pages.blocks import is_marked

        marked = [self.project.docs / page.uri for page in self.pages if is_marked(page.front.body)]
        named = {self.project.root / page for one in self.book.claims.sentences for page in one.item.page}
        named = {path for path in named if path.is_relative_to(self.project.docs)}
        outside = documents.paths(self.project, self.repository, self.settings.ignored_markdown)
        return documents.load((*outside, *marked, *named), self.project, self.holding)

    @functools.cached_property
    def holding(self) -> Holding:
        """What documents outside the site are held to."""
        return Holding(self.book, self.store, self.project.docs, self.pictures)

    def before(self, path: Path) -> str:
        """Return a file's text where this branch left its base, else in the last commit; empty where neither has it."""
        repository = self.repository
        head = self.head
        if repository is None or head is None or not path.resolve().is_relative_to(repository.root):
            return ""
        base = repository.resolve(self.base) if self.base else None
        commit = repository.merge_base(head, base) if base else head
        found = repository.file_at(commit, path.resolve().relative_to(repository.root).as_posix()) if commit else None
        return (found or b"").decode(errors="replace")

    @functools.cached_property
    def pictures(self) -> Pictures:
        """The figures of the site, by the files beside their images."""
        return pictures.load(self.project)

    @functools.cached_property
    def uses(self) -> tuple[Call, ...]:
        """Every call on every page, and what stands for one in Markdown that no macro runs on."""
        calls = (*self.calls, *(call for _, printed in self._printed_by_documents() for call in printed))
        return (*calls, *self._told_by_figures(calls))

    @property
    def surfaces(self) -> Iterator[tuple[str, tuple[Call, ...]]]:
        """Every page and document with what it prints: each is read by itself."""
        outside = dict(self._printed_by_documents())
        for page in self.pages:
            yield page.path, (*page.calls, *outside.pop(page.path, ()))
        yield from outside.items()

    def _told_by_figures(self, calls: Iterable[Call]) -> Iterator[Call]:
        """Yield, for each call of a figure, a call of the claim or table that it shows."""
        for call in calls:
            if call.macro == "figure" and call.subject in self.pictures.by_id:
                item = self.pictures.by_id[call.subject].file.item
                macro = "chart" if item in self.book.claims.tables else "says"
                yield call._replace(macro=macro, arguments=(item,), keywords=())

    def _printed_by_documents(self) -> Iterator[tuple[str, tuple[Call, ...]]]:
        from evidence.pages.calls import Call

        by_path: dict[str, list[Call]] = {}
        for use in self.documents.uses:
            arguments = (use.id, use.field) if use.field else (use.id,)
            place: Place = "inline" if use.is_inline else "block"
            call = Call(use.macro, arguments, (), use.at, is_literal=True, is_direct=True, place=place)
            by_path.setdefault(use.at.path, []).append(call)
        yield from ((path, tuple(calls)) for path, calls in by_path.items())

    @functools.cached_property
    def counts(self) -> tuple[int, int, int]:
        """How many logs, pages and calls there are."""
        return len(self.store.entries), len(self.pages), sum(len(page.calls) for page in self.pages)

    @functools.cached_property
    def cited(self) -> Mapping[str, tuple[Location, ...]]:
        """Log -> the calls that print from it."""
        return self._cited_by((*PRINTING, "environment"))

    @functools.cached_property
    def stated(self) -> Mapping[str, tuple[Location, ...]]:
        """Log -> the calls that print a sentence, or a number of one, from it."""
        return self._cited_by(STATING)

    def citing(self, path: str) -> tuple[Location, ...]:
        """Return the calls that print from the log that a file belongs to; none if it is no log's."""
        below = path.removeprefix(self._below)
        return self.cited.get("/".join(below.split("/")[:2]), ()) if below != path else ()

    @functools.cached_property
    def _below(self) -> str:
        return f"{self.name(self.store.root)}/"

    def statuses_of(self, log: str) -> tuple[Status | None, ...]:
        """Return the statuses of the items that print from a log."""
        items = {call.subject for call in self.uses if log in map(self._log_named, self.series_of(call))}
        return tuple(self.book.status(item) for item in sorted(items)) or (None,)

    def limits_commits(self, loaded: Loaded) -> bool:
        """Whether the project says how many commits a log may be behind; a release is held to what it says of none."""
        limits = self.settings.ages.of(loaded.entry.series, self.book.log_status.get(loaded.entry.log))
        return limits.commits is not None and not self.options.is_release

    def is_set_aside(self, log: str) -> bool:
        """Whether the claims files say that a log is not to be cited."""
        status = self.book.log_status.get(log)
        return status is not None and status.do_not_cite is not None

    def _cited_by(self, macros: tuple[str, ...]) -> Mapping[str, tuple[Location, ...]]:
        cited: dict[str, list[Location]] = {}
        for call in self.uses:
            if call.macro in macros:
                for log in filter(None, map(self._log_named, self.series_of(call))):
                    cited.setdefault(log, []).append(call.at)
        return {log: tuple(sorted(set(places))) for log, places in cited.items()}

    def series_of(self, call: Call) -> tuple[str, ...]:
        """Return the series and logs that a call prints from."""
        if call.macro == "environment":
            return (call.subject,)
        claims = self.book.claims
        claim, table = claims.claims.get(call.subject), claims.tables.get(call.subject)
        if claim is not None:
            return (claim.item.series, *(also.series for also in claim.item.also.values() if also.series))
        return table.item.series if table is not None else ()

    def _log_named(self, series: str) -> str:
        """Return the log that a series stands on; empty if there is none that can be read."""
        if series in self._names:
            return series
        try:
            log = self.book.log_name(series)
        except EvidenceError:
            return ""
        return "" if log in self.memory.unread else log

    @functools.cached_property
    def citable(self) -> frozenset[str]:
        """Every series and log of the store."""
        return self._names | {entry.series for entry in self.store.entries}

    @functools.cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(entry.log for entry in self.store.entries)

    def _text(self, path: Path) -> str:
        """Return a file's text; findings of one record come together, so the last one is kept."""
        if self._last_text is None or self._last_text[0] != path:
            self._last_text = (path, path.read_text(encoding="utf-8", errors="replace"))
        return self._last_text[1]
