"""Owns reading a page's macro calls from its Jinja syntax tree: which, with what, on which line. Nothing is run."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from evidence.diagnostics import Location
from evidence.pages import masks
from evidence.pages.front_matter import FrontMatter, split
from evidence.pages.waivers import Waiver, waivers
from evidence.project import MacroSettings

if TYPE_CHECKING:
    import jinja2
    from jinja2 import nodes

OBJECT = "ev"
"""The one name authors call: everything else in a page's namespace can be shadowed or is not ours."""

Place = Literal["block", "inline", "heading", "code", "comment"]
"""Where a call stands: alone on its line, in running text, in a heading, in code, in an HTML comment."""

Trouble = Literal["front-matter", "syntax", "shadowed", "indirect", "included", "unrendered", "undefined"]
"""What keeps a page, or a part of it, from being read: each is one rule's business."""

_NAMES = frozenset(
    {
        *(
            "config",
            "context",
            "environment",
            "extra",
            "files",
            "filters",
            "filters_builtin",
            "fix_url",
            "git",
            "macros",
        ),
        *("macros_info", "navigation", "now", "page", "plugin"),
    }
)
"""What mkdocs-macros itself defines."""
_SNIPPET = re.compile(r"^[ \t>]*-+8<-+(?=[ \t]*(?:[\"'\n]|$))", re.MULTILINE)
_FILTERS = frozenset({"pretty", "relative_url"})


class Call(NamedTuple):
    """One `ev.<macro>(…)` on a page."""

    macro: str
    arguments: tuple[str, ...]
    """Positional arguments; one that is not a literal is an empty text."""
    keywords: tuple[tuple[str, str], ...]
    at: Location
    is_literal: bool
    """Every argument is a literal, so that reading the call says what it shows."""
    is_direct: bool
    """The call is all of one `{{ }}` and stands under no statement: it runs once, and its result is shown as it is."""
    place: Place

    @property
    def subject(self) -> str:
        """The first argument: the id or log that the call is about, empty if there is none."""
        return self.arguments[0] if self.arguments else next((text for _, text in self.keywords), "")


class Fault(NamedTuple):
    """A place that keeps the page from being read as it will be rendered."""

    trouble: Trouble
    at: Location
    text: str


class Page(NamedTuple):
    """One page as read."""

    path: str
    """From the project's root."""
    uri: str
    """Below docs."""
    front: FrontMatter
    macros_enabled: bool
    """mkdocs-macros will run this page."""
    calls: tuple[Call, ...]
    faults: tuple[Fault, ...]
    waivers: tuple[Waiver, ...]
    prose: str
    """The body with nothing but what a reader reads as text, line for line."""
    dormant: tuple[Call, ...] = ()
    """Calls outside code that would run if macros ran on this page."""

    def at(self, line: int) -> Location:
        """Return the place of a line of the body."""
        return Location(self.path, line + self.front.offset)


def read_page(path: str, text: str, settings: MacroSettings, *, uri: str = "") -> Page:
    """Read one page; `path` names it in findings, `uri` is its path below docs."""
    uri = uri or path.partition("/")[2] or path
    front = split(text)
    enabled = settings.renders(uri, front.meta)
    reader = _Reader(path, text, front, settings)
    faults = [*reader.front_matter()]
    calls: tuple[Call, ...] = ()
    dormant: tuple[Call, ...] = ()
    if enabled:
        calls, found = reader.tree()
        faults += found
    elif unrendered := [*reader.unrendered()]:
        faults += unrendered
        dormant = tuple(call for call in reader.tree()[0] if call.place not in ("code", "comment"))
    faults += reader.snippets()
    prose = masks.prose(front.body, settings.markers)
    ordered = tuple(sorted(faults, key=lambda fault: fault.at))
    return Page(path, uri, front, enabled, calls, ordered, tuple(waivers(front.body)), prose, dormant)


