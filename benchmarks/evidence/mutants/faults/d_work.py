"""Owns mutations of class D: arms that did unequal work, or that differ in more than one thing."""

from __future__ import annotations

from benchmarks.evidence.mutants.faults import KERNELS, SCALING, SERVING
from benchmarks.evidence.mutants.mutation import mutation
from benchmarks.evidence.mutants.workbench import Mutant, cells, processes, rescale, rescale_requests


@mutation("D", "EV404", fault=9)
def unequal_tokens(mutant: Mutant) -> None:
    """Whole times of arms are compared, of which one wrote half the tokens."""
    mutant.swap(SCALING, "metric: wall_time/output_tokens", "metric: wall_time")


@mutation("D", "EV404", "EV507", fault=9)
def baseline_that_writes_more(mutant: Mutant) -> None:
    """The baseline writes more tokens than the candidate does."""
    with mutant.record(mutant.log("engine/quantised")) as record:
        for load in record["workloads"]:
            load["ignore_eos"] = False
        for process in processes(record, "fp16"):
            process["requests"]["output_tokens"] = [
                count + mutant.rng.randint(20, 60) for count in process["requests"]["output_tokens"]
            ]


@mutation("D", "EV404")
def work_counted_for_one_arm(mutant: Mutant) -> None:
    """A kernel's candidate counts less work than its baseline."""
    with mutant.record(mutant.log("kernels/fuse")) as record:
        for process in processes(record, "fused"):
            process["work"] = [{"of": "steps", "count": mutant.rng.choice((5, 6, 7))}]


@mutation("D", "EV405", fault=10)
def second_switch(mutant: Mutant) -> None:
    """The candidate also has another switch, which the record declares nowhere."""
    with mutant.record(mutant.log("engine/replicas")) as record:
        for arm in record["arms"]:
            on = "on" if arm["name"] == "two" else "off"
            arm["switches"] = [{"name": "prefix_cache", "value": on}]


@mutation("D", "EV411", fault=10)
def scaling_beyond_the_devices(mutant: Mutant) -> None:
    """Two replicas are more than twice as fast."""
    with mutant.record(mutant.log("engine/replicas")) as record:
        rescale_requests(record, 1 / mutant.drawn(1.2, 1.6), "two")
    mutant.swap(
        SCALING,
        "each: {metric: throughput/accelerators, expect: worse}",
        "each: {metric: throughput/accelerators, expect: better}",
    )
    mutant.swap(SCALING, "tokens: {metric: tpot, expect: worse}", "tokens: {metric: tpot, expect: better}")


@mutation("D", "EV411", fault=10)
def scaling_beyond_the_devices_in_a_table(mutant: Mutant) -> None:
    """A table shows two replicas that are more than twice as fast, and no claim speaks of it."""
    with mutant.record(mutant.log("engine/replicas")) as record:
        rescale_requests(record, 1 / mutant.drawn(1.2, 1.6), "two")
    mutant.edit(SCALING, lambda text: text[: text.index("  replicas-scale:")] + text[text.index("  norm-joint:") :])
    mutant.swap("docs/scaling.md", '{{ ev.claim("replicas-scale") }}\n', "")


@mutation("D", "EV402", "EV405")
def other_machine(mutant: Mutant) -> None:
    """One arm ran on another machine than the other."""
    with mutant.record(mutant.log("engine/norm")) as record:
        record["hosts"].append({**record["hosts"][0], "name": "h1", "driver": "535.1"})
        record["conditions"].append({**record["conditions"][0], "host": "h1"})
        record["arms"][1]["ranks"] = [{"host": "h1", "device": 0, "stack": "main"}]


@mutation("D", "EV402", "EV405")
def other_stack(mutant: Mutant) -> None:
    """One arm ran under another release of the framework than the other."""
    with mutant.record(mutant.log("engine/norm")) as record:
        stack = record["stacks"][0]
        packages = [one.replace("torch==2.11.0", "torch==2.9.1") for one in stack["packages"]]
        record["stacks"].append({**stack, "name": "old", "packages": packages})
        record["arms"][1]["ranks"] = [{"host": "h0", "device": 0, "stack": "old"}]


@mutation("D", "EV402", "EV405")
def other_device_of_the_machine(mutant: Mutant) -> None:
    """One arm ran on another accelerator than the other."""
    with mutant.record(mutant.log("engine/norm")) as record:
        host = record["hosts"][0]
        host["accelerators"].append({**host["accelerators"][0], "model": "NVIDIA B200"})
        record["conditions"].append({**record["conditions"][0], "device": 1})
        record["arms"][1]["ranks"] = [{"host": "h0", "device": 1, "stack": "main"}]


@mutation("D", "EV405")
def other_source(mutant: Mutant) -> None:
    """Arms of one implementation are of two sources."""
    with mutant.record(mutant.log("engine/prefix")) as record:
        package = {
            "kind": "package",
            "name": "released",
            "package": "synthetic==0.9",
            "record_sha256": "f" * 64,
            "commit": None,
            "missing": [{"field": "commit", "reason": "its metadata does not say"}],
        }
        record["sources"].append(package)
        record["arms"][1]["source"] = "released"
        for cell in cells(record, "cached"):
            cell["gate"]["source"] = "released"


