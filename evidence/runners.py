"""Owns the seam to programs that measure: what one must say of its own command line, and reading a command by it.

A package declares its runners in the entry-point group `evidence.runners`, by the name that `python -m` takes, and
other programs, which only have a parser, in `evidence.programs`. They are imported only where a command has to be
understood; no command is run here.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import sysconfig
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias, cast

from evidence.errors import DuplicateNameError, EvidenceError, nearest
from evidence.schema import Record

if TYPE_CHECKING:
    import argparse

    import click

GROUP, PROGRAMS = "evidence.runners", "evidence.programs"

Options: TypeAlias = Mapping[str, Any]
"""What a parser made of a command's words: destination -> value."""
Configuration: TypeAlias = Mapping[str, str]
"""What is measured, by the option that says so: `--dtype` -> `bf16`, left out or written out alike."""

_OPTION = re.compile(r"--?[A-Za-z][\w.-]*")


class Program(Protocol):
    """One program, as far as its command line goes."""

    def parser(self) -> argparse.ArgumentParser | click.Command:
        """Return a parser of its own making: this package may change how it reports errors."""
        ...


class Runner(Program, Protocol):
    """One program that measures."""

    def configuration(self, options: Options) -> Configuration | None:
        """Return what a run with these options measures and keeps; None if it would measure nothing.

        Raises:
            EvidenceError: the options make no measurement.
        """
        ...

    def recorded(self, record: Record) -> Configuration:
        """Return as much of the configuration as a record itself shows, whatever its command says."""
        ...

    def variables(self, options: Options, given: Mapping[str, str]) -> Mapping[str, str]:
        """Return what a record of such a run would hold of variables given in the environment."""
        ...

    def rerun(self, words: Sequence[str], logs: Path, *, brief: bool) -> tuple[str, ...]:
        """Return the words of the same run into another store; `brief` to show that it works, not to measure."""
        ...


class UnparseableError(EvidenceError):
    """Words that a runner's parser refuses."""


class RunnerError(EvidenceError):
    """A runner that is declared and cannot be imported."""


def known(root: Path, group: str = GROUP) -> Mapping[str, EntryPoint]:
    """Return the runners that commands in a tree would reach, by name: not those of another tree's packages.

    `python -m` takes a package of the tree it runs in before an installed one of the same name.

    Raises:
        DuplicateNameError: two packages bring one of the same name.
    """
    found: dict[str, EntryPoint] = {}
    for point in _declared(group):
        if point.name in found and found[point.name].value != point.value:
            raise DuplicateNameError("runner", point.name, (found[point.name].value, point.value))
        if _reaches(point, root):
            found[point.name] = point
    return found


@functools.cache
def _declared(group: str) -> tuple[EntryPoint, ...]:
    return tuple(_installed().select(group=group))


@functools.cache
def _installed() -> Any:
    """Return what all installed packages declare, of every group: each is opened for it. 3.11 has another type."""
    return entry_points()


def _reaches(point: EntryPoint, root: Path) -> bool:
    package = point.module.partition(".")[0]
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return False
    if spec is None:
        return False
    places = [Path(place).resolve() for place in spec.submodule_search_locations or [spec.origin or ""]]
    if any(place.is_relative_to(root.resolve()) for place in places):
        return True
    hidden = (root / package).is_dir() or (root / f"{package}.py").is_file()
    installed = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")}
    return not hidden and any(place.is_relative_to(site) for place in places for site in installed)


def load(point: EntryPoint) -> Runner:
    """Import a runner; one that is declared as a program has its parser only.

    Raises:
        RunnerError: it cannot be imported here.
    """
    try:
        runner: Runner = point.load()
    except (ImportError, AttributeError) as error:
        message = f"the runner {point.name} cannot be imported: {error}"
        raise RunnerError(message, fix="install what it needs, or take it out of evidence.runners") from None
    return runner


def parse(runner: Program, words: Sequence[str]) -> Options | None:
    """Read words by a runner's real parser; None if they only ask for help.

    Raises:
        UnparseableError: the parser refuses them; it says what it said, and the option that may have been meant.
    """
    import argparse

    parser = _parser(cast(Hashable, runner))
    if isinstance(parser, argparse.ArgumentParser):
        return _by_argparse(parser, words)
    return _by_click(parser, words)


@functools.lru_cache(maxsize=32)
def _parser(runner: Any) -> Any:
    """Make a program's parser once: a page has many commands of few programs."""
    return runner.parser()


def differences(ours: Configuration, theirs: Configuration) -> tuple[tuple[str, str, str], ...]:
    """Return name and both values of everything that differs; an empty text where one side does not say."""
    names = dict.fromkeys((*theirs, *ours))
    pairs = ((name, ours.get(name, ""), theirs.get(name, "")) for name in names)
    return tuple((name, one, other) for name, one, other in pairs if one != other)


