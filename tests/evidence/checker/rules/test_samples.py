"""Tests of EV2, one table: what is changed in a sound record, and what must be found."""

from __future__ import annotations

from typing import Any

import pytest

from evidence.diagnostics import Severity
from tests.evidence.checker.cases import FILES, Case, bad, bases, edited, good, judge
from tests.evidence.checker.rules.test_gates import CLAIM
from tests.evidence.checker.sites import Site

PROCESSES = "/cells/0/processes"
COLUMNS = "/cells/0/processes/*/samples/0/values"


def first(count: int) -> Any:
    return lambda old: old[:count]


def scaled(*factors: float) -> Any:
    """Scale the samples of each process by its own factor."""

    def scale(processes: list[Any]) -> list[Any]:
        for process, factor in zip(processes, factors, strict=True):
            for column in process["samples"]:
                column["values"] = [value * factor for value in column["values"]]
        return processes

    return scale


def rising(values: list[float]) -> list[float]:
    return [value * (1 + 0.004 * index) for index, value in enumerate(values)]


def stepping(values: list[float]) -> list[float]:
    return [value * (1.05 if index % 2 else 1) for index, value in enumerate(values * 2)]


def after(seconds: float) -> Any:
    """Move every process behind the others."""

    def move(processes: list[Any]) -> list[Any]:
        for index, process in enumerate(processes):
            process["started_s"], process["ended_s"] = seconds + 2.0 * index, seconds + 2.0 * index + 1.5
        return processes

    return move


def reported(statistic: str, value: float = 0.25, metric: str = "latency") -> list[dict[str, object]]:
    return [{"metric": metric, "statistic": statistic, "value": value, "pointer": "/x"}]


WIDE = (0.9, 1.1) * 4 + (1.0,)
HOPELESS = (0.88, 1.12) * 4 + (1.0,)
FALLBACK = {"/methods/0/timer_used": "time.perf_counter"}

