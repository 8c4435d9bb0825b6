"""The authoring format as a whole: sections as authors write them, and what each mistake of theirs is told."""

# ruff: noqa: E501 - a row of a table is one mistake

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from evidence.book import Unrenderable
from evidence.cli import cli
from evidence.diagnostics import Diagnostic
from evidence.schema import RandomWeights, Record, Setting, Work
from tests import factories
from tests.evidence.checker import sites
from tests.evidence.checker.sites import Site
from tests.factories import arm, book, engine_record, engine_timed, engine_workload, metric, on_device, sweep, workload

# Sections as authors write them.

WIN = """
claims:
  skewed-batch:
    statement: >-
      On {device}, a {scenario} batch of {requests} requests finishes {ratio} sooner with continuous batching;
      mean latency is {latency.ratio} better, and the static arm decodes {waste} tokens that nobody asked for.
    series: engine/continuous_toy
    metric: wall_time
    baseline: static
    candidate: continuous
    where: {scenario: skewed}
    expect: better
    also:
      latency: {metric: latency.mean, expect: better}
      waste: {metric: wasted_tokens, arm: static}
    mechanism: {text: Freed slots take waiting requests instead of padding., evidence: timeline}
    limitations: [arrival times are synthetic]
"""


def test_a_win_with_its_interval(tmp_path: Path) -> None:
    one = book(tmp_path, WIN, engine_record(hosts=on_device("NVIDIA H200")))
    assert one.findings == ()
    found = one.statement("skewed-batch")
    assert found.text == (
        "On NVIDIA H200, a skewed batch of 8 requests finishes 1.25× sooner with continuous batching; "
        "mean latency is 1.25× better, and the static arm decodes 128 tokens that nobody asked for."
    )
    main, latency, waste = found.note.split("; ")
    assert main == "FASTER, 1.25× (95 % 1.249–1.252), n 9, 1 of 2 cells"
    assert latency.startswith("latency: FASTER, 1.25× (95 % 1.2")
    assert latency.endswith("), n 9, 1 of 2 cells")
    assert waste == "waste: 128 (exact), n 9, 1 of 2 cells"
    assert found.mechanism == "Freed slots take waiting requests instead of padding. (timeline)"
    assert "arrival times are synthetic" in found.evidence[0].limitations
    # What is computed is added, and nothing an author writes takes it away.
    assert {"synthetic numbers for a test", "one device", "one session"} & set(found.evidence[0].limitations)


FLIPS = """
tables:
  w8a16-devices: {title: Weight-only fp8 by device, series: [kernels/w8a16_l4, kernels/w8a16_h200], rows: [N, device],
                  columns: [{ratio: time}], baseline: bf16, where: {arm: [bf16, w8a16]}}
claims:
  w8a16-flips:
    statement: At {N} rows weight-only fp8 is {ratio.range} on {device} and {h200.ratio.range} on {h200.device}; above, both devices lose.
    series: kernels/w8a16_l4
    metric: time
    baseline: bf16
    candidate: w8a16
    where: {N: [1, 8, 64]}
    expect: better
    also:
      h200: {series: kernels/w8a16_h200, expect: worse}
      wide: {where: {N: 512}, expect: worse}
      h200_wide: {series: kernels/w8a16_h200, where: {N: 512}, expect: worse}
    mechanism: {text: One device waits for weight bytes; the other for the unpacking., evidence: roofline}
"""


def test_a_loss_and_a_verdict_that_flips_across_devices(tmp_path: Path) -> None:
    work = (Work(of="flop", count=10**9), Work(of="bytes", count=10**8))
    loads = tuple(workload(f"n{size}", size, work=work) for size in (1, 8, 64, 512))
    l4, h200 = (
        sweep({"bf16": dict.fromkeys((1, 8, 64, 512), 1e-3), "w8a16": times}, f"kernels/w8a16_{name}_20260901", control_of=None, hosts=on_device(device), workloads=loads)
        for name, device, times in (
            ("l4", "NVIDIA L4", {1: 0.66e-3, 8: 0.68e-3, 64: 0.7e-3, 512: 1.35e-3}),
            ("h200", "NVIDIA H200", {1: 1.22e-3, 8: 1.28e-3, 64: 1.35e-3, 512: 1.9e-3}),
        )
    )  # fmt: skip
    one = book(tmp_path, FLIPS, l4, h200)
    assert one.findings == ()
    assert one.statement("w8a16-flips").text == (
        "At 1, 8 and 64 rows weight-only fp8 is 1.43× to 1.52× on NVIDIA L4 "
        "and 0.74× to 0.82× on NVIDIA H200; above, both devices lose."
    )
    rows = [[getattr(cell, "text", None) or f"{cell.shown.value} {cell.word}" for cell in row.cells] for row in one.table("w8a16-devices").rows]  # type: ignore[union-attr]  # fmt: skip
    assert len(rows) == 8
    assert ["512", "NVIDIA L4", "0.742× SLOWER"] in rows
    assert rows[-1][:2] == ["512", "NVIDIA H200"]
    assert re.fullmatch(r"0\.52\d× SLOWER", rows[-1][2])


FUSION = """
tables:
  fusion:
    title: Fusing the norm
    series: engine/norm_fusion
    rows: [model, requests]
    across: arm
    columns: [tpot, {ratio: tpot}]
    baseline: separate
claims:
  norm-fusion:
    statement: >-
      Fusing the norm gives {ratio.geomean} in TPOT on {device} (geometric mean over {model}, {tally});
      the control model, which lacks the layer, stays within {control.ratio.range}.
    series: engine/norm_fusion
    metric: tpot
    baseline: separate
    candidate: fused
    where: {model: [toy-3b, toy-9b]}
    expect: better
    also: {control: {where: {model: control-1b}, expect: same}}
    mechanism: {text: Two launches and one round trip to memory fewer a layer., evidence: profile}
"""


