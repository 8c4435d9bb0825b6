"""Owns the object `ev` that pages call, and what each macro of it places: the module that mkdocs-macros loads.

A macro never raises and renders nothing by itself: it notes the call and returns a token. What the call shows is built
when the page has become HTML, so that nothing a log says goes through Jinja or Markdown.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, cast, get_args

from mkdocs.exceptions import PluginError

from evidence import attainment, pictures
from evidence import history as histories
from evidence.book import Book, Unrenderable
from evidence.checker.ignores import Ignore
from evidence.diagnostics import Finding, Location
from evidence.errors import EvidenceError, RecordError, UnknownNameError
from evidence.pages.signatures import Signature, signature_of
from evidence.pages.tokens import Mint, Piece
from evidence.pictures import Pictures
from evidence.renderers import html
from evidence.renderers.charts import Kind
from evidence.stance import evidence_of

if TYPE_CHECKING:
    from types import FrameType

Part: TypeAlias = Callable[["Build", Mapping[str, str], str], tuple[str, str]]
"""A macro: from the build, its arguments by name and the way to the site's root to HTML and to plain text."""

PLUGIN = "evidence"
_FIELDS = ("value", "diagnostic")
"""Macros whose second argument is a field of a claim."""
UNKNOWN, ARGUMENTS, CRASHED, UNBACKED = "EV702", "EV703", "EV901", "EV601"


@dataclass(frozen=True, slots=True)
class Executed:
    """One call that Jinja ran: what was called, with what, and from which line of which page."""

    macro: str
    arguments: tuple[str, ...]
    keywords: tuple[tuple[str, str], ...]
    at: Location

    @property
    def subject(self) -> str:
        """The id or log it names, for messages."""
        return self.arguments[0] if self.arguments else next((text for _, text in self.keywords), "")


@dataclass(slots=True)
class Build:
    """One build of a site: the calls it ran, what they place, and what went wrong. Made anew for each build."""

    book: Book
    pages: Mapping[str, str]
    """Claim -> path on the site of the page that holds its callout."""
    logs: Mapping[str, str]
    """Log -> path on the site of its own page, where claims without a callout are shown."""
    pictures: Pictures = field(default_factory=lambda: Pictures({}))
    docs: Path = Path()
    """Folder of the site's sources."""
    accepted: Sequence[Ignore] = ()
    """Findings that somebody accepts for a time, wherever they say so."""
    mint: Mint = field(default_factory=Mint)
    calls: dict[int, Executed] = field(default_factory=dict)
    problems: dict[tuple[str, Finding], None] = field(default_factory=dict)
    echoes: dict[tuple[str, Finding], None] = field(default_factory=dict)
    """What cannot be shown for a cause that the check reports where it lies."""
    place: Callable[[int], Location] = field(default=lambda line: Location("mkdocs.yml", line))
    """Location of a line of what Jinja is rendering now."""
    _made: dict[int, Callable[[str], Piece]] = field(default_factory=dict)
    _pieces: dict[tuple[object, ...], Piece] = field(default_factory=dict)

    def call(self, macro: str, arguments: tuple[object, ...], keywords: Mapping[str, object]) -> str:
        """Note a call and return the token that stands for it."""
        index, token = self.mint.token()
        texts = tuple((key, str(value)) for key, value in keywords.items())
        self.calls[index] = Executed(macro, tuple(map(str, arguments)), texts, self.place(_line()))
        return token

    def token(self, make: Callable[[str], Piece]) -> str:
        """Return a token for something that no author called, such as a part of a log's page."""
        index, token = self.mint.token()
        self._made[index] = make
        return token

    def piece(self, index: int, root: str) -> Piece:
        """Return what stands in a token's place on a page whose way to the site's root is `root`."""
        if index in self._made:
            return self._made[index](root)
        call = self.calls[index]
        key = (call.macro, call.arguments, call.keywords, root)
        if key in self._pieces:
            return self._pieces[key]
        signature: Signature | None = None
        try:
            signature = signature_of(call.macro)
            part = _PARTS[call.macro](self, signature.bind(call.arguments, call.keywords), root)
        except Exception as error:  # noqa: BLE001 - a macro that raises would publish its traceback
            return self._failed(call, error, is_block=signature is not None and signature.is_block)
        self._pieces[key] = Piece(*part, signature.is_block)
        return self._pieces[key]

    @property
    def values(self) -> set[tuple[str, str, str]]:
        """Macro, claim and field of every single value that a page calls for."""
        calls = [call for call in self.calls.values() if call.macro in _FIELDS]
        bound = [(call.macro, signature_of(call.macro).bind(call.arguments, call.keywords)) for call in calls]
        return {(macro, one["id"], one["field"]) for macro, one in bound}

    def page_of(self, claim: str) -> str | None:
        """Return the path on the site of the page that holds a claim's callout: an author's, else its log's."""
        logs = self.book.logs_of(claim)
        return self.pages.get(claim) or (self.logs.get(logs[0]) if logs else None)

    def _failed(self, call: Executed, error: Exception, *, is_block: bool) -> Piece:
        found = _findings(call, error)
        (self.echoes if _is_echo(call, error) else self.problems).update(dict.fromkeys(found))
        name = call.subject or f"ev.{call.macro}"
        content = html.error_box(name, found) if is_block else html.error_mark(name, found[0][0])
        return Piece(content, f"{name}: not shown", is_block)


