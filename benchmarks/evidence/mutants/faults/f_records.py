"""Owns mutations of class F inside one record: what no device can do, what a floor made, what was sampled badly."""

from __future__ import annotations

import functools

from benchmarks.evidence.mutants.mutation import Family
from benchmarks.evidence.mutants.workbench import Mutant, cells, processes, recorded, rescale, rescale_requests
from benchmarks.evidence.records import Document

_recorded = functools.partial(recorded, "F")


def _held_by_the_cache(mutant: Mutant, record: Document) -> None:
    for process in processes(record, "joint"):
        rows = process["requests"]
        rows["cached_tokens"] = [mutant.rng.randint(100, 250) for _ in rows["cached_tokens"]]


def _hits_not_recorded(mutant: Mutant, record: Document) -> None:
    for process in processes(record):
        process["requests"]["cached_tokens"] = None


def _long_prompts(mutant: Mutant, record: Document) -> None:
    rows = mutant.rng.randint(100_000, 300_000)
    for load in record["workloads"]:
        count = load["requests"]
        load["prompt_tokens"] = {"minimum": rows, "maximum": rows, "total": rows * count}
    for process in processes(record):
        process["requests"]["prompt_tokens"] = [rows for _ in process["requests"]["prompt_tokens"]]


def _large_model(mutant: Mutant, record: Document) -> None:
    for load in record["workloads"]:
        load["weights"]["parameters"] = mutant.rng.randint(70, 400) * 10**9


def _same_time_for_all(mutant: Mutant, record: Document) -> None:
    floor = mutant.rng.uniform(2e-3, 6e-3)
    for cell in cells(record):
        own = floor / (1.3 if cell["arm"] == "fused" else 1.0)
        first = cell["processes"][0]["samples"][0]["values"][0]
        for process in cell["processes"]:
            for samples in process["samples"]:
                samples["values"] = [float(f"{own * value / first:.9g}") for value in samples["values"]]


def _parts_of_a_part(mutant: Mutant, record: Document) -> None:
    factor = mutant.rng.uniform(8, 25)
    for process in processes(record):
        for samples in process["samples"]:
            if samples["metric"] == "wall_time":
                samples["values"] = [round(value * factor, 9) for value in samples["values"]]


def _wall_below_its_requests(mutant: Mutant, record: Document) -> None:
    for process in processes(record, "joint"):
        for samples in process["samples"]:
            if samples["metric"] == "wall_time":
                samples["values"] = [round(value * 0.8, 9) for value in samples["values"]]


def _too_many_bytes(mutant: Mutant, record: Document) -> None:
    for load in record["workloads"]:
        for amount in load["work"]:
            amount["count"] *= mutant.rng.randint(3000, 9000)


def _uncountable_flop(mutant: Mutant, record: Document) -> None:
    for load in record["workloads"]:
        load["work"] = [{"of": "flop", "count": 10**14 * mutant.rng.randint(1, 9)}]


def _few_processes(mutant: Mutant, record: Document) -> None:
    for cell in cells(record):
        cell["processes"] = cell["processes"][: mutant.rng.randint(2, 5)]


def _few_samples(mutant: Mutant, record: Document) -> None:
    for process in processes(record):
        for samples in process["samples"]:
            samples["values"] = samples["values"][:3]


def _drift(mutant: Mutant, record: Document) -> None:
    step = mutant.rng.uniform(0.01, 0.02)
    for process in processes(record):
        for samples in process["samples"]:
            samples["values"] = [value * (1 + step * index) for index, value in enumerate(samples["values"])]


def _two_modes(mutant: Mutant, record: Document) -> None:
    apart = mutant.rng.uniform(0.06, 0.12)
    for process in processes(record):
        for samples in process["samples"]:
            values = [value * mutant.rng.uniform(0.999, 1.001) for value in 4 * samples["values"]]
            samples["values"] = [value * (1 + apart * (index % 2)) for index, value in enumerate(values)]


def _wide(mutant: Mutant, record: Document) -> None:
    for cell in cells(record):
        for process in cell["processes"]:
            times = mutant.rng.choice((0.7, 0.85, 1.0, 1.15, 1.3))
            for samples in process["samples"]:
                samples["values"] = [value * times for value in samples["values"]]


def _overlap(mutant: Mutant, record: Document) -> None:
    for process in processes(record):
        process["ended_s"] = process["started_s"] + mutant.rng.uniform(2.5, 4)


