"""Owns mutations of every class by an author who knows the rules and looks for a way round them."""

from __future__ import annotations

import json
import re

from benchmarks.evidence.mutants.faults import ARCHIVE, KERNELS, SCALING, SERVING
from benchmarks.evidence.mutants.mutation import mutation
from benchmarks.evidence.mutants.workbench import Mutant, cells, processes, rescale, rescale_requests
from benchmarks.evidence.projects import LOGS
from benchmarks.evidence.records import Document
from evidence.store import RECORD_NAME


@mutation("A", "EV602")
def against_an_arm_that_is_not_the_baseline(mutant: Mutant) -> None:
    """A ratio against one arm is worded as one against another, which the claim reads too."""
    mutant.swap(KERNELS, "{ratio.range} faster over {N} elements", "{ratio.range} faster than library")


@mutation("A", "EV408")
def mean_that_is_the_best_cell(mutant: Mutant) -> None:
    """The best cell is worded as the mean."""
    mutant.swap(KERNELS, "({tally}; geometric mean {ratio.geomean})", "({tally}; on average {ratio.max})")


@mutation("A", "EV414", "EV602")
def absolutes_of_two_devices(mutant: Mutant) -> None:
    """A statement sets the times of two devices side by side."""
    mutant.swap(
        KERNELS,
        "the largest\n      input, of {large.N} elements, takes {large.value:us}.",
        "the largest\n      input takes {large.value:us}, and {there.value:us} on the other device.",
    )
    there = f"there: {{series: kernels/fuse_{mutant.first}, arm: fused, where: {{N: 16777216}}}}"
    mutant.swap(KERNELS, "      large: {arm: fused", f"      {there}\n      large: {{arm: fused")


@mutation("A", "EV622")
def number_word_in_a_statement(mutant: Mutant) -> None:
    """A share is typed into a statement as a word."""
    word = mutant.rng.choice(("half the latency", "three times the throughput", "tenfold throughput"))
    mutant.swap(SERVING, "the first token comes {ratio} sooner", f"the first token comes {{ratio}} sooner, with {word}")


@mutation("A", "EV620", "EV622", "EV601")
def number_as_an_axis(mutant: Mutant) -> None:
    """A row that nobody measured is added as not covered, with its result for a name."""
    mutant.swap(KERNELS, "{M: 1024, K: 64}, why:", f"{{M: {mutant.drawn(2, 9)}x faster, K: 64}}, why:")


@mutation("A", "EV622")
def number_in_a_heading_of_a_column(mutant: Mutant) -> None:
    """A column is headed with a result."""
    mutant.swap(KERNELS, "{peak: bandwidth}]", f"{{peak: bandwidth, title: peak {mutant.drawn(2, 9)} TB/s}}]")


@mutation("A", "EV701", "EV705")
def number_beside_a_call(mutant: Mutant) -> None:
    """A number is typed on the line of a call."""
    mutant.swap(
        "docs/index.md",
        '{{ ev.says("fuse-gains") }}',
        f'{{{{ ev.says("fuse-gains") }}}} ({mutant.drawn(2, 9)}x at best)',
    )


@mutation("A", "EV701", "EV704", "EV706", "EV902", "EV903")
def number_under_a_waiver_of_something_else(mutant: Mutant) -> None:
    """A typed number stands under a waiver of another rule."""
    waiver = '<!-- evidence: allow EV715 because="vendor" owner="@docs" until=2099-01-01 -->'
    mutant.append("docs/kernels.md", f"{waiver}\nIt is {mutant.drawn(2, 9)}x faster.")


@mutation("A", "EV701", "EV703")
def measured_number_called_external(mutant: Mutant) -> None:
    """A number of this project's own is called external, with nothing for a source."""
    mutant.append("docs/kernels.md", f'It is {{{{ ev.external("{mutant.drawn(2, 9)}x faster", "") }}}}.')


