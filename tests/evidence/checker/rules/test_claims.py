"""Tests of EV4 and EV6: the faults of the audit that are about claims, each a mutation of a clean site."""

# ruff: noqa: E501 - a row of the table is one case

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from evidence.schema import CrossCheck, Rank, Record, Setting, Timed, Work
from evidence.schema.gates import AccuracyDetail
from tests import factories
from tests.evidence.checker.sites import Site, codes
from tests.factories import arm, metric, process, timed, workload

CLAIMS = """
tables:
  sizes:
    title: Fusing by size
    series: kernels/sweep
    rows: [N]
    across: arm
    columns: [time, peak_memory, {ratio: time}, {ratio: peak_memory}]
    baseline: eager
claims:
  small:
    statement: At {N} rows fusing is {ratio.range} faster on {device}.
    series: kernels/sweep
    metric: time
    baseline: eager
    candidate: fused
    where: {N: [1, 8]}
    expect: better
    mechanism: {unknown: it was not profiled yet}
  large:
    statement: At {N} rows it loses; fusing is {ratio}.
    series: kernels/sweep
    metric: time
    baseline: eager
    candidate: fused
    where: {N: 64}
    expect: worse
    mechanism: {unknown: nothing was profiled}
"""
PAGE = """# Fusing

{{ ev.claim("small") }}

{{ ev.claim("large") }}

{{ ev.table("sizes") }}
"""
SIZES = (1, 8, 64)
TIMES = {"eager": (1e-3, 2e-3, 4e-3), "fused": (0.8e-3, 1.5e-3, 5e-3), "eager-again": (1e-3, 2e-3, 4e-3)}

Change = Callable[[Record], Record]


def cell(name: str, size: int, seconds: float, slot: int, memory: float = 2e9, work: tuple[Work, ...] = ()) -> Timed:
    """A timed cell that also holds a process's peak memory."""
    made = timed(name, f"n{size}", median_s=seconds, slot=slot)
    columns = factories.Samples(metric="peak_memory", rank=0, values=(memory,))
    processes = tuple(
        one.model_copy(update={"samples": (*one.samples, columns), "work": work}) for one in made.processes
    )
    return made.model_copy(update={"processes": processes})


def clean(site: Site, **changes: Any) -> Record:
    """The record of the clean site: a small gain, a loss told, equal memory, an A/A arm."""
    cells = tuple(
        cell(name, size, TIMES[name][row], slot=3 * column + row)
        for column, name in enumerate(TIMES)
        for row, size in enumerate(SIZES)
    )
    return site.record(
        "kernels/sweep_20260901",
        **{
            "workloads": tuple(workload(f"n{size}", size) for size in SIZES),
            "metrics": (metric(), metric("peak_memory", unit="B", of="process", role="guard")),
            "cells": cells,
            **changes,
        },
    )


def replaced(record: Record, name: str, change: Callable[[Timed], Timed], size: int | None = None) -> Record:
    """The record with one arm's cells changed."""
    cells = [
        change(one) if isinstance(one, Timed) and one.arm == name and size in (None, int(one.workload[1:])) else one
        for one in record.cells
    ]
    return record.model_copy(update={"cells": tuple(cells)})


def with_alternative(record: Record, seconds: float) -> Record:
    """The record with a third arm: plain library calls."""
    cells = tuple(cell("library", size, seconds * size, slot=9 + row) for row, size in enumerate(SIZES))
    return record.model_copy(
        update={"arms": (*record.arms, arm("library", "alternative")), "cells": (*record.cells, *cells)}
    )


def heavier(record: Record) -> Record:
    """Fused needs more memory: a guard that got worse."""

    def more(one: Timed) -> Timed:
        return cell(one.arm, int(one.workload[1:]), TIMES["fused"][SIZES.index(int(one.workload[1:]))], 3, memory=3e9)

    return replaced(record, "fused", more)