CASES: tuple[Case, ...] = (
    bad("EV201", "five", {f"{PROCESSES}": first(5), "/methods/0/processes": 5}),
    good("EV201", "six", {"/cells/*/processes": first(6), "/methods/0/processes": 6}),
    bad("EV202", "promised", {"/methods/0/minimum_samples": 30}),
    bad("EV202", "four", {COLUMNS: first(4), "/methods/0/minimum_samples": 1}),
    good("EV202", "five", {COLUMNS: first(5), "/methods/0/minimum_samples": 1}),
    bad("EV204", "rising", {COLUMNS: rising}),
    good("EV204", "one-process", {"/cells/0/processes/3/samples/0/values": rising}),
    bad("EV205", "two-modes", {COLUMNS: stepping}),
    good("EV205", "one-process", {"/cells/0/processes/3/samples/0/values": stepping}),
    bad("EV206", "p99-of-eight", {"/cells/0/reported": reported("p99")}, base="import"),
    bad(
        "EV206",
        "p90-of-35",
        {"/cells/0/reported": reported("p90"), "/cells/0/work/0/count": 35},
        base="import",
    ),
    good(
        "EV206",
        "p90-of-36",
        {"/cells/0/reported": reported("p90"), "/cells/0/work/0/count": 36},
        base="import",
    ),
    good("EV206", "mean", {"/cells/0/reported": reported("mean")}, base="import"),
    bad("EV207", "no-reason", {"/methods/0/timer_used": "triton.testing.do_bench_cudagraph"}),
    good(
        "EV207",
        "reason",
        {
            "/methods/0/timer_used": "triton.testing.do_bench_cudagraph",
            "/methods/0/fallback_reason": "events under 20 us",
        },
    ),
    bad("EV208", "events", {"/cells/*/processes/*/samples/0/values/*": lambda value: value / 100}),
    bad(
        "EV208",
        "host-clock",
        {
            "/methods/0/timer_used": "time.perf_counter",
            "/methods/0/timer_requested": "time.perf_counter",
            "/cells/*/processes/*/samples/0/values/*": lambda value: value / 2,
        },
    ),
    bad("EV208", "overhead", {"/methods/0/timer_overhead_s": 1e-4}),
    bad("EV208", "not-watched", {"/methods/0/timer_overhead_s": None}),
    good(
        "EV208",
        "graph",
        {
            "/methods/0/timer_used": "triton.testing.do_bench_cudagraph",
            "/methods/0/timer_requested": "triton.testing.do_bench_cudagraph",
            "/methods/0/timer_overhead_s": 1e-9,
            "/cells/*/processes/*/samples/0/values/*": lambda value: value / 100,
        },
    ),
    bad("EV209", "no-flush", {"/methods/0/flush_bytes": 0}),
    bad("EV209", "under-once", {"/methods/0/flush_bytes": 40 * 2**20}),
    bad("EV209", "under-twice", {"/methods/0/flush_bytes": 60 * 2**20}),
    bad("EV209", "hot-flushed", {"/workloads/0/cache": "hot"}),
    bad(
        "EV209",
        "unknown-cache",
        {
            "/hosts/0/accelerators/0/l2_bytes": None,
            "/hosts/0/accelerators/0/missing": [{"field": "l2_bytes", "reason": "not told"}],
        },
    ),
    good("EV209", "twice", {"/methods/0/flush_bytes": 100 * 2**20}),
    good("EV209", "hot", {"/workloads/0/cache": "hot", "/methods/0/flush_bytes": 0}),
    bad("EV210", "budget", {"/methods/0/target_spread": 0.01, "/cells/0/processes/0/stopped": "budget"}, also=()),
    bad("EV210", "fewer-than-planned", {"/methods/0/processes": 10}),
    good("EV210", "spread", {"/methods/0/target_spread": 0.01, "/cells/*/processes/*/stopped": "spread"}),
    bad("EV211", "compiled", {f"{PROCESSES}/4/compilations": 2}),
    bad("EV211", "not-watched", {f"{PROCESSES}/4/compilations": None}),
    good("EV211", "none", {"/cells/*/processes/*/compilations": 0}),
    bad("EV212", "zeros", {"/workloads/0/inputs/distribution": "zeros"}),
    bad("EV212", "constant", {"/workloads/0/inputs/distribution": "Constant 0.5"}),
    good("EV212", "normal", {"/workloads/0/inputs/distribution": "normal(0, 1)"}),
    good("EV212", "uniform", {"/workloads/0/inputs/distribution": "uniform on 0 to 1"}),
    bad("EV213", "in-turn", {"/cells/0/processes": after(1000), "/cells/2/processes": after(2000)}),
    good("EV213", "two-of-three", {"/cells/0/processes": after(1000)}),
    bad("EV214", "unread", {}, base="import"),
    bad("EV214", "zero", {"/cells/0/unread": [], "/cells/0/reported": reported("mean", 0.0)}, base="import"),
    bad("EV214", "minus-one", {"/cells/0/unread": [], "/cells/0/reported": reported("mean", -1.0)}, base="import"),
    good("EV214", "read", {"/cells/0/unread": []}, base="import"),
    bad("EV215", "two-of-29", {"/cells/0/discards": [{"process": 9, "reason": "a"}, {"process": 10, "reason": "b"}]}),
    good("EV215", "one-of-28", {"/cells/0/discards": [{"process": 9, "reason": "a"}]}),
    bad("EV216", "overlap", {"/cells/0/processes/0/ended_s": 2.5}),
    good("EV216", "touching", {"/cells/0/processes/0/ended_s": 2.0}),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(site: Site, case: Case) -> None:
    judge(site, case)


PERCENTILE_CLAIMS = """\
tables:
  toy:
    title: Toy
    series: engine/toy
    rows: [scenario]
    across: arm
    baseline: static
    columns: [{statistic}]
"""
ASKED_CASES = (
    (bad("EV206", "table-p90", {}, base="engine"), "ttft.p90"),
    (good("EV206", "table-p50", {}, base="engine"), "ttft.p50"),
)


@pytest.mark.parametrize(("case", "statistic"), ASKED_CASES, ids=lambda one: getattr(one, "id", ""))
def test_a_percentile_that_a_table_asks_for_needs_its_requests(site: Site, case: Case, statistic: str) -> None:
    record = bases(site)["engine"]()
    site.add(record, files=FILES["engine"])
    path = site.write("docs/claims/index.yml", PERCENTILE_CLAIMS.replace("{statistic}", statistic))
    site.write("docs/index.md", '# Synthetic\n\n{{ ev.table("toy") }}\n')
    found = site.check("EV2")
    assert [one.code for one in found] == ["EV206"] * case.fires
    assert all(path.as_posix().endswith(one.at.path) and one.at.line == 8 for one in found)


@pytest.mark.parametrize(
    ("edits", "severity"),
    [
        ({"/methods/0/flush_bytes": 0}, Severity.ERROR),
        ({"/methods/0/flush_bytes": 60 * 2**20}, Severity.WARNING),
        ({f"{PROCESSES}/4/compilations": 2}, Severity.ERROR),
        ({f"{PROCESSES}/4/compilations": None}, Severity.WARNING),
        ({"/methods/0/timer_overhead_s": 1e-4}, Severity.ERROR),
        ({"/methods/0/timer_overhead_s": None}, Severity.WARNING),
    ],
)
def test_severity_depends_on_what_was_found(site: Site, edits: dict[str, Any], severity: Severity) -> None:
    site.add(edited(site.record(), edits))
    (found,) = site.check()
    assert found.severity is severity


def test_one_finding_a_record_counts_the_others(site: Site) -> None:
    site.add(edited(site.record(), {"/cells/*/processes": first(5), "/methods/0/processes": 5}))
    (found,) = site.check()
    assert "and 2 more like it" in found.message
    assert found.at.pointer == "/cells/0/processes"


WIDE_EDIT = {PROCESSES: scaled(*(1 + (factor - 1) / 3 for factor in WIDE))}
SPREAD_CASES = (
    (bad("EV203", "wide", WIDE_EDIT), True, Severity.WARNING),
    (bad("EV203", "hopeless", {PROCESSES: scaled(*HOPELESS)}), True, Severity.ERROR),
    (good("EV203", "narrow", {PROCESSES: scaled(*(1 + (factor - 1) / 10 for factor in WIDE))}), True, None),
    (good("EV203", "tabled", WIDE_EDIT), False, None),
)


@pytest.mark.parametrize(("case", "is_claimed", "severity"), SPREAD_CASES, ids=lambda one: getattr(one, "id", ""))
def test_a_wide_spread_is_found_under_claims_only(
    site: Site, case: Case, is_claimed: bool, severity: Severity | None
) -> None:
    site.add(edited(site.record(), case.edits))
    site.write("docs/claims/index.yml", CLAIM)
    calls = '{{ ev.claim("faster") }}\n\n' * is_claimed + '{{ ev.table("toy") }}\n'
    if not is_claimed:
        site.write("docs/claims/index.yml", CLAIM.partition("claims:")[0])
    site.write("docs/index.md", f"# Synthetic\n\n{calls}")
    found = site.check("EV203")
    assert bool(found) is case.fires
    assert {one.severity for one in found} == ({severity} if severity else set())
