"""Tests of EV5, one table: what is changed in a sound record, and what must be found."""

from __future__ import annotations

from typing import Any

import pytest

from evidence.checker.rules import plausibility
from tests.evidence.checker.cases import Case, bad, edited, good, judge
from tests.evidence.checker.rules.test_samples import scaled
from tests.evidence.checker.sites import Site

H200 = {"/hosts/0/accelerators/0/model": "NVIDIA H200"}
FLOP = "/workloads/0/work/0/count"
BYTES = "/workloads/0/work/1/count"
REQUESTS = "/cells/0/processes/0/requests"
EVERY = "/cells/*/processes/*/requests"


def reported(**means: float) -> dict[str, Any]:
    """An import with these means of eight requests and 1,032 tokens."""
    values = [
        {"metric": name, "statistic": "mean", "value": value, "pointer": f"/{name}"} for name, value in means.items()
    ]
    metrics = [
        {"name": name, "unit": "s", "better": "lower", "of": "request", "role": "context"} for name in ("ttft", "tpot")
    ]
    work = [{"of": "requests", "count": 8}, {"of": "output-tokens", "count": 1032}]
    return {
        "/cells/0/reported": values,
        "/cells/0/work": work,
        "/metrics": lambda old: [*old, *metrics],
        "/cells/0/unread": [],
    }


PACED = {"/cells/*/processes/*/requests/enqueued_s": [index / 1000 for index in range(8)]}
POISSON = {"kind": "poisson", "rate_per_s": 4.0, "seed": 1, "concurrency": None}


def means(tpot_s: float) -> dict[str, object]:
    """Processes of an engine that keep means instead of their requests: 32 tokens each, half a second."""
    kept = {"wall_time": 2.0, "peak_memory": 2e9, "wasted_tokens": 1.0, "latency": 0.5, "ttft": 0.05, "tpot": tpot_s}
    columns = [{"metric": name, "rank": 0, "values": [value]} for name, value in kept.items()]
    tpot = {"name": "tpot", "unit": "s", "better": "lower", "of": "process", "role": "target"}
    return {
        "/metrics": lambda old: [
            *(one | {"of": "process"} if one["name"] in kept else one for one in old),
            tpot,
        ],
        "/workloads/*/work": [{"of": "requests", "count": 8}, {"of": "output-tokens", "count": 256}],
        "/cells/*/processes/*/requests": None,
        "/cells/*/processes/*/samples": columns,
    }