@mutation("D", "EV507", fault=11)
def fewer_tokens_than_asked(mutant: Mutant) -> None:
    """Both arms stop before the tokens that they were asked for."""
    with mutant.record(mutant.log("engine/batching")) as record:
        for process in processes(record):
            rows = process["requests"]
            rows["output_tokens"] = [max(2, round(count * 0.87) - 3) for count in rows["output_tokens"]]


@mutation("D", "EV507", fault=11)
def shorter_prompts_than_asked(mutant: Mutant) -> None:
    """Prompts are truncated in every arm."""
    with mutant.record(mutant.log("engine/batching")) as record:
        for process in processes(record):
            rows = process["requests"]
            rows["prompt_tokens"] = [count - mutant.rng.randint(30, 90) for count in rows["prompt_tokens"]]


@mutation("D", "EV601", "EV602", fault=12)
def baseline_of_another_name(mutant: Mutant) -> None:
    """A claim names an older path as its baseline, which the log does not hold."""
    mutant.swap(KERNELS, "baseline: plain", "baseline: plain-v1")


@mutation("D", "EV413", fault=12)
def faster_arm_left_out(mutant: Mutant) -> None:
    """The log holds an arm that is faster than the claim's baseline, and the claim does not read it."""
    with mutant.record(mutant.log("kernels/fuse")) as record:
        rescale(record, "time", lambda _: 1 / 1.9, "library")
    mutant.edit(KERNELS, lambda text: text.replace("      library: {baseline: library, expect: better}\n", ""))
    mutant.swap(KERNELS, "\n      against plain library calls it is {library.ratio.geomean}.", "")


@mutation("D", "EV401")
def ratio_without_a_baseline(mutant: Mutant) -> None:
    """A ratio column does not say what it compares with."""
    mutant.swap(
        SCALING, "    columns: [tpot, {ratio: tpot}]\n    baseline: separate\n", "    columns: [tpot, {ratio: tpot}]\n"
    )


@mutation("D", "EV415")
def no_noise_floor(mutant: Mutant) -> None:
    """The arm that measures the noise is taken out of the record."""
    with mutant.record(mutant.log("engine/norm")) as record:
        record["arms"] = [arm for arm in record["arms"] if arm["role"] != "control"]
        record["cells"] = [cell for cell in record["cells"] if not cell["arm"].endswith("-again")]


@mutation("D", "EV415")
def noise_floor_called_an_arm(mutant: Mutant) -> None:
    """The baseline's twin is declared as an arm like any other, so that it sets no bar."""
    with mutant.record(mutant.log("engine/prefix")) as record:
        record["arms"][2] |= {"role": "alternative", "control_of": None}
    mutant.swap(
        SERVING,
        "columns: [ttft, {ratio: ttft}, wall_time]",
        "columns: [ttft, {ratio: ttft}, wall_time]\n    where: {arm: [uncached, cached, uncached-again]}",
    )


@mutation("D", "EV001")
def control_that_is_none(mutant: Mutant) -> None:
    """The control arm ran something else than its twin."""
    with mutant.record(mutant.log("engine/norm")) as record:
        record["arms"][2]["implementation"] = "synthetic.ops:joint"


@mutation("D", "EV417", "EV602", "EV406")
def control_that_moves(mutant: Mutant) -> None:
    """Identical arms came out different."""
    factor = mutant.rng.choice((0.8, 1.25))
    with mutant.record(mutant.log("kernels/fuse")) as record:
        rescale(record, "time", lambda _: factor, "plain-again")


@mutation("D", "EV309", "EV602")
def control_reading_that_moves(mutant: Mutant) -> None:
    """The control model, which lacks the change, gains as much as the others do."""
    with mutant.record(mutant.log("engine/norm")) as record:
        rescale_requests(record, 1 / mutant.drawn(1.1, 1.3), "joint", "control-1b")
    if mutant.rng.random() < 0.5:
        mutant.swap(SCALING, "where: {model: control-1b}, expect: same", "where: {model: control-1b}, expect: better")


@mutation("D", "EV213")
def one_arm_after_the_other(mutant: Mutant) -> None:
    """All processes of one arm ran before those of the next."""
    with mutant.record(mutant.log("engine/prefix")) as record:
        for slot, cell in enumerate(record["cells"]):
            for index, process in enumerate(cell["processes"]):
                start = 2.0 * (slot * len(cell["processes"]) + index)
                process |= {"started_s": start, "ended_s": start + 1.5}


@mutation("D", "EV404", "EV403", "EV405")
def tokens_counted_by_another_tokenizer(mutant: Mutant) -> None:
    """One arm's prompts are shorter than the other's."""
    with mutant.record(mutant.log("engine/norm")) as record:
        for process in processes(record, "joint"):
            rows = process["requests"]
            rows["prompt_tokens"] = [count - mutant.rng.randint(3, 9) for count in rows["prompt_tokens"]]
