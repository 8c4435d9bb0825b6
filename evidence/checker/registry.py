"""Owns what a rule is: a frozen object that a decorator makes of a function. The decorators register nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from inspect import cleandoc
from typing import TYPE_CHECKING, TypeAlias

from evidence.diagnostics import Finding, Severity
from evidence.store import Loaded, Problem

if TYPE_CHECKING:
    from evidence.checker.corpus import Corpus

HEADINGS = ("What it checks", "Why it matters", "How to fix it")

_CODE = re.compile(r"EV[0-9]{3}")
_SECTION = re.compile(rf"^## ({'|'.join(HEADINGS)})\n", re.MULTILINE)

RecordCheck: TypeAlias = Callable[[Loaded, "Corpus"], Iterable[Finding]]
CorpusCheck: TypeAlias = Callable[["Corpus"], Iterable[Finding]]
Owns: TypeAlias = Callable[[Problem], bool]


class Scope(StrEnum):
    """What a rule is applied to."""

    LOAD = "load"
    """Each record that cannot be loaded: whether the field at fault is the rule's."""
    RECORD = "record"
    """Each record, as it streams by."""
    CORPUS = "corpus"
    """The whole, once every record has gone by."""
    MARK = "mark"
    """Each record, on demand: what it finds is shown in the stance line and is no diagnostic."""
    BOOK = "book"
    """The claims and tables: evaluating them reports it."""
    RUN = "run"
    """The run itself reports it: a crash, an ignore."""


class Turn(StrEnum):
    """When a rule over the whole is applied."""

    LAST = "last"
    """Once everything is together that a pass over the records remembers."""
    EARLY = "early"
    """While other processes read records, of which it needs nothing."""
    APART = "apart"
    """Just so, but by one of the other processes: it takes as long as many records."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Its docstring is its page, the text of `evidence explain`, and the source of its hint."""

    code: str
    name: str
    severity: Severity
    doc: str
    waivable: bool
    check: Callable[..., Iterable[Finding]]
    scope: Scope
    owns: Owns | None = None
    """Which records that cannot be loaded are this rule's finding, because the field at fault is its field."""
    stands: bool = False
    """It is applied to logs that are not to be cited too: such a status settles what makes a log no evidence."""
    turn: Turn = Turn.LAST
    """When it is applied, if it is over the whole."""

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return self.doc.partition("\n")[0]

    @property
    def sections(self) -> dict[str, str]:
        """Heading to text, in the order written."""
        parts = _SECTION.split(self.doc)
        return {heading: text.strip() for heading, text in zip(parts[1::2], parts[2::2], strict=True)}

    @property
    def hint(self) -> str:
        """The first paragraph of how to fix it, on one line."""
        return " ".join(self.sections.get(HEADINGS[2], "").partition("\n\n")[0].split())


def load_rule(code: str, name: str) -> Callable[[Owns], Rule]:
    """Make a rule of a function that tells which records that cannot be loaded are its finding."""
    return lambda owns: Rule(
        code, name, Severity.ERROR, cleandoc(owns.__doc__ or ""), False, _finds_nothing, Scope.LOAD, owns
    )


def record_rule(
    code: str,
    name: str,
    severity: Severity = Severity.ERROR,
    *,
    waivable: bool = True,
    owns: Owns | None = None,
    stands: bool = False,
) -> Callable[[RecordCheck], Rule]:
    """Make a rule of a function over one record; it must be cheap, for it runs on every one."""
    return lambda check: _rule(code, name, severity, waivable, check, Scope.RECORD, owns, stands)


def corpus_rule(
    code: str, name: str, severity: Severity = Severity.ERROR, *, waivable: bool = True, turn: Turn = Turn.LAST
) -> Callable[[CorpusCheck], Rule]:
    """Make a rule of a function over the whole corpus."""
    return lambda check: _rule(code, name, severity, waivable, check, Scope.CORPUS, turn=turn)


def book_rule(
    code: str, name: str, severity: Severity = Severity.ERROR, *, waivable: bool = True
) -> Callable[[Callable[[], None]], Rule]:
    """Make a rule of a function that is only its page: what evaluating claims and tables finds carries its code."""
    return lambda page: Rule(code, name, severity, cleandoc(page.__doc__ or ""), waivable, _finds_nothing, Scope.BOOK)


def mark(code: str, name: str) -> Callable[[RecordCheck], Rule]:
    """Make a rule of something that is no fault, yet has to be seen where the numbers are."""
    return lambda check: _rule(code, name, Severity.WARNING, False, check, Scope.MARK)


def run_rule(code: str, name: str, doc: str) -> Rule:
    """Make a rule of something that only the run itself can see."""
    return Rule(code, name, Severity.ERROR, cleandoc(doc), False, _finds_nothing, Scope.RUN)


def _finds_nothing(*_: object) -> Iterable[Finding]:
    return ()


def _rule(
    code: str,
    name: str,
    severity: Severity,
    waivable: bool,
    check: Callable[..., Iterable[Finding]],
    scope: Scope,
    owns: Owns | None = None,
    stands: bool = False,
    *,
    turn: Turn = Turn.LAST,
) -> Rule:
    if _CODE.fullmatch(code) is None:
        raise ValueError(f"{code!r} is not a rule code such as EV101")
    return Rule(code, name, severity, cleandoc(check.__doc__ or ""), waivable, check, scope, owns, stands, turn)
