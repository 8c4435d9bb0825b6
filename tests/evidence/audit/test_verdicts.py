"""Each verdict on small synthetic pages; no number here was measured."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from evidence.audit.verdicts import Audit, Judged, Verdict
from tests.evidence.audit.pairs import audited, verdict_of

ROWS = [
    {"model": "emu", "batch": 16, "gpu": "Toy GPU 7000", "latency_ms": 549.495, "tok_s": 2137.61, "ratio": 3.125},
    {"model": "emu", "batch": 64, "gpu": "Toy GPU 7000", "latency_ms": 1204.118, "tok_s": 3904.77, "ratio": 2.5},
    {"model": "rhea", "batch": 16, "gpu": "Toy GPU 7000", "latency_ms": 918.332, "tok_s": 1511.29, "ratio": 1.75},
    {"model": "rhea", "batch": 64, "gpu": "Toy GPU 7000", "latency_ms": 2010.406, "tok_s": 2680.93, "ratio": 1.25},
]
HEAD = "| model | batch | latency (ms) | throughput (tok/s) |\n|---|---:|---:|---:|\n"


def audit_of(root: Path, page: str, logs: Mapping[str, object] | None = None) -> Audit:
    (root / "page.md").write_text(page, encoding="utf-8")
    for name, document in (logs or {"run.json": ROWS}).items():
        path = root / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document), encoding="utf-8")
    return audited(root / "page.md", root / "logs")


def judged(root: Path, page: str, text: str, logs: Mapping[str, object] | None = None) -> Judged:
    return verdict_of(audit_of(root, page, logs), text)


def test_a_cell_is_bound_by_its_row_and_the_head_of_its_column(tmp_path: Path) -> None:
    one = judged(tmp_path, HEAD + "| emu | 64 | 1204 | 3905 |", "1204")
    assert one.verdict is Verdict.BOUND
    assert (one.sources[0].place, one.sources[0].field, one.how) == ("/1", "latency_ms", "rounded")


def test_units_are_scaled(tmp_path: Path) -> None:
    page = "| model | batch | latency (s) |\n|---|---|---|\n| rhea | 64 | 2.010 |\n| rhea | 16 | 0.918 |\n"
    one = judged(tmp_path, page, "2.010")
    assert (one.verdict, one.how) == (Verdict.BOUND, "divided by 1,000, rounded")


@pytest.mark.parametrize("shown", ["550", "549.4", "549.5"])
def test_rounding_is_held_to_the_digits_printed(tmp_path: Path, shown: str) -> None:
    one = judged(tmp_path, HEAD + f"| emu | 16 | {shown} | 2138 |", shown)
    assert one.verdict is (Verdict.BOUND if shown == "549.5" else Verdict.ROUNDING)
    assert one.sources[0].value == 549.495


def test_about_a_number_of_tens_is_a_rounding(tmp_path: Path) -> None:
    assert judged(tmp_path, HEAD + "| emu | 16 | ~550 | 2138 |", "~550").verdict is Verdict.BOUND


def test_a_near_value_of_the_same_field_and_row_is_stale(tmp_path: Path) -> None:
    one = judged(tmp_path, HEAD + "| emu | 16 | 561.3 | 2138 |", "561.3")
    assert one.verdict is Verdict.STALE
    assert (one.sources[0].place, one.sources[0].field) == ("/0", "latency_ms")


def test_a_far_value_is_nowhere_and_what_stands_there_is_told(tmp_path: Path) -> None:
    one = judged(tmp_path, HEAD + "| emu | 16 | 77.31 | 2138 |", "77.31")
    assert one.verdict is Verdict.NOWHERE
    assert one.sources[0].value == 549.495


def test_a_value_of_another_row_is_told_with_both_rows(tmp_path: Path) -> None:
    one = judged(tmp_path, HEAD + "| emu | 16 | 918.3 | 2138 |\n| rhea | 16 | 918.3 | 1511 |", "2138")
    assert one.verdict is Verdict.BOUND
    found = audit_of(tmp_path, HEAD + "| emu | 16 | 918.3 | 2138 |\n| rhea | 16 | 918.3 | 1511 |")
    wrong = verdict_of(found, "918.3", line=3)
    assert wrong.verdict is Verdict.ANOTHER_ROW
    assert wrong.sources[0].place == "/2"
    assert "/0 latency_ms = 549.495" in wrong.message


def test_a_number_of_an_older_file_only_is_stale(tmp_path: Path) -> None:
    newer = [{**row, "latency_ms": row["latency_ms"] * 0.4} for row in ROWS]  # type: ignore[operator]
    logs = {"sweep_20260301.json": ROWS, "sweep_20260402.json": newer}
    one = judged(tmp_path, HEAD + "| emu | 64 | 1204 | 3905 |", "1204", logs)
    assert one.verdict is Verdict.STALE
    assert [Path(source.file).name for source in one.sources] == list(logs)
    kept = judged(tmp_path, HEAD + "| emu | 64 | 481.6 | 3905 |", "481.6", logs)
    assert kept.verdict is Verdict.BOUND
    assert Path(kept.sources[0].file).name == "sweep_20260402.json"


def test_two_fields_of_one_value_are_ambiguous_and_both_are_named(tmp_path: Path) -> None:
    rows = [{"name": "emu", "first": 12.3411, "second": 12.3399}, {"name": "rhea", "first": 9.1, "second": 8.2}]
    one = judged(tmp_path, "| name | result |\n|---|---|\n| emu | 12.34 |\n", "12.34", {"run.json": rows})
    assert one.verdict is Verdict.AMBIGUOUS
    assert {source.field for source in one.sources} == {"first", "second"}
    assert "first, second" in one.message


def test_a_short_number_among_many_fields_is_a_chance_match(tmp_path: Path) -> None:
    rows = [
        {"name": f"run{n}", **{f"counter{k}": 10 + (37 * n + 11 * k) % 90 + 0.25 for k in range(40)}} for n in range(40)
    ]
    one = judged(tmp_path, "It needed 42 ms of it.", "42 ms", {"run.json": rows})
    assert one.verdict is Verdict.AMBIGUOUS


def test_a_long_number_needs_no_label(tmp_path: Path) -> None:
    one = judged(tmp_path, "The whole run came to 3904.77 in the end.", "3904.77")
    assert one.verdict is Verdict.BOUND


def test_a_ratio_of_two_cells_beside_it(tmp_path: Path) -> None:
    page = (
        "| batch | emu tok/s | rhea tok/s | speedup |\n|---|---|---|---|\n"
        "| 16 | 2137.61 | 1511.29 | 1.41x |\n| 64 | 3904.77 | 2680.93 | 1.46x |\n"
    )
    found = audit_of(tmp_path, page)
    one = verdict_of(found, "1.41x")
    assert (one.verdict, one.how) == (Verdict.BOUND, "emu tok/s / rhea tok/s")
    assert [source.place for source in one.sources] == ["/0", "/2"]
    wrong = verdict_of(
        audit_of(
            tmp_path, page.replace("1.41x", "1.85x").replace("1.46x |", "1.46x |\n| 16 | 2137.61 | 1511.29 | 1.41x |")
        ),
        "1.85x",
    )
    assert wrong.verdict is Verdict.OPERANDS
    assert "is 1.414, not 1.85x" in wrong.message


def test_the_ratio_of_another_row_is_told(tmp_path: Path) -> None:
    page = (
        "| batch | emu tok/s | rhea tok/s | speedup |\n|---|---|---|---|\n"
        "| 16 | 2137.61 | 1511.29 | 1.456x |\n| 64 | 3904.77 | 2680.93 | 1.456x |\n"
        "| 64 | 3904.77 | 2680.93 | 1.456x |\n"
    )
    one = verdict_of(audit_of(tmp_path, page), "1.456x", line=3)
    assert one.verdict is Verdict.OPERANDS
    assert "it is that of line 4" in one.message


def test_a_ratio_against_the_first_row(tmp_path: Path) -> None:
    page = (
        "| model | batch | tok/s | vs first |\n|---|---|---|---|\n"
        "| emu | 16 | 2137.61 | 1.00x |\n| emu | 64 | 3904.77 | 1.83x |\n| rhea | 64 | 2680.93 | 1.25x |\n"
    )
    found = audit_of(tmp_path, page)
    assert [verdict_of(found, text).verdict for text in ("1.00x", "1.83x", "1.25x")] == [Verdict.BOUND] * 3


def test_operands_in_a_sentence(tmp_path: Path) -> None:
    good = judged(tmp_path, "Of emu the rate goes from 2137.61 to 3904.77 tok/s (1.83x).", "1.83x")
    assert good.verdict is Verdict.BOUND
    bad = judged(tmp_path, "Of emu: 2137.61 -> 3904.77 tok/s (5.1x).", "5.1x")
    assert bad.verdict is Verdict.OPERANDS
    assert "make 1.83x, not 5.1x" in bad.message


def test_a_stored_ratio_is_bound_by_its_name(tmp_path: Path) -> None:
    page = "| model | batch | ratio |\n|---|---|---|\n| emu | 16 | 3.125 |\n| emu | 64 | 2.5 |\n| rhea | 16 | 1.75 |\n"
    found = audit_of(tmp_path, page)
    assert [verdict_of(found, text).verdict for text in ("3.125", "2.5", "1.75")] == [Verdict.BOUND] * 3


def test_a_ratio_of_nothing_printed_is_nowhere_or_ambiguous_never_bound(tmp_path: Path) -> None:
    one = judged(tmp_path, "The new scheduler is 1.83x faster.", "1.83x")
    assert one.verdict in (Verdict.AMBIGUOUS, Verdict.NOWHERE)


def test_percent_of_a_stored_fraction(tmp_path: Path) -> None:
    rows = [{"task": "arith", "acc": 0.61254}, {"task": "logic", "acc": 0.48817}]
    page = "| task | acc % |\n|---|---|\n| arith | 61.25 |\n| logic | 48.82 |\n"
    one = judged(tmp_path, page, "61.25", {"eval.json": rows})
    assert (one.verdict, one.how) == (Verdict.BOUND, "as percent, rounded")


def test_a_table_of_two_devices_says_so(tmp_path: Path) -> None:
    rows: Sequence[dict[str, object]] = [
        {**row, "gpu": f"Toy GPU {7000 + 1000 * (row['model'] == 'rhea')}"} for row in ROWS
    ]
    page = HEAD + "| emu | 16 | 549.5 | 2138 |\n| rhea | 16 | 918.3 | 1511 |\n"
    found = audit_of(tmp_path, page, {"run.json": rows})
    assert [device for device, _ in found.mixed[0].devices] == ["Toy GPU 7000", "Toy GPU 8000"]
    assert not found.is_clean
    named = page.replace("| model |", "| model | GPU |").replace("|---|---:", "|---|---|---:", 1)
    named = named.replace("| emu |", "| emu | Toy GPU 7000 |").replace("| rhea |", "| rhea | Toy GPU 8000 |")
    assert not audit_of(tmp_path, named, {"run.json": rows}).mixed


def test_settings_dates_and_versions_are_no_results(tmp_path: Path) -> None:
    page = "Measured on 2026-03-04 with torch 2.13.0, batch size 64 and 8 GPUs, in 2026; see PR #123 and 4 x H200.\n"
    found = audit_of(tmp_path, page)
    assert {one.verdict for one in found.judged} <= {Verdict.CONFIGURATION}
    assert verdict_of(found, "64").sources[0].field == "batch"


def test_code_links_and_comments_hold_no_numbers(tmp_path: Path) -> None:
    page = "See [it](https://example.org/3.14ms) and `2.71 ms`.\n\n```\n1.61 ms\n```\n\n<!-- 1.41 ms -->\n"
    assert audit_of(tmp_path, page).judged == ()


@pytest.mark.parametrize("text", ["nan", "inf", "NaN", ""])
def test_cells_that_are_no_numbers(tmp_path: Path, text: str) -> None:
    page = HEAD + f"| emu | 16 | {text} | 2138 |\n| emu | 64 | 1204 | 3905 |\n"
    blank = next(one for one in audit_of(tmp_path, page).judged if one.printed.quantity is None)
    assert blank.verdict is Verdict.NOT_RENDERED
    assert (blank.sources[0].place, blank.sources[0].field) == ("/0", "latency_ms")


def test_a_deliberate_gap_is_no_finding(tmp_path: Path) -> None:
    found = audit_of(tmp_path, HEAD + "| emu | 16 | — | 2138 |\n| emu | 64 | 1204 | n/a |\n")
    assert {one.printed.text for one in found.judged} == {"16", "64", "2138", "1204"}


def test_samples_are_found_by_their_median(tmp_path: Path) -> None:
    rows = [{"name": "emu", "samples_ms": [5.102, 5.311, 5.206]}, {"name": "rhea", "samples_ms": [9.04, 9.55, 9.41]}]
    page = "| name | median ms | max ms |\n|---|---|---|\n| emu | 5.21 | 5.31 |\n| rhea | 9.41 | 9.55 |\n"
    found = audit_of(tmp_path, page, {"run.json": rows})
    assert verdict_of(found, "5.21").sources[0].field == "samples_ms.median"
    assert verdict_of(found, "5.31").sources[0].field == "samples_ms.max"


def test_a_version_is_held_to_those_in_the_files(tmp_path: Path) -> None:
    rows = [{**row, "torch_version": "2.14.0+cu130", "env": "einops==0.8.1 vllm==0.11.2"} for row in ROWS]
    page = "Measured with PyTorch 2.13.0, torch 2.14.0, vLLM 0.11.2, einops==0.8.0 and numpy 2.1.0.\n"
    found = audit_of(tmp_path, page, {"run.json": rows})
    verdicts = {one.printed.text: one.verdict for one in found.judged}
    assert verdicts == {
        "PyTorch 2.13.0": Verdict.STALE,
        "torch 2.14.0": Verdict.CONFIGURATION,
        "vLLM 0.11.2": Verdict.CONFIGURATION,
        "einops 0.8.0": Verdict.STALE,
        "numpy 2.1.0": Verdict.CONFIGURATION,
    }
    stale = verdict_of(found, "PyTorch 2.13.0")
    assert (stale.sources[0].field, stale.sources[0].text) == ("torch_version", "2.14.0+cu130")


def test_a_value_of_the_row_under_the_head_of_another_field(tmp_path: Path) -> None:
    rows = [{"name": f"op{n}", "mean": 7.31 + n, "min": 6.28 + n, "max": 9.55 + n} for n in range(4)]
    page = "| name | mean | max |\n|---|---|---|\n" + "".join(
        f"| {row['name']} | {row['mean' if n else 'min']:.2f} | {row['max']:.2f} |\n" for n, row in enumerate(rows)
    )
    one = judged(tmp_path, page, "6.28", {"run.json": rows})
    assert one.verdict is Verdict.ANOTHER_ROW
    assert (one.sources[0].field, "mean = 7.31" in one.message) == ("min", True)


def test_metrics_named_in_rows_and_percent_without_a_sign(tmp_path: Path) -> None:
    document = {
        "results": {"arith": {"acc,none": 0.61254, "acc_stderr,none": 0.0131}, "logic": {"f1,none": 0.4, "x": 1}}
    }
    page = "| Tasks | Metric | Value | | Stderr |\n|---|---|---|---|---|\n| arith | acc | 61.25 | ± | 1.31 |\n"
    found = audit_of(tmp_path, page, {"eval.json": document})
    assert verdict_of(found, "61.25").sources[0].field.endswith(".acc,none")
    assert verdict_of(found, "1.31").sources[0].field.endswith(".acc_stderr,none")


def test_a_deviation_behind_its_mean(tmp_path: Path) -> None:
    rows = [{"name": f"op{n}", "avg_ts": 470.28 + 31 * n, "stddev_ts": 3.56 + n} for n in range(3)]
    page = "| name | t/s |\n|---|---|\n" + "".join(
        f"| {row['name']} | {row['avg_ts']:.2f} ± {row['stddev_ts']:.2f} |\n" for row in rows
    )
    found = audit_of(tmp_path, page, {"run.json": rows})
    assert verdict_of(found, "470.28").sources[0].field == "avg_ts"
    assert verdict_of(found, "3.56").sources[0].field == "stddev_ts"


def test_a_name_written_once_for_several_rows(tmp_path: Path) -> None:
    page = (
        "| model | batch | latency (ms) |\n|---|---|---|\n"
        "| emu | 16 | 549.5 |\n| | 64 | 1204.1 |\n| rhea | 16 | 918.3 |\n| | 64 | 2010.4 |\n"
    )
    found = audit_of(tmp_path, page)
    places = [verdict_of(found, text).sources[0].place for text in ("549.5", "1204.1", "918.3", "2010.4")]
    assert places == ["/0", "/1", "/2", "/3"]
    swapped = audit_of(tmp_path, page.replace("1204.1", "x").replace("2010.4", "1204.1").replace("x", "2010.4"))
    assert verdict_of(swapped, "1204.1").verdict is Verdict.ANOTHER_ROW


def test_a_rate_of_bytes(tmp_path: Path) -> None:
    rows = [{"name": f"copy{n}", "global_throughput": 506888669821 + n * 7e10, "size": 2**20 << n} for n in range(3)]
    page = "| name | size | Throughput |\n|---|---|---|\n" + "".join(
        f"| {row['name']} | 2^{20 + n} = {row['size']} | {float(str(row['global_throughput'])) / 1e9:.3f} GB/s |\n"
        for n, row in enumerate(rows)
    )
    found = audit_of(tmp_path, page, {"run.json": rows})
    one = verdict_of(found, "506.889 GB/s")
    assert (one.verdict, one.sources[0].field) == (Verdict.BOUND, "global_throughput")
    assert verdict_of(found, "1048576").sources[0].field == "size"
