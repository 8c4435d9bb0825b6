"""Owns family EV7 and what of EV9 concerns pages: calls are read, run and shown, and no number stands beside them."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.book import Unrenderable
from evidence.checker.corpus import Corpus
from evidence.checker.registry import Turn, corpus_rule
from evidence.diagnostics import Finding, Location
from evidence.errors import EvidenceError, UnknownNameError
from evidence.pages import masks
from evidence.pages.calls import OBJECT, Call, Page, Trouble
from evidence.pages.links import Link, links, named_logs
from evidence.pages.signatures import Signature, signature_of
from evidence.project import LOGS_NAME

_OF_A_FIELD = ("value", "diagnostic")
"""Macros whose second argument is a field of a claim."""


def _faults(corpus: Corpus, *troubles: Trouble) -> Iterator[tuple[Location, str]]:
    for page in corpus.pages:
        for fault in page.faults:
            if fault.trouble in troubles:
                yield fault.at, fault.text


@corpus_rule("EV702", "unknown-id")
def unknown_id(corpus: Corpus) -> Iterator[Finding]:
    """A call names a macro, a claim, a table, a field or a log that there is.

    ## What it checks
    Every call on every page against the macros, the claims files and the store; and every other name that a page's
    template uses against what mkdocs-macros defines.

    ## Why it matters
    A name that leads nowhere renders nothing, or an error where a number should be.

    ## How to fix it
    Correct the name; the message gives the nearest one.
    """
    for call in corpus.calls:
        try:
            signature = signature_of(call.macro)
            if call.is_literal:
                _require_subject(corpus, call, signature)
        except UnknownNameError as error:
            yield Finding(call.at, error.message, error.fix)
        except Unrenderable as error:
            if call.macro in _OF_A_FIELD and not error.findings and error.fix:
                yield Finding(call.at, error.message, error.fix)
    for at, name in _faults(corpus, "undefined"):
        yield Finding(at, f"nothing defines {name!r}", "correct it, or wrap text with braces in {% raw %}…{% endraw %}")


def _require_subject(corpus: Corpus, call: Call, signature: Signature) -> None:
    """Look a call's subject up.

    Raises:
        UnknownNameError: there is none of that name.
        Unrenderable: it cannot be shown; for a field, because the claim has no such field.
    """
    book = corpus.book
    if signature.refers in ("claim", "table", "item") and call.subject and call.subject not in book.claims.malformed:
        book.require(call.subject, signature.refers)
        if call.macro in _OF_A_FIELD and len(call.arguments) > 1:
            (book.value if call.macro == "value" else book.diagnostic)(call.subject, call.arguments[1])
    elif signature.refers == "figure" and call.subject:
        corpus.pictures.named(call.subject)
    elif signature.refers == "log" and call.subject and call.subject not in corpus.citable:
        raise UnknownNameError("log", call.subject, corpus.citable)


@corpus_rule("EV703", "non-literal-id")
def non_literal_id(corpus: Corpus) -> Iterator[Finding]:
    """A call is written out: `ev.<macro>("id")`, with literals and all that the macro needs.

    ## What it checks
    That `ev` is only ever called as `ev.<macro>(…)`, that every argument is a literal, and that none is missing or too
    many.

    ## Why it matters
    The check reads pages without running them. A call whose id is computed could show anything.

    ## How to fix it
    Write the call with the id in quotes, once for each thing to show.
    """
    for call in corpus.calls:
        if not call.is_literal:
            yield Finding(call.at, f"an argument of {OBJECT}.{call.macro} is computed")
            continue
        try:
            signature_of(call.macro).bind(call.arguments, call.keywords)
        except UnknownNameError:
            continue
        except EvidenceError as error:
            yield Finding(call.at, error.message, error.fix)
    for at, text in _faults(corpus, "indirect"):
        yield Finding(at, text)


@corpus_rule("EV704", "unrendered-call")
def unrendered_call(corpus: Corpus) -> Iterator[Finding]:
    """A call is shown as what it renders: not as braces, and not where nothing can be shown.

    ## What it checks
    For calls inside `raw` blocks outside code, for calls that run inside code, an HTML comment or an element that is
    not displayed (`hidden`, `display: none`), and for pages that Jinja cannot parse, of which nothing is rendered.

    ## Why it matters
    The reader sees braces, or nothing at all, where the evidence should be; and a build may well be green.

    ## How to fix it
    Move the call out of the code, comment or raw block. To show a call as an example, put it in code inside
    `{% raw %}…{% endraw %}`. An anchor is written `{ #id }`, with spaces: `{#` begins a Jinja comment.
    """
    for call in corpus.calls:
        if call.place in ("code", "comment"):
            yield Finding(call.at, f"{OBJECT}.{call.macro}({call.subject!r}) runs inside {_IN[call.place]}")
    for page in corpus.pages:
        unseen = masks.unseen_lines(page.front.body) if page.calls else ()
        for call in page.calls:
            line = call.at.line - page.front.offset
            if any(first <= line <= last for first, last in unseen):
                yield Finding(
                    call.at, f"{OBJECT}.{call.macro}({call.subject!r}) stands in an element that is not shown"
                )
        for fault in page.faults:
            if fault.trouble == "syntax":
                yield Finding(fault.at, f"the page is no Jinja template: {fault.text}")
            elif fault.trouble == "unrendered" and page.macros_enabled:
                yield Finding(fault.at, f"a call is published as text: {fault.text}")


_IN = {"code": "code", "comment": "an HTML comment"}


@corpus_rule("EV705", "broken-container")
def broken_container(corpus: Corpus) -> Iterator[Finding]:
    """A block stands where a block can stand, once a page.

    ## What it checks
    That calls which render a block (`ev.table`, `ev.claim`, `ev.chart`, …) are alone on their line and in no
    heading; that no claim or table is shown twice on a page, for it carries its anchor; that an admonition or tab
    has indented content; that a fence is closed.

    ## Why it matters
    A block among words ends the paragraph around it, two of one anchor make links ambiguous, and a call below a
    container that it does not belong to is read as part of it.

    ## How to fix it
    Put the call on a line of its own, indented by four spaces inside an admonition, tab or list.
    """
    for page in corpus.pages:
        yield from _misplaced_blocks(page)
        if page.calls:
            yield from _broken_containers(page)


def _misplaced_blocks(page: Page) -> Iterator[Finding]:
    first: dict[tuple[str, str], Location] = {}
    for call in page.calls:
        try:
            is_block = signature_of(call.macro).is_block
        except UnknownNameError:
            continue
        name = f"{OBJECT}.{call.macro}({call.subject!r})"
        if is_block and call.is_direct and call.place in ("inline", "heading"):
            where = "a heading" if call.place == "heading" else "a line with other text"
            yield Finding(call.at, f"{name} is a block, and stands in {where}")
        if call.macro in ("claim", "table") and call.subject:
            if (call.macro, call.subject) in first:
                yield Finding(call.at, f"{name} is shown twice, first on line {first[call.macro, call.subject].line}")
            first.setdefault((call.macro, call.subject), call.at)


def _broken_containers(page: Page) -> Iterator[Finding]:
    for fence in masks.fences(page.front.body):
        if not fence.is_closed:
            yield Finding(page.at(fence.opens), "this fence is not closed, so all that follows is code")
    for line, opener in masks.empty_containers(page.front.body):
        yield Finding(page.at(line), f"nothing is indented below {opener!r}, so what follows is outside it")


@corpus_rule("EV711", "dead-evidence-link", turn=Turn.EARLY)
def dead_evidence_link(corpus: Corpus) -> Iterator[Finding]:
    """A reference to evidence leads to it.

    ## What it checks
    Links and text that name files below benchmark_logs, links to the page of a log, and links to the anchor of a claim
    or table. A pattern must match one log. A value on a page needs its claim on that page, for it links there; a value
    or a bound sentence outside the site needs it somewhere, as a callout or a sentence with its note.

    ## Why it matters
    Evidence that cannot be followed is no evidence; and a pattern that matches two runs backs whichever one likes.

    ## How to fix it
    Name the log by its full path, with its date. Logs are never renamed: `ls docs/benchmark_logs` shows them.
    """
    anchors = {
        (page.uri, corpus.book.meant(call.subject))
        for page in corpus.pages
        for call in page.calls
        if call.macro in ("claim", "table")
    }
    for page in corpus.pages:
        body = page.front.body
        for link in (*links(body, page.uri), *named_logs(body)):
            if message := _dead(corpus, link) or _dead_anchor(corpus, page, link, anchors):
                yield Finding(page.at(link.line), message)
        for call in page.calls:
            if _is_alone(corpus, page, call, anchors):
                message = f"the value of {call.subject!r} is shown without its claim"
                yield Finding(call.at, message, f'add {{{{ ev.claim("{call.subject}") }}}} to the page')
    yield from _dead_outside(corpus)


def _dead_outside(corpus: Corpus) -> Iterator[Finding]:
    """The same of Markdown outside the site."""
    whole = {call.subject for call in corpus.uses if call.macro in ("claim", "says")}
    pages = {page.path for page in corpus.pages}
    docs = f"{corpus.name(corpus.project.docs)}/"
    for held in corpus.documents.held:
        for use in held.uses:
            if use.macro == "value" and use.id not in whole:
                message = f"a number of {use.id!r} is shown, and its claim is shown nowhere"
                yield Finding(use.at, message, f'add {{{{ ev.claim("{use.id}") }}}} to a page of the site')
        if held.document.name in pages:
            continue
        for link in (*links(held.prose, held.document.name), *named_logs(held.prose)):
            if message := _dead(corpus, link._replace(path=link.path.removeprefix(docs))):
                yield Finding(held.document.at(link.line), message)


def _is_alone(corpus: Corpus, page: Page, call: Call, anchors: set[tuple[str, str]]) -> bool:
    """Whether a call prints a value of a claim that the page does not show, as a callout or as a sentence."""
    if call.macro != "value" or call.subject not in corpus.book.claims.claims:
        return False
    says = any(other.macro == "says" and corpus.book.meant(other.subject) == call.subject for other in page.calls)
    return not says and (page.uri, call.subject) not in anchors


def _dead(corpus: Corpus, link: Link) -> str:
    folder, _, rest = link.path.partition("/")
    if folder == LOGS_NAME and rest:
        root = corpus.project.logs
        if any(character in rest for character in "*?["):
            found = sorted(root.glob(rest))
            return "" if len(found) == 1 else f"{link.target!r} matches {len(found)} logs"
        return "" if (root / rest).exists() else f"{link.target!r} is not below {LOGS_NAME}"
    if folder == "logs" and rest not in ("", "index.md") and not (corpus.project.docs / link.path).exists():
        names = {entry.log for entry in corpus.store.entries}
        log = rest.removesuffix("/").removesuffix(".md").removesuffix("/index.html")
        return "" if log in names else str(UnknownNameError("log", log, names))
    return ""


def _dead_anchor(corpus: Corpus, page: Page, link: Link, anchors: set[tuple[str, str]]) -> str:
    if not link.fragment.startswith("ev-"):
        return ""
    name, uri = link.fragment.removeprefix("ev-"), link.path or page.uri
    if not any(other.uri == uri for other in corpus.pages):
        return ""
    return "" if (uri, name) in anchors else f"{uri} shows nothing under {link.fragment!r}"


@corpus_rule("EV904", "macros-disabled")
def macros_disabled(corpus: Corpus) -> Iterator[Finding]:
    """Where a page calls a macro, mkdocs-macros runs it, and the evidence plugin is there to fail the build.

    ## What it checks
    The plugins of mkdocs.yml, their order and `on_undefined: strict`; `render_macros`, `render_by_default` and
    `force_render_paths` for every page that holds a call; and that nothing else takes the name `ev`.

    ## Why it matters
    A page that is not rendered publishes its calls as braces, and a strict build does not mind.

    ## How to fix it
    Remove `render_macros: false` from the page, or add its path to `force_render_paths` under macros in mkdocs.yml.
    """
    settings = corpus.project.macros
    if any(page.calls for page in corpus.pages):
        at = Location(corpus.name(corpus.project.config), settings.line)
        if not settings.plugin_enabled:
            yield Finding(
                at, "pages call macros, but no evidence plugin follows macros", "list `- evidence` after macros"
            )
        if settings.on_undefined != "strict":
            yield Finding(at, f"on_undefined is {settings.on_undefined!r}", "set `on_undefined: strict` under macros")
        if settings.shadowed:
            yield Finding(at, "`extra` has a key `ev`, the name of the macros", "rename the key")
    for page in corpus.pages:
        for fault in page.faults:
            if fault.trouble in ("front-matter", "shadowed"):
                yield Finding(fault.at, fault.text, "correct it, so that it is known what will run")
            elif fault.trouble == "unrendered" and not page.macros_enabled:
                yield Finding(fault.at, f"macros do not run on this page: {fault.text}")


@corpus_rule("EV906", "call-count-differs")
def call_count_differs(corpus: Corpus) -> Iterator[Finding]:
    """What runs is what was read: every call once, in the order written, with its result shown as it is.

    ## What it checks
    Before the build: calls under a statement (`if`, `for`, `set`, `macro`), inside an expression or before a filter,
    and text included from elsewhere. In the build: the calls whose results are on a page against those that were read.

    ## Why it matters
    The check reads pages without running them. A call that runs twice, never, or only for some readers would pass it.

    ## How to fix it
    Write the call by itself, `{{ ev.table("id") }}`, outside every statement, on the page that shows it.
    """
    for call in corpus.calls:
        if not call.is_direct:
            yield Finding(
                call.at, f"{OBJECT}.{call.macro}({call.subject!r}) stands under a statement or in an expression"
            )
    for at, text in _faults(corpus, "included"):
        yield Finding(at, text)