def fewer_steps(record: Record) -> Record:
    """Fused stops after a third of the steps."""

    def counted(one: Timed, steps: int) -> Timed:
        work = (Work(of="steps", count=steps),)
        return one.model_copy(update={"processes": tuple(p.model_copy(update={"work": work}) for p in one.processes)})

    made = replaced(record, "eager", lambda one: counted(one, 128))
    made = replaced(made, "eager-again", lambda one: counted(one, 128))
    return replaced(made, "fused", lambda one: counted(one, 44))


def second_axis(record: Record) -> Record:
    """Fused also ran with another cache setting."""
    fused = record.arms[1].model_copy(update={"switches": (Setting(name="cache", value="on"),)})
    return record.model_copy(update={"arms": (record.arms[0], fused, *record.arms[2:])})


def identical(record: Record) -> Record:
    """Both arms resolved to one kernel on every size but the smallest."""
    tile = (Setting(name="tile", value="64"),)
    same = record.arms[1].model_copy(update={"implementation": "toy.ops:eager"})
    cells = tuple(
        one.model_copy(update={"ran": tile}) if isinstance(one, Timed) and one.workload != "n1" else one
        for one in record.cells
    )
    return record.model_copy(update={"arms": (record.arms[0], same, record.arms[2]), "cells": cells, "axes": ()})


def agreement(record: Record) -> Record:
    """Fused agrees with its reference on little, within a wide tolerance."""
    asked = factories.gate(name="quality", kind="accuracy", tolerances=({"of": "accuracy", "limit": 0.95},))

    def scored(one: Timed, right: int) -> Timed:
        detail = AccuracyDetail(
            task="toy", measure="exact_match", numerator=right, denominator=100,
            reference_numerator=90, reference_denominator=100,
        )  # fmt: skip
        return one.model_copy(update={"further": (factories.passed(gate="quality", detail=detail),)})

    made = record.model_copy(
        update={
            "gates": (*record.gates, asked),
            "metrics": (*record.metrics, metric("exact_match", unit="1", better="higher", of="gate", role="guard")),
        }
    )
    for name, right in (("eager", 90), ("eager-again", 90), ("fused", 2)):
        made = replaced(made, name, lambda one, right=right: scored(one, right))
    return made


def cross_checked(record: Record, name: str, seconds: float, *sizes: int) -> Record:
    """A second timer saw one time in each process of an arm, on some sizes or all."""

    def checked(one: Timed) -> Timed:
        other = tuple(
            process(index, (seconds,), started_s=900.0 + 3 * index).model_copy(update={"samples": tuple(
                column if column.metric != "time" else column.model_copy(update={"values": (seconds,) * 20})
                for column in one.processes[index].samples)})
            for index in range(6)
        )  # fmt: skip
        return one.model_copy(update={"cross_checks": (CrossCheck(method="nvbench", processes=other),)})

    if all(one.name != "nvbench" for one in record.methods):
        record = record.model_copy(update={"methods": (*record.methods, factories.method(name="nvbench"))})
    return replaced(record, name, checked, *sizes)


def second_timer(record: Record) -> Record:
    """A second timer sees a third more on fused."""
    return cross_checked(record, "fused", TIMES["fused"][SIZES.index(1)] * 1.3, 1)


def far(record: Record) -> Record:
    """Fused is twenty times faster on the smallest size, by one timer."""
    return replaced(record, "fused", lambda one: cell("fused", 1, 0.05e-3, 3), 1)


def ungated(record: Record) -> Record:
    """The baseline failed its gate on the smallest size."""
    return record.model_copy(
        update={
            "cells": tuple(
                factories.rejected("eager", "n1") if (one.arm, one.workload) == ("eager", "n1") else one
                for one in record.cells
            )
        }
    )


def slower(record: Record) -> Record:
    """Fused lost on one of the two sizes that the claim calls better."""
    return replaced(record, "fused", lambda one: cell("fused", 8, 2.4e-3, 4), 8)


def unsure(record: Record) -> Record:
    """Fused is within its noise on one of the two sizes."""
    return replaced(record, "fused", lambda one: timed_apart(one, 1.97e-3), 8)


