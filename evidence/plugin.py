"""Owns the MkDocs plugin: it checks the project, places what macros stand for, and fails the build once, with all.

It stands after mkdocs-macros. Evidence that is wrong is never published: an error fails every build, a warning a strict
one, and both before the first page is written.
"""

from __future__ import annotations

import functools
import gc
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markdown.extensions.toc import slugify  # type: ignore[import-untyped]
from mkdocs.config.base import Config
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority, get_plugin_logger
from mkdocs.structure.files import File, InclusionLevel
from mkdocs.utils import get_relative_url

from evidence import figures, generated, units
from evidence.checker.catalogue import RULES
from evidence.checker.corpus import Corpus
from evidence.checker.runs import run
from evidence.diagnostics import Diagnostic, Finding, Location, Severity
from evidence.errors import EvidenceError
from evidence.macros import PLUGIN, Build, Macros
from evidence.pages.calls import Page
from evidence.pages.tokens import Found, Piece
from evidence.project import LOGS_NAME, Project
from evidence.renderers.notices import waiver as waiver_note

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.livereload import LiveReloadServer
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page as SitePage
    from mkdocs.structure.toc import AnchorLink

MACROS = "macros"
UNKNOWN, UNRENDERED, BROKEN, COUNT = "EV702", "EV704", "EV705", "EV906"

_LOG = get_plugin_logger(PLUGIN)
_FAILED = re.compile(r"\s*# _Macro (?:Rendering|Syntax) Error_")
_LINE = re.compile(r'File "<template>", line (\d+)|_Line (\d+) in Markdown file')
_REASON = re.compile(r"_(\w*(?:Error|Exception))_: (.*)|_Line \d+ in Markdown file:_ \*\*(.*)\*\*")
_DRAWN = re.compile(r"<(text|table)\b[^<]*+(?:<(?!/\1>)[^<]*+)*+</\1>")
"""What a block leaves out of the search: the labels of drawings, and numbers without their heads."""
_TAG = re.compile(r"<[^>]*>")
_LOOSE = re.compile(r"\s+(?=[,.;:)])")
_ANCHOR = re.compile(r'\sid="([^"]+)"')
_ACTIVE = (".html", ".htm", ".xhtml", ".xht", ".svg", ".xml", ".js", ".mjs")
"""What a browser would run: a log's file of that kind is not published."""


@dataclass(slots=True)
class _Session:
    """What one build knows."""

    corpus: Corpus
    build: Build
    static: dict[str, Page]
    """Pages as read, by path below docs."""
    problems: list[tuple[str, Finding]] = field(default_factory=list)
    generated: set[str] = field(default_factory=set)
    """Paths below docs of pages that no author wrote."""
    blocks: dict[str, dict[str, str]] = field(default_factory=dict)
    """By path below docs, for pages that are not yet written: the text that stands for a block, and the block."""
    shown_on: dict[str, list[str]] = field(default_factory=dict)
    """Claim or table -> addresses of the pages that show it."""
    nonce: str = field(default_factory=secrets.token_hex)
    """Marks those texts: nothing written in a page can be one."""


class NoOptions(Config):  # type: ignore[misc]
    """What counts as evidence is not configured."""