CASES: tuple[Case, ...] = (
    bad("EV504", "means-of-a-process", means(0.05), base="engine"),
    good("EV504", "means-that-make-the-whole", means(0.0145), base="engine"),
    bad("EV403", "fewer-requests", {"/workloads/0/requests": 16}, base="engine"),
    bad("EV403", "drawn-arrivals", {"/workloads/0/arrival": POISSON}, base="engine"),
    bad("EV403", "paced-at-once", {"/workloads/0/arrival": {"kind": "paced", "interval_s": 0.001}}, base="engine"),
    good("EV403", "paced", {"/workloads/0/arrival": {"kind": "paced", "interval_s": 0.001}, **PACED}, base="engine"),
    bad(
        "EV403", "other-pace", {"/workloads/0/arrival": {"kind": "paced", "interval_s": 0.002}, **PACED}, base="engine"
    ),
    bad("EV403", "more-in-flight", {"/workloads/0/arrival": {"kind": "closed", "concurrency": 7}}, base="engine"),
    good("EV403", "as-many-in-flight", {"/workloads/0/arrival": {"kind": "closed", "concurrency": 8}}, base="engine"),
    bad("EV403", "other-prompts", {"/cells/2/processes/*/requests/prompt_tokens": [254] * 8}, base="engine"),
    good("EV403", "prompts-by-process", {"/cells/2/processes/1/requests/prompt_tokens": [254] * 8}, base="engine"),
    bad("EV501", "compute", {**H200, FLOP: 2 * 10**12}),
    bad("EV501", "traffic", {**H200, BYTES: 10 * 2**30}),
    good("EV501", "compute", {**H200, FLOP: 5 * 10**11}),
    good("EV501", "hot", {**H200, BYTES: 10 * 2**30, "/workloads/0/cache": "hot", "/methods/0/flush_bytes": 0}),
    good("EV501", "in-cache", {**H200, BYTES: 50 * 2**20}),
    good("EV501", "unknown-device", {FLOP: 2 * 10**15}),
    bad("EV503", "early-first-token", {f"{REQUESTS}/ttft_s/0": 1e-5}, base="engine"),
    bad("EV503", "prompts-too-fast", {"/workloads/*/weights/parameters": 10**12}, base="engine"),
    bad("EV503", "negative", reported(ttft=-0.015, tpot=0.002), base="import"),
    good(
        "EV503", "cached", {f"{REQUESTS}/cached_tokens": [256] * 8, "/workloads/0/prefix_cache": "warm"}, base="engine"
    ),
    good(
        "EV503",
        "mixture",
        {"/workloads/*/weights/parameters": 10**12, "/workloads/*/weights/model": "toy-moe-1t"},
        base="engine",
        also=(),
    ),
    good("EV503", "positive", reported(ttft=0.015, tpot=0.002), base="import"),
    bad("EV504", "wall", {"/cells/0/processes/0/samples/0/values/0": 1.2}, base="engine"),
    bad("EV504", "means", reported(ttft=0.05, tpot=0.001, latency=6.0), base="import"),
    good("EV504", "within", {"/cells/0/processes/0/samples/0/values/0": 1.07}, base="engine"),
    good("EV504", "means", reported(ttft=0.05, tpot=0.001, latency=0.2), base="import"),
    bad("EV505", "flat", {"/cells/1/processes": scaled(*(1 / 60 for _ in range(9)))}, base="sweep"),
    good("EV505", "grows", {"/cells/1/processes": scaled(*(1 / 30 for _ in range(9)))}, base="sweep"),
    good(
        "EV505",
        "same-bytes",
        {"/cells/1/processes": scaled(*(1 / 60 for _ in range(9))), "/workloads/1/work/1/count": 4096},
        base="sweep",
    ),
    bad("EV507", "prompts", {"/workloads/*/prompt_tokens/total": 4096}, base="engine"),
    bad("EV507", "outputs", {"/workloads/*/output_tokens/total": 512}, base="engine"),
    good("EV507", "within-fifty", {"/workloads/*/output_tokens/total": 300}, base="engine"),
    good(
        "EV507",
        "eos",
        {"/workloads/*/output_tokens/total": 512, "/workloads/*/ignore_eos": False},
        base="engine",
    ),
    bad("EV508", "hits-unknown", {"/workloads/*/prefix_cache": "warm", f"{EVERY}/cached_tokens": None}, base="engine"),
    bad("EV508", "off-yet-hit", {f"{REQUESTS}/cached_tokens": [64] * 8}, base="engine"),
    good("EV508", "reset", {"/workloads/*/prefix_cache": "reset", f"{EVERY}/cached_tokens": None}, base="engine"),
    bad("EV509", "busy", {"/cells/0/processes/*/client_cpu_s": 1.4}, base="engine"),
    good("EV509", "idle", {"/cells/0/processes/*/client_cpu_s": 1.0}, base="engine"),
    bad("EV510", "failed", {f"{REQUESTS}/latency_s/3": None, f"{REQUESTS}/ttft_s/3": None}, base="engine"),
    bad("EV510", "reported", reported(failed_requests=3.0), base="import"),
    good("EV510", "none", reported(failed_requests=0.0), base="import"),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(site: Site, case: Case) -> None:
    judge(site, case)


def slower(factor: float) -> dict[str, Any]:
    return {"/cells/*/processes/*/samples/0/values/*": lambda value: value * factor}


DRIFT_CASES = (
    (bad("EV506", "slower", slower(1.2)), {}),
    (bad("EV506", "digested", {**slower(1.2), "/workloads/*/inputs/sha256": "a" * 64}), {}),
    (good("EV506", "alike", slower(1.05)), {}),
    (good("EV506", "other-code", slower(1.2)), {"implementation": "toy.ops:new"}),
)


@pytest.mark.parametrize(("case", "changes"), DRIFT_CASES, ids=lambda one: getattr(one, "id", ""))
def test_a_rerun_is_held_to_the_log_before(site: Site, case: Case, changes: dict[str, Any]) -> None:
    site.add(site.record())
    arms = tuple(arm.model_copy(update=changes) for arm in site.record().arms)
    newer = site.record("kernels/toy_20260901-2", arms=arms)
    site.add(edited(newer, case.edits), newer.log)
    assert ["EV506"] * case.fires == [one.code for one in site.check("EV5")]


PEAK_CLAIMS = """\
tables:
  toy: {title: Toy, series: kernels/toy, rows: [workload], across: arm, columns: [time, {peak: bandwidth}]}
"""
PEAK_CASES = (
    (bad("EV502", "unknown", {}), '{{ ev.table("toy") }}'),
    (bad("EV502", "unknown-roofline", {}), '{{ ev.table("plain") }} {{ ev.roofline("plain") }}'),
    (good("EV502", "no-roofline", {}), '{{ ev.table("plain") }}'),
    (good("EV502", "known", H200), '{{ ev.table("toy") }}'),
    (good("EV502", "not-asked", {}), '{{ ev.environment("kernels/toy_20260901") }}'),
)


@pytest.mark.parametrize(("case", "page"), PEAK_CASES, ids=lambda one: getattr(one, "id", ""))
def test_an_unknown_peak_is_found_where_a_share_of_it_is_asked(site: Site, case: Case, page: str) -> None:
    site.add(edited(site.record(), case.edits))
    if "table" in page:
        plain = PEAK_CLAIMS.replace("  toy:", "  plain:").replace(", {peak: bandwidth}", "")
        site.write("docs/claims/index.yml", PEAK_CLAIMS if '"toy"' in page else plain)
    site.write("docs/index.md", f"# Synthetic\n\n{page}\n")
    assert [one.code for one in site.check("EV5", "EV9")] == ["EV502"] * case.fires


def test_the_fastest_known_device_is_known() -> None:
    assert plausibility._FASTEST > 1e15


def test_a_mixture_is_told_by_its_name() -> None:
    assert plausibility._MIXTURE.search("Qwen3-30B-A3B")
    assert not plausibility._MIXTURE.search("Qwen3-0.6B")
