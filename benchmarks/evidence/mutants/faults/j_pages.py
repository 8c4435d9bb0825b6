"""Owns mutations of class J: pages that contradict their own banners, one another, or themselves."""

from __future__ import annotations

import re

from benchmarks.evidence.mutants.faults import ARCHIVE, KERNELS, SCALING, SERVING
from benchmarks.evidence.mutants.mutation import mutation
from benchmarks.evidence.mutants.workbench import Mutant
from benchmarks.evidence.projects import LOGS
from evidence.store import RECORD_NAME


@mutation("J", "EV612", fault=25)
def log_not_to_be_cited_is_claimed(mutant: Mutant) -> None:
    """A log is marked as not to be cited, and a claim concludes from it."""
    log = mutant.log("engine/norm")
    mutant.swap(ARCHIVE, "logs:\n", f"logs:\n  {log}: {{do_not_cite: the device was shared}}\n")
    mutant.touched.add(f"{LOGS}/{log}/{RECORD_NAME}")


@mutation("J", "EV612", fault=25)
def claim_not_to_be_cited_is_called(mutant: Mutant) -> None:
    """A claim is marked as not to be cited, and its page says it."""
    mutant.swap(
        SERVING,
        "    limitations: [arrival times are synthetic]\n",
        "    limitations: [arrival times are synthetic]\n    status: {do_not_cite: one arm was misconfigured}\n",
    )


@mutation("J", "EV612", "EV715", "EV701", fault=25)
def conclusion_below_a_banner(mutant: Mutant) -> None:
    """Below a table that is not to be cited a sentence concludes from it."""
    mutant.append(
        "docs/archive.md", "## What it means\n\nSo serving is clearly faster than before, and beats the static arm."
    )


@mutation("J", "EV715", "EV701")
def comparison_that_nothing_backs(mutant: Mutant) -> None:
    """A section without a claim says that one thing beats another."""
    word = mutant.rng.choice(("beats", "outperforms", "is faster than", "is quicker than"))
    mutant.append("docs/guide.md", f"## Which to choose\n\nThe fused form {word} plain library calls.")


@mutation("J", "EV701", fault=26)
def bound_above_a_table_that_exceeds_it(mutant: Mutant) -> None:
    """A typed bound stands above a table that goes beyond it."""
    mutant.swap(
        "docs/serving.md",
        '{{ ev.table("quantised") }}',
        f'Exact match stays within {mutant.drawn(0.5, 1.5, 1)} points.\n\n{{{{ ev.table("quantised") }}}}',
    )


@mutation("J", "EV701", "EV712", fault=26)
def two_pages_two_numbers(mutant: Mutant) -> None:
    """The front page types another number than the page of the claim renders."""
    mutant.append("docs/index.md", f"Batching finishes {mutant.drawn(2, 9)}x sooner.")


@mutation("J", "EV712", "EV601", "EV620", "EV609", "EV610")
def two_pages_two_runs(mutant: Mutant) -> None:
    """The front page prints one quantity from an older run, the page of the kernels from the newer one."""
    mutant.edit(ARCHIVE, lambda text: re.sub(r"\n +status: \{historical: [^}]*\}", "", text))
    mutant.append("docs/index.md", '{{ ev.says("fuse-once") }}')


@mutation("J", "EV611")
def superseded_claim_is_called(mutant: Mutant) -> None:
    """A page says a claim that another has replaced."""
    mutant.swap(
        KERNELS,
        "    limitations: [one op on synthetic inputs]\n",
        "    limitations: [one op on synthetic inputs]\n    status: {superseded_by: tile-gains}\n",
    )


@mutation("J", "EV621")
def one_id_for_two_claims(mutant: Mutant) -> None:
    """Two claims of two files have one id."""
    mutant.edit(SCALING, lambda text: text.replace("  norm-joint:", "  fuse-gains:"))


@mutation("J", "EV620")
def one_key_twice(mutant: Mutant) -> None:
    """A claim has one key twice, so that readers may differ in which of the two they take."""
    mutant.swap(KERNELS, "    expect: better\n", "    expect: better\n    expect: worse\n")


@mutation("J", "EV620")
def misspelt_key(mutant: Mutant) -> None:
    """A claim's condition is written under a key that nobody reads."""
    mutant.swap(KERNELS, "    where: {M: [16, 64]}\n    expect", "    when: {M: [16, 64]}\n    expect")


@mutation("J", "EV620")
def expectation_left_out(mutant: Mutant) -> None:
    """A claim says what it found, and not what it expected."""
    mutant.swap(SERVING, "    candidate: cached\n    expect: better\n", "    candidate: cached\n")


@mutation("J", "EV620")
def axis_that_shares_rows(mutant: Mutant) -> None:
    """A table's rows leave out an axis, so that several cells would share a row."""
    mutant.swap(KERNELS, "rows: [M, K]", "rows: [M]")


@mutation("J", "EV622")
def misspelt_field(mutant: Mutant) -> None:
    """A statement asks for a field that nothing has."""
    mutant.swap(KERNELS, "{ratio.range} faster over", "{ratios.range} faster over")


@mutation("J", "EV615")
def claim_on_no_page(mutant: Mutant) -> None:
    """A claim is called on no page."""
    mutant.swap("docs/scaling.md", '{{ ev.claim("replicas-scale") }}\n', "")


@mutation("J", "EV711")
def value_without_its_claim(mutant: Mutant) -> None:
    """A number is printed on a page that does not show its claim."""
    mutant.append("docs/guide.md", 'The gain is {{ ev.value("batching-skewed", "ratio") }}.')


@mutation("J", "EV711")
def link_to_a_claim_elsewhere(mutant: Mutant) -> None:
    """A page links to a claim on a page that does not show it."""
    mutant.append("docs/guide.md", "See [the gain](kernels.md#ev-batching-skewed).")


@mutation("J", "EV705")
def one_table_twice(mutant: Mutant) -> None:
    """A page shows one table twice."""
    mutant.append("docs/kernels.md", '{{ ev.table("fuse-first") }}')


@mutation("J", "EV705")
def block_inside_a_sentence(mutant: Mutant) -> None:
    """A table is called in the middle of a sentence."""
    mutant.edit("docs/scaling.md", lambda text: re.sub(r'(\{\{ ev.table\("norm"\) \}\})', r"See \1 here.", text))