class EvidencePlugin(BasePlugin[NoOptions]):  # type: ignore[misc]
    """The plugin `evidence`."""

    def __init__(self) -> None:
        """Make the object that pages call; mkdocs-macros asks for it before this plugin is configured."""
        super().__init__()
        self._session: _Session | None = None
        self.macros = Macros(lambda: self._now.build)

    @property
    def _now(self) -> _Session:
        if self._session is None:
            raise PluginError("a page was rendered before the evidence plugin was set up")
        return self._session

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Start a build.

        Raises:
            PluginError: the project cannot be read, or mkdocs-macros would publish its own errors.
        """
        try:
            # MkDocs keeps the path as it was given: `-f mkdocs.yml` is relative.
            project = Project.read(Path(config.config_file_path).absolute())
            if project.docs != Path(config.docs_dir).resolve():
                raise EvidenceError(f"docs_dir is {config.docs_dir}, mkdocs.yml says {project.docs}")  # noqa: TRY301
            _require_macros(config.plugins, self.macros)
            corpus = Corpus(project)
            build = Build(corpus.book, {}, {}, corpus.pictures, project.docs, corpus.ignores)
            self._session = _Session(corpus, build, {page.uri: page for page in corpus.pages})
        except (EvidenceError, UnicodeDecodeError) as error:
            fix = error.fix if isinstance(error, EvidenceError) else "save the page as UTF-8"
            raise PluginError(f"{error}{f'. Fix: {fix}' if fix else ''}") from None
        toc = config.mdx_configs.setdefault("toc", {})
        toc["slugify"] = _Slug(toc.get("slugify", slugify), build)
        if not gc.get_freeze_count():  # what is loaded by now stays: no collection has to look through it again
            gc.freeze()
        return config

    def on_files(self, files: Files, config: MkDocsConfig) -> Files:
        """Add the generated pages, and keep the files of logs as they are."""
        now = self._now
        for file in list(files):
            if file.src_uri.startswith(f"{LOGS_NAME}/"):
                _publish_raw(files, file, config)
            elif file.src_uri.partition("/")[0] in generated.FOLDERS and file.is_documentation_page():
                at = Location(now.corpus.name(Path(config.docs_dir) / file.src_uri))
                now.problems.append((UNRENDERED, Finding(at, "stands where generated pages go", "move it")))
                files.remove(file)
        if files.get_file_from_path(generated.VERIFIER) is None:
            files.append(File.generated(config, generated.VERIFIER, abs_src_path=str(generated.verifier())))
        logs = [entry.log for entry in now.corpus.store.entries]
        pages = [*generated.rule_pages(RULES), *generated.log_pages(logs, now.build.book, now.build.token)]
        for uri, text in pages:
            is_index = uri.endswith("/index.md")
            inclusion = InclusionLevel.UNDEFINED if is_index else InclusionLevel.NOT_IN_NAV
            files.append(File.generated(config, uri, content=text, inclusion=inclusion))
            now.generated.add(uri)
        now.build.logs = {log: _url(files, generated.log_path(log)) for log in logs}
        now.build.pages = {
            call.subject: _url(files, uri)
            for uri, page in now.static.items()
            for call in page.calls
            if call.macro == "claim" and files.get_file_from_path(uri) is not None
        }
        for uri, page in now.static.items():
            if files.get_file_from_path(uri) is not None:
                for call in page.calls:
                    now.shown_on.setdefault(call.subject, []).append(_url(files, uri))
        return files

    def on_pre_page(self, page: SitePage, config: MkDocsConfig, files: Files) -> SitePage:
        """Say which page Jinja is about to render."""
        self._now.build.place = lambda line: self._location(page, line)
        return page

    def on_page_markdown(self, markdown: str, page: SitePage, config: MkDocsConfig, files: Files) -> str:
        """Hold the calls that ran against those that were read."""
        now = self._now
        if page.file.src_uri in now.generated:
            return markdown
        if problem := self._macro_error(markdown, page):
            static = now.static.get(page.file.src_uri)
            if static is None or not any(fault.trouble in ("syntax", "undefined") for fault in static.faults):
                now.problems.append((UNKNOWN, problem))
        else:
            now.problems += [(COUNT, finding) for finding in self._miscounted(markdown, page)]
        return self._with_waivers(markdown, page)

    def on_page_content(self, html: str, page: SitePage, config: MkDocsConfig, files: Files) -> str:
        """Put HTML in the place of tokens: in the page, its title and its table of contents."""
        now = self._now
        mint = now.build.mint
        root = get_relative_url(".", page.url)
        root = "" if root in (".", "./") else root.rstrip("/") + "/"
        tokens = list(mint.find(html))
        for found in tokens:
            if found.index in now.build.calls and (finding := self._misplaced(found, root)):
                now.problems.append(finding)
        blocks: dict[str, str] = {}
        content = mint.place(html, tokens, lambda index: self._searchable(index, root, blocks))
        if content is not html:
            anchors = (_ANCHOR.findall(text) for text in (content, *blocks.values()))
            page.present_anchor_ids = (page.present_anchor_ids or set()).union(*anchors)
        now.blocks[page.file.src_uri] = blocks
        shown = mint.indices(html)
        for link in _links(page.toc):
            link.title = self._plain(link.title, root, shown)
        if mint.is_in(str(page.title)):
            page.title = self._plain(str(page.title), root, shown)
        return content

    def on_env(self, env: Any, config: MkDocsConfig, files: Files) -> None:
        """Check everything and end the build if anything is wrong, before a file is written.

        Raises:
            PluginError: with every problem, so that quiet builds say them too.
        """
        now = self._now
        self._require_placed(files)
        diagnostics = _merged(now, run(RULES, now.corpus).diagnostics)
        errors = [one for one in diagnostics if one.severity is Severity.ERROR or config.strict]
        if errors:
            count = units.counted(len(errors), "problem")
            raise PluginError("\n".join([f"{count}, so nothing was published", *map(_written, errors)]))
        for diagnostic in diagnostics:
            _LOG.warning(_written(diagnostic))

    @event_priority(-100)  # type: ignore[untyped-decorator]
    def on_page_context(
        self, context: dict[str, Any], page: SitePage, config: MkDocsConfig, nav: Navigation
    ) -> dict[str, Any]:
        """Put each block in the place of its text, once the search has read the page."""
        for text, block in self._now.blocks.pop(page.file.src_uri, {}).items():
            page.content = page.content.replace(text, block)
        return context

    def on_post_page(self, output: str, page: SitePage, config: MkDocsConfig) -> str:
        """Refuse a page that a theme or another plugin gave a token to.

        Raises:
            PluginError: a token is left, or the text of a block.
        """
        if self._now.build.mint.is_in(output) or self._now.nonce in output:
            raise PluginError(f"{page.file.src_uri}: a call was left unrendered in the page around the content")
        return output

    def on_post_build(self, config: MkDocsConfig) -> None:
        """Publish what every printed number is read from, so that a reader can compute it again."""
        now = self._now
        text = figures.text(now.build.book, now.shown_on, now.build.values)
        (Path(config.site_dir) / figures.FILE_NAME).write_text(text, encoding="utf-8")

    def on_serve(
        self, server: LiveReloadServer, config: MkDocsConfig, builder: Callable[..., None]
    ) -> LiveReloadServer:
        """Rebuild when claims or logs change, wherever the server was told to look."""
        for folder in (self._now.corpus.project.claims, self._now.corpus.project.logs):
            if folder.is_dir():
                server.watch(str(folder))
        return server

    def _searchable(self, index: int, root: str, blocks: dict[str, str]) -> Piece:
        """Return what stands for a call in the page that the search reads: of a block its text, which says as much.

        A search that has to find its way through the drawings of a thousand tables takes longer than the rest of the
        build. The block is kept beside its text until then.
        """
        piece = self._now.build.piece(index, root)
        if not piece.is_block:
            return piece
        words = _LOOSE.sub("", " ".join(_TAG.sub(" ", _DRAWN.sub(" ", piece.html)).split()))
        text = f'<p data-evidence="{self._now.nonce}-{index}">{words}</p>'
        blocks[text] = piece.html
        return replace(piece, html=text)

    def _with_waivers(self, markdown: str, page: SitePage) -> str:
        """Print each waiver of a page where it stands: the reader sees what was accepted, by whom, until when."""
        now = self._now
        static = now.static.get(page.file.src_uri)
        for waiver in static.waivers if static else ():
            if waiver.until is not None and not waiver.fault:
                note = waiver_note(waiver.rule, waiver.because, waiver.owner, waiver.until)
                make = functools.partial(_always, Piece(note, f"waiver {waiver.rule}", is_block=True))
                markdown = markdown.replace(waiver.text, f"{now.build.token(make)}\n", 1)
        return markdown

    def _location(self, page: SitePage, line: int) -> Location:
        now = self._now
        uri = page.file.src_uri
        static = now.static.get(uri)
        return static.at(line) if static else Location(now.corpus.name(now.corpus.project.docs / uri), line)

    def _plain(self, text: str, root: str, shown: Iterable[int]) -> str:
        """Put escaped text in the place of tokens, for titles. mkdocs-macros runs the calls of a title once more."""
        build = self._now.build
        twins = {_key(build.calls[index]): index for index in shown if index in build.calls}

        def plain(index: int) -> str:
            twin = twins.get(_key(build.calls[index]), index) if index in build.calls else index
            return escape(build.piece(twin, root).text)

        return build.mint.replace(text, plain)

    def _macro_error(self, markdown: str, page: SitePage) -> Finding | None:
        """What mkdocs-macros wrote in place of a page that it could not render."""
        text = next((text for text in (markdown, str(page.title)) if _FAILED.match(text)), None)
        if text is None:
            return None
        lines = [int(first or second) for first, second in _LINE.findall(text)]
        reason = _REASON.search(text)
        message = " ".join(part for part in reason.groups() if part) if reason else "the page could not be rendered"
        return Finding(self._location(page, lines[-1] if lines else 1), f"mkdocs-macros: {message}")

    def _miscounted(self, markdown: str, page: SitePage) -> Iterator[Finding]:
        """Compare the calls whose tokens are on a page with those that the check has read there."""
        now = self._now
        static = now.static.get(page.file.src_uri)
        read = static.calls if static and static.macros_enabled else ()
        if not all(call.is_literal for call in read):
            return
        ran = [now.build.calls[index] for index in now.build.mint.indices(markdown)]
        missing = Counter(map(_key, read)) - Counter(map(_key, ran))
        extra = Counter(map(_key, ran)) - Counter(map(_key, read))
        for calls, counts, message in (
            (read, missing, "is read on this page, but its result is not shown"),
            (ran, extra, "is shown on this page more often than it can be read there"),
        ):
            for call in calls:
                if counts.pop(_key(call), 0):
                    yield Finding(call.at, f"ev.{call.macro}({call.subject!r}) {message}")

    def _misplaced(self, found: Found, root: str) -> tuple[str, Finding] | None:
        """What is wrong with the place that a call's result has come to."""
        build = self._now.build
        call = build.calls[found.index]
        name = f"ev.{call.macro}({call.subject!r})"
        if found.position in ("code", "comment", "attribute"):
            where = {"code": "in code", "comment": "in a comment", "attribute": "inside a tag"}[found.position]
            return UNRENDERED, Finding(call.at, f"{name} stands {where}, where nothing can be shown")
        if found.position == "link":
            return BROKEN, Finding(call.at, f"{name} stands inside a link, and is a link itself")
        if build.piece(found.index, root).is_block and found.position != "flow":
            return BROKEN, Finding(call.at, f"{name} is a block, but stands among the words of a {found.position}")
        return None

    def _require_placed(self, files: Files) -> None:
        """Find tokens that are still there: nothing but HTML may be left of a call."""
        now = self._now
        for file in files.documentation_pages():
            page = file.page
            if page is None:
                continue
            static = now.static.get(file.src_uri)
            if static and not all(call.is_direct for call in static.calls):
                continue
            texts = (page.content or "", str(page.title), str(page.meta), *(link.title for link in _links(page.toc)))
            if any(map(now.build.mint.is_in, texts)):
                now.problems.append((UNRENDERED, Finding(self._location(page, 1), "a call was left unrendered")))