def _discards(mutant: Mutant, record: Document) -> None:
    for cell in cells(record):
        cell["discards"] = [{"process": number, "reason": "slow"} for number in (90, 91)]


def _spread_rule_missed(mutant: Mutant, record: Document) -> None:
    record["methods"][0]["target_spread"] = 0.001
    for process in processes(record):
        process["stopped"] = "budget"


def _failed_requests(mutant: Mutant, record: Document) -> None:
    for process in processes(record):
        rows = process["requests"]
        for row in mutant.rng.sample(range(len(rows["ttft_s"])), 3):
            rows["ttft_s"][row] = rows["latency_s"][row] = None


def _busy_client(mutant: Mutant, record: Document) -> None:
    for process in processes(record):
        process["client_cpu_s"] = 1.4


def _mechanism_silent(mutant: Mutant, record: Document) -> None:
    for process in processes(record, "continuous"):
        process["counters"] = [{"name": "joined", "count": 0}]


def _waste_counted_as_none(mutant: Mutant, record: Document) -> None:
    for process in processes(record, "continuous"):
        process["counters"] = []


def _flush_less(mutant: Mutant, record: Document) -> None:
    record["methods"][0]["flush_bytes"] = mutant.rng.choice((0, 2**20))


def _hot_but_flushed(mutant: Mutant, record: Document) -> None:
    for load in record["workloads"]:
        load["cache"] = "hot"


def _all_faster(record: Document) -> None:
    for arm in ("separate", "joint", "separate-again"):
        rescale_requests(record, 1e-3, arm)


def _second_timer(mutant: Mutant, record: Document) -> None:
    method = {**record["methods"][0], "name": "second", "timer_requested": "nvbench", "timer_used": "nvbench"}
    record["methods"].append(method)
    cell = next(cells(record, "fused"))
    check = [
        {
            **process,
            "started_s": process["started_s"] + 1000,
            "ended_s": process["ended_s"] + 1000,
            "samples": [
                {**samples, "values": [value * 1.3 for value in samples["values"]]} for samples in process["samples"]
            ],
        }
        for process in cell["processes"]
    ]
    cell["cross_checks"] = [{"method": "second", "processes": check}]


