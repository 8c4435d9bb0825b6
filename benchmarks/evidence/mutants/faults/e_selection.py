"""Owns mutations of class E: what the log also says, and the page does not."""

from __future__ import annotations

import re

from benchmarks.evidence.mutants.faults import KERNELS, SCALING, SERVING
from benchmarks.evidence.mutants.mutation import mutation
from benchmarks.evidence.mutants.workbench import Mutant, cells, processes, rescale


@mutation("E", "EV605", fault=13)
def losing_rows_left_out(mutant: Mutant) -> None:
    """Both tables of a log leave out the same cells."""
    mutant.swap(KERNELS, "where: {M: [16, 64]}\n    notes", "where: {M: 16}\n    notes")


@mutation("E", "EV602", "EV406", fault=13)
def losses_among_the_wins(mutant: Mutant) -> None:
    """A claim says that all cells gain, and some of its log lose."""
    with mutant.record(mutant.log("kernels/fuse")) as record:
        rescale(record, "time", lambda cell: 2.4 if cell["workload"] == "n4194304" else 1.0, "fused")


@mutation("E", "EV605", "EV606", fault=13)
def claim_over_the_best_cell(mutant: Mutant) -> None:
    """A claim speaks of one cell of its log, whose table is gone from the page."""
    mutant.swap("docs/scaling.md", '{{ ev.table("norm") }}\n', "")


@mutation("E", "EV606", fault=14)
def metric_that_got_worse(mutant: Mutant) -> None:
    """More memory is needed, and neither table nor claim says so any more."""
    mutant.swap(
        SERVING,
        "latency, ttft, tpot, peak_memory, {change: peak_memory}, wasted_tokens]",
        "latency, ttft, tpot, wasted_tokens]",
    )
    mutant.swap(SERVING, "      memory: {metric: peak_memory, expect: worse}\n      even", "      even")
    mutant.swap(SERVING, "peak memory changes by {memory.change}, and", "and")


@mutation("E", "EV606", fault=14)
def headline_beside_a_slower_token(mutant: Mutant) -> None:
    """The first token comes sooner, every later one later, and only the first is told."""
    with mutant.record(mutant.log("engine/prefix")) as record:
        for process in processes(record, "cached"):
            rows = process["requests"]
            drag = mutant.rng.uniform(1.28, 1.3)
            tpots = [
                (last - first) / (count - 1)
                for first, last, count in zip(rows["ttft_s"], rows["latency_s"], rows["output_tokens"], strict=True)
            ]
            rows["latency_s"] = [
                round(first + drag * tpot * (count - 1), 9)
                for first, tpot, count in zip(rows["ttft_s"], tpots, rows["output_tokens"], strict=True)
            ]
            for samples in process["samples"]:
                if samples["metric"] == "wall_time":
                    samples["values"] = [round(max(rows["latency_s"]) + 0.001, 9)]


@mutation("E", "EV001", "EV606", fault=14)
def reserved_metric_without_a_direction(mutant: Mutant) -> None:
    """A record says that peak memory has no direction."""
    with mutant.record(mutant.log("engine/batching")) as record:
        next(one for one in record["metrics"] if one["name"] == "peak_memory")["better"] = "neither"


@mutation("E", "EV602", "EV601")
def metric_turned_round(mutant: Mutant) -> None:
    """A record says that fewer right answers are better."""
    with mutant.record(mutant.log("engine/quantised")) as record:
        better = mutant.rng.choice(("lower", "neither"))
        next(one for one in record["metrics"] if one["name"] == "exact_match")["better"] = better


@mutation("E", "EV001", "EV601", "EV606")
def metric_no_longer_declared(mutant: Mutant) -> None:
    """A record stops declaring a metric that got worse, and its samples stay."""
    with mutant.record(mutant.log("engine/batching")) as record:
        record["metrics"] = [one for one in record["metrics"] if one["name"] != "peak_memory"]


@mutation("E", "EV001")
def reserved_metric_in_another_unit(mutant: Mutant) -> None:
    """A record says that its times are rates."""
    with mutant.record(mutant.log("engine/norm")) as record:
        next(one for one in record["metrics"] if one["name"] == "tpot")["unit"] = "token/s"


@mutation("E", "EV605", "EV413", fault=15)
def library_calls_left_out(mutant: Mutant) -> None:
    """Plain library calls are left out of tables and claims of their log."""
    mutant.edit(
        KERNELS, lambda text: text.replace("across: arm\n", "across: arm\n    where: {arm: [plain, fused]}\n", 3)
    )
    mutant.edit(KERNELS, lambda text: text.replace("      library: {baseline: library, expect: better}\n", ""))
    mutant.swap(KERNELS, "\n      against plain library calls it is {library.ratio.geomean}.", "")


