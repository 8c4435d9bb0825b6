"""Owns the options that a Python source declares with argparse or click, read from its syntax. Nothing is imported."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from evidence.errors import EvidenceError, nearest

_FOREIGN = frozenset(
    {"fire", "tyro", "jsonargparse", "typer", "HfArgumentParser", "hydra", "absl", "docopt", "simple_parsing"}
)
"""What declares options in ways that are not read here."""
ASKING = frozenset({"-h", "--help", "--version"})
"""What asks a program about itself."""
_FLAGS = ("store_true", "store_false", "store_const", "append_const", "count", "help", "version")
_PARSERS = ("ArgumentParser", "add_argument_group", "add_mutually_exclusive_group")
_SIGNS = re.compile(r"\badd_argument\b|\bclick\b")
_OPTION = re.compile(r"--?[A-Za-z][\w.-]*")


@dataclass(frozen=True, slots=True)
class Option:
    """One option or argument: its spellings (none for an argument), whether it must be given, and what it may be."""

    spellings: tuple[str, ...]
    name: str
    is_required: bool
    choices: tuple[str, ...]
    takes: int | None = 1
    """How many words follow it; None: as many as there are."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What a source declares. `is_whole`: nothing else in it can declare more."""

    options: tuple[Option, ...]
    is_whole: bool

    def require(self, words: Sequence[str]) -> None:
        """Hold words to what is declared.

        Raises:
            EvidenceError: an option that is none, one that is required and missing, or a value that is no choice.
        """
        spellings = [spelling for option in self.options for spelling in option.spellings]
        given = {word.partition("=")[0] for word in words if _OPTION.fullmatch(word.partition("=")[0])}
        if given & ASKING:
            return
        for word in sorted(given if self.is_whole else ()):
            if word not in spellings and not _abbreviates(word, spellings):
                meant = nearest(word, spellings)
                raise EvidenceError(f"it has no option {word}", fix=f"did you mean {meant}?" if meant else "")
        for option in self.options:
            self._require_given(option, words, given)
        if self.is_whole:
            needed = [option.name for option in self.options if option.is_required and not option.spellings]
            missing = needed[len(self._arguments(words)) :]
            if missing:
                raise EvidenceError(f"it needs {missing[0]}, which is not given")

    def _arguments(self, words: Sequence[str]) -> list[str]:
        """Return the words that belong to no option."""
        found: list[str] = []
        left: int | None = 0
        for word in words:
            spelling, is_joined, _ = word.partition("=")
            option = next((one for one in self.options if _abbreviates(spelling, one.spellings)), None)
            if option is not None and word.startswith("-"):
                left = 0 if is_joined else option.takes
            elif left is None:
                continue
            elif left:
                left -= 1
            else:
                found.append(word)
        return found

    def _require_given(self, option: Option, words: Sequence[str], given: set[str]) -> None:
        is_given = any(_abbreviates(word, option.spellings) for word in given)
        if option.is_required and option.spellings and not is_given:
            raise EvidenceError(f"it needs {max(option.spellings, key=len)}, which is not given")
        for word, following in zip(words, [*words[1:], ""], strict=True):
            spelling, is_joined, value = word.partition("=")
            value = value if is_joined else following
            if option.choices and spelling in option.spellings and value not in option.choices:
                meant = nearest(value, option.choices)
                fix = f"did you mean {meant}?" if meant else f"one of {', '.join(option.choices)}"
                raise EvidenceError(f"{spelling} is never {value!r}", fix=fix)


@functools.lru_cache(maxsize=32)
def read(source: str) -> Declared | None:
    """Return what a source declares; None if it is not Python, or declares nothing that can be read."""
    if _SIGNS.search(source) is None:
        return None
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes = list(ast.walk(tree))
    modules = set(_imported(nodes))
    if modules & _FOREIGN or not modules & {"argparse", "click"}:
        return None
    reader = _Reader(nodes)
    options = reader.options
    if reader.has_commands:  # which of them a command calls is not known, so nor is what it needs
        options = [replace(one, is_required=False) for one in options]
    return Declared(tuple(options), reader.is_whole) if options else None


class _Reader:
    """What the calls of a source declare."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self.options: list[Option] = []
        self.is_whole = True
        self.has_commands = False
        self.parsers: set[str] = set()
        for node in nodes:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _called(node.value) in _PARSERS:
                self.parsers.update(target.id for target in node.targets if isinstance(target, ast.Name))
        for node in nodes:
            if isinstance(node, ast.Call):
                self._call(node)

    def _call(self, node: ast.Call) -> None:
        called = _called(node)
        if called in ("add_argument", "option", "argument"):
            self._declare(node)
        elif called in ("add_subparsers", "group", "add_command", "parse_known_args", "parse_known_intermixed_args"):
            self.is_whole = False
            self.has_commands |= not called.startswith("parse_known")
        elif self._is_handed_on(node) or (called == "ArgumentParser" and _takes_more(node)):
            self.is_whole = False

    def _is_handed_on(self, node: ast.Call) -> bool:
        """Whether a parser goes to a function that may declare more."""
        return any(isinstance(one, ast.Name) and one.id in self.parsers for one in node.args)

    def _declare(self, node: ast.Call) -> None:
        words = [_text(one) for one in node.args]
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        if None in words or None in keywords or not words:
            self.is_whole = False
            return
        texts = [part for word in words if word for part in word.split("/")]
        spellings = tuple(text for text in texts if text.startswith("-"))
        required = _value(keywords.get("required"))
        if not spellings and required is None:
            optional = _value(keywords.get("nargs")) in ("?", "*", -1) or "default" in keywords
            required = not optional and _value(keywords.get("nargs"), "1") is not None
        choices = _choices(keywords.get("choices") or _of_choice(keywords.get("type")))
        is_flag = _value(keywords.get("action"), "") in _FLAGS or _value(keywords.get("is_flag")) is True
        number = _value(keywords.get("nargs"), 1)
        takes = 0 if is_flag else number if isinstance(number, int) and number > 0 else None
        self.options.append(Option(spellings, texts[0], required is True, choices, takes))


def _abbreviates(word: str, spellings: Sequence[str]) -> bool:
    return word in spellings or (word.startswith("--") and any(one.startswith(word) for one in spellings))


def _imported(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the packages that a source imports, and the names it imports from them."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.name.partition(".")[0] for alias in node.names)
            if isinstance(node, ast.ImportFrom):
                yield (node.module or "").partition(".")[0]


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _takes_more(node: ast.Call) -> bool:
    return any(keyword.arg in ("parents", "fromfile_prefix_chars") for keyword in node.keywords)


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _value(node: ast.expr | None, default: object = None) -> object:
    return default if node is None else node.value if isinstance(node, ast.Constant) else None


def _of_choice(node: ast.expr | None) -> ast.expr | None:
    """Return the list inside `click.Choice([...])`."""
    return node.args[0] if isinstance(node, ast.Call) and _called(node) == "Choice" and node.args else None


def _choices(node: ast.expr | None) -> tuple[str, ...]:
    return tuple(_constants(node)) if isinstance(node, ast.List | ast.Tuple | ast.Set) else ()


def _constants(node: ast.List | ast.Tuple | ast.Set) -> Iterator[str]:
    values = [one.value for one in node.elts if isinstance(one, ast.Constant)]
    if len(values) == len(node.elts):
        yield from map(str, values)