class Macros:
    """The object `ev`. Any name on it can be called: a macro that does not exist is a problem of the page."""

    def __init__(self, build: Callable[[], Build]) -> None:
        """Take the way to the build that is going on: it is another one after each change while serving."""
        self._build = build

    def __getattr__(self, name: str) -> Callable[..., str]:
        """Return the macro of that name."""
        if name.startswith("_"):
            raise AttributeError(name)
        return functools.partial(self._call, name)

    def _call(self, macro: str, /, *arguments: object, **keywords: object) -> str:
        return self._build().call(macro, arguments, keywords)


class MacroEnvironment(Protocol):
    """What mkdocs-macros hands to `define_env`, as far as it is used here."""

    conf: Mapping[str, Any]
    variables: dict[str, Any]


def define_env(env: MacroEnvironment) -> None:
    """Give pages the object `ev`.

    Raises:
        PluginError: the evidence plugin, which fails the build on bad evidence, is not there.
    """
    plugin = env.conf["plugins"].get(PLUGIN)
    if plugin is None:
        raise PluginError(
            "mkdocs.yml loads evidence.macros without the evidence plugin, which would publish unchecked numbers. "
            "Fix: list `- evidence` under plugins, after macros"
        )
    env.variables["ev"] = plugin.macros


def _line() -> int:
    """Return the line of the template that is calling, 1 if none is."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        template = frame.f_globals.get("__jinja_template__")
        if template is not None:
            return int(template.get_corresponding_lineno(frame.f_lineno))
        frame = frame.f_back
    return 1


def _is_echo(call: Executed, error: Exception) -> bool:
    """Say whether the check reports the cause by itself, at its own place."""
    if not isinstance(error, Unrenderable):
        return isinstance(error, RecordError)
    # A field that means nothing has a fix; a claim that cannot be read has its own finding, and none here.
    return not error.findings and not (call.macro in _FIELDS and error.fix)


def _findings(call: Executed, error: Exception) -> tuple[tuple[str, Finding], ...]:
    """What an exception says about a call, each with its rule."""
    if not isinstance(error, EvidenceError):
        message = f"ev.{call.macro} failed: {type(error).__name__}: {error}"
        return ((CRASHED, Finding(call.at, message, "report it: a macro must not fail this way")),)
    if isinstance(error, Unrenderable) and error.findings:
        return error.findings
    if isinstance(error, UnknownNameError) or call.macro in _FIELDS:
        code = UNKNOWN
    elif isinstance(error, (Unrenderable, RecordError)):
        code = UNBACKED
    else:
        code = ARGUMENTS
    return ((code, Finding(call.at, error.message, error.fix)),)


def _table(build: Build, bound: Mapping[str, str], root: str) -> tuple[str, str]:
    view = build.book.table(bound["id"])
    return html.table(view, root), view.title


def _chart(build: Build, bound: Mapping[str, str], root: str) -> tuple[str, str]:
    view = build.book.table(bound["id"])
    kind = bound.get("kind") or "forest"
    if kind not in get_args(Kind):
        raise UnknownNameError("kind of chart", kind, get_args(Kind))
    return html.chart(view, cast(Kind, kind), root), view.title


def _claim(build: Build, bound: Mapping[str, str], root: str) -> tuple[str, str]:
    view = build.book.statement(bound["id"])
    return html.claim(view, root), view.text


def _says(build: Build, bound: Mapping[str, str], root: str) -> tuple[str, str]:
    view = build.book.statement(bound["id"])
    return html.says(view, root, build.page_of(view.id)), view.text


def _value(build: Build, bound: Mapping[str, str], root: str) -> tuple[str, str]:
    view = build.book.value(bound["id"], bound["field"])
    return html.value(view, bound["id"], root, build.page_of(bound["id"])), view.text


def _diagnostic(build: Build, bound: Mapping[str, str], root: str) -> tuple[str, str]:
    view = build.book.diagnostic(bound["id"], bound["field"])
    return html.diagnostic(view, root, build.logs.get(view.logs[0])), f"{view.figure.text} ({view.label})"


def _figure(build: Build, bound: Mapping[str, str], root: str) -> tuple[str, str]:
    view = pictures.drawn(build.pictures.named(bound["id"]), build.book, build.docs)
    return html.figure(view, root), view.text


def _history(build: Build, bound: Mapping[str, str], root: str) -> tuple[str, str]:
    return html.history(histories.of_claim(build.book, bound["id"]), root), f"history of {bound['id']}"


def _roofline(build: Build, bound: Mapping[str, str], root: str) -> tuple[str, str]:
    view = attainment.of_table(build.book, bound["id"], bound.get("ceilings") or None)
    return html.roofline(view, root), f"roofline of {view.title}"


def _environment(build: Build, bound: Mapping[str, str], root: str) -> tuple[str, str]:
    evidence = evidence_of(build.book.log(bound["log"]))
    return html.environment(evidence), evidence.log


def _reproduce(build: Build, bound: Mapping[str, str], root: str) -> tuple[str, str]:
    is_table = bound["id"] in build.book.claims.tables
    view = build.book.table(bound["id"]) if is_table else build.book.statement(bound["id"])
    return html.reproduce(view.evidence), f"command of {view.id}"


def _status(build: Build, bound: Mapping[str, str], root: str) -> tuple[str, str]:
    accepted = "".join(
        html.waiver(one.rule, f"{one.at.path}: {one.reason}", one.owner, one.until) for one in build.accepted
    )
    board = html.board([_listed(build, id_) for id_ in build.book.claims.claims], root)
    return board + accepted, "status of every claim"


def _listed(build: Build, id_: str) -> html.Listed | html.Unshown:
    page = build.pages.get(id_)
    try:
        return html.Listed(build.book.statement(id_), page)
    except EvidenceError as error:
        return html.Unshown(id_, error.message, page)


def _borrowed(kind: Literal["external", "spec", "target"], origin: str) -> Part:
    def part(build: Build, bound: Mapping[str, str], root: str) -> tuple[str, str]:
        return html.borrowed(kind, bound["value"], bound.get(origin, "")), bound["value"]

    return part


_PARTS: Mapping[str, Part] = {
    "table": _table,
    "chart": _chart,
    "diagnostic": _diagnostic,
    "claim": _claim,
    "says": _says,
    "value": _value,
    "environment": _environment,
    "history": _history,
    "roofline": _roofline,
    "figure": _figure,
    "reproduce": _reproduce,
    "status": _status,
    "external": _borrowed("external", "source"),
    "spec": _borrowed("spec", "device"),
    "target": _borrowed("target", ""),
}
