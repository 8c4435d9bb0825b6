"""The fast form of the mutation score: one instance of each mutation, and what the score itself must do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.evidence.mutants import mutate, mutations, write_site
from benchmarks.evidence.mutants.__main__ import main
from benchmarks.evidence.mutants.mutation import CLASSES, Mutation, mutation
from benchmarks.evidence.mutants.score import check, judge, score
from benchmarks.evidence.mutants.workbench import Mutant
from evidence.checker.catalogue import RULES

SEED = 20261130
NUMBERED = 26
LEAST = 60


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("clean")
    write_site(root, SEED)
    return root


@pytest.mark.parametrize("seed", [1, 2, SEED])
def test_clean_sites_have_no_finding(tmp_path: Path, seed: int) -> None:
    write_site(tmp_path, seed)
    assert check(tmp_path) == ()


@pytest.mark.parametrize("one", mutations(), ids=lambda one: f"{one.letter}-{one.name}")
def test_each_mutation_is_caught(clean: Path, tmp_path: Path, one: Mutation) -> None:
    mutant = mutate(one, clean, tmp_path / "copy", SEED)
    found = check(mutant.root, one.base)
    assert judge(one, mutant, found, ()), (one.what, one.codes, found)


def test_there_are_mutations_of_every_class_and_of_every_numbered_fault() -> None:
    every = mutations()
    assert len(every) >= LEAST
    assert {one.letter for one in every} == set(CLASSES)
    assert {one.fault for one in every} >= set(range(1, NUMBERED + 1))
    known = {rule.code for rule in RULES}
    assert all(one.codes and known.issuperset(one.codes) for one in every)
    assert all(one.what for one in every)


def test_what_no_rule_sees_is_a_miss() -> None:
    @mutation("A", "EV701")
    def harmless(mutant: Mutant) -> None:
        """A sentence without a number is written."""
        mutant.append("docs/guide.md", "Nothing is claimed here.")

    (verdict,) = score(1, [harmless])
    assert not verdict.is_caught
    assert verdict.found == ()


def test_a_finding_elsewhere_is_no_catch(clean: Path, tmp_path: Path) -> None:
    @mutation("A", "EV701")
    def elsewhere(mutant: Mutant) -> None:
        """A number is typed on one page, and another page is said to be touched."""
        mutant.append("docs/kernels.md", "Fusing is 1.7x faster.")
        mutant.touched = {"docs/guide.md"}

    mutant = mutate(elsewhere, clean, tmp_path / "copy", 1)
    found = check(mutant.root)
    assert [one.code for one in found] == ["EV701"]
    assert judge(elsewhere, mutant, found, ()) == []


def test_a_mutation_that_changes_nothing_is_refused(clean: Path, tmp_path: Path) -> None:
    @mutation("A", "EV701")
    def nothing(mutant: Mutant) -> None:
        """A word that is not there is replaced."""
        mutant.swap("docs/guide.md", "no such words", "others")

    with pytest.raises(ValueError, match="changes nothing"):
        mutate(nothing, clean, tmp_path / "copy", 1)


def test_seeds_draw_other_numbers(clean: Path, tmp_path: Path) -> None:
    one = next(one for one in mutations() if one.name == "typed-ends-and-ratio")
    texts = {mutate(one, clean, tmp_path / str(seed), seed).text("docs/serving.md") for seed in range(3)}
    assert len(texts) == 3


def test_the_last_line_is_the_score(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--sites", "1", "--classes", "I"])
    said = capsys.readouterr().out
    last = said.splitlines()[-1]
    total = sum(one.letter == "I" for one in mutations())
    assert re.fullmatch(rf"caught \d+ of {total}", last)
