"""Owns what a mutation is: one thing an author may do to a clean site, and the rules that may catch it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evidence.discovery import instances

if TYPE_CHECKING:
    from benchmarks.evidence.mutants.workbench import Mutant

Letter = Literal["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "S"]
CLASSES: dict[Letter, str] = {
    "A": "value differs from its source",
    "B": "source missing or ambiguous",
    "C": "stance not derivable from the source",
    "D": "unequal work, or more than one axis",
    "E": "selective reporting inside the cited file",
    "F": "physically impossible, or limited by a floor",
    "G": "evidence moved or edited",
    "H": "correctness outcome not recorded",
    "I": "commands that cannot run as written",
    "J": "pages contradicting pages",
    "S": "a checker that is switched off, or sees nothing",
}
"""What can go wrong with a page of numbers, by class."""

_PACKAGE = "benchmarks.evidence.mutants.faults"

Act = Callable[["Mutant"], None]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One thing done to a copy of the clean site, with numbers drawn anew by every seed."""

    name: str
    letter: Letter
    fault: int | None
    """Number among the faults that were found in the field; None: another of its class."""
    codes: tuple[str, ...]
    """The rules that may catch it: any of them."""
    act: Act
    base: str | None = None
    """The branch that the check is told to compare the ledger with."""
    is_committed: bool = True
    """Whether its author committed it: what is in the last commit can no longer be compared with it."""

    @property
    def what(self) -> str:
        """What is done, in one line."""
        return (self.act.__doc__ or "").partition("\n")[0].rstrip(".")


def mutation(
    letter: Letter, *codes: str, fault: int | None = None, base: str | None = None, is_committed: bool = True
) -> Callable[[Act], Mutation]:
    """Make a mutation of a function that changes a copy; its docstring says what it does."""

    def make(act: Act) -> Mutation:
        name = act.__name__.strip("_").replace("_", "-")
        return Mutation(name, letter, fault, codes, act, base, is_committed)

    return make


@dataclass(frozen=True, slots=True)
class Family:
    """Mutations that differ in one thing only, such as where on a page a number is typed."""

    members: tuple[Mutation, ...]


@functools.cache
def mutations() -> tuple[Mutation, ...]:
    """Return every mutation, by class and name.

    Raises:
        ValueError: two have one name.
    """
    found = list(instances(_PACKAGE, Mutation))
    found += [one for family in instances(_PACKAGE, Family) for one in family.members]
    found.sort(key=lambda one: (one.letter, one.name))
    names = [one.name for one in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two mutations are called {twice[0]}")
    return tuple(found)
