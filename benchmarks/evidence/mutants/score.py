"""Owns the score: each mutation done to a copy of the clean site, the check run on it, and whether a rule saw it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.evidence.mutants.mutation import Letter, Mutation, mutations
from benchmarks.evidence.mutants.site import write_site
from benchmarks.evidence.mutants.workbench import Mutant, mutate
from evidence.checker.catalogue import RULES
from evidence.checker.corpus import Corpus, Options
from evidence.checker.runs import run
from evidence.diagnostics import Diagnostic
from evidence.project import Project


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the check said of one mutant."""

    mutation: Mutation
    seed: int
    found: tuple[Diagnostic, ...]
    """Everything that it found."""
    caught: tuple[Diagnostic, ...]
    """What of it is of an expected rule, at a file that was touched or that reads one."""

    @property
    def is_caught(self) -> bool:
        """Whether some rule that should see it saw it, where it is."""
        return bool(self.caught)


def check(root: Path, base: str | None = None) -> tuple[Diagnostic, ...]:
    """Run the whole check over a project, in this process."""
    return run(RULES, Corpus(Project.find(root), Options(base))).diagnostics


def judge(
    mutation: Mutation, mutant: Mutant, found: Sequence[Diagnostic], known: Iterable[Diagnostic]
) -> list[Diagnostic]:
    """Return the findings by which a mutation counts as caught; `known` are those of the clean site."""
    old = {(one.code, one.at, one.message) for one in known}
    places = mutant.consumers()
    return [
        one
        for one in found
        if one.code in mutation.codes and (one.code, one.at, one.message) not in old and one.at.path in places
    ]


def score(seed: int, wanted: Sequence[Mutation] | None = None) -> Iterator[Verdict]:
    """Write the clean site of a seed, and yield what the check says of each mutant of it.

    Raises:
        ValueError: the check finds something in the clean site, so that nothing could be told of its mutants.
    """
    with tempfile.TemporaryDirectory(prefix="evidence-mutants-") as folder:
        clean = Path(folder) / "clean"
        clean.mkdir()
        write_site(clean, seed)
        known = check(clean)
        if known:
            raise ValueError(f"the clean site of seed {seed} has a finding: {known[0].code} {known[0].message}")
        for number, one in enumerate(mutations() if wanted is None else wanted):
            copy = Path(folder) / f"mutant-{number}"
            mutant = mutate(one, clean, copy, seed)
            found = check(copy, one.base)
            yield Verdict(one, seed, found, tuple(judge(one, mutant, found, known)))


def by_class(verdicts: Iterable[Verdict]) -> Mapping[Letter, tuple[int, int]]:
    """Return by class how many were caught, of how many."""
    counted: dict[Letter, tuple[int, int]] = {}
    for one in verdicts:
        caught, tried = counted.get(one.mutation.letter, (0, 0))
        counted[one.mutation.letter] = caught + one.is_caught, tried + 1
    return dict(sorted(counted.items()))
