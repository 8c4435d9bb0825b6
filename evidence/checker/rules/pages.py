"""Owns family EV7 and what of EV9 concerns pages: calls are read, run and shown, and no number stands beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evidence.book import Unrenderable
from evidence.checker.corpus import Corpus
from evidence.checker.registry import corpus_rule
from evidence.diagnostics import Finding, Location, Severity
from evidence.errors import EvidenceError, UnknownNameError
from evidence.pages import masks
from evidence.pages.calls import OBJECT, Call, Page, Trouble
from evidence.pages.commands import Command, commands
from evidence.pages.links import Link, links, named_logs
from evidence.pages.numbers import typed_numbers, typed_results, typed_tables
from evidence.pages.signatures import Signature, signature_of
from evidence.project import LOGS_NAME

_RELEASE_FILES = ("README.md", "CHANGELOG.md")
_SHOWING = frozenset({"claim", "says", "value", "table", "chart", "reproduce"})


def _faults(corpus: Corpus, *troubles: Trouble) -> Iterator[tuple[Location, str]]:
    for page in corpus.pages:
        for fault in page.faults:
            if fault.trouble in troubles:
                yield fault.at, fault.text


def _is_claim_page(page: Page) -> bool:
    return any(call.macro in _SHOWING for call in page.calls)


@corpus_rule("EV701", "bare-number")
def bare_number(corpus: Corpus) -> Iterator[Finding]:
    """A number that looks measured is rendered from a record, or says that it was not measured.

    ## What it checks
    The text of every page, and of README.md and CHANGELOG.md beside it, for typed ratios (`1.8×`, "twice as"),
    percentages that compare, rates, bandwidths, FLOP rates, times, tables with such a unit in the head, and blocks of
    pasted output. An error on a page that shows claims and in README.md and CHANGELOG.md, a warning elsewhere.
    Code, links, mathematics, shapes and counts of devices are left alone.

    ## Why it matters
    A typed number has no environment, no gate and no samples, and nothing notices when it stops being true.

    ## How to fix it
    Render it: a field of a claim (`ev.value`), a sentence (`ev.says`) or a table (`ev.table`). A number that was not
    measured here goes through `ev.external`, `ev.spec` or `ev.target`, which print where it is from.
    """
    for page in corpus.pages:
        severity = Severity.ERROR if _is_claim_page(page) else Severity.WARNING
        yield from _typed(page.prose, page.front.body, page.path, page.front.offset, severity)
    for name in _RELEASE_FILES:
        path = corpus.project.root / name
        if path.is_file() and path.parent != corpus.project.docs:
            body = masks.synced(path.read_text(encoding="utf-8-sig"))
            prose = masks.prose(body, corpus.project.macros.markers)
            yield from _typed(prose, body, corpus.name(path), 0, Severity.ERROR)


def _typed(prose: str, body: str, path: str, offset: int, severity: Severity) -> Iterator[Finding]:
    tables = list(typed_tables(prose))
    for typed in (*typed_numbers(prose), *tables, *typed_results(body)):
        yield Finding(Location(path, typed.line + offset), f"{typed.text!r} is typed: {typed.kind}", severity=severity)


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
            if call.macro == "value" and not error.findings and error.fix:
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
    known = {"claim": book.claims.claims, "table": book.claims.tables, "item": dict.fromkeys(book.ids)}
    if signature.refers in known and call.subject and call.subject not in book.claims.malformed:
        if call.subject not in known[signature.refers]:
            kind = "claim or table" if signature.refers == "item" else signature.refers
            raise UnknownNameError(kind, call.subject, known[signature.refers])
        if call.macro == "value" and len(call.arguments) > 1:
            book.value(call.subject, call.arguments[1])
    elif signature.refers == "log" and call.subject:
        names = {entry.log for entry in corpus.store.entries} | {entry.series for entry in corpus.store.entries}
        if call.subject not in names:
            raise UnknownNameError("log", call.subject, names)


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
    For calls inside `raw` blocks outside code, for calls that run inside code or an HTML comment, and for pages that
    Jinja cannot parse, of which nothing is rendered.

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


@corpus_rule("EV706", "command-unparseable")
def command_unparseable(corpus: Corpus) -> Iterator[Finding]:
    """A printed command is one: a shell parses it, and what it runs is there.

    ## What it checks
    Every command in a shell block: its quotes, and that the module or script it runs with python is in the repository,
    if it names one of this repository's folders.

    ## Why it matters
    A reader who cannot run the command cannot reproduce the number.

    ## How to fix it
    Copy the command that was run, or render it with `ev.reproduce`.
    """
    for page, command in _commands(corpus):
        if not command.words:
            yield Finding(page.at(command.line), f"a shell cannot parse {_short(command.text)}")
        elif command.module and not _exists(corpus.project.root, command.module):
            yield Finding(page.at(command.line), f"there is no {command.module!r} to run")


@corpus_rule("EV707", "command-differs")
def command_differs(corpus: Corpus) -> Iterator[Finding]:
    """A measuring command typed beside a claim is the one that its log was made by.

    ## What it checks
    On a page that shows logs, every typed command that runs `benchmarks` against the commands that those logs record.

    ## Why it matters
    A command that was edited after the run measures something else than the page says.

    ## How to fix it
    Write `{{ ev.reproduce("id") }}`: it prints the command as it was run.
    """
    for page, command in _commands(corpus):
        ran = _ran(corpus, page) if command.module.partition(".")[0] == "benchmarks" else ()
        if ran and not any(command.equals(argv) for argv in ran):
            yield Finding(page.at(command.line), f"no log of this page was made by {_short(command.text)}")


@corpus_rule("EV708", "placeholder-in-command")
def placeholder_in_command(corpus: Corpus) -> Iterator[Finding]:
    """A measuring command can be pasted and run.

    ## What it checks
    Every typed command that runs `benchmarks` for placeholders (`<ckpt>`, `my_weight`, `/path/to`) and home folders.

    ## Why it matters
    What the reader has to fill in is what the author did not say.

    ## How to fix it
    Write the value that was used, or render the command with `ev.reproduce`.
    """
    for page, command in _commands(corpus):
        if command.module.partition(".")[0] == "benchmarks" and command.placeholder:
            yield Finding(page.at(command.line), f"{command.placeholder!r} has to be replaced before this can be run")


def _commands(corpus: Corpus) -> Iterator[tuple[Page, Command]]:
    for page in corpus.pages:
        for command in commands(page.front.body):
            yield page, command


def _exists(root: Path, module: str) -> bool:
    """Whether a module or script is there; one from outside the repository is not ours to judge."""
    is_script = module.endswith(".py")
    first = module.partition("/" if is_script else ".")[0]
    if not (root / first).is_dir() and not is_script:
        return True
    base = root / (module if is_script else module.replace(".", "/"))
    return base.is_file() or base.with_suffix(".py").is_file() or (base / "__main__.py").is_file()


def _ran(corpus: Corpus, page: Page) -> tuple[tuple[str, ...], ...]:
    logs = {log for call in page.calls if call.macro in _SHOWING for log in corpus.book.logs_of(call.subject)}
    provenances = (corpus.store.load(log).record.provenance for log in sorted(logs))
    return tuple(provenance.argv for provenance in provenances if provenance is not None)


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:79]}…")


@corpus_rule("EV711", "dead-evidence-link")
def dead_evidence_link(corpus: Corpus) -> Iterator[Finding]:
    """A reference to evidence leads to it.

    ## What it checks
    Links and text that name files below benchmark_logs, links to the page of a log, and links to the anchor of a claim
    or table. A pattern must match one log. A value on a page needs its claim on that page, for it links there.

    ## Why it matters
    Evidence that cannot be followed is no evidence; and a pattern that matches two runs backs whichever one likes.

    ## How to fix it
    Name the log by its full path, with its date. Logs are never renamed: `ls docs/benchmark_logs` shows them.
    """
    anchors = {
        (page.uri, call.subject) for page in corpus.pages for call in page.calls if call.macro in ("claim", "table")
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


def _is_alone(corpus: Corpus, page: Page, call: Call, anchors: set[tuple[str, str]]) -> bool:
    """Whether a call prints a value of a claim that the page does not show, as a callout or as a sentence."""
    if call.macro != "value" or call.subject not in corpus.book.claims.claims:
        return False
    says = any(other.macro == "says" and other.subject == call.subject for other in page.calls)
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
