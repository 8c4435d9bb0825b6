"""The second implementation, alone on the standard library: it refuses what the package refuses, and edited pages."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
import math
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.evidence.mutants.mutation import Mutation, mutations
from benchmarks.evidence.mutants.site import settle, write_site
from benchmarks.evidence.mutants.workbench import mutate
from evidence import ledger, lock, printed, statistics, units
from evidence.book import Book
from evidence.checker.catalogue import RULES
from evidence.checker.corpus import Corpus, Options
from evidence.checker.runs import run
from evidence.diagnostics import Severity
from evidence.errors import ComparisonError
from evidence.project import Project
from evidence.statistics import Interval
from evidence.store import Store
from tests.test_site import build

REVERIFY = Path(__file__).parents[1] / "docs" / "reverify.py"
MORE = """
## Once more

In words: {{ ev.says("fuse-gains") }} The least of it is {{ ev.value("fuse-gains", "ratio.min") }}, and the largest
input of the other device takes {{ ev.value("fuse-loses", "large.value:us") }}.

As a diagnostic: {{ ev.diagnostic("tile-gains", "ratio.max") }}.

{{ ev.chart("fuse-first") }}

{{ ev.chart("fuse-first", kind="bars") }}

{{ ev.reproduce("fuse-first") }}

{{ ev.history("fuse-gains") }}