class _RawFile(File):  # type: ignore[misc]
    """A file of a log, published byte for byte: Markdown in it is evidence, not a page."""

    def is_documentation_page(self) -> bool:
        """Nothing in a log is rendered."""
        return False


class _Slug:
    """Anchors of headings, with the text of a call in them and not its token."""

    def __init__(self, inner: Callable[[str, str], str], build: Build) -> None:
        self._inner = inner
        self._build = build

    def __call__(self, value: str, separator: str) -> str:
        text = self._build.mint.replace(value, lambda index: self._build.piece(index, "").text)
        return self._inner(text, separator)


def _require_macros(plugins: MutableMapping[str, Any], macros: Macros) -> None:
    """Refuse to start where a call could be published as braces, as a traceback, or not at all.

    Raises:
        EvidenceError: with what to change in mkdocs.yml.
    """
    names = list(plugins)
    if MACROS not in names or names.index(MACROS) > names.index(PLUGIN):
        raise EvidenceError("the evidence plugin needs mkdocs-macros before it", fix="list `- macros:` before evidence")
    plugin = plugins[MACROS]
    if plugin.config["on_undefined"] != "strict":
        raise EvidenceError(
            "mkdocs-macros would publish the braces of an undefined name", fix="set `on_undefined: strict` under macros"
        )
    if plugin.variables.get("ev") is not macros:
        raise EvidenceError(
            "pages would not get the macros: `ev` is missing or something else",
            fix="set `modules: [evidence.macros]` under macros, and name nothing else `ev`",
        )
    # It would end the process at the first faulty page, silently under --quiet; this plugin reports all of them.
    plugin.config["on_error_fail"] = False