def timed_apart(one: Timed, seconds: float) -> Timed:
    processes = []
    for index, process_ in enumerate(one.processes):
        value = seconds * (1 + 0.012 * (index % 3 - 1))
        columns = tuple(
            c.model_copy(update={"values": (value,) * 20}) if c.metric == "time" else c for c in process_.samples
        )
        processes.append(process_.model_copy(update={"samples": columns}))
    return one.model_copy(update={"processes": tuple(processes)})


def other_stack(record: Record) -> Record:
    """Fused ran under an older framework."""
    old = factories.stack(name="old", packages=("fla-core==0.6.0", "torch==2.9.1", "triton==3.6.0"))
    fused = record.arms[1].model_copy(update={"ranks": (Rank(host="h0", device=0, stack="old"),)})
    arms = (record.arms[0], fused, *record.arms[2:])
    return record.model_copy(update={"stacks": (*record.stacks, old), "arms": arms})


def superlinear(record: Record) -> Record:
    """Fused ran on two devices, and is three times as fast on the smallest size."""
    two = tuple(Rank(host="h0", device=number, stack="main") for number in (0, 1))
    fused = record.arms[1].model_copy(update={"ranks": two})
    hosts = (factories.host(accelerators=(factories.accelerator(), factories.accelerator())),)
    made = replaced(record, "fused", lambda one: cell("fused", 1, 0.3e-3, 3), 1)
    readings = (*record.conditions, factories.conditions(device=1))
    changes = {"arms": (record.arms[0], fused, *record.arms[2:]), "hosts": hosts, "conditions": readings}
    return made.model_copy(update={**changes, "axes": ("implementation", "ranks")})


def dominated(record: Record) -> Record:
    """Fused is six times as fast on the smallest size, and next to nothing on the others."""
    for size, seconds, times in zip(SIZES, TIMES["eager"], (6.0, 1.03, 1.03), strict=True):
        record = replaced(record, "fused", lambda one, at=(size, seconds / times): cell("fused", *at, 3), size)
    return record


@dataclass(frozen=True)
class Fault:
    """One fault of the audit: what is changed in the clean site, and the rules that fire."""

    name: str
    fires: tuple[str, ...]
    claims: tuple[tuple[str, str], ...] = ()
    page: tuple[tuple[str, str], ...] = ()
    record: Change = field(default=lambda made: made)
    says: str = ""


def fault(name: str, *fires: str, record: Change = lambda made: made, says: str = "", **texts: Any) -> Fault:
    return Fault(name, fires, tuple(texts.get("claims", ())), tuple(texts.get("page", ())), record, says)