class _Reader(NamedTuple):
    path: str
    text: str
    front: FrontMatter
    settings: MacroSettings

    @property
    def opening(self) -> re.Pattern[str]:
        """The beginning of a call."""
        return re.compile(re.escape(self.settings.markers["variable_start_string"]) + rf"[-+]?\s*{OBJECT}\b")

    def at(self, line: int) -> Location:
        return Location(self.path, line + self.front.offset)

    def front_matter(self) -> Iterator[Fault]:
        if self.front.fault:
            yield Fault("front-matter", Location(self.path, 1), f"front matter cannot be read: {self.front.fault}")
        if OBJECT in self.front.meta:
            line = self.front.line_of(self.text, OBJECT)
            yield Fault("shadowed", Location(self.path, line), f"the front matter's key `{OBJECT}` hides the macros")
        for key, value in self.front.meta.items():
            if self.opening.search(str(value) if isinstance(value, str) else ""):
                at = Location(self.path, self.front.line_of(self.text, re.escape(str(key))))
                yield Fault("included", at, f"the front matter's {key!r} holds a call, which the check does not read")
        if self.front.meta.get("ignore_macros"):
            line = self.front.line_of(self.text, "ignore_macros")
            yield Fault("front-matter", Location(self.path, line), "`ignore_macros` is refused by mkdocs-macros")

    def unrendered(self) -> Iterator[Fault]:
        """Find calls on a page that will not run; those in code are there to be read."""
        return self._literal([(0, len(self.front.body))])

    def snippets(self) -> Iterator[Fault]:
        """Find lines that pymdownx.snippets would replace by a file, in code too."""
        for match in _SNIPPET.finditer(self.front.body):
            line = self.front.body.count("\n", 0, match.start()) + 1
            yield Fault("included", self.at(line), "a snippet brings text that the check does not read")

    def tree(self) -> tuple[tuple[Call, ...], list[Fault]]:
        """Return the calls that will run, and what else stands in the way of reading the page."""
        from jinja2 import TemplateSyntaxError

        environment = _environment(tuple(sorted(self.settings.markers.items())), self.settings.extensions)
        calls: tuple[Call, ...] = ()
        faults: list[Fault] = []
        try:
            tree = environment.parse(self.front.body)
            calls, bases = self._calls(tree)
            faults += [*self._raw(), *self._uses(tree, bases)]
            faults += self._undefined(environment, tree)
        except TemplateSyntaxError as error:
            faults.append(Fault("syntax", self.at(error.lineno), str(error.message)))
        except RecursionError:
            faults.append(Fault("syntax", self.at(1), "nested too deeply to read"))
        return calls, faults

    def _calls(self, tree: nodes.Template) -> tuple[tuple[Call, ...], set[int]]:
        from jinja2 import nodes

        places = _Places(self.front.body, self.settings.markers)
        direct = {id(node) for output in tree.body if isinstance(output, nodes.Output) for node in output.nodes}
        calls, bases = [], set()
        for node in tree.find_all(nodes.Call):
            target = node.node
            if isinstance(target, nodes.Getattr) and isinstance(target.node, nodes.Name) and target.node.name == OBJECT:
                bases.add(id(target.node))
                calls.append(self._call(target.attr, node, places, is_direct=id(node) in direct))
        return tuple(sorted(calls, key=lambda call: call.at)), bases

    def _call(self, macro: str, node: nodes.Call, places: _Places, *, is_direct: bool) -> Call:
        arguments = [_literal(argument) for argument in node.args]
        keywords = [(keyword.key, _literal(keyword.value)) for keyword in node.kwargs]
        texts = [*arguments, *(text for _, text in keywords)]
        return Call(
            macro=macro,
            arguments=tuple(text or "" for text in arguments),
            keywords=tuple((key, text or "") for key, text in keywords),
            at=self.at(node.lineno),
            is_literal=None not in texts and node.dyn_args is None and node.dyn_kwargs is None,
            is_direct=is_direct,
            place=places.of(macro, node.lineno),
        )

    def _uses(self, tree: nodes.Template, bases: set[int]) -> Iterator[Fault]:
        """Find uses of `ev` that are not calls, names that hide it, and text that comes from elsewhere."""
        from jinja2 import nodes

        for node in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
            message = "an include, import or extends brings text that the check does not read"
            yield Fault("included", self.at(node.lineno), message)
            if OBJECT in _imported(node):
                yield Fault(
                    "shadowed", self.at(node.lineno), f"this import gives the name `{OBJECT}` to something else"
                )
        for name in tree.find_all(nodes.Name):
            if name.name == OBJECT and name.ctx != "load":
                message = f"this statement gives the name `{OBJECT}` to something else"
                yield Fault("shadowed", self.at(name.lineno), message)
            elif name.name == OBJECT and id(name) not in bases:
                yield Fault("indirect", self.at(name.lineno), f"`{OBJECT}` is used other than as `{OBJECT}.<macro>(…)`")

    def _undefined(self, environment: jinja2.Environment, tree: nodes.Template) -> Iterator[Fault]:
        """Find names that nothing defines; where other modules may define some, only the build can know."""
        from jinja2 import meta, nodes

        if self.settings.names is None:
            return
        known = {OBJECT, *_NAMES, *self.settings.names, *environment.globals, *map(str, self.front.meta)}
        read = [name for name in tree.find_all(nodes.Name) if name.ctx == "load" and name.name not in known]
        # Which of these the page itself defines takes a compilation to tell.
        missing = meta.find_undeclared_variables(tree) if read else set()
        for name in read:
            if name.name in missing:
                yield Fault("undefined", self.at(name.lineno), name.name)

    def _raw(self) -> Iterator[Fault]:
        """Find calls that a raw block keeps from running, outside code: the reader would see braces."""
        start, end = (re.escape(self.settings.markers[f"block_{side}_string"]) for side in ("start", "end"))
        block = re.compile(rf"{start}[-+]?\s*raw\s*[-+]?{end}(.*?){start}[-+]?\s*endraw\s*[-+]?{end}", re.DOTALL)
        yield from self._literal([match.span(1) for match in block.finditer(self.front.body)])

    def _literal(self, spans: Iterable[tuple[int, int]]) -> Iterator[Fault]:
        visible = masks.comments(masks.code(self.front.body))
        for span in spans:
            for match in self.opening.finditer(visible, *span):
                line = visible.count("\n", 0, match.start()) + 1
                yield Fault("unrendered", self.at(line), self.front.body.split("\n")[line - 1].strip())