RECORDS = Family(
    (
        _recorded(
            "prompts-found-in-the-cache",
            "EV508",
            "engine/norm",
            18,
            "A run found its prompts in a cache that is said to be off.",
            _held_by_the_cache,
        ),
        _recorded(
            "hits-not-recorded",
            "EV508",
            "engine/prefix",
            18,
            "Nobody knows how much of the prompts a warm cache held.",
            _hits_not_recorded,
        ),
        _recorded(
            "prompt-read-too-fast",
            "EV503",
            "engine/norm",
            19,
            "Prompts of many thousand tokens are read in milliseconds.",
            _long_prompts,
        ),
        _recorded(
            "model-run-too-fast",
            "EV503",
            "engine/norm",
            19,
            "A model of hundreds of billions of parameters reads prompts in milliseconds.",
            _large_model,
        ),
        _recorded(
            "one-time-for-all-sizes", "EV505", "kernels/fuse", 20, "Every payload takes one time.", _same_time_for_all
        ),
        _recorded(
            "requests-are-a-part-of-the-wall",
            "EV504",
            "engine/norm",
            21,
            "The requests make a small part of the wall time.",
            _parts_of_a_part,
        ),
        _recorded(
            "wall-below-its-requests",
            "EV504",
            "engine/norm",
            21,
            "The wall time is shorter than its requests.",
            _wall_below_its_requests,
        ),
        _recorded(
            "more-bytes-than-the-memory-moves",
            "EV501",
            "kernels/fuse",
            None,
            "A kernel moves more bytes than its memory can.",
            _too_many_bytes,
        ),
        _recorded(
            "more-work-than-the-cores-do",
            "EV501",
            "kernels/tile",
            None,
            "A kernel does more work than its device can.",
            _uncountable_flop,
        ),
        _recorded(
            "too-few-processes",
            "EV201",
            "engine/norm",
            None,
            "Arms are compared by a handful of processes.",
            _few_processes,
        ),
        _recorded("too-few-samples", "EV202", "kernels/fuse", None, "A process has three samples.", _few_samples),
        _recorded("drifting-samples", "EV204", "kernels/fuse", None, "Samples grow while they are taken.", _drift),
        _recorded("samples-of-two-kinds", "EV205", "kernels/tile", None, "Samples fall into two groups.", _two_modes),
        _recorded(
            "processes-far-apart",
            "EV203 EV406 EV602 EV417",
            "kernels/fuse",
            None,
            "Processes of one arm lie far apart.",
            _wide,
        ),
        _recorded("processes-at-once", "EV216", "engine/norm", None, "Two processes ran at the same time.", _overlap),
        _recorded(
            "slow-runs-discarded",
            "EV215",
            "engine/norm",
            None,
            "Every fourth process was left out for being slow.",
            _discards,
        ),
        _recorded(
            "ended-when-it-looked-good",
            "EV210",
            "kernels/fuse",
            None,
            "Sampling ended before its own rule.",
            _spread_rule_missed,
        ),
        _recorded(
            "requests-that-failed",
            "EV510",
            "engine/norm",
            None,
            "Requests failed, and the latencies are of the rest.",
            _failed_requests,
        ),
        _recorded(
            "client-at-its-limit",
            "EV509",
            "engine/norm",
            None,
            "The load generator was busy all the time.",
            _busy_client,
        ),
        _recorded(
            "mechanism-that-never-fired",
            "EV310",
            "engine/batching",
            None,
            "No request joined a running batch.",
            _mechanism_silent,
        ),
        _recorded(
            "mechanism-not-counted",
            "EV310",
            "engine/batching",
            None,
            "Nobody counted whether requests joined.",
            _waste_counted_as_none,
        ),
        _recorded(
            "cache-not-evicted",
            "EV209",
            "kernels/fuse",
            None,
            "A cold workload was timed without evicting the cache.",
            _flush_less,
        ),
        _recorded(
            "hot-workload-evicted",
            "EV209",
            "kernels/fuse",
            None,
            "A hot workload was timed with its cache evicted.",
            _hot_but_flushed,
        ),
        _recorded(
            "timers-that-disagree",
            "EV416 EV602 EV406",
            "kernels/fuse",
            None,
            "A second timer says something else.",
            _second_timer,
        ),
        _recorded(
            "compiled-in-the-window",
            "EV211",
            "kernels/fuse",
            None,
            "A compilation fell into the samples.",
            lambda m, r: [p.update(compilations=m.rng.randint(1, 3)) for p in processes(r)],
        ),
        _recorded(
            "inputs-of-zeros",
            "EV212",
            "kernels/fuse",
            None,
            "The inputs are all the same.",
            lambda m, r: [
                w["inputs"].update(distribution=m.rng.choice(("zeros", "all ones", "constant"))) for w in r["workloads"]
            ],
        ),
        _recorded(
            "timer-fell-back",
            "EV207",
            "kernels/fuse",
            None,
            "Another timer was used than was asked for.",
            lambda m, r: r["methods"][0].update(timer_used="time.perf_counter"),
        ),
        _recorded(
            "below-the-timers-floor",
            "EV208",
            "kernels/fuse",
            None,
            "Times are too short for their timer.",
            lambda m, r: rescale(r, "time", lambda _: 1e-3),
        ),
        _recorded(
            "timer-overhead-of-a-tenth",
            "EV208",
            "kernels/fuse",
            None,
            "The timer itself takes a tenth of each sample.",
            lambda m, r: r["methods"][0].update(timer_overhead_s=m.drawn(3e-5, 2e-4, 6)),
        ),
        _recorded(
            "duration-of-zero",
            "EV001",
            "kernels/fuse",
            18,
            "A sample is zero.",
            lambda m, r: r["cells"][0]["processes"][0]["samples"][0]["values"].__setitem__(0, 0),
        ),
        _recorded(
            "negative-duration",
            "EV001",
            "kernels/fuse",
            18,
            "A sample is negative.",
            lambda m, r: r["cells"][0]["processes"][0]["samples"][0]["values"].__setitem__(0, -m.drawn(0.001, 0.1, 4)),
        ),
        _recorded(
            "first-token-after-the-last",
            "EV001",
            "engine/norm",
            18,
            "The time per token is negative.",
            lambda m, r: r["cells"][0]["processes"][0]["requests"]["ttft_s"].__setitem__(0, 999.0),
        ),
        _recorded(
            "faster-than-ten-times",
            "EV410",
            "kernels/fuse",
            None,
            "A claim of more than ten times has no second timer.",
            lambda m, r: rescale(r, "time", lambda _: 1 / m.rng.choice((11, 12)), "fused"),
        ),
        _recorded(
            "faster-than-the-device-altogether",
            "EV503",
            "engine/norm",
            19,
            "All times of requests are a thousandth of what they were.",
            lambda m, r: _all_faster(r),
        ),
    )
)