def fusion(control: float = 1.0) -> Record:
    models = {"toy-3b": 0.95, "toy-9b": 0.94, "control-1b": control}
    loads = tuple(
        engine_workload(f"{model}-{count}", requests=count, weights=RandomWeights(model=model, parameters=10**9, seed=17))
        for model in models
        for count in (1, 8)
    )  # fmt: skip
    cells = tuple(
        engine_timed(name, load.name, scale=models[load.weights.model] if name == "fused" else 1.0, slot=6 * column + row)
        for column, name in enumerate(("separate", "fused"))
        for row, load in enumerate(loads)
    )  # fmt: skip
    arms = tuple(
        arm(name, role, switches=(Setting(name="fused_norm", value=on),), implementation="toy.engine:generate")
        for name, role, on in (("separate", "baseline", "off"), ("fused", "candidate", "on"))
    )
    sound = engine_record()
    profile = sound.profiles[0].model_copy(update={"arm": "fused", "workload": loads[0].name})
    metrics = (*sound.metrics, metric("tpot", of="request"))
    return engine_record("engine/norm_fusion_20260902", hosts=on_device("NVIDIA H200"), axes=("fused_norm",), arms=arms, workloads=loads, cells=cells, profiles=(profile,), metrics=metrics)  # fmt: skip


def test_a_geometric_mean_with_its_control(tmp_path: Path) -> None:
    one = book(tmp_path, FUSION, fusion())
    assert one.findings == ()
    found = one.statement("norm-fusion")
    assert found.text == (
        "Fusing the norm gives 1.06× in TPOT on NVIDIA H200 (geometric mean over toy-3b and toy-9b, 4 faster); "
        "the control model, which lacks the layer, stays within 1.00×."
    )
    main, control = found.note.split("; ")
    assert main.startswith("4 faster, geometric mean 1.06× (95 % 1.0")
    assert main.split("), ")[1].startswith("n 9, 4 of 6 cells")
    assert control.startswith("control: 2 same, geometric mean 1.00× (95 % ")
    heads = [column.title for column in one.table("fusion").columns]
    assert [head.split(",")[0] for head in heads] == ["model", "requests", "separate tpot", "fused tpot", "separate ÷ fused"]  # fmt: skip


def test_a_change_is_the_metric_s_own_so_a_time_that_grows_has_a_plus(tmp_path: Path) -> None:
    text = FUSION.replace("separate\n    candidate: fused", "fused\n    candidate: separate")
    text = text.replace("gives {ratio.geomean} in TPOT", "left out changes TPOT by {change.range}").replace(
        "expect: better", "expect: worse"
    )
    found = book(tmp_path, text, fusion()).statement("norm-fusion").text
    assert found.startswith("Fusing the norm left out changes TPOT by +7 % to +5 % on NVIDIA H200")


@pytest.mark.parametrize("quantity", ["throughput/accelerators", "wall_time/output_tokens", "wall_time/requests"])
def test_efficiency_and_unequal_work_are_rates_by_a_count(tmp_path: Path, quantity: str) -> None:
    text = WIN.replace("metric: wall_time", f"metric: {quantity}")
    one = book(tmp_path, text, engine_record(hosts=on_device("NVIDIA H200")))
    assert one.findings == ()
    assert "finishes 1.25× sooner" in one.statement("skewed-batch").text


def test_where_a_reading_is_least_and_most_is_a_place(tmp_path: Path) -> None:
    log = sweep({"eager": {1: 1e-3, 8: 2e-3, 64: 4e-3}, "fused": {1: 0.8e-3, 8: 1e-3, 64: 3.9e-3}}, spread=0.0005)
    text = "claims: {a: {statement: 'Least at {min.at}, most at {max.at}: {range}.', series: kernels/sweep, metric: time, arm: fused}}\n"
    assert book(tmp_path, text, log).statement("a").text == "Least at N 1, most at N 64: 800.1 µs to 3.901 ms."


def test_the_texts_of_a_table_are_templates_of_facts(tmp_path: Path) -> None:
    text = """
tables:
  t:
    title: Fusing on {device} in {dtype}, measured {date}
    series: kernels/sweep
    rows: [N, arm]
    columns: [{value: time, title: at {cache} caches}, {text: on {device}, by: arm, cells: {eager: 'plain, {op}'}}]
    where: {arm: [eager, fused]}
    notes: [{where: {N: 1}, why: 'of {N}'}]
    omit: [{where: {N: 8, arm: fused}, why: no {dtype} kernel}]
"""
    log = sweep({"eager": {1: 1e-3, 8: 2e-3}, "fused": {1: 0.8e-3, 8: 1e-3}}, control_of=None)
    text = text.replace("title: at {cache} caches", "title: 'at {cache} caches'").replace("text: on {device}", "text: 'on {device}'")  # fmt: skip
    text = text.replace("why: no {dtype} kernel", "why: 'no {dtype} kernel'")
    one = book(tmp_path, text, log)
    assert one.findings == ()
    shown = one.table("t")
    assert shown.title == "Fusing on Synthetic GPU A in bf16, measured 2026-09-01"
    heads = [column.title for column in shown.columns]
    assert re.match(r"at \w+ caches,", heads[2])
    assert heads[3] == "on Synthetic GPU A"
    assert shown.rows[0].footnote == "of 1 and 8"
    assert any("no bf16 kernel" in note for note in shown.footnotes)


def test_the_worst_of_a_claim_and_its_logs_is_its_banner(tmp_path: Path) -> None:
    logs = "logs:\n  engine/continuous_toy_20260902: {historical: before the rewrite}\n"
    one = book(tmp_path, WIN + logs, engine_record(hosts=on_device("NVIDIA H200")))
    banner = one.statement("skewed-batch").banner
    assert banner is not None
    assert (banner.status, banner.text) == ("historical", "before the rewrite")
    pinned = WIN.replace("engine/continuous_toy\n", "engine/continuous_toy_20260902\n")
    own = book(
        tmp_path / "own", f"{pinned}    status: {{historical: 'kept for {{scenario}} loads'}}\n", engine_record()
    )
    banner = own.statement("skewed-batch").banner
    assert banner is not None
    assert banner.text == "kept for skewed loads"


# Mistakes of authors.

