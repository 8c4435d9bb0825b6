"""Owns judging every command that a project prints: whether it can be run as written, and what it would measure."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import NamedTuple

from evidence import runners
from evidence.checker.corpus import PRINTING, Corpus
from evidence.checker.tree import Tree
from evidence.diagnostics import Finding, Location
from evidence.errors import EvidenceError
from evidence.pages import declared, masks
from evidence.pages.calls import Call
from evidence.pages.commands import Command, commands, inline_commands
from evidence.pages.programs import Program, program_of
from evidence.runners import Configuration, Options, Runner
from evidence.schema import Provenance, Record
from evidence.store import Loaded

UNPARSEABLE, DIFFERS, STANDS_IN = "EV706", "EV707", "EV708"

_HEADING = re.compile(r"(#{1,6})[ \t]")
_INTRODUCTIONS = ("README.md",)
_MOST_DIFFERENCES = 6


@functools.lru_cache(maxsize=1)
def judged(corpus: Corpus) -> tuple[tuple[str, Finding], ...]:
    """Return everything wrong with the commands of a project, each with its rule: judged once for all of them."""
    return tuple(dict.fromkeys(Judge(corpus).everything()))


class _Target(NamedTuple):
    """A log that a command may be the command of."""

    log: str
    record: Record
    provenance: Provenance

    @classmethod
    def of(cls, loaded: Loaded) -> _Target | None:
        provenance = loaded.record.provenance
        return None if provenance is None else cls(loaded.entry.log, loaded.record, provenance)

    @property
    def arguments(self) -> tuple[str, ...]:
        return program_of(self.provenance.argv).arguments


class Judge:
    """One pass over everything that a project prints as a command."""

    def __init__(self, corpus: Corpus, declared: Mapping[str, EntryPoint] | None = None) -> None:
        """Take a corpus; `declared` are the runners that its commands reach, looked for unless given."""
        self.corpus = corpus
        roots = dict.fromkeys(
            [corpus.project.root, corpus.repository.root if corpus.repository else corpus.project.root]
        )
        self.trees = [Tree(root.resolve(), corpus.address) for root in roots]
        self.declared = runners.known(self.trees[-1].root) if declared is None else declared
        self.programs = runners.known(self.trees[-1].root, runners.PROGRAMS)
        self.loaded: dict[str, Runner | None] = {}

    def everything(self) -> Iterator[tuple[str, Finding]]:
        """Yield what is wrong, each with its rule: pages in order, documents, then the commands of records."""
        calls = dict(self.corpus.surfaces)
        for path, body, offset in self._texts():
            scopes = _Scopes(self.corpus, body, offset, calls.get(path, ()))
            for command in commands(body):
                yield from self.command(command, Location(path, command.line + offset), scopes)
            for command in inline_commands(body) if scopes.calls else ():
                yield from self.mention(command, Location(path, command.line + offset), scopes)
        yield from self.printed()

    def _texts(self) -> Iterator[tuple[str, str, int]]:
        """Yield path, body and lines above it of every page, and of the Markdown outside the site."""
        pages = {page.path: page for page in self.corpus.pages}
        for page in pages.values():
            yield page.path, page.front.body, page.front.offset
        for held in self.corpus.documents.held:
            if held.document.name not in pages:
                yield held.document.name, "\n".join(held.document.text.splitlines()), 0

    def command(self, command: Command, at: Location, scopes: _Scopes) -> Iterator[tuple[str, Finding]]:
        """Yield what is wrong with one command; what has to be filled in first is not judged further."""
        if command.fault:
            message = f"a shell cannot parse {_short(command.text)}: {command.fault}"
            yield UNPARSEABLE, Finding(at, message)
            return
        if stands_in := list(self._stands_in(command, at, scopes)):
            yield from stands_in
            return
        if lack := self._lack(command):
            yield UNPARSEABLE, Finding(at, f"{_short(command.text)}: {lack[0]}", lack[1])
            return
        yield from self._runs(command, at, scopes, "")
        recipes = next(filter(None, (tuple(tree.recipes(command)) for tree in self.trees)), ())
        for place, inner in recipes:
            via = f"{_short(command.text)} runs {_short(inner.text)} ({place}): "
            if inner.fault:
                yield UNPARSEABLE, Finding(at, f"{via}a shell cannot parse it: {inner.fault}")
            elif inner.program.kind in ("module", "script") and (lack := self._lack(inner)):
                yield UNPARSEABLE, Finding(at, f"{via}{lack[0]}", lack[1])
            else:
                yield from self._runs(inner, at, scopes, via)

    def mention(self, command: Command, at: Location, scopes: _Scopes) -> Iterator[tuple[str, Finding]]:
        """Yield what is wrong with a command in running text; one without options only names its program."""
        if any(word.startswith("-") for word in command.program.arguments):
            yield from self.command(command, at, scopes)
        elif not command.fault and (lack := self._lack(command)):
            yield UNPARSEABLE, Finding(at, f"{_short(command.text)}: {lack[0]}", lack[1])

    def _stands_in(self, command: Command, at: Location, scopes: _Scopes) -> Iterator[tuple[str, Finding]]:
        if not (scopes.calls or _name_of(command.program) in self.declared or self._is_introduced(command, at)):
            return
        is_there = command.program.kind == "script" and self._lack(command) is None
        stand_in = command.stand_in
        if stand_in and not (is_there and stand_in in command.program.name):
            what = "is set nowhere above" if stand_in.startswith("$") else "has to be replaced"
            yield STANDS_IN, Finding(at, f"{stand_in!r} {what} before {_short(command.text)} can be run")
        if home := command.home:
            yield STANDS_IN, Finding(at, f"{home!r} in {_short(command.text)} is a place on its author's machine")

    def _is_introduced(self, command: Command, at: Location) -> bool:
        """Whether a command of README.md calls what is in the repository: it is what a newcomer runs first."""
        return at.path in _INTRODUCTIONS and command.program.kind in ("module", "script", "make")

    def _lack(self, command: Command) -> tuple[str, str] | None:
        """Return what is missing in every tree that the command may be run from."""
        found = [tree.lack(command) for tree in self.trees]
        first = found[0]
        return None if first is None or None in found else (first.message, first.fix)

    def _runner(self, name: str) -> Runner | None:
        """Return a runner by name; None if it is none, or cannot be imported here: words are compared then."""
        if name not in self.loaded:
            try:
                self.loaded[name] = runners.load(self.declared[name]) if name in self.declared else None
            except runners.RunnerError:
                self.loaded[name] = None
        return self.loaded[name]

    def _runs(self, command: Command, at: Location, scopes: _Scopes, via: str) -> Iterator[tuple[str, Finding]]:
        """Judge a command that may be a run of something: parse it, then compare it with the logs it may be of."""
        targets = scopes.of(command, at)
        if any(_is_verbatim(command, target) for target in targets):
            return
        runner = self._runner(_name_of(command.program))
        try:
            ours = self._configuration(runner, command)
        except EvidenceError as error:
            yield UNPARSEABLE, Finding(at, f"{via or _short(command.text) + ': '}{error.message}", error.fix)
            return
        if ours is None or not targets or command.is_open:
            return
        best = min((self._differences(runner, ours, command, target) for target in targets), key=len)
        if best:
            log = next(t.log for t in targets if self._differences(runner, ours, command, t) == best)
            yield (
                DIFFERS,
                Finding(at, f"{via or _short(command.text) + ' '}differs from the command of {log}: {_told(best)}"),
            )

    def _configuration(self, runner: Runner | None, command: Command) -> Configuration | None:
        """Return what a command measures; None if it measures nothing.

        Raises:
            EvidenceError: its parser refuses it, or its options make no measurement.
        """
        words = command.program.arguments
        if runner is None and _name_of(command.program) in self.programs:
            runners.parse(runners.load(self.programs[_name_of(command.program)]), words)
            return None
        if runner is None:
            self._require_declared(command)
            return None if declared.ASKING & {*words} else runners.by_words(words)
        options = runners.parse(runner, words)
        return None if options is None else runner.configuration(options)

    def _require_declared(self, command: Command) -> None:
        """Hold a command to the options that the source of its script declares, where that can be read."""
        for tree in self.trees:
            source = tree.source(command)
            options = declared.read(source) if source else None
            if options is not None:
                options.require(command.program.arguments)
                return

    def _differences(
        self, runner: Runner | None, ours: Configuration, command: Command, target: _Target
    ) -> tuple[tuple[str, str, str], ...]:
        theirs, options = _theirs(runner, target)
        if runner is not None and "--log" not in ours:  # a plan is asked for, which keeps nothing
            theirs = {name: value for name, value in theirs.items() if name != "--log"}
        found = runners.differences(ours, theirs)
        held = {setting.name: setting.value for setting in target.provenance.variables}
        given = dict(command.assigned)
        if runner is not None and options is not None:
            given = dict(runner.variables(options, given))
            found += tuple(
                (name, value, held.get(name, "")) for name, value in given.items() if held.get(name) != value
            )
        else:
            found += tuple((n, given[n], held[n]) for n in given if n in held and held[n] != given[n])
        return found

    def printed(self) -> Iterator[tuple[str, Finding]]:
        """Judge the commands of the records that pages cite, which are printed under their claims and tables."""
        if self.declared:
            for log, cited in sorted(self.corpus.cited.items()):
                yield from self._printed(log, cited)
        for call in self.corpus.calls:
            if call.macro == "reproduce":
                yield from self._reproduced(call.subject, call.at)

    def _printed(self, log: str, cited: Sequence[Location]) -> Iterator[tuple[str, Finding]]:
        loaded, target = self._current(log)
        runner = self._runner(target.provenance.runner) if target is not None else None
        if loaded is None or target is None or runner is None:
            return
        if fault := _changed(runner, target):
            code, message, fix = fault
            at = self.corpus.place(loaded, "provenance", "argv")
            yield code, Finding(at, f"the command of {log}{message}", fix, tuple(cited))

    def _reproduced(self, subject: str, at: Location) -> Iterator[tuple[str, Finding]]:
        """Find programs of printed commands that the repository once had and has no more.

        Whether an item can be shown takes evaluating it: that is asked only where something is wrong.
        """
        book = self.corpus.book
        if subject in book.ids and any(self._unrepeatable(log, at) for log in book.logs_named(subject)):
            for log in book.logs_of(subject):
                yield from self._unrepeatable(log, at)

    def _unrepeatable(self, log: str, at: Location) -> tuple[tuple[str, Finding], ...]:
        _, target = self._current(log)
        repository = self.corpus.repository
        if target is None or repository is None:
            return ()
        found: list[tuple[str, Finding]] = []
        command = Command(1, "", target.provenance.argv, program_of(target.provenance.argv))
        lack, commit = self._lack(command), _commit_of(target)
        if stand_in := command.stand_in or command.home:
            message = f"{stand_in!r} in the command of {log} is not there for its reader"
            found.append((STANDS_IN, Finding(at, message)))
        if lack is not None and commit and any(repository.file_at(commit, path) for path in _paths_of(command)):
            found.append((UNPARSEABLE, Finding(at, f"the command of {log}: {lack[0]} any more", lack[1])))
        return tuple(found)

    def _current(self, log: str) -> tuple[Loaded | None, _Target | None]:
        """Return a log whose command should still run: not one that is set aside or kept for its history."""
        status = self.corpus.book.log_status.get(log)
        if status is not None:
            return None, None
        try:
            loaded = self.corpus.store.load(log)
        except EvidenceError:
            return None, None
        return loaded, _Target.of(loaded)


class _Scopes:
    """Which logs a place of a text shows: those of its own section before those of the sections round it."""

    def __init__(self, corpus: Corpus, body: str, offset: int, calls: Iterable[Call]) -> None:
        self.corpus, self.body, self.offset = corpus, body, offset
        self.calls = [call for call in calls if call.macro in PRINTING]

    @functools.cached_property
    def headings(self) -> list[tuple[int, int]]:
        """Line in the file and depth of each heading."""
        lines = masks.code(self.body).split("\n")
        found = ((number, _HEADING.match(line)) for number, line in enumerate(lines, start=1 + self.offset))
        return [(number, len(match[1])) for number, match in found if match]

    @functools.cached_property
    def targets(self) -> tuple[tuple[int, _Target], ...]:
        """Line of each call and a log that it prints from."""
        found = []
        for call in self.calls:
            for log in self.corpus.book.logs_of(call.subject) if call.subject in self.corpus.book.ids else ():
                target = _Target.of(self.corpus.store.load(log))
                if target is not None:
                    found.append((call.at.line, target))
        return tuple(found)

    def of(self, command: Command, at: Location) -> tuple[_Target, ...]:
        """Return the logs that a command may be of, nearest first: those made by the same program."""
        if command.program.kind not in ("module", "script", "name"):
            return ()
        mine = [(line, target) for line, target in self.targets if _is_same_program(command, target)]
        ordered = sorted(mine, key=lambda one: (self._apart(at.line, one[0]), abs(at.line - one[0])))
        return tuple({target.log: target for _, target in ordered}.values())

    def _apart(self, line: int, other: int) -> int:
        """How many sections have to be left to get from one line to the other."""
        return sum(not start <= other < end for start, end in self._sections(line))

    def _sections(self, line: int) -> Iterator[tuple[int, int]]:
        depth = 7
        for start, level in reversed([heading for heading in self.headings if heading[0] <= line]):
            if level < depth:
                depth = level
                ends = (number for number, other in self.headings if number > start and other <= level)
                yield start, next(ends, 10**9)


def _is_same_program(command: Command, target: _Target) -> bool:
    """Whether a command calls what made a log; of a program with commands of its own, the same of these."""
    theirs, ours = program_of(target.provenance.argv), command.program
    if not ours.name or _name_of(ours) not in (_name_of(theirs), target.provenance.runner):
        return False
    return ours.kind != "name" or _leading(ours.arguments) == _leading(theirs.arguments)


def _name_of(program: Program) -> str:
    """Return the name a runner has; its file, given as a script, is the same program."""
    name = program.name.removeprefix("./")
    return name.removesuffix(".py").replace("/", ".") if program.kind == "script" else name


def _leading(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(words[:1]) if words and not words[0].startswith("-") else ()


def _is_verbatim(command: Command, target: _Target) -> bool:
    held = {setting.name: setting.value for setting in target.provenance.variables}
    is_held = all(held.get(name) == value for name, value in command.assigned)
    return is_held and command.program.arguments == target.arguments


def _changed(runner: Runner, target: _Target) -> tuple[str, str, str] | None:
    """Return what a record's own command would do today that it did not: rule, words and fix; None if nothing."""
    try:
        options = runners.parse(runner, target.arguments)
        configuration = runner.configuration(options) if options is not None else None
    except EvidenceError as error:
        return UNPARSEABLE, f": {error.message}", error.fix
    if configuration is None:
        return DIFFERS, " measures nothing", ""
    recorded = runner.recorded(target.record)
    found = runners.differences({name: configuration.get(name, "") for name in recorded}, recorded)
    fix = "measure again, or write the option out in the runner"
    return (DIFFERS, f" would measure something else today: {_told(found)}", fix) if found else None