{{ ev.roofline("fuse-first") }}
"""


def verify(folder: Path) -> tuple[int, str]:
    """Run the file as a reader does: alone, with no package on the path."""
    command = [sys.executable, "-I", "-S", str(REVERIFY), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=60, check=False)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def write_lock(root: Path) -> None:
    project = Project.find(root)
    text = lock.dump(printed.facts_of(Book(project, Store(project.logs))))
    (project.claims / lock.FILE_NAME).write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean project with its lock and its built site: ops and engines, every outcome of a cell, all macros."""
    root = tmp_path_factory.mktemp("reverify") / "project"
    root.mkdir()
    write_site(root, seed=7)
    with (root / "docs/kernels.md").open("a", encoding="utf-8") as stream:
        stream.write(MORE)
    (root / "docs/board.md").write_text("# Board\n\n{{ ev.status() }}\n", encoding="utf-8")
    write_lock(root)
    settle(root)
    built = build(root)
    assert built.status == 0, built.said
    return root


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project that mutants are made of, as it is written."""
    root = tmp_path_factory.mktemp("clean") / "project"
    root.mkdir()
    write_site(root, seed=7)
    return root


@pytest.fixture(scope="module")
def log(project: Path) -> str:
    """The log that most mutants are of: three arms and a control on three sizes."""
    found = sorted(path.parent.name for path in (project / "docs/benchmark_logs/kernels").glob("fuse_*/record.json"))
    claims = (project / "docs/claims/kernels.yml").read_text(encoding="utf-8")
    series = re.findall(r"series: kernels/(fuse_\w+)", claims)[0]
    return f"kernels/{[name for name in found if name.startswith(series)][-1]}"


def test_it_needs_nothing_but_the_standard_library() -> None:
    tree = ast.parse(REVERIFY.read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_a_sound_site_is_verified_number_by_number(project: Path) -> None:
    status, said = verify(project / "site")
    assert status == 0, said
    assert re.fullmatch(r"verified 11 records, \d+ printed values: ok\n", said)
    assert int(said.split()[3]) > 300


def test_a_checkout_is_verified_without_its_site(project: Path) -> None:
    status, said = verify(project / "docs")
    assert status == 0, said
    assert re.fullmatch(r"verified 11 records, \d{2,3} printed values: ok\n", said)
    assert verify(project) == (status, said)


def test_this_repository_is_verified() -> None:
    status, said = verify(REVERIFY.parent)
    assert status == 0, said


def test_nothing_to_verify_is_no_success(tmp_path: Path) -> None:
    assert verify(tmp_path)[0] == 2
    (tmp_path / "benchmark_logs").mkdir()
    (tmp_path / "benchmark_logs" / ledger.FILE_NAME).write_text("")
    assert verify(tmp_path) == (2, "no record here, so nothing was verified\n")


def test_every_printed_number_says_what_it_is_read_from(project: Path, log: str) -> None:
    published = json.loads((project / "site/evidence.json").read_text(encoding="utf-8"))
    assert published["claims"]["fuse-gains"]["pages"] == ["board/", "kernels/"] or "kernels/" in str(
        published["claims"]["fuse-gains"]["pages"]
    )
    ratio = next(one for one in published["figures"] if one["of"] == "fuse-gains" and one.get("reduce") == "geomean")
    assert (ratio["log"], ratio["arm"], ratio["baseline"], ratio["metric"]) == (log, "fused", "plain", "time")
    assert len(ratio["workloads"]) == 3
    assert f"(geometric mean {ratio['text']})" in published["claims"]["fuse-gains"]["says"]
    cells = [one for one in published["figures"] if one["of"] == "fuse-first"]
    assert {one["show"] for one in cells} == {"value", "ratio", "peak"}
    assert all(one["unit"] for one in cells if one["show"] != "ratio")


Edit = Callable[[Path, str], None]
Change = Callable[[dict[str, Any]], None]


def edit_record(folder: Path, log: str, change: Change, *, sealed: bool) -> None:
    """Change a record; sealed: as one would who also mends every digest of it that is published."""
    path = folder / "benchmark_logs" / log / "record.json"
    old = ledger.digest_of(path)
    document = json.loads(path.read_bytes())
    change(document)
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    new = ledger.digest_of(path)
    assert old != new
    for other in folder.rglob("*") if sealed else ():
        if other.is_file() and other.suffix in (".html", ".json", ".lock", ""):
            data = other.read_bytes()
            if old[:12].encode() in data:
                mended = data.replace(old.encode(), new.encode()).replace(old[:12].encode(), new[:12].encode())
                other.write_bytes(mended)


def swap(folder: Path, path: str, old: str, new: str) -> None:
    target = folder / path
    text = target.read_text(encoding="utf-8")
    assert old in text, (path, old)
    target.write_text(text.replace(old, new, 1), encoding="utf-8")


def cell_of(document: dict[str, Any], arm: str = "fused") -> dict[str, Any]:
    found: dict[str, Any] = next(cell for cell in document["cells"] if cell["arm"] == arm)
    return found


def scaled(document: dict[str, Any]) -> None:
    for process in cell_of(document)["processes"]:
        for samples in process["samples"]:
            samples["values"] = [value * 0.9 for value in samples["values"]]


def one_digit(document: dict[str, Any]) -> None:
    cell_of(document)["processes"][0]["samples"][0]["values"][0] *= 1.0001


def no_gate(document: dict[str, Any]) -> None:
    document["cells"][0]["gate"] = None


def red_gate(document: dict[str, Any]) -> None:
    document["cells"][0]["gate"]["detail"]["tensors"][0]["mismatched"] = 3


def relabelled_gate(document: dict[str, Any]) -> None:
    document["cells"][0]["gate"]["outcome"] = "failed"


def no_environment(document: dict[str, Any]) -> None:
    document["hosts"] = []


def no_driver(document: dict[str, Any]) -> None:
    del document["hosts"][0]["driver"]


def no_command(document: dict[str, Any]) -> None:
    document["provenance"]["argv"] = []


def dirty(document: dict[str, Any]) -> None:
    next(one for one in document["sources"] if one["kind"] == "git")["tree_sha256"] = "f" * 64


def lost_row(document: dict[str, Any]) -> None:
    del document["cells"][1]


def unexplained_null(document: dict[str, Any]) -> None:
    document["hosts"][0]["kernel"] = None


def other_name(document: dict[str, Any]) -> None:
    document["log"] = "kernels/toy_20260902"


def zero_time(document: dict[str, Any]) -> None:
    cell_of(document)["processes"][0]["samples"][0]["values"][0] = 0.0


def untied_control(document: dict[str, Any]) -> None:
    next(arm for arm in document["arms"] if arm["role"] == "control")["implementation"] = "toy.ops:other"


RECORDS = [
    one_digit,
    no_gate,
    red_gate,
    relabelled_gate,
    no_environment,
    no_driver,
    no_command,
    dirty,
    lost_row,
    unexplained_null,
    other_name,
    zero_time,
    untied_control,
]


def copy_docs(project: Path, target: Path) -> Path:
    root = target / "copy"
    shutil.copytree(project, root, ignore=shutil.ignore_patterns("site"))
    return root


def refused(root: Path) -> bool:
    """Say whether the package finds an error."""
    return run(RULES, Corpus(Project.find(root), Options(processes=1))).count(Severity.ERROR) > 0


@pytest.mark.parametrize("change", RECORDS, ids=lambda change: change.__name__)
def test_both_refuse_an_edited_record(project: Path, log: str, tmp_path: Path, change: Change) -> None:
    root = copy_docs(project, tmp_path)
    edit_record(root / "docs", log, change, sealed=change is not one_digit)
    assert refused(root), "the package"
    (root / "docs/claims" / lock.FILE_NAME).unlink()  # whose digests would give it away
    status, said = verify(root)
    assert status == 1, said
    assert f"benchmark_logs/{log}" in said


def test_a_sample_forged_with_all_of_its_digests_shows_only_where_it_is_printed(
    project: Path, log: str, tmp_path: Path
) -> None:
    root = copy_docs(project, tmp_path)
    edit_record(root / "docs", log, one_digit, sealed=True)
    assert verify(root)[0] == 0


def duplicate_key(folder: Path, log: str) -> None:
    swap(folder, f"benchmark_logs/{log}/record.json", '"log":', '"log": "x", "log":')


def not_a_number(folder: Path, log: str) -> None:
    path = folder / "benchmark_logs" / log / "record.json"
    changed, count = re.subn(r'("values": \[)\s*[\d.e-]+', r"\1NaN", path.read_text(), count=1)
    assert count
    path.write_text(changed)


def renamed_log(folder: Path, log: str) -> None:
    (folder / "benchmark_logs" / log).rename(folder / "benchmark_logs/kernels/other_20260305")
    ledger_path = folder / "benchmark_logs" / ledger.FILE_NAME
    ledger_path.write_text(ledger_path.read_text().replace(f"{log}/", "kernels/other_20260305/"))


def edited_ledger(folder: Path, log: str) -> None:
    path = folder / "benchmark_logs" / ledger.FILE_NAME
    line = next(line for line in path.read_text().splitlines() if log in line)
    swap(folder, f"benchmark_logs/{ledger.FILE_NAME}", line, ("0" if line[0] != "0" else "1") + line[1:])


def dropped_ledger_line(folder: Path, log: str) -> None:
    path = folder / "benchmark_logs" / ledger.FILE_NAME
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if log not in line))


def removed_log(folder: Path, log: str) -> None:
    shutil.rmtree(folder / "benchmark_logs" / log)


def edited_artifact(folder: Path, log: str) -> None:
    with next((folder / "benchmark_logs").rglob("*.jsonl")).open("a") as stream:
        stream.write("\n")


def locked_other_log(folder: Path, log: str) -> None:
    series = log.rpartition("_")[0]
    swap(folder, f"claims/{lock.FILE_NAME}", f'series."{series}".log = "2026', f'series."{series}".log = "2025')


def locked_other_bytes(folder: Path, log: str) -> None:
    series = log.rpartition("_")[0]
    swap(folder, f"claims/{lock.FILE_NAME}", f'series."{series}".sha256 = "', f'series."{series}".sha256 = "0')


def locked_sentence(folder: Path, log: str) -> None:
    resub(folder / "claims" / lock.FILE_NAME, r"(fuse-gains.says = .*? )1\.", r"\g<1>9.")


def locked_note(folder: Path, log: str) -> None:
    resub(folder / "claims" / lock.FILE_NAME, r"(fuse-gains.note = .*?mean )1\.", r"\g<1>9.")


def locked_row(folder: Path, log: str) -> None:
    resub(folder / "claims" / lock.FILE_NAME, r'(tables.fuse-first."\d+" = ")', r"\g<1>7")


def locked_row_lost(folder: Path, log: str) -> None:
    resub(folder / "claims" / lock.FILE_NAME, r'tables.fuse-first."\d+" = .*\n', "")


def resub(path: Path, pattern: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    changed, count = re.subn(pattern, new, text, count=1, flags=re.DOTALL)
    assert count == 1, pattern
    assert changed != text
    path.write_text(changed, encoding="utf-8")


STORES = [
    duplicate_key,
    not_a_number,
    renamed_log,
    edited_ledger,
    dropped_ledger_line,
    removed_log,
    edited_artifact,
    locked_other_log,
    locked_other_bytes,
]
LINES = [locked_sentence, locked_note, locked_row, locked_row_lost]


def named(edit: Callable[..., None]) -> str:
    return edit.__name__


@pytest.mark.parametrize("edit", [*STORES, *(one for one in LINES if one is not locked_row_lost)], ids=named)
def test_both_refuse_an_edited_store_or_lock(project: Path, log: str, tmp_path: Path, edit: Edit) -> None:
    root = copy_docs(project, tmp_path)
    edit(root / "docs", log)
    status, said = verify(root)
    assert status == 1, said
    assert re.fullmatch(r"\d+ problems?", said.splitlines()[-1])
    assert refused(root), "the package"


def test_the_package_refuses_a_lock_without_a_row(project: Path, log: str, tmp_path: Path) -> None:
    root = copy_docs(project, tmp_path)
    locked_row_lost(root / "docs", log)
    assert refused(root)


OF_RECORDS = {"EV001", "EV002", "EV003", "EV005", "EV007", "EV101", "EV103", "EV104", "EV105", "EV301", "EV302"}
"""Rules on what a record, its files and the ledger are; other rules judge what they mean."""
SET_ASIDE = "foreign-numbers-without-a-gate"
"""It takes away a status that claims files give: those are not read here."""


@pytest.mark.parametrize(
    "mutation",
    [one for one in mutations() if OF_RECORDS.issuperset(one.codes) and one.name != SET_ASIDE],
    ids=lambda one: one.name,
)
def test_it_refuses_the_mutants_of_records_that_the_package_refuses(
    clean: Path, tmp_path: Path, mutation: Mutation
) -> None:
    mutant = mutate(mutation, clean, tmp_path / "mutant", seed=1)
    (mutant.root / "docs/claims" / lock.FILE_NAME).unlink(missing_ok=True)  # whose digests would give most of them away
    status, said = verify(mutant.root / "docs")
    assert status == 1, said


def forged_samples(folder: Path, log: str) -> None:
    edit_record(folder, log, scaled, sealed=True)


def swapped_ratio(folder: Path, log: str) -> None:
    swap(folder, "evidence.json", '"arm": "fused", "baseline": "plain"', '"arm": "plain", "baseline": "fused"')


def other_log(folder: Path, log: str) -> None:
    resub(folder / "evidence.json", rf'("show": "ratio", "log": "){log}"', r'\1kernels/other_20260101"')


def other_arm(folder: Path, log: str) -> None:
    resub(folder / "evidence.json", r'("show": "value", "log": "[^"]*", "arm": ")plain', r"\1library")


def other_cells(folder: Path, log: str) -> None:
    resub(folder / "evidence.json", r'("reduce": "geomean"[^\n]*?"workloads": \[)"[^"]*", ', r"\1")


def figure_digit(folder: Path, log: str) -> None:
    resub(folder / "evidence.json", r'("text": ")1\.', r"\g<1>2.")


def no_figure(folder: Path, log: str) -> None:
    resub(folder / "evidence.json", r'  \{"of": "fuse-first"[^\n]*\n', "")


def _html(pattern: str, new: str, page: str = "kernels/index.html") -> Edit:
    return lambda folder, log: resub(folder / page, pattern, new)


PAGES = {
    "a sentence": _html(r'(ev-claim-text">[^/]*?<b>)1\.', r"\g<1>9."),
    "a word of a sentence": _html(r'(ev-claim-text">.*?) faster', r"\1 slower"),
    "a note": _html(r'(ev-note">[^<]*?mean )1\.', r"\g<1>2."),
    "a headline": _html(r'ev-big">1', r'ev-big">9'),
    "the interval of a headline": _html(r'(ev-range">)1\.', r"\g<1>3."),
    "a verdict": _html(r"(ev-chip ev-better[^§]*?</svg>)FASTER", r"\1SLOWER"),
    "a number of a table": _html(r'(<td class="ev-n">)(\d)', r"\g<1>7\2"),
    "an interval of a table": _html(r'(<td class="ev-n">[^<]*<small>)', r"\g<1>7"),
    "a ratio of a table": _html(r'(<td class="ev-n"><b>)1', r"\g<1>9"),
    "a head of a table": _html(r"plain time, (µ|m)s", "plain time, ns"),
    "a row's label": _html(r'(<th scope="row"><span>)1048576', r"\g<1>4096"),
    "a value in text": _html(r'(class="ev-value[^§]*?<b>)1\.', r"\g<1>9."),
    "a sentence in text": _html(r"(ev-says[^§]*?<b>)1\.", r"\g<1>9."),
    "a diagnostic": _html(r'(ev-borrowed"[^>]*>)1\.', r"\g<1>9."),
    "a digest": _html(r'(ev-digest">)[0-9a-f]{4}', r"\g<1>ffff"),
    "a command": _html(r'(language-bash">[^<]*?)python', r"\1pypy"),
    "a bar": _html(r'(<text[^>]*class="n"[^>]*>)', r"\g<1>7"),
    "a history": _html(r"(-history-heading[^§]*?<td>)([\d.]+)×", r"\g<1>9.99×"),
    "a point of a history": _html(r'(-history-heading[^§]*?class="ev-answer n"[^>]*>)([\d.]+)×', r"\g<1>9.99×"),
    "a point of a roofline": _html(r"(-roofline-heading[^§]*?</td><td>)([\d.,]+)(</td><td>[\d.,]+ –)", r"\g<1>9.99\3"),
    "the board": _html(r'(ev-table--board.*?<td role="cell" class="ev-n"><b>)', r"\g<1>9", "board/index.html"),
    "a sentence of the board": _html(r'(role="rowheader">[^§]*?)1\.', r"\g<1>9.", "board/index.html"),
    "an absence": _html(r"(ev-tag ev-rejected.*?</svg>)REJECTED", r"\1SKIPPED"),
}
SITES: dict[str, Edit] = PAGES | {
    edit.__name__: edit
    for edit in (*LINES, forged_samples, swapped_ratio, other_log, other_arm, other_cells, figure_digit, no_figure)
}


@pytest.mark.parametrize("edit", SITES.values(), ids=SITES.keys())
def test_a_published_site_that_was_edited_is_refused(project: Path, log: str, tmp_path: Path, edit: Edit) -> None:
    site = tmp_path / "site"
    shutil.copytree(project / "site", site, ignore=shutil.ignore_patterns("css", "img", "js", "rules", "webfonts"))
    edit(site, log)
    status, said = verify(site)
    assert status == 1, said


def test_a_file_that_no_record_lists_is_refused(project: Path, log: str, tmp_path: Path) -> None:
    root = copy_docs(project, tmp_path)
    (root / "docs/benchmark_logs" / log / "notes.txt").write_text("kept")
    with (root / "docs/benchmark_logs" / ledger.FILE_NAME).open("a") as stream:
        stream.write(f"{hashlib.sha256(b'kept').hexdigest()}  {log}/notes.txt\n")
    assert verify(root) == (1, f"benchmark_logs/{log}/notes.txt: a file that no record lists\n1 problem\n")


def test_the_page_of_a_log_is_held_without_its_figures(project: Path, log: str, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(project / "site", site, ignore=shutil.ignore_patterns("css", "img", "js", "rules", "webfonts"))
    resub(site / "logs" / log / "index.html", r'(<td class="ev-n">)(\d)', r"\g<1>7\2")
    status, said = verify(site)
    assert status == 1
    assert said.startswith(f"logs/{log}/index.html: ")


def test_problems_are_one_line_each_whatever_a_record_says(project: Path, log: str, tmp_path: Path) -> None:
    root = copy_docs(project, tmp_path)

    def change(document: dict[str, Any]) -> None:
        document["arms"][0]["name"] = "x\n\u202ey\u001b[31m"

    edit_record(root / "docs", log, change, sealed=True)
    status, said = verify(root)
    assert status == 1
    assert all(line.isprintable() for line in said.splitlines())


# What it computes is what the package computes.


@pytest.fixture(scope="module")
def second() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reverify", REVERIFY)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["reverify"] = module
    spec.loader.exec_module(module)
    return module


positive = st.floats(1e-9, 1e9)
samples = st.lists(positive, min_size=2, max_size=14)


def close(interval: Interval, other: tuple[float, float, float]) -> bool:
    """Compare on the log scale: far beyond the digits that are printed."""
    ends = zip((interval.value, interval.low, interval.high), other, strict=True)
    return all(math.isclose(math.log(one), math.log(end), rel_tol=1e-8, abs_tol=1e-8) for one, end in ends)


@given(samples, samples, st.booleans())
def test_ratios_agree(second: ModuleType, before: list[float], after: list[float], lower: bool) -> None:
    ratio = statistics.gain(before, after, lower)
    if ratio.low > 1e-280 and ratio.high < 1e280:
        found = second.welch(before, after, lower)
        assert close(ratio, found)
        for decimals in (units.sentence_ratio_decimals(ratio), units.table_ratio_decimals(ratio)):
            if ratio.high < 1e6:
                second.require(units.format_ratio(ratio.value, decimals), found[:1])


@given(samples)
def test_medians_and_their_bootstrap_agree(second: ModuleType, values: list[float]) -> None:
    interval = statistics.location(values)
    found = second.location(values)
    assert close(interval, found)
    scale = units.scale_for(interval.value, "s")
    decimals = units.table_decimals(interval, scale)
    number, power = second.quantity(units.format_value(interval.value, scale, decimals), "s")
    second.require(number, found[:1], power)


@pytest.mark.parametrize("count", [2, 3, 6, 9, 10, 25, 40])
def test_the_bootstrap_agrees_for_every_usual_number_of_processes(second: ModuleType, count: int) -> None:
    rng = random.Random(count)
    for _ in range(20):
        values = [rng.lognormvariate(0, 0.1) for _ in range(count)]
        assert close(statistics.location(values), second.location(values))


@pytest.mark.parametrize("freedom", [1.0, 1.3, 2.0, 3.7, 8.0, 15.9, 40.0, 500.0])
def test_students_t_agrees(second: ModuleType, freedom: float) -> None:
    # Through ratios of two sides that are alike: the half-width is t times what both compute exactly.
    scipy_stats = pytest.importorskip("scipy.stats")
    assert math.isclose(second.student(freedom), scipy_stats.t.ppf(0.975, freedom), rel_tol=1e-8)


@given(st.lists(samples, min_size=1, max_size=5))
def test_geometric_means_agree(second: ModuleType, sides: list[list[float]]) -> None:
    ratios = [statistics.gain(one, other, True) for one, other in pairwise([*sides, [1.0, 1.1]])]
    if all(ratio.low > 1e-60 and ratio.high < 1e60 for ratio in ratios):
        mean = statistics.geometric_mean(ratios).interval
        assert close(mean, second.geometric_mean([(one.value, one.low, one.high) for one in ratios]))


@given(samples, st.floats(0, 1))
def test_quantiles_agree(second: ModuleType, values: list[float], share: float) -> None:
    assert math.isclose(statistics.quantile(values, share), second.quantile(values, share), rel_tol=1e-9)


@given(st.floats(0.5, 2), st.floats(0, 0.2), st.floats(0, 0.2), st.floats(0.01, 0.3))
def test_verdicts_agree(second: ModuleType, value: float, below: float, above: float, effect: float) -> None:
    ratio = Interval(value, value * (1 - below), value * (1 + above))
    assert statistics.judge(ratio, effect) == second.judge((ratio.value, ratio.low, ratio.high), effect)
    assert math.isclose(statistics.minimum_effect(ratio), second.effect_of((ratio.value, ratio.low, ratio.high)))


def test_what_has_no_ratio_has_none_here_either(second: ModuleType) -> None:
    for sides in (([1.0], [1.0, 2.0]), ([1.0, 2.0], [0.0, 1.0])):
        with pytest.raises(ComparisonError):
            statistics.gain(*sides, True)
        with pytest.raises(second.Fault):
            second.welch(*sides, True)