SMALL = "At {N} rows fusing is {ratio.range} faster on {device}."
FAULTS: tuple[Fault, ...] = (
    # A. A value differs from its source.
    fault("A1 two ends of two readings", "EV602", says="two readings side by side", claims=[
        (SMALL, "From {worst.baseline} to {best.candidate} at {N} rows."),
        ("    expect: better\n    mechanism: {unknown", "    expect: better\n    also:\n      worst: {where: {N: 8}, expect: better}\n      best: {where: {N: 1}, expect: better}\n    mechanism: {unknown"),
    ]),
    fault("A1 a ratio typed by hand", "EV622", claims=[(SMALL, "At {N} rows fusing is 5.1x faster.")], says="'5.1x' is typed"),
    fault("A2 numbers that no log holds", "EV622", claims=[("title: Fusing by size", "title: Fusing from 618 to 6162 tok per second")], says="'618' is typed"),
    fault("A2 a cell typed by hand", "EV622", claims=[("columns: [time,", "columns: [{text: speed, by: N, cells: {1: 618 tok/s}}, time,")], says="'618' is typed"),
    fault("A2 a cell the log does not have", "EV601", claims=[("where: {N: 64}", "where: {N: 128}")], says="no value of N '128'"),
    fault("A3 a sentence about an arm it does not read", "EV602", claims=[(SMALL, "Unlike library, fusing at {N} rows is {ratio.range} faster.")], record=lambda r: with_alternative(r, 2e-3), says="'library', which no reading reads"),
    fault("A4 digits chosen by hand", "EV622", claims=[(SMALL, "At {N} rows fusing is {ratio.range} faster, 550 tok/s.")], says="'550' is typed"),
    # B. A source is missing.
    fault("B6 a table of a log that is not there", "EV601", claims=[("    series: kernels/sweep\n    rows", "    series: [kernels/sweep, kernels/other]\n    rows")], says="no series 'kernels/other'"),
    fault("B6 a row said to be missing that was measured", "EV620", claims=[("    baseline: eager\nclaims", "    baseline: eager\n    not_covered: [{where: {N: 64}, why: does not fit}]\nclaims")], says="said not to be covered"),
    # D. Unequal work, or more than one axis.
    fault("D9 fewer steps look faster", "EV404", "EV404", record=fewer_steps, says="unequal work: eager did 128 steps, fused 44"),
    fault("D10 a second difference", "EV405", "EV405", record=second_axis, says="the arms also differ in cache"),
    fault("D12 a baseline slower than another arm", "EV413", record=lambda r: with_alternative(r, 0.9e-3), says="library of the same log is better than the baseline eager"),
    # E. Selective reporting.
    fault("E13 all better, but one is not", "EV602", record=slower, says="expect is better, the log says {better: 1, worse: 1}"),
    fault("E13 a table cut to its winners", "EV605", claims=[("    baseline: eager\nclaims", "    baseline: eager\n    where: {N: [1, 8]}\nclaims")], says="eager/n64, fused/n64"),
    fault("E13 an undecided cell counted as a win", "EV406", record=unsure, says="the log says"),
    fault("E14 the metric that got worse is not told", "EV606", record=heavier, claims=[("columns: [time, peak_memory, {ratio: time}, {ratio: peak_memory}]", "columns: [time, {ratio: time}]")], says="peak_memory"),
    fault("E14 a claim over part of a log without its table", "EV606", "EV606", "EV615", page=[('{{ ev.table("sizes") }}', "")], says="has no table of it"),
    fault("E15 the faster arm is left out", "EV605", "EV413", record=lambda r: with_alternative(r, 0.5e-3), claims=[("    baseline: eager\nclaims", "    baseline: eager\n    where: {arm: [eager, fused]}\nclaims")], says="library/n1"),
    fault("E16 agreement beside the speed is not shown", "EV606", record=agreement, says="exact_match"),
    fault("E17 a mean over identical configurations", "EV407", record=identical, says="all 1 cells ran identical configurations"),
    # Others of the same classes.
    fault("a red baseline", "EV412", record=ungated, says="eager is rejected"),
    fault("twenty times by one timer", "EV410", record=far, says="20 times, by one timer only"),
    fault("two timers that disagree", "EV406", "EV416", record=second_timer, says="nvbench is +30% from do-bench"),
    fault("no noise floor", "EV415", "EV415", record=lambda r: r.model_copy(update={"arms": r.arms[:2], "cells": r.cells[:6]}), says="no A/A arm of eager"),
    fault("a cause is not named", "EV613", claims=[("    mechanism: {unknown: it was not profiled yet}\n", "")], says="FASTER without a mechanism"),
    fault("a cause without its evidence", "EV613", claims=[("{unknown: it was not profiled yet}", "{text: It moves fewer bytes., evidence: profile}")], says="no evidence 'profile'"),
    fault("a ratio without its baseline", "EV401", claims=[("    baseline: eager\nclaims", "claims")], says="without a baseline"),
    fault("an item nobody calls", "EV615", page=[('{{ ev.claim("large") }}', "")], says="large is called on no page"),
    # J. Pages that contradict themselves.
    fault("J25 a sentence on evidence not to be cited", "EV612", "EV612", claims=[("claims:\n", "logs:\n  kernels/sweep_20260901: {do_not_cite: the fan was off}\nclaims:\n")], says="marked do not cite"),
    fault("J25 a superseded claim is called", "EV611", claims=[("    mechanism: {unknown: nothing was profiled}", "    mechanism: {unknown: nothing was profiled}\n    status: {superseded_by: small}")], says="call 'small' instead"),
    fault("J26 a bound that is not the maximum", "EV604", claims=[(SMALL, "Up to {ratio.min} at {N} rows, {tally}.")], says="which is not a maximum"),
    fault("J26 a bound typed by hand", "EV622", claims=[(SMALL, "Within 1.5 points at {N} rows, {ratio.range}.")], says="'1.5' is typed"),
    fault("J26 a best case alone", "EV604", claims=[(SMALL, "Up to {ratio.max} faster.")], says="never stands alone"),
    fault("D10 another stack", "EV402", "EV402", record=other_stack, says="torch 2.11.0 and 2.9.1"),
    fault("D10 more than the devices give", "EV411", record=superlinear, says="with 2 accelerators for 1"),
    fault("E17 a mean of ratios that is none", "EV408", claims=[(SMALL, "At {N} rows fusing is {ratio.min} to {ratio.max} faster, on average {ratio.max}.")], says="is no mean"),
    fault("E17 one cell makes the mean", "EV409", record=dominated, claims=[("    where: {N: [1, 8]}\n    expect: better", "    expect: better"), ("  large:\n    statement: At {N} rows it loses; fusing is {ratio}.", "  large:\n    statement: At {N} rows fusing is {ratio}."), ("expect: worse", "expect: better")], says="1.03 without n1"),
    fault("A1 a loss called faster", "EV602", claims=[("it loses; fusing is {ratio}.", "fusing is {ratio} faster.")], says="the log says SLOWER"),
    fault("A3 against an arm that is not the baseline", "EV602", claims=[(SMALL, "At {N} rows fusing is {ratio.range} faster than library."), ("    expect: better\n    mechanism: {unknown", "    expect: better\n    also: {library: {baseline: library, expect: better}}\n    mechanism: {unknown")], record=lambda r: with_alternative(r, 1.5e-3), says="against 'eager', and the sentence says 'library'"),
    fault("A3 a heading of another baseline", "EV602", record=lambda r: with_alternative(r, 2e-3), claims=[("{ratio: time}, {ratio", "{ratio: time, title: against library}, {ratio")], says="the heading says 'library'"),
    fault("A1 a ratio in words", "EV622", claims=[(SMALL, "At {N} rows fusing is twice as fast, {ratio.range}.")], says="'twice as fast' is typed"),
    fault("A2 a row that nobody measured", "EV622", claims=[("    baseline: eager\nclaims", "    baseline: eager\n    not_covered: [{where: {N: 2.1x faster}, why: not run}]\nclaims")], says="'2.1x' is no value" ),
    fault("A1 a ratio in a status", "EV622", claims=[("    series: kernels/sweep\n    rows", "    series: kernels/sweep_20260901\n    rows"), ("    baseline: eager\nclaims", "    baseline: eager\n    status: {historical: it was 2.1x then}\nclaims")], says="'2.1x' is typed into the status"),
    fault("J26 always", "EV604", claims=[(SMALL, "Fusing is always {ratio.range} faster.")], says="'always' is wider"),
)  # fmt: skip


