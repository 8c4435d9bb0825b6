"""Owns mutations of class B: a source that is missing, ambiguous, or not the one that counts."""

from __future__ import annotations

import json
import re

from benchmarks.evidence.mutants.faults import ARCHIVE, KERNELS, SCALING, SERVING
from benchmarks.evidence.mutants.mutation import Family, Mutation, mutation
from benchmarks.evidence.mutants.workbench import LEDGER, Mutant, rescale
from benchmarks.evidence.projects import LOGS
from evidence import ledger
from evidence.store import RECORD_NAME

_MISSPELT = {
    "series": (SERVING, "series: engine/prefix", "series: engine/prefx"),
    "metric": (SERVING, "metric: ttft", "metric: tfft"),
    "arm": (SERVING, "candidate: cached", "candidate: cache"),
    "axis": (KERNELS, "where: {M: [16, 64]}\n    expect", "where: {Mx: [16, 64]}\n    expect"),
    "value": (SERVING, "where: {scenario: skewed}", "where: {scenario: skew}"),
    "count": (SCALING, "metric: throughput/accelerators, expect", "metric: throughput/accelerator, expect"),
    "table-column": (SCALING, "columns: [tpot, {ratio: tpot}]", "columns: [tpott, {ratio: tpot}]"),
    "table-row": (SCALING, "rows: [model]", "rows: [modell]"),
    "table-baseline": (SCALING, "    baseline: separate\n    candidate", "    baseline: seperate\n    candidate"),
    "evidence": (SERVING, "evidence: timeline}", "evidence: profile}"),
}


def _misspelt(name: str, where: tuple[str, str, str]) -> Mutation:
    def act(mutant: Mutant) -> None:
        mutant.swap(*where)

    act.__name__ = f"misspelt_{name}"
    act.__doc__ = f"The {name} that a claim or table names is in no log."
    return mutation("B", "EV601", "EV613")(act)


MISSPELT = Family(tuple(_misspelt(*one) for one in _MISSPELT.items()))


@mutation("B", "EV711", fault=5)
def pattern_that_matches_two(mutant: Mutant) -> None:
    """A page cites a pattern that two runs match."""
    mutant.append("docs/kernels.md", f"Raw logs: `benchmark_logs/kernels/fuse_{mutant.first}_*/record.json`.")


@mutation("B", "EV711")
def link_to_no_log(mutant: Mutant) -> None:
    """A page links to a log that is not there."""
    day = mutant.rng.randint(10, 28)
    mutant.append(
        "docs/kernels.md", f"See [the log](benchmark_logs/kernels/fuse_{mutant.first}_202512{day}/record.json)."
    )


@mutation("B", "EV616", "EV506", "EV609", fault=5)
def second_run_that_disagrees(mutant: Mutant) -> None:
    """A second run of one tree, seconds later, shows another result, and nobody says which one counts."""
    old = mutant.log("engine/norm")
    new = f"{old}-2"
    record = json.loads(mutant.text(f"{LOGS}/{old}/{RECORD_NAME}"))
    record |= {"log": new, "started_at": record["started_at"].replace(":00Z", ":36Z")}
    for cell in record["cells"]:
        for process in cell["processes"]:
            rows = process["requests"]
            times = (1.3 if cell["arm"] == "joint" else 1.0) * mutant.rng.uniform(0.999, 1.001)
            for column in ("ttft_s", "latency_s"):
                rows[column] = [round(value * times * mutant.rng.uniform(0.9999, 1.0001), 9) for value in rows[column]]
            rows["latency_s"] = [max(pair) for pair in zip(rows["latency_s"], rows["ttft_s"], strict=True)]
            for samples in process["samples"]:
                if samples["metric"] == "wall_time":
                    samples["values"] = [round(max(rows["latency_s"]) + 0.001, 9)]
    mutant.write(f"{LOGS}/{new}/{RECORD_NAME}", json.dumps(record, indent=1))
    mutant.mend(new)
    mutant.swap(SCALING, f"series: engine/norm_{mutant.first}\n    metric", f"series: {old}\n    metric")
    mutant.swap(
        SCALING,
        "    mechanism: {unknown: nothing was profiled}\n  drafts",
        "    mechanism: {unknown: nothing was profiled}\n    status: {historical: an earlier run}\n  drafts",
    )