class _Places:
    """Where calls stand, found by the text of the call: the n-th call of a macro on a line is its n-th text there."""

    def __init__(self, body: str, markers: Mapping[str, str]) -> None:
        self.lines = body.split("\n")
        without_code = masks.code(body)
        self.without_code = without_code.split("\n")
        self.without_comments = masks.comments(without_code).split("\n")
        start, end = re.escape(markers["variable_start_string"]), re.escape(markers["variable_end_string"])
        self.alone = re.compile(rf"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?{start}(?:(?!{end}).)*(?:{end}\s*)?")
        self.seen: dict[tuple[str, int], int] = {}

    def of(self, macro: str, line: int) -> Place:
        """Return the place of the next call of `macro` that starts on `line`."""
        self.seen[macro, line] = nth = self.seen.get((macro, line), 0) + 1
        text = self.lines[line - 1]
        starts = [match.start() for match in re.finditer(rf"\b{OBJECT}\s*\.\s*{re.escape(macro)}\b", text)]
        start = starts[min(nth, len(starts)) - 1] if starts else 0
        if self._is_blank(self.without_code, line, start):
            return "code"
        if self._is_blank(self.without_comments, line, start):
            return "comment"
        if self._is_heading(line):
            return "heading"
        return "block" if self.alone.fullmatch(text) else "inline"

    def _is_blank(self, lines: list[str], line: int, start: int) -> bool:
        return lines[line - 1][start : start + 1] == masks.BLANK

    def _is_heading(self, line: int) -> bool:
        below = self.lines[line] if line < len(self.lines) else ""
        return self.lines[line - 1].startswith("#") or bool(re.fullmatch(r"(=+|-+)[ \t]*", below))


@functools.cache
def _environment(markers: tuple[tuple[str, str], ...], extensions: tuple[str, ...]) -> jinja2.Environment:
    """A Jinja environment that is only ever asked to parse."""
    import jinja2

    environment = jinja2.Environment(**dict(markers), extensions=extensions)  # type: ignore[arg-type]
    environment.filters.update(dict.fromkeys(_FILTERS, str))
    return environment


def _imported(node: nodes.Node) -> set[str]:
    """The names an import statement binds."""
    names = getattr(node, "names", ())
    return {getattr(node, "target", ""), *(name if isinstance(name, str) else name[1] for name in names)}


def _literal(node: nodes.Expr) -> str | None:
    """The text of a literal argument; None if it is an expression."""
    from jinja2 import nodes

    return str(node.value) if isinstance(node, nodes.Const) else None