@mutation("E", "EV606", fault=16)
def agreement_not_shown(mutant: Mutant) -> None:
    """The best speed is shown, and not that half the tokens differ."""
    agreed = mutant.drawn(0.01, 0.5, 3)
    with mutant.record(mutant.log("engine/quantised")) as record:
        for cell in cells(record, "fp8"):
            detail = cell["gate"]["detail"]
            detail["agreed"] = int(detail["compared"] * agreed)
        record["gates"][0]["tolerances"][0]["limit"] = 0.001
    mutant.swap(SERVING, "peak_memory, token_agreement, exact_match]", "peak_memory, exact_match]")
    mutant.swap(SERVING, "      agreement: {metric: token_agreement, expect: worse}\n", "")
    mutant.swap(SERVING, "      {agreement.candidate} of the tokens agree, and exact", "      exact")


@mutation("E", "EV606", fault=16)
def accuracy_not_shown(mutant: Mutant) -> None:
    """Fewer right answers are told by nobody."""
    mutant.swap(SERVING, "token_agreement, exact_match]", "token_agreement]")
    mutant.swap(SERVING, "      match: {metric: exact_match, expect: worse}\n", "")
    mutant.swap(SERVING, "tokens agree, and exact match changes by {match.change}.", "tokens agree.")


@mutation("E", "EV311", fault=16)
def outputs_declared_the_same(mutant: Mutant) -> None:
    """An arm whose tokens differ declares that they do not."""
    with mutant.record(mutant.log("engine/quantised")) as record:
        record["arms"][1]["outputs"] = "same"


@mutation("E", "EV407", fault=17)
def one_configuration_under_two_names(mutant: Mutant) -> None:
    """Both arms ran one configuration in all cells of a claim."""
    with mutant.record(mutant.log("kernels/tile")) as record:
        for cell in cells(record):
            cell["ran"] = [{"name": "block", "value": "64"}]


@mutation("E", "EV602", "EV406", "EV407", fault=17)
def configurations_not_recorded(mutant: Mutant) -> None:
    """A record no longer says which configuration each cell ran, so that identical ones enter the mean."""
    with mutant.record(mutant.log("kernels/tile")) as record:
        for cell in cells(record):
            cell["ran"] = []


@mutation("E", "EV409")
def mean_that_one_cell_makes(mutant: Mutant) -> None:
    """A geometric mean is made by one cell, the others gain next to nothing."""
    with mutant.record(mutant.log("kernels/fuse")) as record:
        base = {cell["workload"]: cell["processes"][0]["samples"][0]["values"][0] for cell in cells(record, "plain")}
        for cell in cells(record, "fused"):
            wanted = base[cell["workload"]] / (6.0 if cell["workload"] == "n1048576" else 1.03)
            times = wanted / cell["processes"][0]["samples"][0]["values"][0]
            for process in cell["processes"]:
                for samples in process["samples"]:
                    samples["values"] = [float(f"{value * times:.9g}") for value in samples["values"]]


@mutation("E", "EV408", "EV701", "EV715")
def arithmetic_mean_of_ratios(mutant: Mutant) -> None:
    """A page gives the arithmetic mean of ratios."""
    mutant.append(
        "docs/kernels.md", f"On average over all sizes fusing is {mutant.drawn(1.1, 2)}x faster (mean of the ratios)."
    )


@mutation("E", "EV001")
def lost_row(mutant: Mutant) -> None:
    """A cell is taken out of a record."""
    with mutant.record(mutant.log("kernels/tile")) as record:
        del record["cells"][mutant.rng.randrange(len(record["cells"]))]


@mutation("E", "EV620", "EV601", "EV605")
def lost_workload_said_not_to_be_covered(mutant: Mutant) -> None:
    """A table says that a row was not covered which its log holds."""
    mutant.swap(KERNELS, "where: {M: 1024, K: 64}, why: the device", "where: {M: 256, K: 64}, why: the device")


@mutation("E", "EV613")
def gain_without_a_mechanism(mutant: Mutant) -> None:
    """A claim of better does not say why."""
    mutant.swap(
        SERVING,
        "    mechanism: {text: Freed slots take waiting requests instead of padding., evidence: timeline}\n",
        "",
    )


@mutation("E", "EV206")
def percentile_of_a_few(mutant: Mutant) -> None:
    """A ninetieth percentile is claimed of sixteen requests."""
    mutant.swap(
        SERVING, "latency: {metric: latency.mean, expect: better}", "latency: {metric: latency.p90, expect: better}"
    )


@mutation("E", "EV206")
def percentile_of_a_few_in_a_table(mutant: Mutant) -> None:
    """A table shows a 99th percentile of sixteen requests."""
    mutant.swap(SCALING, "columns: [tpot, {ratio: tpot}]", "columns: [tpot, {ratio: tpot}, latency.p99]")


@mutation("E", "EV713")
def negatives_paragraph_dropped(mutant: Mutant) -> None:
    """The paragraph about what costs something goes, and the losing cells stay."""
    mutant.edit("docs/scaling.md", lambda text: re.sub(r"## Where it loses.*", "", text, flags=re.S))
