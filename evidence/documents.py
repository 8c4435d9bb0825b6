"""Owns Markdown that no macro runs on: which files, what each prints from the claims, and what it should print.

A file is read whole and its text is never rebuilt: what is held to a claim is a span of it, and all else stays.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from evidence import bindings, pictures
from evidence.bindings import Binding
from evidence.book import Book, Unrenderable
from evidence.claims import Placed
from evidence.diagnostics import Finding, Location
from evidence.errors import EvidenceError, ItemError, ProjectError, RecordError, UnknownNameError
from evidence.pages import blocks, masks
from evidence.pages.blocks import Block
from evidence.pictures import Pictures
from evidence.project import Project
from evidence.renderers import synced
from evidence.repository import Repository
from evidence.schema import series
from evidence.schema.claims import Sentence
from evidence.store import Store

STALE, UNKNOWN = "EV709", "EV702"
SUFFIXES = (".md", ".markdown")

_ALWAYS_HELD = ("README.md", "CHANGELOG.md")
"""What a reader meets first: no setting leaves it out."""
_LOG_OF_CHANGES = re.compile(r"(change|release|history|news)", re.IGNORECASE)
_SYNC = "run `evidence sync`"
_MAXIMUM_BYTES = 5 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Holding:
    """What documents are held to."""

    book: Book
    """The claims and tables, evaluated."""
    store: Store
    """The logs: a sealed block names one."""
    docs: Path
    """Folder of the site's sources: records are linked below it."""
    pictures: Pictures = field(default_factory=lambda: Pictures({}))


class Document(NamedTuple):
    """One file: its bytes as text, a mark of byte order and every kind of line end included."""

    path: Path
    name: str
    text: str

    @property
    def is_log_of_changes(self) -> bool:
        """Whether its headings are releases: what stands under one has been said, and stays."""
        return _LOG_OF_CHANGES.match(self.path.stem) is not None

    def line(self, offset: int) -> int:
        """Return the line of an offset."""
        return self.text.count("\n", 0, offset) + 1

    def at(self, line: int) -> Location:
        """Return the place of a line."""
        return Location(self.name, line)


class Edit(NamedTuple):
    """A span that does not say what its claim gives, and what it should say. A sentence has one finding for all."""

    start: int
    end: int
    text: str
    finding: Finding


class Use(NamedTuple):
    """A place that prints from a claim or table, as a call on a page of the site would."""

    macro: str
    id: str
    field: str
    at: Location
    is_inline: bool


@dataclass(slots=True)
class Held:
    """A document held to the claims."""

    document: Document
    edits: list[Edit] = field(default_factory=list)
    findings: list[tuple[str, Finding]] = field(default_factory=list)
    """What filling cannot mend, each with its rule."""
    unshown: list[tuple[Location, str]] = field(default_factory=list)
    """Blocks left alone because what they ask for cannot be shown; the check reports the cause where it lies."""
    uses: list[Use] = field(default_factory=list)
    unsealed: list[Block] = field(default_factory=list)
    """Blocks under the heading of a release that say what their claim gives, and can be sealed."""
    sealed: list[Block] = field(default_factory=list)
    """Blocks that are sealed and have their digest and their logs."""
    values: list[tuple[int, int]] = field(default_factory=list)
    """Spans of the values of bound sentences."""

    @property
    def prose(self) -> str:
        """The text with FILLER for all that is held to a record, line for line."""
        text = blocks.blank(self.document.text)
        for start, end in self.values:
            text = text[:start] + re.sub(r"[^\n]", blocks.FILLER, text[start:end]) + text[end:]
        return text


class Documents(NamedTuple):
    """Every document of a project, held; and what is wrong with the sentences bound to them."""

    held: tuple[Held, ...]
    findings: tuple[tuple[str, Finding], ...]
    sentences: tuple[Placed[Sentence], ...] = ()

    @property
    def all_findings(self) -> Iterator[tuple[str, Finding]]:
        """Everything that is wrong, each with its rule; what is merely stale is the edits."""
        yield from self.findings
        for one in self.held:
            yield from one.findings

    @property
    def uses(self) -> Iterator[Use]:
        """Every place that prints from a claim or table, or means to."""
        for placed in self.sentences:
            yield Use("value", placed.item.claim, "", placed.at("claim"), is_inline=True)
        for one in self.held:
            yield from one.uses