def _publish_raw(files: Files, file: File, config: MkDocsConfig) -> None:
    if file.src_uri.lower().endswith(_ACTIVE):
        file.inclusion = InclusionLevel.EXCLUDED
    elif file.is_documentation_page():
        files.remove(file)
        files.append(_RawFile(file.src_uri, file.src_dir, config.site_dir, config.use_directory_urls))


def _always(piece: Piece, root: str) -> Piece:
    return piece


def _url(files: Files, uri: str) -> str:
    file = files.get_file_from_path(uri)
    return "" if file is None or file.url in (".", "./") else file.url


def _links(toc: Iterable[AnchorLink]) -> Iterator[AnchorLink]:
    for link in toc:
        yield link
        yield from _links(link.children)


def _key(call: Any) -> tuple[object, ...]:
    return call.macro, call.arguments, call.keywords


def _merged(now: _Session, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Add what the build found to what the check found, each thing once."""
    merged = list(diagnostics)
    names = {rule.code: rule for rule in RULES}

    def add(problems: Iterable[tuple[str, Finding]]) -> None:
        seen = {(one.code, one.at.path, one.at.line) for one in merged}
        for code, finding in sorted(set(problems), key=lambda one: (one[1].at, one[0], one[1].message)):
            if (code, finding.at.path, finding.at.line) not in seen:
                rule = names.get(code)
                severity = finding.severity or (rule.severity if rule else Severity.ERROR)
                fix = finding.fix or (rule.hint if rule else "")
                name = rule.name if rule else ""
                merged.append(Diagnostic(code, name, severity, finding.at, finding.message, fix, finding.cited))

    add([*now.problems, *now.build.problems])
    if not any(one.severity is Severity.ERROR for one in merged):
        add(now.build.echoes)
    return merged


def _written(diagnostic: Diagnostic) -> str:
    fix = f"\n    fix: {diagnostic.fix}" if diagnostic.fix else ""
    return f"{diagnostic.at}: {diagnostic.code} {diagnostic.name}: {diagnostic.message}{fix}"