@mutation("B", "EV610", "EV709", "EV601", "EV620", "EV609", "EV616")
def claim_moved_to_a_luckier_series(mutant: Mutant) -> None:
    """A claim is moved to a copy of its log in a series of its own, in which the candidate is faster."""
    old = mutant.log("engine/prefix")
    new = old.replace("prefix", "prefix2")
    record = json.loads(mutant.text(f"{LOGS}/{old}/{RECORD_NAME}")) | {"log": new}
    rescale_requests(record, mutant.drawn(0.7, 0.9), "cached")
    mutant.write(f"{LOGS}/{new}/{RECORD_NAME}", json.dumps(record, indent=1))
    mutant.mend(new)
    mutant.edit(SERVING, lambda text: text.replace(f"engine/prefix_{mutant.first}", f"engine/prefix2_{mutant.first}"))


@mutation("D", "EV006")
def fewer_tokens_declared_and_written(mutant: Mutant) -> None:
    """Workload and rows of a published record are shortened together."""
    with mutant.record(mutant.log("engine/norm")) as record:
        for load in record["workloads"]:
            load["prompt_tokens"] = {"minimum": 128, "maximum": 128, "total": 128 * load["requests"]}
        for process in processes(record):
            process["requests"]["prompt_tokens"] = [128] * len(process["requests"]["prompt_tokens"])