def by_words(words: Sequence[str]) -> Configuration:
    """Return a configuration of words alone, for a program whose parser is not here: options with what follows them.

    What stands before the first option is named by its place.
    """
    found: dict[str, list[str]] = {}
    current = ""
    for index, word in enumerate(words):
        option, is_joined, value = word.partition("=")
        if _OPTION.fullmatch(option) and word.startswith("-"):
            current = option
            found.setdefault(option, []).extend([value] if is_joined else [])
        elif current:
            found[current].append(word)
        else:
            found[f"argument {index + 1}"] = [word]
    return {name: " ".join(values) or "given" for name, values in found.items()}


class _Refused(Exception):
    """What a parser would have printed before it left."""


class _Answered(Exception):
    """A parser was asked for help or its version."""


def _by_argparse(parser: argparse.ArgumentParser, words: Sequence[str]) -> Options | None:
    import argparse

    parsers = list(_parsers(parser))
    for one in parsers:
        _silence(one)
    try:
        return vars(parser.parse_args(list(words)))
    except _Answered:
        return None
    except (_Refused, argparse.ArgumentError) as refused:
        options = [option for one in parsers for option in one._option_string_actions]
        raise UnparseableError(str(refused), fix=_hint(words, str(refused), options)) from None


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    import argparse

    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for chosen in dict.fromkeys(action.choices.values()):
                yield from _parsers(chosen)


def _silence(parser: argparse.ArgumentParser) -> None:
    """Keep a parser from printing, from leaving, and from opening the files it is told of."""
    import argparse

    def refuse(message: str) -> NoReturn:
        raise _Refused(message)

    def leave(status: int = 0, message: str | None = None) -> NoReturn:
        raise _Answered if not status else _Refused(message or "")

    for name, replaced in (("error", refuse), ("exit", leave), ("_print_message", lambda *_: None)):
        setattr(parser, name, replaced)
    for action in parser._actions:
        if isinstance(action.type, argparse.FileType):
            action.type = str


def _by_click(command: click.Command, words: Sequence[str]) -> Options | None:
    """Read words without callbacks and without types that look at files: those are part of running."""
    import click

    context = click.Context(command, info_name=command.name)
    rest, found = list(words), dict[str, Any]()
    options: list[str] = []
    while True:
        params = command.get_params(context)
        options += [option for param in params if isinstance(param, click.Option) for option in param.opts]
        try:
            given, rest, _ = command.make_parser(context).parse_args(rest)
            if any(given.get(param.name or "") for param in params if getattr(param, "is_eager", False)):
                return None
            for param in params:
                found[param.name or ""] = _valued(param, given.get(param.name or ""), context)
            if not isinstance(command, click.Group):
                _require_none_left(rest, context)
                return found
            command, context, rest = _subcommand(command, context, rest)
        except click.UsageError as refused:
            message = refused.format_message()
            raise UnparseableError(message, fix=_hint(words, message, options)) from None


def _require_none_left(rest: Sequence[str], context: click.Context) -> None:
    import click

    if rest:
        raise click.UsageError(f"unexpected extra argument ({' '.join(rest)})", context)


def _valued(param: click.Parameter, value: Any, context: click.Context) -> Any:
    import click

    if not isinstance(value, str | bool | int | list | tuple) or value == ():  # click has marks of its own for none
        if param.required:
            raise click.MissingParameter(ctx=context, param=param)
        return param.get_default(context)
    if isinstance(param.type, click.Path | click.File) or type(param.type).__module__.partition(".")[0] != "click":
        return value
    return param.type_cast_value(context, value)


def _subcommand(
    group: click.Group, context: click.Context, rest: Sequence[str]
) -> tuple[click.Command, click.Context, list[str]]:
    import click

    name = rest[0] if rest else ""
    command = group.get_command(context, name) if name else None
    if command is None:
        meant = nearest(name, group.list_commands(context))
        message = f"no command {name!r}" if name else "no command is given"
        raise click.UsageError(message + (f"; did you mean {meant!r}?" if meant else ""), context)
    return command, click.Context(command, parent=context, info_name=name), list(rest[1:])


def _hint(words: Sequence[str], message: str, options: Iterable[str]) -> str:
    """Return the option that an unknown one in the message was meant to be."""
    every = list(dict.fromkeys(options))
    given = [word.partition("=")[0] for word in words if word.startswith("-")]
    for word in (word for word in given if word in message and word not in every):
        meant = nearest(word, every)
        if meant is not None:
            return f"did you mean {meant}?"
    return ""