def put(site: Site, one: Fault, record: Record) -> None:
    claims, page = CLAIMS, PAGE
    for old, new in one.claims:
        assert old in claims
        claims = claims.replace(old, new)
    for old, new in one.page:
        assert old in page
        page = page.replace(old, new)
    site.add(one.record(record))
    site.write("docs/claims/page.yml", claims)
    site.write("docs/page.md", page)


def test_the_clean_site_has_no_finding(site: Site) -> None:
    put(site, fault("clean"), clean(site))
    assert site.check() == []


@pytest.mark.parametrize("one", FAULTS, ids=lambda one: one.name)
def test_a_fault_is_found_by_its_rule_and_by_no_other(site: Site, one: Fault) -> None:
    put(site, one, clean(site))
    found = site.check("EV4", "EV6")
    assert sorted(codes(found)) == sorted(one.fires), found
    assert any(one.says in finding.message + finding.fix for finding in found), found
    assert all(finding.at.path.startswith("docs/") for finding in found)


def test_identical_cells_leave_the_mean_and_the_rest_stands(site: Site) -> None:
    """E17 from the other side: with one cell that differs the claim stands on that one, and says what it left out."""
    text = CLAIMS.replace(SMALL, "Fusing is {ratio} faster ({tally}).")
    site.add(identical(clean(site)))
    site.write("docs/claims/page.yml", text.split("  large:")[0])
    site.write("docs/page.md", PAGE.replace('{{ ev.claim("large") }}', ""))
    assert site.check("EV4", "EV6") == []
    assert site.corpus().book.statement("small").text.endswith("(1 faster, 1 with identical configuration left out).")