@mutation("B", "EV605", fault=6)
def table_of_the_rows_that_win(mutant: Mutant) -> None:
    """A table keeps one row of its log."""
    mutant.swap(
        SCALING, "rows: [model]", f"rows: [model]\n    where: {{model: {mutant.rng.choice(('toy-3b', 'toy-9b'))}}}"
    )


@mutation("B", "EV701", fault=6)
def rows_typed_beside_a_logged_one(mutant: Mutant) -> None:
    """A table typed by hand has five rows, of which one has a log."""
    rows = "\n".join(
        f"| toy-{size}b | {mutant.drawn(4, 30, 1)} | {mutant.drawn(4, 30, 1)} |" for size in (1, 3, 9, 14, 70)
    )
    mutant.append("docs/scaling.md", f"| model | separate tpot (ms) | joint tpot (ms) |\n|---|---:|---:|\n{rows}")


@mutation("B", "EV601", "EV005", "EV007", "EV006", "EV610")
def deleted_log(mutant: Mutant) -> None:
    """The log behind a claim is deleted, and with it its lines of the ledger."""
    log = mutant.log("engine/prefix")
    mutant.remove(f"{LOGS}/{log}")
    mutant.mend(log)


@mutation("B", "EV620", "EV609")
def pinned_to_the_better_run(mutant: Mutant) -> None:
    """A claim names an older log of its series and does not say why."""
    old = mutant.log("kernels/fuse", is_oldest=True)
    mutant.swap(KERNELS, f"series: kernels/fuse_{mutant.first}", f"series: {old}")


@mutation("B", "EV005")
def file_beside_the_ledger(mutant: Mutant) -> None:
    """A file lies in a log that the ledger does not list."""
    mutant.write(f"{LOGS}/{mutant.log('engine/batching')}/notes.txt", "it was even faster\n")