def _theirs(runner: Runner | None, target: _Target) -> tuple[Configuration, Options | None]:
    """Return what a log was measured with: what its record shows, and for the rest what its command says."""
    if runner is None:
        return runners.by_words(target.arguments), None
    recorded = runner.recorded(target.record)
    try:
        options = runners.parse(runner, target.arguments)
        said = runner.configuration(options) if options is not None else None
    except EvidenceError:  # of the record's own command, which is reported by itself
        return recorded, None
    return {**(said or {}), **recorded}, options


def _told(found: Sequence[tuple[str, str, str]]) -> str:
    told = [
        f"{name} is {ours or 'not given'} here, {theirs or 'not given'} in the record" for name, ours, theirs in found
    ]
    more = [f"and {len(told) - _MOST_DIFFERENCES} more"] if len(told) > _MOST_DIFFERENCES else []
    return "; ".join([*told[:_MOST_DIFFERENCES], *more])


def _commit_of(target: _Target) -> str | None:
    found = (source for source in target.record.sources if source.name == target.provenance.source)
    return next((source.commit for source in found if source.commit), None)


def _paths_of(command: Command) -> tuple[str, ...]:
    name = command.program.name
    if command.program.kind == "module":
        path = name.replace(".", "/")
        return (f"{path}.py", f"{path}/__main__.py")
    return (Path(name).as_posix(),) if command.program.kind == "script" else ()


def _short(text: str) -> str:
    return f"`{text if len(text) <= 80 else f'{text[:79]}…'}`"
