"""Owns mutations of class A: a value that is not its source's."""

from __future__ import annotations

from benchmarks.evidence.mutants.mutation import mutation
from benchmarks.evidence.mutants.workbench import Mutant

KERNELS, SERVING, SCALING = "docs/claims/kernels.yml", "docs/claims/serving.yml", "docs/claims/scaling.yml"


@mutation("A", "EV602", fault=1)
def ends_of_two_baselines(mutant: Mutant) -> None:
    """A statement runs from one baseline to the candidate of another reading."""
    mutant.swap(
        KERNELS,
        "On {device} the fused form is slower, at {ratio.range}; the largest",
        "On {device} it goes from {whole.baseline} to {large.value} at {ratio.range}; the largest",
    )
    mutant.swap(
        KERNELS,
        "      large: {arm: fused",
        "      whole: {where: {N: 1048576}, expect: worse}\n      large: {arm: fused",
    )


@mutation("A", "EV701", fault=1)
def typed_ends_and_ratio(mutant: Mutant) -> None:
    """Two rates of two baselines, and a ratio that is not theirs, typed on a page."""
    low, high = mutant.rng.randint(300, 900), mutant.rng.randint(4000, 9000)
    mutant.append("docs/serving.md", f"Batching took it from {low} to {high} tok/s ({high / low / 2:.1f}x).")


@mutation("A", "EV701", fault=2)
def typed_absolutes(mutant: Mutant) -> None:
    """Absolute numbers that no log holds, in a table typed by hand."""
    rows = "\n".join(f"| {size} | {mutant.drawn(1, 9)} | {mutant.drawn(1, 9)} |" for size in (64, 128, 256))
    mutant.append("docs/kernels.md", f"| N | plain (ms) | fused (ms) |\n|---|---|---|\n{rows}")


@mutation("A", "EV602", fault=3)
def arm_that_is_not_read(mutant: Mutant) -> None:
    """A statement speaks of another arm than it reads: its row has another row's ratio."""
    mutant.swap(KERNELS, "fused form is slower, at", "library form is slower, at")


@mutation("A", "EV622", fault=4)
def digits_in_a_statement(mutant: Mutant) -> None:
    """A rounded number typed into a statement beside the one that is computed."""
    mutant.swap(SERVING, "answer {ratio} sooner", f"answer in {mutant.rng.randint(100, 900)} ms, {{ratio}} sooner")


@mutation("A", "EV602")
def expect_contradicted(mutant: Mutant) -> None:
    """A claim expects the opposite of what its log says."""
    mutant.swap(KERNELS, "expect: better", mutant.rng.choice(["expect: worse", "expect: same"]))