CLAIMS = """\
tables:
  sizes: &sizes
    title: Fusing by size
    series: kernels/sweep
    rows: [N]
    across: arm
    columns: [time, {ratio: time}]
    baseline: eager
    notes:
      - {where: {N: 1}, why: the launch dominates here}
  marks:
    title: Fusing by size, in words
    series: kernels/sweep
    rows: [N, arm]
    columns:
      - time
      - {text: kind, by: arm, cells: {eager: the baseline, fused: the candidate}}
    where: {arm: [eager, fused, library]}
  again:
    <<: *sizes
    title: Fusing by size, once more
claims:
  small:
    statement: At {N} rows fusing is {ratio.range} faster on {device}.
    series: kernels/sweep
    metric: time
    baseline: eager
    candidate: fused
    where:
      N: [1, 8]
    expect: better
    also:
      lost: {where: {N: 64}, expect: worse}
      alone: {arm: eager, where: {N: 8}}
    mechanism: {unknown: it was not profiled yet}
    limitations: [one process a device]
  large:
    statement: At {N} rows it loses, {ratio}; it takes {candidate:us}.
    series: kernels/sweep
    metric: time
    baseline: eager
    candidate: fused
    where: {N: 64}
    expect: worse
    mechanism: {unknown: nothing was profiled}
"""
PAGE = """# Fusing

{{ ev.claim("small") }}

{{ ev.claim("large") }}

It takes {{ ev.value("small", "alone") }} at first.

{{ ev.table("sizes") }}

{{ ev.table("marks") }}

{{ ev.table("again") }}

Above, both arms are timed, and the fused one loses on the largest size.
"""
SIZES = (1, 8, 64)
TIMES = {"eager": (1e-3, 2e-3, 4e-3), "fused": (0.8e-3, 1.5e-3, 5e-3), "library": (1.2e-3, 2.5e-3, 6e-3)}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A site of which the check finds nothing, with a lock of its own."""
    made = Site(sites.repository(tmp_path_factory.mktemp("repository")))
    arms = {**TIMES, "eager-again": TIMES["eager"]}
    cells = tuple(
        factories.timed(name, f"n{size}", median_s=seconds, slot=3 * column + row)
        for column, (name, times) in enumerate(arms.items())
        for row, (size, seconds) in enumerate(zip(SIZES, times, strict=True))
    )
    log = sweep({name: dict(zip(SIZES, times, strict=True)) for name, times in TIMES.items()})
    sources = (made.source, factories.package_source())
    made.add(log.model_copy(update={"cells": cells, "sources": sources}))
    made.write("docs/claims/page.yml", CLAIMS)
    made.write("docs/page.md", PAGE)
    sites.write_lock(made.root)
    made.keeps_lock = True
    return made


@dataclass(frozen=True)
class Mistake:
    """What an author wrote in place of something, and what he has to be told, where and with which fix."""

    name: str
    old: str
    new: str
    code: str
    says: str
    fix: str = ""
    at: str = ""
    """A text of the line it is told at; else the first line that was changed."""
    file: str = "docs/claims/page.yml"


def typo(name: str, old: str, new: str, code: str, says: str, fix: str = "", at: str = "") -> Mistake:
    return Mistake(name, old, new, code, says, fix, at)


def on_page(name: str, old: str, new: str, code: str, says: str, fix: str = "", at: str = "") -> Mistake:
    return Mistake(name, old, new, code, says, fix, at, file="docs/page.md")


STATEMENT = "At {N} rows fusing is {ratio.range} faster on {device}."
LARGE = "At {N} rows it loses, {ratio}; it takes {candidate:us}."
COLUMNS = "[time, {ratio: time}]"
LIMITED = "    limitations: [one process a device]\n"
ALONE = "      alone: {arm: eager, where: {N: 8}}\n"
UNKNOWN = "{unknown: it was not profiled yet}"
TABLE = "    baseline: eager\n    notes:"
MISTAKES = (
    # Names that are misspelt.
    typo("series", "kernels/sweep\n    metric", "kernels/sweap\n    metric", "EV601", "small: no series 'kernels/sweap'", "did you mean 'kernels/sweep'?"),
    typo("series of a table", "kernels/sweep\n    rows: [N, arm]", "kernels/sweap\n    rows: [N, arm]", "EV601", "marks: no series 'kernels/sweap'", "did you mean 'kernels/sweep'?"),
    typo("metric", "metric: time", "metric: tiem", "EV601", "kernels/sweep_20260901: no metric 'tiem'", "did you mean 'time'?"),
    typo("metric of a column", "      - time\n", "      - tiem\n", "EV601", "no metric 'tiem'", "did you mean 'time'?"),
    typo("count of a metric", "metric: time", "metric: time/byte", "EV601", "no count 'byte'", "did you mean 'bytes'?"),
    typo("statistic of a metric", "metric: time", "metric: time.avg", "EV601", "'time.avg' is not a metric", "name.p90"),
    typo("baseline", "eager\n    candidate", "eagr\n    candidate", "EV601", "no arm 'eagr'", "did you mean 'eager'?"),
    typo("candidate", "candidate: fused", "candidate: fusd", "EV601", "no arm 'fusd'", "did you mean 'fused'?"),
    typo("arm of a reading", "{arm: eager, where", "{arm: eagr, where", "EV601", "no arm 'eagr'", "did you mean 'eager'?"),
    typo("axis", "      N: [1, 8]", "      n: [1, 8]", "EV601", "no axis 'n'", "known: N, arm"),
    typo("value of an axis", "      N: [1, 8]", "      N: [1, 9]", "EV601", "no value of N '9'", "known: 1, 64, 8"),
    typo("row axis", "rows: [N, arm]", "rows: [N, arms]", "EV601", "no axis 'arms'", "did you mean 'arm'?"),
    typo("by axis", "by: arm", "by: arms", "EV601", "no axis 'arms'", "did you mean 'arm'?"),
    typo("value of by", "cells: {eager: the", "cells: {eagr: the", "EV601", "no value of arm 'eagr'", "did you mean 'eager'?"),
    typo("value of where in a table", "[eager, fused, library]}\n  again", "[eager, fused, libary]}\n  again", "EV601", "no value of arm 'libary'", "did you mean 'library'?"),
    typo("key of a claim", "    expect: better", "    expct: better", "EV620", "claims.small.expct: unknown key", "did you mean 'expect'?"),
    typo("key of a table", "    across: arm", "    accross: arm", "EV620", "tables.sizes.accross: unknown key", "did you mean 'across'?"),
    typo("key of a reading", "lost: {where:", "lost: {were:", "EV620", "claims.small.also.lost.were: unknown key", "did you mean 'where'?"),
    typo("key of a column", COLUMNS, "[time, {rato: time}]", "EV620", "tables.sizes.columns.1.rato: unknown key", "did you mean 'ratio'?"),
    typo("key of a log", CLAIMS[-1:], "\nlogs:\n  kernels/sweep_20260901: {do_not_sight: x}\n", "EV620", "do_not_sight: unknown key", "did you mean 'do_not_cite'?", at="do_not_sight"),
    typo("field of a statement", STATEMENT, "At {N} rows fusing is {ratio.range} faster on {divice}.", "EV622", "{divice} is neither", "did you mean {device}?"),
    typo("quantity", STATEMENT, "At {N} rows fusing is {rato.range} faster.", "EV622", "{rato.range} is neither", "did you mean {ratio.range}?"),
    typo("reading in a field", STATEMENT, "At {N} rows it is {ratio.range}, then {los.ratio}.", "EV622", "{los.ratio} is neither", "did you mean {lost.ratio}?"),
    typo("reducer", STATEMENT, "At {N} rows fusing is {ratio.rnge} faster.", "EV622", "no reducer 'rnge'", "did you mean .range?"),
    typo("evidence of a mechanism", UNKNOWN, "{text: It moves less., evidence: rofline}", "EV613", "no evidence 'rofline'", "did you mean 'roofline'?"),
    typo("log of a status", CLAIMS[-1:], "\nlogs:\n  kernels/sweep_20260902: {historical: x}\n", "EV601", "no log 'kernels/sweep_20260902'", "did you mean 'kernels/sweep_20260901'?", at="sweep_20260902"),
    typo("successor", LIMITED, LIMITED + "    status: {superseded_by: larg}\n", "EV601", "no claim or table 'larg'", "did you mean 'large'?", at="larg}"),
    typo("successor of a log", CLAIMS[-1:], "\nlogs:\n  kernels/sweep_20260901: {superseded_by: sizs}\n", "EV601", "no claim or table 'sizs'", "did you mean 'sizes'?", at="sizs"),
    typo("section", "claims:\n", "claim:\n", "EV620", "unknown key 'claim'", "did you mean 'claims'?"),
    on_page("claim on a page", '"large"', '"larg"', "EV702", "no claim 'larg'", "did you mean 'large'?"),
    on_page("table on a page", '"marks"', '"mark"', "EV702", "no table 'mark'", "did you mean 'marks'?"),
    on_page("field on a page", '"alone"', '"alon"', "EV702", "{alon} is neither", "did you mean {alone}?"),
    on_page("macro on a page", "ev.table(\"marks", "ev.tabel(\"marks", "EV702", "no macro 'ev.tabel'", "did you mean 'ev.table'?"),
    on_page("a claim called as a table", "# Fusing\n", "# Fusing\n\n{{ ev.table(\"large\") }}\n", "EV702", "no table 'large'", "'large' is a claim: write ev.claim", at="3"),
    # Another type than is needed.
    typo("list of series in a claim", "kernels/sweep\n    metric", "[kernels/sweep]\n    metric", "EV620", "claims.small.series: is not text", "write one text"),
    typo("where as a list", "      N: [1, 8]", "      - N", "EV620", "claims.small.where: is not a mapping", "{axis: value}", at="29"),
    typo("where of ranges", "      N: [1, 8]", "      N: {from: 1}", "EV620", "claims.small.where.N.0: is a mapping and should be text", "quotes"),
    typo("where without a value", "      N: [1, 8]", "      N:", "EV620", "claims.small.where.N.0: has no value", "write one"),
    typo("rows as text", "rows: [N, arm]", "rows: N", "EV620", "tables.marks.rows: is not a list", "write [N]"),
    typo("limitations as text", "[one process a device]", "one process a device", "EV620", "claims.small.limitations: is not a list", "write [one process a device]"),
    typo("mechanism as text", UNKNOWN, "it was not profiled", "EV620", "claims.small.mechanism: is not a mapping", "text, evidence, unknown"),
    typo("status as text", LIMITED, LIMITED + "    status: historical\n", "EV620", "claims.small.status: is not a mapping", "historical, do_not_cite", at="status:"),
    typo("a number as a statement", STATEMENT, "3", "EV620", "claims.small.statement: is not text", "quotes"),
    typo("a field alone as a statement", STATEMENT, "{ratio.range}", "EV620", "claims.small.statement: is a mapping and should be text", "put quotes round it"),
    typo("off means off", "      N: [1, 8]", "      N: off", "EV601", "no value of N 'off'", "known: 1, 64, 8"),
    typo("a statement of a megabyte", STATEMENT, "x" * 2**20, "EV620", "is longer than a sentence or two", "below 4,000 characters"),
    # What YAML makes of it.
    typo("a key twice", "    metric: time\n", "    metric: time\n    metric: time\n", "EV620", "the key 'metric' stands twice, here and on line 26", "drop or rename", at="27"),
    typo("an id twice in a file", "  large:", "  small:", "EV620", "the key 'small' stands twice, here and on line 23", "rename"),
    typo("an id of a table and a claim", CLAIMS[-1:], "\n  again: {statement: x, series: kernels/sweep, metric: time, arm: eager}\n", "EV621", "'again' stands here and at docs/claims/page.yml:19", "rename one", at="46"),
    typo("a tab", "    metric: time\n", "\tmetric: time\n", "EV620", "not YAML: found a tab", "indent with spaces"),
    typo("a colon in a text", STATEMENT, "At {N} rows: {ratio.range} faster.", "EV620", "not YAML: mapping values are not allowed", "put the text in quotes"),
    typo("a text that begins with a brace", STATEMENT, "{ratio.range} faster at {N} rows", "EV620", "not YAML: did not find expected key", "begins with {"),
    typo("a quotation mark that stays open", STATEMENT, '"At {N} rows', "EV620", "not YAML: found unexpected end of stream", "close the quotation mark", at="46"),
    typo("one space too few", "    metric: time\n", "   metric: time\n", "EV620", "not YAML: did not find expected key", "check indentation"),
    typo("an anchor that is not there", "*sizes", "*size", "EV620", "not YAML: found undefined alias", "name it above"),
    typo("a merge of no mapping", "<<: *sizes", "<<: sizes", "EV620", "a merge key needs a mapping", "*name"),
    typo("a key misspelt where others merge it", "    rows: [N]\n", "    rws: [N]\n", "EV620", "tables.sizes.rws: unknown key", "did you mean 'rows'?"),
    typo("a metric misspelt where others merge it", COLUMNS, "[tiem, {ratio: time}]", "EV601", "sizes: kernels/sweep_20260901: no metric 'tiem'", "did you mean 'time'?"),
    typo("a note that others merge", "the launch dominates here", "5 % is lost", "EV622", "sizes: '5' is typed into the notes", "{batch}"),
    typo("a fault beside a merge", "    title: Fusing by size, once more", "    titel: Fusing by size, once more", "EV620", "tables.again.titel: unknown key", "did you mean 'title'?"),
    typo("a merged part that fits only there", "    title: Fusing by size, once more", "    title: Fusing by size, once more\n    rows: [dtype]", "EV620", "again: n1 and n8 share a row: N varies", "add N to rows", at="rows: [dtype]"),
    typo("a merged part that does not fit here", "    title: Fusing by size, once more", "    title: Fusing by size, once more\n    across: dtype", "EV620", "again: eager, fused, library share a column", "across: arm", at="<<: *sizes"),
    Mistake("nothing in the file", CLAIMS, "", "EV620", "the file holds nothing", "or remove it", at="1"),
    Mistake("a file that is a list", CLAIMS, "- a\n", "EV620", "a claims file is a mapping, and this one is not", "begin with one of tables, claims", at="1"),
    Mistake("bytes that are no text", CLAIMS, "\x00", "EV620", "not YAML: control characters are not allowed", "UTF-8", at="1"),
    # What is believed.
    typo("expect missing", "    expect: better\n", "", "EV620", "claims.small: expect is missing", "better, worse, same or inconclusive", at="  small:"),
    typo("expect without a value", "    expect: better\n", "    expect:\n", "EV620", "claims.small: expect is missing", "write expect:", at="  small:"),
    typo("expect of a reading missing", "{where: {N: 64}, expect: worse}", "{where: {N: 64}}", "EV620", "claims.small.also.lost: expect is missing", "better, worse, same"),
    typo("expect in words of its own", "    expect: better", "    expect: faster", "EV620", "'faster' is not one of better, worse, same, inconclusive", "write one of these"),
    typo("expect the other way", "    expect: better", "    expect: worse", "EV602", "small: expect is worse, the log says {better: 2} (2 faster)", "expect: better; then reread"),
    typo("a tally that differs", "    expect: better", "    expect: {better: 1, same: 1}", "EV602", "expect is {better: 1, same: 1}, the log says {better: 2}", "expect: better"),
    typo("a tally below zero", "    expect: better", "    expect: {better: -2}", "EV620", "claims.small.expect.better: is not a whole number", "how many cells"),
    typo("a tally of words", "    expect: better", "    expect: {better: yes it is}", "EV620", "claims.small.expect.better: is not a whole number", "how many cells"),
    typo("a tally of nothing", "    expect: better", "    expect: {}", "EV620", "claims.small.expect: {} is not one of better, worse", "one of these words"),
    typo("spaces in a field", STATEMENT, "At { N } rows fusing is {ratio.range} faster.", "EV622", "{ N } is not a field", "write {N}"),
    typo("expect of one arm", ALONE, ALONE.replace("}}", "}, expect: same}"), "EV620", "claims.small.also.alone.expect: expect is about two arms", "drop expect"),
    # What is compared.
    typo("one side of a comparison", "    candidate: fused\n    where:\n", "    where:\n", "EV620", "baseline is named without candidate", "write candidate", at="    baseline: eager\n    where"),
    typo("an arm beside a comparison", LIMITED, LIMITED + "    arm: eager\n", "EV620", "one arm is read, and two are compared", "write either", at="    arm: eager\n"),
    typo("an arm with itself", "candidate: fused", "candidate: eager", "EV620", "baseline and candidate are one arm", "differ"),
    typo("a reading of an arm with itself", ALONE, ALONE + "      twin: {candidate: eager, expect: same}\n", "EV620", "eager is compared with itself", "differ", at="twin:"),
    typo("a ratio without a direction", "metric: time", "metric: bandwidth", "EV601", "bandwidth has no direction", "read one arm"),
    typo("a column without a direction", "      - time\n", "      - {ratio: bandwidth, vs: eager}\n", "EV601", "bandwidth has no direction", "show its value", at="    columns:\n"),
    typo("a ratio of one arm", STATEMENT, "At {N} rows it is {ratio.range}, {alone.ratio}.", "EV622", "{alone.ratio} needs two arms, and this reading has one", "{value}"),
    typo("a value of two arms", STATEMENT, "At {N} rows it takes {value}.", "EV622", "{value}: two arms are compared", "{baseline} or {candidate}"),
    typo("several cells for one number", STATEMENT, "At {N} rows fusing is {ratio} faster.", "EV622", "{ratio} is one number, but 2 cells are selected", "{ratio.range}, {ratio.min}, {ratio.max} or {ratio.geomean}"),
    typo("where on the arm", "      N: [1, 8]", "      arm: fused", "EV620", "a reading names its arms by arm, or by baseline and candidate", "take arm out", at="29"),
    typo("a control of one arm", ALONE, ALONE + "      control: {arm: eager}\n", "EV620", "a control is a comparison", "cells the change cannot touch", at="control:"),
    typo("a reading that hides a fact", ALONE, ALONE + "      device: {where: {N: 64}, expect: worse}\n", "EV620", "a reading called 'device' hides the device of the log", "none of N, arm", at="device:"),
    typo("a reading that hides a quantity", ALONE, ALONE + "      ratio: {where: {N: 64}, expect: worse}\n", "EV620", "a reading cannot be called ratio", "another name", at="      ratio:"),
    typo("a best case alone", STATEMENT, "Up to {ratio.max} faster at {N} rows.", "EV604", "a best case never stands alone", "{tally}"),
    typo("up to before no maximum", STATEMENT, "Up to {ratio.range} faster at {N} rows.", "EV604", "'up to' before {ratio.range}, which is not a maximum", "max"),
    typo("always", STATEMENT, "Fusing is always {ratio.range} faster.", "EV604", "'always' is wider than any measurement", "field"),
    typo("two readings as a to b", STATEMENT, "From {alone} to {lost.candidate}.", "EV602", "sets the numbers of two readings side by side", "of one reading"),
    typo("a gain that is a loss", LARGE, "At {N} rows it is {ratio} faster.", "EV602", "{ratio} faster: the log says SLOWER", "above 1 is a gain"),
    typo("an arm that nothing reads", STATEMENT, "Unlike library, fusing is {ratio.range} faster.", "EV602", "the statement names 'library', which no reading reads", "under 'also'"),
    # What is typed by hand.
    typo("digits in a statement", STATEMENT, "At 8 rows fusing is {ratio.range} faster.", "EV622", "'8' is typed into the statement", "write a field"),
    typo("a ratio in words", STATEMENT, "Fusing is twice as fast, {ratio.range}.", "EV622", "'twice as fast' is typed", "write a field"),
    typo("digits in a title", "title: Fusing by size, in words", "title: Fusing at 8 rows", "EV622", "'8' is typed into the title", "{batch}"),
    typo("digits in a limitation", "one process a device", "measured on 2 days", "EV622", "'2' is typed into the limitations", "write a field"),
    typo("digits in a mechanism", "it was not profiled yet", "it saves 12 bytes", "EV622", "'12' is typed into the mechanism", "write a field"),
    typo("digits in the reason of a waiver", LIMITED, LIMITED + "    waive: [{rule: EV410, why: it was 1.4x, owner: us, until: 2100-01-01}]\n", "EV622", "'1.4x' is typed into the reason of a waiver", "write a field", at="1.4x"),
    typo("a device in a statement", STATEMENT, "Fusing is {ratio.range} faster on Synthetic GPU A.", "EV622", "the device 'Synthetic GPU A' is typed into the statement", "{device}"),
    typo("another device in a statement", STATEMENT, "Fusing is {ratio.range} faster, as on an H100.", "EV622", "the device 'H100' is typed into the statement", "of that device"),
    typo("a device in a title", "title: Fusing by size, in words", "title: Fusing on Synthetic GPU A", "EV622", "the device 'Synthetic GPU A' is typed into the title", "{device}"),
    typo("a brace that stays open", STATEMENT, "At {N rows fusing is {ratio.range} faster.", "EV622", "a brace without its other", "one pair of braces"),
    typo("a brace that was not opened", STATEMENT, "At N} rows fusing is {ratio.range} faster.", "EV622", "a brace without its other", "one pair of braces"),
    typo("a field of nothing", STATEMENT, "At {} rows fusing is {ratio.range} faster.", "EV622", "{} is not a field", "{fact}"),
    typo("a number in a title", "title: Fusing by size, in words", "title: 'Fusing, {ratio}'", "EV622", "{ratio} is a number, and the texts of a table have none", "facts: "),
    typo("a unit that does not fit", LARGE, "It loses, {ratio}; it takes {candidate:GB}.", "EV622", "s is not shown in 'GB' but in ns, µs, ms, s", "drop the unit"),
    typo("a unit of a ratio", LARGE, "It loses, {ratio:ms}.", "EV622", "a ratio has no unit to choose", "drop the unit"),
    # Tables.
    typo("a unit of a column that does not fit", "      - time\n", "      - {value: time, unit: GB}\n", "EV620", "s is not shown in 'GB'", "one that fits", at="    columns:\n"),
    typo("a unit of a ratio column", COLUMNS, "[time, {ratio: time, unit: ms}]", "EV620", "unit means nothing in a ratio column", "drop unit"),
    typo("vs of a value column", COLUMNS, "[{value: time, vs: eager}, {ratio: time}]", "EV620", "vs means nothing in a value column", "drop vs"),
    typo("two forms in a column", COLUMNS, "[time, {ratio: time, change: time}]", "EV620", "a column has exactly one of", "one column for each"),
    typo("vs of an arm that is not there", COLUMNS, "[time, {ratio: time, vs: eagr}]", "EV601", "no arm 'eagr'", "did you mean 'eager'?"),
    typo("no baseline", TABLE, "    notes:", "EV401", "a ratio column without a baseline", "baseline: an arm", at="    columns: [time, {"),
    typo("a baseline for an arm that is not there", TABLE, "    baseline: {fusd: eager}\n    notes:", "EV601", "no arm 'fusd'", "did you mean 'fused'?"),
    typo("a peak of what has none", "      - time\n", "      - {peak: time}\n", "EV601", "no datasheet states a peak of time", "{peak: bandwidth}"),
    typo("an axis that varies and is nowhere", "rows: [N, arm]", "rows: [arm]", "EV620", "n1 and n8 share a row: N varies and is in no row, column or where", "add N to rows"),
    typo("arms that are nowhere", "rows: [N, arm]", "rows: [N]", "EV620", "eager, fused, library share a column: arm is in no row", "add arm to rows", at="      - time\n"),
    typo("an axis across and in rows", "rows: [N, arm]", "across: arm\n    rows: [N, arm]", "EV620", "arm is in rows and across: an axis has one place", "drop across"),
    typo("an axis twice in rows", "rows: [N, arm]", "rows: [N, arm, N]", "EV620", "N stands twice in rows", "drop one"),
    typo("a note on no row", "{N: 1}, why: the", "{N: 1, workload: n8}, why: the", "EV601", "it notes no row of the table", "drop or widen"),
    typo("a note on a value that is not there", "{N: 1}, why: the", "{N: 2}, why: the", "EV601", "no value of N '2'", "known: 1, 64, 8"),
    typo("nothing left out", TABLE, "    baseline: eager\n    omit: [{where: {N: 1, workload: n8}, why: x}]\n    notes:", "EV601", "it leaves out no cell", "drop it", at="omit:"),
    typo("left out without a reason", TABLE, "    baseline: eager\n    omit: [{where: {N: 8}}]\n    notes:", "EV620", "tables.sizes.omit.0.why: is required", "write why", at="omit:"),
    typo("said not to be covered, and measured", TABLE, "    baseline: eager\n    not_covered: [{where: {N: 8}, why: too large}]\n    notes:", "EV620", "has n8, which is said not to be covered", "were not run", at="not_covered:"),
    typo("not covered on no row axis", TABLE, "    baseline: eager\n    not_covered: [{where: {dtype: fp8}, why: none yet}]\n    notes:", "EV620", "dtype is not in rows", "rows: N", at="not_covered:"),
    typo("a column twice", COLUMNS, "[time, {ratio: time}, time]", "EV620", "sizes: it stands twice in columns", "drop one"),
    typo("a series twice", "kernels/sweep\n    rows: [N, arm]", "[kernels/sweep, kernels/sweep]\n    rows: [N, arm]", "EV620", "marks: it stands twice in series", "drop one", at="    series: [kern"),
    # Status and waivers.
    typo("a date without a reason", "kernels/sweep\n    metric", "kernels/sweep_20260901\n    metric", "EV620", "is pinned to its date, and nothing says why", "status: {historical: why}"),
    typo("a table with a date and without a reason", "kernels/sweep\n    rows: [N, arm]", "kernels/sweep_20260901\n    rows: [N, arm]", "EV620", "is pinned to its date", "name the series"),
    typo("historical without a date", LIMITED, LIMITED + "    status: {historical: before the rewrite}\n", "EV620", "it is historical, and kernels/sweep is a series, which newer logs join", "with its date", at="    series: kernels/sweep\n    metric"),
    typo("superseded by itself", LIMITED, LIMITED + "    status: {superseded_by: small}\n", "EV620", "small is superseded by small", "that holds now", at="superseded_by"),
    typo("two statuses", LIMITED, LIMITED + "    status: {historical: x, do_not_cite: y}\n", "EV620", "a status has exactly one of", "{historical: why}", at="status:"),
    typo("a claim not to be cited", LIMITED, LIMITED + "    status: {do_not_cite: the fan was off}\n", "EV612", "marked do not cite: the fan was off", "drop the sentence", at="status:"),
    typo("a waiver without a word", LIMITED, LIMITED + "    waive: [{rule: EV410, why: x, owner: us}]\n", "EV620", "claims.small.waive.0.until: is required", "write until", at="waive:"),
    typo("a waiver with a rule that is none", LIMITED, LIMITED + "    waive: [{rule: EV41, why: x, owner: us, until: 2100-01-01}]\n", "EV620", "is not of the form it needs", "EV and three digits", at="waive:"),
    typo("a waiver that ended", LIMITED, LIMITED + "    waive: [{rule: EV410, why: x, owner: us, until: 2020-01-01}]\n", "EV903", "ended on 2020-01-01", "", at="waive:"),
    typo("a waiver of nothing", LIMITED, LIMITED + "    waive: [{rule: EV410, why: x, owner: us, until: 2100-01-01}]\n", "EV902", "covers nothing that is found", "", at="waive:"),
    typo("a waiver of what is never waived", LIMITED, LIMITED + "    waive: [{rule: EV602, why: x, owner: us, until: 2100-01-01}]\n", "EV902", "that rule is never waived", "", at="waive:"),
    # Mechanisms.
    typo("no mechanism", f"    mechanism: {UNKNOWN}\n", "", "EV613", "FASTER without a mechanism", "what was tried", at="  small:"),
    typo("half a mechanism", UNKNOWN, "{text: It moves less.}", "EV620", "a mechanism has text and evidence, or unknown alone", "what shows it"),
    typo("a control that moved", ALONE, ALONE + "      control: {where: {N: 64}, expect: worse}\n", "EV309", "the control moved (SLOWER, 0.80×", "expect: inconclusive", at="control:"),
)  # fmt: skip


def found(site: Site, claims: str, page: str = PAGE) -> list[Diagnostic]:
    site.write("docs/claims/page.yml", claims)
    site.write("docs/page.md", page)
    return site.check()


def test_the_site_without_a_mistake_has_no_finding(site: Site) -> None:
    assert found(site, CLAIMS) == []


def line_of(text: str, one: Mistake, start: int) -> int:
    if one.at.isdecimal():
        return int(one.at)
    return text.count("\n", 0, text.index(one.at, 0) if one.at else start) + 1


@pytest.mark.parametrize("one", MISTAKES, ids=lambda one: one.name)
def test_a_mistake_is_one_finding_at_its_line(site: Site, one: Mistake) -> None:
    is_claims = one.file.endswith(".yml")
    before = CLAIMS if is_claims else PAGE
    start = before.rindex(one.old) if one.old == CLAIMS[-1:] else before.index(one.old)
    after = before[:start] + one.new + before[start + len(one.old) :]
    same = next((i for i, pair in enumerate(zip(one.old, one.new, strict=False)) if pair[0] != pair[1]), 0)
    (diagnostic,) = found(site, after) if is_claims else found(site, CLAIMS, after)
    assert (diagnostic.code, diagnostic.at.path) == (one.code, one.file)
    assert one.says in diagnostic.message
    assert one.fix in diagnostic.fix
    assert diagnostic.fix
    assert diagnostic.at.line == line_of(after, one, start + same)
    assert len(diagnostic.message) < 400


def test_there_are_enough_of_them() -> None:
    assert len(MISTAKES) >= 60
    assert len({one.name for one in MISTAKES}) == len(MISTAKES)


def test_of_two_files_with_one_id_neither_is_believed(site: Site) -> None:
    other = site.write("docs/claims/other.yml", "claims:\n  small: {statement: x, series: kernels/sweep, metric: time, arm: eager}\n")  # fmt: skip
    try:
        (diagnostic,) = found(site, CLAIMS)
    finally:
        other.unlink()
    assert (diagnostic.code, str(diagnostic.at)) == ("EV621", "docs/claims/page.yml:23")
    assert "'small' stands here and at docs/claims/other.yml:2" in diagnostic.message


def test_a_file_of_another_ending_is_named_and_nothing_else(site: Site) -> None:
    other = site.write("docs/claims/other.yaml", CLAIMS)
    try:
        (diagnostic,) = found(site, CLAIMS)
    finally:
        other.unlink()
    assert (diagnostic.code, diagnostic.message, diagnostic.fix) == ("EV620", "claims files end in .yml", "rename it")


def test_a_file_that_cannot_be_read_ends_with_2_and_shows_nothing_else(site: Site) -> None:
    site.write("docs/claims/page.yml", "claims: [\n")
    site.write("docs/page.md", PAGE + "It is 1.8× faster.\n")
    done = CliRunner().invoke(cli, ["check", "--root", str(site.root), "--no-cache"])
    assert done.exit_code == 2
    assert "docs/claims/page.yml" in done.output
    assert done.output.count("EV") == 1
    for claim in ("small", "nothing-of-it"):
        with pytest.raises(Unrenderable, match="is in no claims file that can be read"):
            site.corpus().book.statement(claim)


def test_evidence_that_must_not_be_cited_is_shown_by_a_table_alone(site: Site) -> None:
    logs = CLAIMS + "logs:\n  kernels/sweep_20260901: {do_not_cite: the fan was off}\n"
    assert [one.code for one in found(site, logs)] == ["EV612", "EV612"]
    # A table that warns of cells warns of every sentence that reads them, and of no other.
    marked = CLAIMS.replace("library]}\n", "library], N: [64]}\n    status: {do_not_cite: the fan was off}\n")
    told = [one for one in found(site, marked) if one.code == "EV612"]
    assert [one.message.split(":")[0] for one in told] == ["small", "large"]
    narrow = marked.replace("      lost: {where: {N: 64}, expect: worse}\n", "")
    assert [one.message.split(":")[0] for one in found(site, narrow) if one.code == "EV612"] == ["large"]


def test_a_mixed_result_has_a_cause_to_name_too(site: Site) -> None:
    mixed = CLAIMS.replace("    where: {N: 64}\n    expect: worse", "    expect: {better: 2, worse: 1}")
    mixed = mixed.replace("it loses, {ratio}; it takes {candidate:us}", "it is {ratio.range}").replace("    mechanism: {unknown: nothing was profiled}\n", "")  # fmt: skip
    (diagnostic,) = found(site, mixed)
    assert (diagnostic.code, diagnostic.message) == ("EV613", "large: FASTER and SLOWER without a mechanism")


# The ten messages: place, what is there, what the log says, and one thing to do.

TEN = (
    ("EV702", [], [('ev.claim("large")', 'ev.claim("larg")')], "no claim 'larg'", "did you mean 'large'? known: large, small"),
    ("EV601", [("metric: time", "metric: tiem")], [], "small: kernels/sweep_20260901: no metric 'tiem'", "did you mean 'time'? known: bandwidth, flop_rate, time"),
    ("EV620", [("expect: better", "expect: faster")], [], "claims.small.expect: 'faster' is not one of better, worse, same, inconclusive", "write one of these words"),
    ("EV622", [("{ratio.range}", "{ratio}")], [], "small: {ratio} is one number, but 2 cells are selected", "narrow 'where', or write {ratio.range}, {ratio.min}, {ratio.max} or {ratio.geomean}"),
    ("EV602", [("    where:\n      N: [1, 8]\n", "")], [], "small: expect is better, the log says {better: 2, worse: 1} (2 faster, 1 slower)", "if the log is right: expect: {better: 2, worse: 1}; then reread the statement"),
    ("EV605", [("    notes:\n", "    where: {N: [1, 8]}\n    notes:\n")], [('{{ ev.table("marks") }}', "")], "sizes: 3 of 9 cells of 'kernels/sweep_20260901' are in no table of docs/page.md: eager/n64, fused/n64, library/n64", "Widen `where`, add a table for the rest, or name the cells under `omit` with the reason."),
    ("EV309", [(ALONE, ALONE + "      control: {where: {N: 64}, expect: worse}\n")], [], "small: the control moved (SLOWER, 0.80× (95 % 0.797–0.800), n 9, 1 of 3 cells), so the effect cannot be attributed", "say expect: inconclusive, or measure again"),
)  # fmt: skip


@pytest.mark.parametrize(("code", "claims", "page", "message", "fix"), TEN, ids=[one[0] for one in TEN])
def test_a_message_says_what_is_there_what_the_log_says_and_one_thing_to_do(
    site: Site, code: str, claims: list[tuple[str, str]], page: list[tuple[str, str]], message: str, fix: str
) -> None:
    texts = [CLAIMS, PAGE]
    for index, changes in enumerate((claims, page)):
        for old, new in changes:
            assert old in texts[index]
            texts[index] = texts[index].replace(old, new, 1)
    told = {one.code: one for one in found(site, *texts)}
    assert (told[code].message, told[code].fix) == (message, fix)


def test_unequal_work_names_what_each_arm_did_and_the_rate_to_compare(tmp_path: Path) -> None:
    cells = tuple(
        one.model_copy(update={"processes": tuple(p.model_copy(update={"work": (Work(of="output-tokens", count=160 if one.arm == "eager" else 72),)}) for p in one.processes)})
        for one in sweep({"eager": {1: 1e-3}, "fused": {1: 0.5e-3}}).cells
    )  # fmt: skip
    log = sweep({"eager": {1: 1e-3}, "fused": {1: 0.5e-3}}).model_copy(update={"cells": cells})
    text = "claims:\n  speculate:\n    statement: It is {ratio} faster.\n    series: kernels/sweep\n    metric: time\n    baseline: eager\n    candidate: fused\n    expect: better\n    mechanism: {unknown: x}\n"
    ((code, finding),) = book(tmp_path, text, log).findings
    assert (code, finding.message) == ("EV404", "speculate: n1: unequal work: eager did 160 output-tokens, fused 72")
    assert finding.fix == "compare a rate: time/output_tokens"


def test_what_got_worse_is_named_with_both_arms_and_the_column_to_add(site: Site, tmp_path: Path) -> None:
    heavy = site.corpus().store.load("kernels/sweep_20260901").record
    cells = tuple(
        one.model_copy(update={"processes": tuple(p.model_copy(update={"samples": (*p.samples, factories.Samples(metric="peak_memory", rank=0, values=(3e9 if one.arm == "fused" else 2e9,)))}) for p in one.processes)})
        for one in heavy.cells
    )  # fmt: skip
    memory = metric("peak_memory", unit="B", of="process", role="guard")
    made = Site(site.repository)
    made.add(heavy.model_copy(update={"cells": cells, "metrics": (*heavy.metrics, memory)}))
    made.write("docs/claims/page.yml", CLAIMS)
    made.write("docs/page.md", PAGE)
    told = [one for one in made.check("EV606")]
    assert told[0].message.endswith("docs/page.md does not tell that peak_memory of 'fused' is worse than 'eager' (0.67× on n1)")  # fmt: skip
    assert told[0].fix == "add the column peak_memory, or read it under `also`"
