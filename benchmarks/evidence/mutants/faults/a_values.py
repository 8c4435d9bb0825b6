"""Owns mutations of class A in claims files: a value that is not its source's, and what an author types into them."""

from __future__ import annotations

from benchmarks.evidence.mutants.faults import ARCHIVE, KERNELS, SCALING, SERVING
from benchmarks.evidence.mutants.mutation import mutation
from benchmarks.evidence.mutants.workbench import Mutant


@mutation("A", "EV602", fault=1)
def ends_of_two_baselines(mutant: Mutant) -> None:
    """A statement runs from one baseline to the candidate of another reading."""
    mutant.swap(
        KERNELS,
        "On {device} the fused form is slower, at {ratio.range}; the largest",
        "On {device} it goes from {whole.baseline} to {large.value}, {ratio.range}; the largest",
    )
    mutant.swap(
        KERNELS,
        "      large: {arm: fused",
        "      whole: {where: {N: 1048576}, expect: worse}\n      large: {arm: fused",
    )


@mutation("A", "EV602", fault=3)
def arm_that_is_not_read(mutant: Mutant) -> None:
    """A statement speaks of another arm than it reads: its row has another row's ratio."""
    mutant.swap(KERNELS, "fused form is slower, at", "library form is slower, at")


@mutation("A", "EV602", "EV622", fault=3)
def column_named_for_another_arm(mutant: Mutant) -> None:
    """A column is headed with another arm than the one it compares."""
    mutant.swap(KERNELS, "columns: [time, {ratio: time}]", "columns: [time, {ratio: time, title: against library}]")


@mutation("A", "EV622", fault=4)
def digits_in_a_statement(mutant: Mutant) -> None:
    """A rounded number typed into a statement beside the one that is computed."""
    mutant.swap(SERVING, "answer {ratio} sooner", f"answer in {mutant.rng.randint(100, 900)} ms, {{ratio}} sooner")


@mutation("A", "EV622")
def digits_in_a_title(mutant: Mutant) -> None:
    """A ratio typed into the title of a table."""
    mutant.swap(KERNELS, "title: Fusing on the first device", f"title: Fusing, {mutant.drawn(1.1, 3)}x faster")


@mutation("A", "EV622")
def digits_in_a_note(mutant: Mutant) -> None:
    """A ratio typed into the footnote of a row."""
    mutant.swap(KERNELS, "both arms choose one block here", f"it would be {mutant.drawn(1.1, 3)}x with more blocks")


@mutation("A", "EV622")
def digits_in_an_omission(mutant: Mutant) -> None:
    """A time typed into the reason of an omission."""
    mutant.swap(KERNELS, "the tuned form runs out of memory", f"it takes {mutant.rng.randint(20, 90)} ms on others")


@mutation("A", "EV622")
def digits_in_a_limitation(mutant: Mutant) -> None:
    """A percentage typed into a limitation."""
    mutant.swap(SERVING, "arrival times are synthetic", f"live traffic gains {mutant.rng.randint(11, 60)} % more")


@mutation("A", "EV622")
def digits_in_a_mechanism(mutant: Mutant) -> None:
    """A bandwidth typed into what is said to explain the gain."""
    mutant.swap(KERNELS, "nothing was profiled", f"it reaches {mutant.rng.randint(500, 4000)} GB/s by hand count")


@mutation("A", "EV622")
def digits_in_a_text_column(mutant: Mutant) -> None:
    """Ratios typed into a column of texts."""
    gain = mutant.drawn(1.1, 3)
    mutant.swap(
        SCALING,
        "columns: [tpot, {ratio: tpot}]",
        f"columns: [tpot, {{text: gain, by: model, cells: {{toy-3b: {gain}x}}}}]",
    )


@mutation("A", "EV622")
def digits_in_a_status(mutant: Mutant) -> None:
    """A ratio typed into the reason of a status, which a banner prints."""
    mutant.swap(ARCHIVE, "it measured the tree of the first release", f"it was {mutant.drawn(1.1, 3)}x then")


@mutation("A", "EV622")
def words_in_a_statement(mutant: Mutant) -> None:
    """A ratio typed into a statement as a word."""
    word = mutant.rng.choice(("twice as fast", "fivefold sooner", "three times as fast", "at half the latency"))
    mutant.swap(SERVING, "answer {ratio} sooner", f"answer {word}, {{ratio}} sooner")


@mutation("A", "EV622")
def words_in_a_title(mutant: Mutant) -> None:
    """A ratio typed into a title as a word."""
    mutant.swap(
        SERVING, "title: Batching", f"title: {mutant.rng.choice(('Doubled', 'Tripled'))} throughput by batching"
    )


@mutation("A", "EV602", "EV622")
def slower_called_faster(mutant: Mutant) -> None:
    """A loss is worded as a gain."""
    mutant.swap(KERNELS, "the fused form is slower, at {ratio.range}", "the fused form is {ratio.range} faster")


@mutation("A", "EV602")
def expect_contradicted(mutant: Mutant) -> None:
    """A claim expects the opposite of what its log says."""
    mutant.swap(KERNELS, "expect: better", mutant.rng.choice(["expect: worse", "expect: same"]))


@mutation("A", "EV602", "EV406")
def tally_contradicted(mutant: Mutant) -> None:
    """A claim expects one win more than its log has."""
    mutant.swap(KERNELS, "where: {M: [16, 64]}\n    expect: better", "where: {M: [16, 64]}\n    expect: {better: 3}")


@mutation("A", "EV602")
def arms_swapped(mutant: Mutant) -> None:
    """Baseline and candidate change places, so that a loss becomes a gain."""
    arms = "    baseline: {}\n    candidate: {}\n    expect: worse"
    mutant.swap(KERNELS, arms.format("plain", "fused"), arms.format("fused", "plain"))


@mutation("A", "EV622", "EV620", "EV601")
def unit_that_does_not_fit(mutant: Mutant) -> None:
    """A time is asked for in bytes."""
    mutant.swap(KERNELS, "{large.value:us}", "{large.value:GB}")


@mutation("A", "EV622")
def one_number_of_many(mutant: Mutant) -> None:
    """One ratio is printed for several cells."""
    mutant.swap(KERNELS, "{ratio.range} faster over", "{ratio} faster over")


@mutation("A", "EV604")
def best_case_alone(mutant: Mutant) -> None:
    """A best case stands by itself."""
    mutant.swap(KERNELS, "({tally}; geometric mean {ratio.geomean})", "(all told)")


@mutation("A", "EV604")
def bound_that_is_no_maximum(mutant: Mutant) -> None:
    """A bound is worded over what is no maximum."""
    mutant.swap(KERNELS, "run up to {ratio.max}", "run up to {ratio.min}")


@mutation("A", "EV604")
def absolute_word(mutant: Mutant) -> None:
    """A claim is worded for all cases."""
    mutant.swap(
        SERVING,
        "With the cache, the first",
        f"With the cache, {mutant.rng.choice(('always', 'in every case'))} the first",
    )