@mutation("D", "EV403", "EV404", "EV602")
def one_arm_served_fewer_requests(mutant: Mutant) -> None:
    """One arm was sent half the requests."""
    with mutant.record(mutant.log("engine/norm")) as record:
        for process in processes(record, "joint"):
            rows = process["requests"]
            for column, values in rows.items():
                if values is not None:
                    rows[column] = values[: len(values) // 2]
            for samples in process["samples"]:
                if samples["metric"] == "wall_time":
                    samples["values"] = [round(max(rows["latency_s"]) + 0.001, 9)]


@mutation("D", "EV602", "EV413", "EV601", "EV606")
def baseline_exchanged_for_the_slowest(mutant: Mutant) -> None:
    """The claim compares with the slowest arm of its log and says nothing of the usual baseline."""
    mutant.swap(KERNELS, "    baseline: plain\n", "    baseline: library\n")
    mutant.swap(KERNELS, "      library: {baseline: library, expect: better}\n", "")
    mutant.swap(KERNELS, ";\n      against plain library calls it is {library.ratio.geomean}.", ".")


@mutation("E", "EV605")
def rows_left_out_by_an_axis(mutant: Mutant) -> None:
    """A table keeps to the scenario that gains most."""
    mutant.swap(SERVING, "rows: [scenario, arm]\n", "rows: [scenario, arm]\n    where: {scenario: skewed}\n")


@mutation("E", "EV006", "EV610")
def losing_workload_taken_out_of_a_record(mutant: Mutant) -> None:
    """A workload and its cells are taken out of a published record, which is whole without them."""
    with mutant.record(mutant.log("kernels/fuse")) as record:
        gone = mutant.rng.choice(record["workloads"])["name"]
        record["workloads"] = [load for load in record["workloads"] if load["name"] != gone]
        record["cells"] = [cell for cell in record["cells"] if cell["workload"] != gone]


@mutation("E", "EV006", "EV610")
def losing_arm_taken_out_of_a_record(mutant: Mutant) -> None:
    """An arm and its cells are taken out of a published record."""
    with mutant.record(mutant.log("kernels/fuse")) as record:
        record["arms"] = [arm for arm in record["arms"] if arm["name"] != "library"]
        record["cells"] = [cell for cell in record["cells"] if cell["arm"] != "library"]
    mutant.edit(KERNELS, lambda text: text.replace("      library: {baseline: library, expect: better}\n", ""))


@mutation("E", "EV605", "EV620", "EV601", "EV622")
def rejected_cell_omitted_as_covered_elsewhere(mutant: Mutant) -> None:
    """A cell whose gate failed is left out of every table."""
    mutant.edit(KERNELS, lambda text: re.sub(r"  tile-large:.*\Z", "", text, flags=re.S))
    mutant.swap("docs/kernels.md", '{{ ev.table("tile-large") }}\n', "")


@mutation("E", "EV606", "EV605")
def guard_shown_for_one_cell(mutant: Mutant) -> None:
    """The table with the metric that got worse is taken off the page, and a claim reads it for nothing."""
    mutant.swap("docs/serving.md", '{{ ev.table("quantised") }}\n', "")
    mutant.edit(SERVING, lambda text: re.sub(r"  quantised:.*?(?=^  prefix:)", "", text, flags=re.S | re.M))
    mutant.swap(SERVING, "      match: {metric: exact_match, expect: worse}\n", "")
    mutant.swap(SERVING, "tokens agree, and exact match changes by {match.change}.", "tokens agree.")


@mutation("F", "EV501")
def too_fast_for_its_bytes(mutant: Mutant) -> None:
    """All times of a kernel are a hundredth of what they were."""
    with mutant.record(mutant.log("kernels/fuse")) as record:
        record["methods"][0]["timer_overhead_s"] = 0.0
        for load in record["workloads"]:
            for amount in load["work"]:
                amount["count"] *= 40
        rescale(record, "time", lambda _: 0.05)


@mutation("F", "EV505", "EV006")
def floor_under_two_names(mutant: Mutant) -> None:
    """The smallest and the largest payload take one time, and only the one between them takes another."""
    with mutant.record(mutant.log("kernels/fuse")) as record:
        times = {cell["workload"]: cell["processes"][0]["samples"][0]["values"][0] for cell in cells(record, "fused")}
        for cell in cells(record, "fused"):
            if cell["workload"] != "n4194304":
                factor = 3e-3 / times[cell["workload"]]
                for process in cell["processes"]:
                    for samples in process["samples"]:
                        samples["values"] = [float(f"{value * factor:.9g}") for value in samples["values"]]


@mutation("F", "EV203", "EV406", "EV602", "EV204", "EV006")
def slow_processes_replaced(mutant: Mutant) -> None:
    """The slow half of a candidate's processes is replaced by its fast half, a little changed."""
    with mutant.record(mutant.log("kernels/fuse")) as record:
        for cell in cells(record, "fused"):
            for slow, fast in zip(cell["processes"][3:], cell["processes"][:3], strict=True):
                values = fast["samples"][0]["values"]
                slow["samples"][0]["values"] = [float(f"{value * 0.93:.9g}") for value in values]


@mutation("G", "EV006", "EV003", "EV005")
def log_dated_back(mutant: Mutant) -> None:
    """A log is renamed to an earlier day, inside and outside, so that another counts as the newest."""
    old = mutant.log("kernels/fuse")
    new = f"{old[:-8]}20260115"
    (mutant.root / LOGS / old).rename(mutant.root / LOGS / new)
    mutant.touched |= {f"{LOGS}/{old}/{RECORD_NAME}", f"{LOGS}/{new}/{RECORD_NAME}"}
    mutant.edit(
        f"{LOGS}/{new}/{RECORD_NAME}", lambda text: text.replace(old, new).replace("2026-02-20T", "2026-01-15T")
    )
    mutant.mend(old)
    mutant.mend(new)


@mutation("G", "EV001", "EV005")
def log_below_a_hidden_folder(mutant: Mutant) -> None:
    """A losing log is moved out of sight, below a folder whose name begins with a dot."""
    log = mutant.log("kernels/fuse", is_second=True)
    (mutant.root / LOGS / ".old").mkdir()
    (mutant.root / LOGS / log).rename(mutant.root / LOGS / ".old" / log.split("/")[1])
    mutant.touched.add(f"{LOGS}/{log}/{RECORD_NAME}")


@mutation("H", "EV302", "EV001")
def gate_of_skipped_tests(mutant: Mutant) -> None:
    """A test gate passed with every test but one skipped."""
    with mutant.record(mutant.log("kernels/tile")) as record:
        tests: Document = {"name": "suite", "kind": "tests", "reference": None, "tolerances": []}
        record["gates"].append({**record["gates"][0], **tests})
        detail = {"kind": "tests", "collected": 40, "passed": 1, "failed": 0, "skipped": 39, "allowed_skips": []}
        for cell in cells(record):
            cell["further"] = [{**cell["gate"], "gate": "suite", "detail": detail}]


@mutation("H", "EV302")
def gate_of_another_kind(mutant: Mutant) -> None:
    """A gate that promises an elementwise comparison has the outcome of a test run."""
    detail = {"kind": "tests", "collected": 3, "passed": 3, "failed": 0, "skipped": 0, "allowed_skips": []}
    with mutant.record(mutant.log("kernels/tile")) as record:
        for cell in cells(record):
            cell["gate"]["detail"] = detail


@mutation("J", "EV612")
def not_to_be_cited_behind_a_reading(mutant: Mutant) -> None:
    """A claim reads a log that is not to be cited under another name, beside one that may be."""
    mutant.swap(
        ARCHIVE,
        "logs:\n",
        f"logs:\n  {mutant.log('kernels/fuse', is_second=True)}: {{do_not_cite: a fan had failed}}\n",
    )
    mutant.touched.add(f"{LOGS}/{mutant.log('kernels/fuse', is_second=True)}/{RECORD_NAME}")


@mutation("J", "EV601", "EV620", "EV611", "EV615")
def superseded_by_nothing(mutant: Mutant) -> None:
    """A claim is said to be replaced by one that there is not."""
    mechanism = "    mechanism: {unknown: nothing was profiled}\n"
    mutant.swap(SCALING, f"{mechanism}tables", f"{mechanism}    status: {{superseded_by: drafts-newer}}\ntables")


@mutation("S", "EV009", "EV005", "EV001", "EV006", "EV601")
def record_under_another_file_name(mutant: Mutant) -> None:
    """A losing log's record is given a name that the store does not read."""
    log = mutant.log("kernels/fuse", is_second=True)
    (mutant.root / LOGS / log / RECORD_NAME).rename(mutant.root / LOGS / log / "record.old.json")
    mutant.touched.add(f"{LOGS}/{log}/{RECORD_NAME}")
    mutant.touched.add(f"{LOGS}/{log}/record.old.json")
    mutant.mend(log)


@mutation("S", "EV902", "EV903", "EV622", "EV602")
def settings_with_a_pattern_for_all(mutant: Mutant) -> None:
    """The settings overlook a rule on every path for a hundred years, and nothing is found by it."""
    mutant.write(
        "evidence.toml",
        '[[ignore]]\nrule = "EV701"\npath = "*"\nreason = "later"\nowner = "someone"\nuntil = 2099-01-01\n',
    )


@mutation("S", "EV701", "EV901", "EV902", "EV903")
def markdown_left_out_by_the_settings(mutant: Mutant) -> None:
    """The settings leave README.md out of what is held, and a number is typed into it."""
    mutant.write("evidence.toml", 'ignore_markdown = ["README.md"]\n')
    mutant.append("README.md", f"Fusing is {mutant.drawn(2, 9)}x faster.")


@mutation("S", "EV701")
def page_in_another_folder(mutant: Mutant) -> None:
    """Results are typed into a Markdown file beside the code."""
    mutant.write("synthetic/RESULTS.md", f"# Results\n\nFusing is {mutant.drawn(2, 9)}x faster.\n")


@mutation("E", "EV704", "EV605")
def table_that_nobody_sees(mutant: Mutant) -> None:
    """The table of a loss stands inside an element that is not shown."""
    opening = mutant.rng.choice(("<div hidden markdown>", '<div markdown style="color: red; display:none">'))
    mutant.swap(
        "docs/kernels.md", '{{ ev.table("fuse-second") }}', f'{opening}\n\n{{{{ ev.table("fuse-second") }}}}\n\n</div>'
    )


@mutation("A", "EV701")
def page_of_another_ending(mutant: Mutant) -> None:
    """A number is typed on a page whose file ends in another way that MkDocs knows."""
    ending = mutant.rng.choice(("markdown", "mkd", "mdown"))
    mutant.write(f"docs/more.{ending}", f"# More\n\nFusing is {mutant.drawn(2, 9)}x faster.\n")


@mutation("S", "EV615", "EV009", "EV905", "EV702", "EV601")
def page_left_out_of_the_site(mutant: Mutant) -> None:
    """The configuration leaves out the page of a loss, which the check would go on reading."""
    mutant.append("mkdocs.yml", "exclude_docs: |\n  kernels.md")
    mutant.touched.add(KERNELS)


@mutation("S", "EV905", "EV904", "EV702")
def docs_somewhere_else(mutant: Mutant) -> None:
    """The site is built from another folder than the one with the claims."""
    mutant.append("mkdocs.yml", "docs_dir: public")
    mutant.write("public/index.md", "# Synthetic\n\nNothing to see.\n")
    mutant.touched.add("README.md")
