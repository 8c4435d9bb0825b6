"""Owns mutations of class C: a stance (device, versions, commit, way of running) that is not what the log says."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.evidence.mutants.faults import KERNELS, SERVING
from benchmarks.evidence.mutants.mutation import Family, Mutation, mutation
from benchmarks.evidence.mutants.workbench import Mutant
from benchmarks.evidence.records import Document

OTHER_DIGEST = "f" * 64


def _emptied(name: str, code: str, change: Callable[[Document], object]) -> Mutation:
    def act(mutant: Mutant) -> None:
        with mutant.record(mutant.log(mutant.rng.choice(("kernels/tile", "engine/prefix", "engine/norm")))) as record:
            change(record)

    act.__name__ = name.replace("-", "_")
    act.__doc__ = f"A record is published with its {name.replace('-', ' ')}."
    return mutation("C", code)(act)


def _reading(record: Document, field: str, value: object) -> None:
    for columns in record["conditions"]:
        columns[field] = [*columns[field][:-1], value]


RECORDS = Family(
    (
        _emptied("environment-removed", "EV101", lambda record: record.update(hosts=[], stacks=[])),
        _emptied("ranks-removed", "EV001", lambda record: record["arms"][0].update(ranks=[])),
        _emptied("driver-emptied", "EV102", lambda record: record["hosts"][0].update(driver="")),
        _emptied("driver-unknown", "EV102", lambda record: record["hosts"][0].update(driver="unknown")),
        _emptied("runtime-unknown", "EV102", lambda record: record["stacks"][0].update(runtime="n/a")),
        _emptied("python-unknown", "EV102", lambda record: record["stacks"][0].update(python="3")),
        _emptied("framework-unpinned", "EV102", lambda record: record["stacks"][0].update(packages=["six==1.0"])),
        _emptied("command-removed", "EV103", lambda record: record.update(provenance=None)),
        _emptied("source-removed", "EV104", lambda record: record.update(sources=[])),
        _emptied("source-dirty", "EV105", lambda record: record["sources"][0].update(tree_sha256=OTHER_DIGEST)),
        _emptied("commit-of-nowhere", "EV106", lambda record: record["sources"][0].update(commit="f" * 40)),
        _emptied("tree-of-another-commit", "EV107", lambda record: _both_trees(record)),
        _emptied("measured-file-changed", "EV108", lambda record: _other_path(record)),
        _emptied("foreign-processes", "EV109", lambda record: _reading(record, "foreign_processes", 2)),
        _emptied("thermal-slowdown", "EV110", lambda record: _reading(record, "event_reasons", 0x20)),
        _emptied("readings-removed", "EV110", lambda record: record.update(conditions=[])),
        _emptied("memory-errors", "EV112", lambda record: _reading(record, "ecc_uncorrected", 3)),
        _emptied("home-directory", "EV113", lambda record: record["limitations"].append("see /home/somebody/x")),
        _emptied("clock-that-drifts", "EV114", lambda record: _reading(record, "sm_clock_hz", 9e8)),
    )
)


def _both_trees(record: Document) -> None:
    record["sources"][0] |= {"tree_sha256": OTHER_DIGEST, "commit_tree_sha256": OTHER_DIGEST}


def _other_path(record: Document) -> None:
    record["sources"][0]["paths"][0]["sha256"] = OTHER_DIGEST


@mutation("C", "EV115")
def another_interpreter(mutant: Mutant) -> None:
    """An arm ran under an interpreter that no stack describes."""
    with mutant.record(mutant.log("engine/norm")) as record:
        record["arms"][1]["command"] = ["envs/other/bin/python3.12", *record["arms"][1]["command"][1:]]


@mutation("C", "EV714", "EV701", fault=7)
def typed_framework_version(mutant: Mutant) -> None:
    """A page names another version of the framework than its logs do."""
    mutant.append("docs/serving.md", f"All of it ran on torch 2.{mutant.rng.randint(1, 9)}.0.")


@mutation("C", "EV714", "EV701")
def typed_driver_version(mutant: Mutant) -> None:
    """A page names a driver."""
    mutant.append("docs/serving.md", f"The driver was {mutant.rng.randint(470, 570)}.{mutant.rng.randint(10, 99)}.01.")


@mutation("C", "EV714", "EV701")
def typed_device(mutant: Mutant) -> None:
    """A page of claims names a device that none of its logs ran on."""
    mutant.append("docs/serving.md", "These numbers are of an NVIDIA B200.")


@mutation("C", "EV714", "EV701", fault=7)
def typed_commit(mutant: Mutant) -> None:
    """A page names a commit without saying that its tree was dirty."""
    commit = f"{mutant.rng.getrandbits(48):012x}"
    mutant.append("docs/serving.md", f"Measured at commit {commit}.")


@mutation("C", "EV714", "EV701")
def typed_date(mutant: Mutant) -> None:
    """A page of claims says on which day it was measured."""
    mutant.append("docs/serving.md", f"Measured on 2026-0{mutant.rng.randint(3, 9)}-{mutant.rng.randint(10, 28)}.")


@mutation("C", "EV622")
def device_in_a_statement(mutant: Mutant) -> None:
    """A statement names its device by hand."""
    model = {"l4": "L4", "a10": "A10", "h200": "H200", "h100": "H100"}[mutant.first]
    mutant.swap(SERVING, "sooner on {device}", f"sooner on {model}")


@mutation("C", "EV622", "EV604")
def other_device_in_a_statement(mutant: Mutant) -> None:
    """A statement names a device that its log did not run on."""
    mutant.swap(SERVING, "sooner on {device}", "sooner on {device} and on B200")


@mutation("C", "EV622")
def version_in_a_limitation(mutant: Mutant) -> None:
    """A limitation names a version by hand."""
    mutant.swap(SERVING, "arrival times are synthetic", f"needs torch 2.{mutant.rng.randint(1, 20)} or later")


@mutation("C", "EV403", fault=8)
def arrivals_stamped_by_a_constant(mutant: Mutant) -> None:
    """A record says that all requests were there at the start, and its rows say that they came one after another."""
    with mutant.record(mutant.log("engine/batching")) as record:
        for cell in record["cells"]:
            for process in cell["processes"]:
                rows = process["requests"]
                gap = mutant.rng.uniform(0.05, 0.09)
                enqueued = [round(index * gap, 6) for index in range(len(rows["prompt_tokens"]))]
                ends = [round(max(rows["latency_s"]) + time, 9) for time in enqueued]
                rows["enqueued_s"] = enqueued
                rows["latency_s"] = [round(end - start, 9) for end, start in zip(ends, enqueued, strict=True)]
                for samples in process["samples"]:
                    if samples["metric"] == "wall_time":
                        samples["values"] = [round(max(ends) + 0.001, 9)]


@mutation("C", "EV403")
def declared_number_of_requests(mutant: Mutant) -> None:
    """A workload declares more requests than were sent."""
    with mutant.record(mutant.log("engine/norm")) as record:
        for load in record["workloads"]:
            load["requests"] *= mutant.rng.randint(2, 8)


@mutation("C", "EV607", fault=None)
def devices_side_by_side(mutant: Mutant) -> None:
    """A table of absolute times mixes two devices."""
    mutant.swap(KERNELS, "columns: [{ratio: time}]", "columns: [time, {ratio: time}]")


@mutation("C", "EV608")
def stacks_side_by_side(mutant: Mutant) -> None:
    """A table of absolute times mixes two software stacks of one device."""
    old = mutant.log("kernels/fuse", is_oldest=True)
    with mutant.record(old) as record:
        packages = record["stacks"][0]["packages"]
        record["stacks"][0]["packages"] = [one.replace("torch==2.11.0", "torch==2.9.1") for one in packages]
    mutant.swap(
        "docs/claims/archive.yml",
        "tables:\n",
        f"tables:\n  fuse-both:\n    title: Then and now\n    series: [{old}, {mutant.log('kernels/fuse')}]\n"
        "    rows: [N]\n    across: arm\n    columns: [time]\n    status: {historical: then and now}\n",
    )
    mutant.append("docs/archive.md", '{{ ev.table("fuse-both") }}')


@mutation("C", "EV102", "EV001")
def device_renamed(mutant: Mutant) -> None:
    """The model of a record's device is blanked."""
    with mutant.record(mutant.log("kernels/tile")) as record:
        record["hosts"][0]["accelerators"][0]["model"] = mutant.rng.choice(("?", "unknown", "N/A"))


@mutation("C", "EV607", "EV609", "EV003", "EV617", "EV610")
def series_measured_again_on_a_laptop(mutant: Mutant) -> None:
    """The log of a series is from another device than its series was."""
    with mutant.record(mutant.log("kernels/fuse")) as record:
        record["hosts"][0]["accelerators"][0]["model"] = "NVIDIA GeForce RTX 4070 Laptop GPU"
