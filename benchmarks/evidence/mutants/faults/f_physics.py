"""Owns mutations of class F beyond one record: foreign files, other logs, and what a page makes of them."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.evidence.mutants.faults import ARCHIVE, KERNELS
from benchmarks.evidence.mutants.mutation import mutation
from benchmarks.evidence.mutants.workbench import Mutant, processes, rescale
from benchmarks.evidence.records import Document

Change = Callable[[Mutant, Document], object]


def _foreign(mutant: Mutant, change: Callable[[Document], object]) -> None:
    mutant.swap(ARCHIVE, "foreign/sweep_20260204: {do_not_cite: the file names no environment and no gate}", "{}")
    mutant.edit(ARCHIVE, lambda text: text.replace("logs:\n  {}\n", ""))
    with mutant.record("foreign/sweep_20260204") as record:
        change(record["cells"][0])


@mutation("F", "EV503", "EV214", fault=18)
def negative_latency_of_a_file(mutant: Mutant) -> None:
    """A foreign file with a negative time per token is cited."""
    _foreign(mutant, lambda cell: cell["reported"][1].update(value=-mutant.drawn(0.01, 0.2, 4)))


@mutation("F", "EV504", fault=21)
def parts_that_do_not_make_the_whole(mutant: Mutant) -> None:
    """In a foreign file the parts of a latency make a small part of it."""
    _foreign(mutant, lambda cell: cell["reported"][2].update(value=mutant.drawn(30, 90)))


@mutation("F", "EV504", "EV507", fault=11)
def time_per_token_of_a_mean_length(mutant: Mutant) -> None:
    """A foreign file's time per token was computed from another number of tokens than it counts."""
    _foreign(mutant, lambda cell: cell["work"][1].update(count=8 * mutant.rng.randint(150, 400)))


@mutation("F", "EV214")
def nothing_written_as_a_number(mutant: Mutant) -> None:
    """A foreign file writes a number where nothing was measured."""
    _foreign(mutant, lambda cell: cell["reported"][0].update(value=mutant.rng.choice((0.0, -1.0))))


@mutation("F", "EV301")
def foreign_numbers_without_a_gate(mutant: Mutant) -> None:
    """A foreign file that records no verification is cited."""
    _foreign(mutant, lambda cell: cell["reported"][0].update(value=mutant.drawn(0.01, 0.2, 4)))


@mutation("F", "EV506", "EV616")
def another_speed_than_before(mutant: Mutant) -> None:
    """One series has two logs of one tree that lie far apart."""
    with mutant.record(mutant.log("kernels/fuse", is_oldest=True)) as record:
        rescale(record, "time", lambda _: 1.4)


@mutation("F", "EV502")
def share_of_an_unknown_peak(mutant: Mutant) -> None:
    """A share of peak is shown of a device whose peak nobody knows."""
    with mutant.record(mutant.log("kernels/tile")) as record:
        record["hosts"][0]["accelerators"][0]["model"] = "Synthetic accelerator"
    mutant.swap(
        KERNELS,
        "columns: [time, {ratio: time}]\n    baseline: default",
        "columns: [time, {ratio: time}, {peak: bandwidth}]\n    baseline: default",
    )


@mutation("F", "EV504", fault=21)
def means_in_the_place_of_requests(mutant: Mutant) -> None:
    """Processes keep means instead of their requests, and the parts make a small part of the whole."""
    with mutant.record(mutant.log("engine/prefix")) as record:
        for one in record["metrics"]:
            if one["name"] in ("ttft", "tpot", "latency"):
                one["of"] = "process"
        for load in record["workloads"]:
            load["prefix_cache"] = "off"
            load["work"].append({"of": "requests", "count": load["requests"]})
        for process in processes(record):
            process["requests"] = None
            kept = {"ttft": 0.05, "tpot": mutant.drawn(0.001, 0.002, 5), "latency": mutant.drawn(4, 9)}
            process["samples"] += [{"metric": name, "rank": 0, "values": [value]} for name, value in kept.items()]