@mutation("B", "EV001")
def truncated_record(mutant: Mutant) -> None:
    """A record is cut off."""
    mutant.edit(f"{LOGS}/{mutant.log('engine/prefix')}/{RECORD_NAME}", lambda text: text[: len(text) * 2 // 3])


@mutation("B", "EV001")
def key_that_stands_twice(mutant: Mutant) -> None:
    """A record has one key twice, so that readers may differ in which of the two they take."""
    path = f"{LOGS}/{mutant.log('engine/prefix')}/{RECORD_NAME}"
    mutant.edit(path, lambda text: re.sub(r'("latency_s": )', r'"latency_s": [0.001], \1', text, count=1))


@mutation("B", "EV001")
def not_a_number_in_a_record(mutant: Mutant) -> None:
    """A sample is NaN."""
    path = f"{LOGS}/{mutant.log('kernels/fuse')}/{RECORD_NAME}"
    value = mutant.rng.choice(("NaN", "Infinity", "1e999"))

    def change(text: str) -> str:
        start = text.index('"values"')
        return text[:start] + re.sub(r"\[\s*[0-9.e-]+", f"[{value}", text[start:], count=1)

    mutant.edit(path, change)


@mutation("B", "EV002")
def record_of_a_later_version(mutant: Mutant) -> None:
    """A record says that it is of a version nobody has written yet."""
    with mutant.record(mutant.log("kernels/fuse")) as record:
        record["schema_version"] = mutant.rng.randint(7, 99)


@mutation("B", "EV609", "EV616", "EV610")
def newer_run_that_nobody_adopted(mutant: Mutant) -> None:
    """A newer run of a series lies in the store, and the pages stand on the older one."""
    old = mutant.log("kernels/fuse", is_second=True)
    new = f"{old[:-8]}202603{mutant.rng.randint(10, 28)}"
    record = json.loads(mutant.text(f"{LOGS}/{old}/{RECORD_NAME}"))
    day = f"{new[-8:-4]}-{new[-4:-2]}-{new[-2:]}"
    record |= {"log": new, "started_at": f"{day}T10:00:00Z", "ended_at": f"{day}T11:00:00Z"}
    rescale(record, "time", lambda _: mutant.rng.uniform(0.97, 1.03))
    for cell in record["cells"]:
        for process in cell["processes"]:
            for samples in process["samples"]:
                samples["values"] = [float(f"{v * mutant.rng.uniform(0.9995, 1.0005):.9g}") for v in samples["values"]]
    mutant.write(f"{LOGS}/{new}/{RECORD_NAME}", json.dumps(record, indent=1))
    mutant.mend(new)


@mutation("B", "EV003")
def dated_for_another_day(mutant: Mutant) -> None:
    """A record says that its run started on another day than its name does."""
    with mutant.record(mutant.log("engine/norm")) as record:
        record["started_at"] = f"2026-01-{mutant.rng.randint(10, 28)}T10:00:00Z"


@mutation("B", "EV008")
def log_too_large_to_keep(mutant: Mutant) -> None:
    """A trace of several megabytes is kept beside a record."""
    log = mutant.log("engine/batching")
    with mutant.record(log) as record:
        content = "x" * (6 * 2**20)
        mutant.write(f"{LOGS}/{log}/trace.txt", content)
        import hashlib

        digest = hashlib.sha256(content.encode()).hexdigest()
        extra = {"path": "trace.txt", "role": "log", "sha256": digest, "bytes": len(content)}
        record["artifacts"].append({**extra, "arms": [], "workloads": []})


@mutation("B", "EV009")
def logged_and_shown_nowhere(mutant: Mutant) -> None:
    """A log's claim and tables are taken from claims and page alike: its numbers are not told any more."""
    mutant.edit(SCALING, lambda text: re.sub(r"  drafts-per-token:.*?(?=^tables)", "", text, flags=re.S | re.M))
    mutant.edit(SCALING, lambda text: re.sub(r"  drafts:.*\Z", "", text, flags=re.S))
    mutant.edit("docs/scaling.md", lambda text: re.sub(r'\{\{ ev\.\w+\("drafts[\w-]*"\) \}\}\n', "", text))
    mutant.touched.add(f"{LOGS}/{mutant.log('engine/speculation')}/{RECORD_NAME}")


@mutation("B", "EV009", "EV611")
def losing_log_set_aside(mutant: Mutant) -> None:
    """A sound log that shows a loss is marked as not to be cited, and shown nowhere."""
    log = mutant.log("kernels/fuse", is_second=True)
    _forget_second(mutant)
    mutant.swap(ARCHIVE, "logs:\n", f"logs:\n  {log}: {{do_not_cite: the device was busy that day}}\n")
    mutant.touched.add(f"{LOGS}/{log}/{RECORD_NAME}")


@mutation("B", "EV009", "EV611", "EV006")
def losing_log_superseded(mutant: Mutant) -> None:
    """A log of another series says that it replaces the one that shows a loss, which is shown nowhere."""
    log = mutant.log("kernels/fuse", is_second=True)
    _forget_second(mutant)
    lines = ledger.parse(mutant.text(LEDGER))
    with mutant.record(mutant.log("kernels/fuse")) as record:
        digest = lines[f"{log}/{RECORD_NAME}"]
        record["supersedes"] = [{"log": log, "sha256": digest, "reason": "measured again on another device"}]
    mutant.touched.add(f"{LOGS}/{log}/{RECORD_NAME}")


def _forget_second(mutant: Mutant) -> None:
    """Take the log of the second device out of claims and pages."""
    mutant.edit(KERNELS, lambda text: re.sub(r"  fuse-loses:.*?(?=^  tile-gains)", "", text, flags=re.S | re.M))
    mutant.edit(KERNELS, lambda text: re.sub(r"  fuse-second:.*?(?=^  tile-small)", "", text, flags=re.S | re.M))
    mutant.edit(KERNELS, lambda text: re.sub(r"      other: .*\n", "", text))
    mutant.edit("docs/kernels.md", lambda text: re.sub(r"## Where it loses.*?(?=## Tiles)", "", text, flags=re.S))