def paths(project: Project, repository: Repository | None, ignored: Sequence[str] = ()) -> tuple[Path, ...]:
    """Return the Markdown files outside the site: those that git does not ignore, without git those of the root.

    `ignored` leaves some out, in the form of .gitignore: `["/tests/"]`; never README.md and CHANGELOG.md of the root.
    """
    from pathspec import GitIgnoreSpec

    unwanted = GitIgnoreSpec.from_lines(ignored)
    if repository is not None:
        found = repository.matching(project.root, *(f"**/*{suffix}" for suffix in SUFFIXES))
    else:
        found = tuple(path for path in project.root.iterdir() if path.suffix.lower() in SUFFIXES)
    kept = (
        path for path in found if not path.is_relative_to(project.docs) and path.is_file() and not path.is_symlink()
    )
    front = {project.root / name for name in _ALWAYS_HELD}
    return tuple(sorted(path for path in kept if path in front or not unwanted.match_file(project.name(path))))


def read(path: Path, project: Project) -> Document:
    """Read one file.

    Raises:
        ProjectError: it is outside the project, too large, or not UTF-8.
    """
    name = project.name(path)
    if not path.resolve().is_relative_to(project.root.resolve()):
        raise ProjectError(f"{name} lies outside the project", fix="name a file of this project")
    data = path.read_bytes()
    if len(data) > _MAXIMUM_BYTES:
        raise ProjectError(f"{name} is larger than 5 MiB", fix="split it")
    try:
        return Document(path, name, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ProjectError(
            f"{name} is not UTF-8: {error.reason} at byte {error.start}", fix="store it as UTF-8"
        ) from None


def load(found: Iterable[Path], project: Project, claims: Holding) -> Documents:
    """Read files, each once, and hold them; one that cannot be read is a finding."""
    documents: list[Document] = []
    findings: list[tuple[str, Finding]] = []
    for path in sorted(set(found)):
        try:
            if path.is_file() and not path.is_symlink() and ".." not in path.parts:
                documents.append(read(path, project))
        except ProjectError as error:
            findings.append((STALE, Finding(Location(project.name(path)), error.message, error.fix)))
        except OSError as error:
            message = f"cannot be read: {error.strerror or error}"
            findings.append((STALE, Finding(Location(project.name(path)), message, "make it a file that can be read")))
    held = hold(documents, claims)
    return Documents(held.held, (*findings, *held.findings), held.sentences)


def hold(documents: Sequence[Document], claims: Holding) -> Documents:
    """Hold documents to the claims."""
    book = claims.book
    bound, findings = _bound(book, {document.name for document in documents})
    held = tuple(_Holder(document, claims).run(bound) for document in documents)
    for binding in bound:
        for page in binding.placed.item.page:
            one = next((one for one in held if one.document.name == page), None)
            if one is not None and not any(binding.find(_searched(one.document.text))):
                message = f"no sentence of {page} reads {_short(binding.placed.item.pattern)}"
                fix = "write the sentence as the pattern says, or the pattern as the sentence says"
                findings.append((STALE, Finding(binding.placed.at("pattern"), message, fix)))
    return Documents(held, tuple(findings), book.claims.sentences)


def _bound(book: Book, names: set[str]) -> tuple[list[Binding], list[tuple[str, Finding]]]:
    """Fill every pattern; of a claim that cannot be shown nothing is said, for the check reports the cause."""
    found: list[Binding] = []
    findings: list[tuple[str, Finding]] = []
    for placed in book.claims.sentences:
        for page in placed.item.page:
            if page not in names:
                unknown = UnknownNameError("page", page, names)
                fix = f"{unknown.fix}; write its path from the project's root"
                findings.append((STALE, Finding(placed.at("page"), unknown.message, fix)))
        try:
            found.append(bindings.bind(placed, book))
        except UnknownNameError as error:
            findings.append((UNKNOWN, Finding(placed.at("claim"), error.message, error.fix)))
        except ItemError as error:
            findings.append((error.code, Finding(placed.at(*error.parts), error.message, error.fix)))
        except (Unrenderable, RecordError):
            continue
    return found, findings


@functools.lru_cache(maxsize=8)
def _searched(text: str) -> str:
    """The text without code blocks, comments and what is filled into blocks: where sentences are looked for."""
    return masks.comments(masks.blocks(blocks.blank(text, keeps_lines=False)))


def digest_of(block: Block, logs: Iterable[str], text: str) -> str:
    """Return what seals a block: twelve digits of the sha256 of what it asks for, its logs and its text."""
    said = "\n".join((block.key, *logs, text.replace("\r\n", "\n")))
    return hashlib.sha256(said.encode()).hexdigest()[:12]


def seal(held: Held, book: Book) -> list[Edit]:
    """Return the edits that seal what can be: each adds its logs and its digest to the opening comment."""
    edits = []
    text = held.document.text
    for block in held.unsealed:
        logs = book.logs_of(block.id)
        said = next((edit.text for edit in held.edits if edit.start == block.inner[0]), text[slice(*block.inner)])
        words = " ".join([block.key, *(f"log={log}" for log in logs), f"seal={digest_of(block, logs, said)}"])
        finding = Finding(held.document.at(block.line), f"{block.key} is sealed to {', '.join(logs)}")
        edits.append(Edit(block.start, block.inner[0], f"<!-- evidence: {words} -->", finding))
    return edits


def says_what_its_logs_give(held: Held, block: Block, claims: Holding) -> bool:
    """Whether a sealed block reads as its claim does now, over the logs that it names: whether it was just sealed."""
    pinned = replace(claims, book=claims.book.pinned({series(log): log for log in block.logs}))
    holder = _Holder(held.document, pinned)
    try:
        wanted = _laid_out(block, holder.rendered(block))
    except EvidenceError:
        return False
    return wanted == held.document.text[slice(*block.inner)]


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with its edits made and every other character as it was."""
    parts, end = [], 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        parts += [text[end : edit.start], edit.text]
        end = edit.end
    return "".join([*parts, text[end:]])


class _Holder:
    """Holds one document."""

    def __init__(self, document: Document, claims: Holding) -> None:
        self.document, self.book, self.store, self.claims = document, claims.book, claims.store, claims
        self.held = Held(document)
        self.owned: list[tuple[int, int, Binding]] = []
        way = os.path.relpath(claims.docs, document.path.parent).replace(os.sep, "/")
        self.docs = "" if way == "." else f"{way}/"

    def run(self, bound: Iterable[Binding]) -> Held:
        found = blocks.parse(self.document.text)
        for fault in found.faults:
            self._find(STALE, fault.line, fault.message, fault.fix)
        for block in found.blocks:
            if block.seal:
                self._sealed(block)
            else:
                self._block(block)
        for binding in bound:
            if self.document.name in binding.placed.item.page:
                self._sentence(binding)
        return self.held

    def _sealed(self, block: Block) -> None:
        """A sealed block says what it said when it was sealed, and its logs are still there."""
        for log in block.logs:
            if log not in self.store:
                unknown = UnknownNameError("log", log, [entry.log for entry in self.store.entries])
                message = f"{block.key} is sealed to a log that is not there: {unknown.message}"
                self._find(STALE, block.line, message, f"bring the log back: logs are never removed; {unknown.fix}")
                return
        if not (self.document.is_log_of_changes and block.release):
            message = f"{block.key} is sealed, and stands under no release of a changelog"
            self._find(STALE, block.line, message, "drop log= and seal=, so that it follows its claim")
        elif digest_of(block, block.logs, self.document.text[slice(*block.inner)]) == block.seal:
            self.held.sealed.append(block)
        else:
            message = f"{block.key} was changed after it was sealed"
            self._find(
                STALE, block.line, message, "bring back what the release said; write what is new under Unreleased"
            )

    def _block(self, block: Block) -> None:
        at = self.document.at(block.line)
        try:
            wanted = _laid_out(block, self.rendered(block))
        except UnknownNameError as error:
            self.held.findings.append((UNKNOWN, Finding(at, error.message, error.fix)))
            return
        except Unrenderable as error:
            self.held.uses.append(Use(block.kind, block.id, block.field, at, block.is_inline))
            if block.field and not error.findings and error.fix:
                self.held.findings.append((UNKNOWN, Finding(at, error.message, error.fix)))
            else:
                self.held.unshown.append((at, error.message))
            return
        except EvidenceError as error:
            self.held.unshown.append((at, error.message))
            return
        self.held.uses.append(Use(block.kind, block.id, block.field, at, block.is_inline))
        said = self.document.text[slice(*block.inner)]
        is_released = self.document.is_log_of_changes and bool(block.release)
        message = f"{block.key} does not say what its log gives: {_difference(said, wanted)}"
        if is_released and said.strip() and said != wanted:
            fix = "bring back what it said, or put it under Unreleased, sync, and seal it with the release"
            self._find(STALE, block.line, f"{message}; it is released ({block.release}) and not sealed", fix)
            return
        finding = Finding(at, message, _SYNC)
        if is_released:
            self.held.unsealed.append(block)
            message = f"{block.key} stands under the release {block.release} and is not sealed"
            finding = Finding(at, message, "run `evidence sync --seal`, so that no later log rewrites it")
            self.held.findings.append((STALE, finding))
        if said != wanted:
            self.held.edits.append(Edit(*block.inner, wanted, finding))

    def rendered(self, block: Block) -> str:
        """Return what a block asks for as text.

        Raises:
            EvidenceError: there is no such thing, or it cannot be shown.
        """
        match block.kind:
            case "claim" if not block.is_inline:
                return synced.callout(self.book.statement(block.id), self.docs)
            case "claim":
                return synced.claim(self.book.statement(block.id))
            case "says":
                return synced.says(self.book.statement(block.id))
            case "value":
                return synced.value(self.book.value(block.id, block.field))
            case "diagnostic":
                return synced.diagnostic(self.book.diagnostic(block.id, block.field))
            case "table":
                return synced.table(self.book.table(block.id), self.docs)
            case "figure":
                picture = self.claims.pictures.named(block.id)
                return synced.figure(pictures.drawn(picture, self.book, self.claims.docs), self.docs)

    def _sentence(self, binding: Binding) -> None:
        claim = binding.placed.item.claim
        for values in binding.find(_searched(self.document.text)):
            span = values[0].start, values[-1].end
            first = self.document.line(span[0])
            self.held.uses.append(Use("value", claim, "", self.document.at(first), is_inline=True))
            if release := self._release_at(span[0]):
                message = f"a bound sentence stands under the release {release}, where later logs would rewrite it"
                self._find(STALE, first, message, "write it as a block there, and let `evidence sync --seal` seal it")
                continue
            if owner := next((by for start, end, by in self.owned if start < span[1] and span[0] < end), None):
                message = f"this sentence is bound twice, here to {claim!r} and by {owner.placed.at()}"
                self._find(STALE, first, message, "drop one of the two")
                continue
            self.owned.append((*span, binding))
            self.held.values += [(value.start, value.end) for value in values]
            finding = None
            for value in values:
                if value.is_stale:
                    at = self.document.at(self.document.line(value.start))
                    message = f"this says {_short(value.text)}, and the claim {claim!r} gives {_short(value.wanted)}"
                    finding = finding or Finding(
                        at, message, f"{_SYNC}; the sentence is bound at {binding.placed.at()}"
                    )
                    self.held.edits.append(Edit(value.start, value.end, value.wanted, finding))

    def _release_at(self, offset: int) -> str:
        if not self.document.is_log_of_changes:
            return ""
        return blocks.release_at(self.releases, offset)

    @functools.cached_property
    def releases(self) -> tuple[tuple[int, str], ...]:
        """The headings of the document, and the release that each belongs to."""
        return blocks.releases(masks.code(self.document.text))

    def _find(self, code: str, line: int, message: str, fix: str) -> None:
        self.held.findings.append((code, Finding(self.document.at(line), message, fix)))


def _laid_out(block: Block, text: str) -> str:
    """What stands between the comments: the text itself among words, else the text on lines of its own."""
    if block.is_inline:
        return text
    gap = "\n\n" if block.kind in ("claim", "table", "figure") else "\n"
    lines = [f"{block.indent}{line}" if line else "" for line in text.split("\n")]
    return f"{gap}{chr(10).join(lines)}{gap}{block.indent}".replace("\n", block.newline)


def _difference(said: str, wanted: str) -> str:
    """Say the first words that differ."""
    if not said.strip():
        return "it is empty"
    old, new = said.split(), wanted.split()
    at = next((index for index, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), None)
    if at is None and len(old) == len(new):
        return "its lines are laid out otherwise"
    start = max(0, (min(len(old), len(new)) if at is None else at) - 1)
    ends = [_short(" ".join(words[start : start + 6])) for words in (old, new)]
    return f"it reads {ends[0]}, where {ends[1]} is right"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= 60 else f"{flat[:59]}…")