def test_absolutes_of_two_devices_and_stacks(site: Site) -> None:
    site.add(clean(site))
    other = clean(site, hosts=factories.on_device("Synthetic GPU B")).model_copy(
        update={"log": "kernels/other_20260901"}
    )
    site.add(other)
    newer = clean(site, stacks=(factories.stack(packages=("torch==2.13.0", "triton==3.9.0")),))
    site.add(newer.model_copy(update={"log": "kernels/newer_20260901"}))
    two = "tables:\n  t: {{title: Two, series: [kernels/sweep, {0}], rows: [N, workload, device], across: arm, columns: [time]}}\n"
    site.write("docs/page.md", '{{ ev.table("t") }}\n')
    for log, code in (("kernels/other", "EV607"), ("kernels/newer", "EV608")):
        site.write("docs/claims/page.yml", two.format(log))
        assert codes(site.check("EV607", "EV608")) == [code]


def test_absolutes_of_two_logs_in_one_sentence(site: Site) -> None:
    site.add(clean(site))
    cells = tuple(one.model_copy(update={"processes": one.processes[::-1]}) for one in clean(site).cells)
    site.add(clean(site, cells=cells).model_copy(update={"log": "kernels/other_20260901"}))
    claim = CLAIMS.split("  small:")[0] + (
        "  both: {statement: 'It takes {candidate}, elsewhere {other.FIELD}.', series: kernels/sweep, metric: time,"
        " baseline: eager, candidate: fused, where: {N: 1}, expect: better,"
        " also: {other: {series: kernels/other, expect: better}}, mechanism: {unknown: nothing was profiled}}\n"
    )
    site.write("docs/page.md", '{{ ev.claim("both") }}\n')
    for field_, found in (("candidate", ["EV414"]), ("ratio", [])):
        site.write("docs/claims/page.yml", claim.replace("FIELD", field_))
        assert codes(site.check("EV414")) == found


def test_a_waiver_with_a_reason_lets_a_large_ratio_pass(site: Site) -> None:
    waiver = (
        "    waive: [{rule: EV410, why: the baseline loops in Python, owner: '@docs', until: 2100-01-01}]\n  large:"
    )
    put(site, fault("x", record=far, claims=[("  large:", waiver)]), clean(site))
    assert "EV410" not in codes(site.check())


def test_a_large_ratio_needs_a_second_timer_on_both_cells(site: Site) -> None:
    seen_twice = cross_checked(far(clean(site)), "fused", 0.05e-3, 1)
    put(site, fault("x", record=lambda _: seen_twice), clean(site))
    assert codes(site.check("EV410")) == ["EV410"]
    put(site, fault("x", record=lambda _: cross_checked(seen_twice, "eager", TIMES["eager"][0], 1)), clean(site))
    assert codes(site.check("EV410")) == []


def test_a_control_that_moved(site: Site) -> None:
    also = "    also: {control: {candidate: eager-again, expect: better}}\n    mechanism: {unknown: it"
    shifted = fault("x", claims=[("    mechanism: {unknown: it", also)], record=lambda r: replaced(r, "eager-again", lambda one: cell(one.arm, int(one.workload[1:]), 0.9 * TIMES["eager"][SIZES.index(int(one.workload[1:]))], 6)))  # fmt: skip
    put(site, shifted, clean(site))
    found = site.check("EV3", "EV4", "EV6")
    assert sorted(codes(found)) == ["EV309", "EV417"]
    assert any("so the effect cannot be attributed" in one.message for one in found)


def test_a_misspelt_key_is_one_finding(site: Site) -> None:
    put(site, fault("x", claims=[("  small:\n    statement:", "  small:\n    statemnt:")]), clean(site))
    assert codes(site.check()) == ["EV620"]
