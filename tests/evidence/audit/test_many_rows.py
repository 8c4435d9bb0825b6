"""Files of many rows, and ratios of fields that no cell prints. All numbers are synthetic."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from evidence.audit.verdicts import Audit, Verdict
from tests.evidence.audit.pairs import audited, verdict_of

DRAWN = random.Random(31)
MANY = [
    {
        "suite": f"suite{n % 3}",
        "batch": 2 ** (n % 10),
        "seq": 128 * (1 + n // 10),
        "loss": 0,
        "drift_ms": round(DRAWN.uniform(-4, 4), 4),
        **{f"step{k}_ms": round(DRAWN.uniform(1, 5000), 4) for k in range(6)},
        "tokens_per_sec": round(DRAWN.uniform(100, 90000), 3),
    }
    for n in range(600)
]
PAIR = [
    {"model": "emu", "batch": 16, "time_ms": 549.495},
    {"model": "rhea", "batch": 16, "time_ms": 918.332},
    {"model": "emu", "batch": 64, "time_ms": 1204.118},
    {"model": "rhea", "batch": 64, "time_ms": 2010.406},
]


def audit_of(root: Path, page: str, document: object) -> Audit:
    (root / "page.md").write_text(page, encoding="utf-8")
    (root / "run.json").write_text(json.dumps(document), encoding="utf-8")
    return audited(root / "page.md", root / "run.json")


def table(*places: int) -> str:
    lines = ["| suite | batch | seq | step3 (s) | tok/s |", "|---|---|---|---|---|"]
    for place in places:
        row = MANY[place]
        cells = [
            row["suite"],
            row["batch"],
            row["seq"],
            f"{float(str(row['step3_ms'])) / 1e3:.4f}",
            row["tokens_per_sec"],
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def test_rows_among_many_are_found_by_their_settings(tmp_path: Path) -> None:
    places = (7, 123, 408, 599)
    audit = audit_of(tmp_path, table(*places), MANY)
    results = [one for one in audit.judged if one.printed.head in ("step3 (s)", "tok/s")]
    assert {one.verdict for one in results} == {Verdict.BOUND}
    assert [one.sources[0].place for one in results[::2]] == [f"/{place}" for place in places]


def test_a_long_number_among_many_rows_needs_no_label_and_a_short_one_does(tmp_path: Path) -> None:
    value = MANY[321]["tokens_per_sec"]
    audit = audit_of(tmp_path, f"It came to {value} at its best.\n\nIt then took 12 ms, or 47 ms.\n", MANY)
    found = verdict_of(audit, str(value))
    assert (found.verdict, found.sources[0].place) == (Verdict.BOUND, "/321")
    assert verdict_of(audit, "12 ms").verdict is Verdict.AMBIGUOUS
    assert verdict_of(audit, "47 ms").verdict is Verdict.AMBIGUOUS


def test_a_scaled_number_among_many_rows(tmp_path: Path) -> None:
    value = float(str(MANY[17]["tokens_per_sec"]))
    audit = audit_of(tmp_path, f"It came to {value / 1e3:.6f} ktok/s.", MANY)
    assert verdict_of(audit, f"{value / 1e3:.6f} ktok/s").sources[0].place == "/17"


@pytest.mark.parametrize("shown", ["0 ms", "0.00 ms"])
def test_a_zero_among_many_rows_is_never_bound_by_its_value(tmp_path: Path, shown: str) -> None:
    assert verdict_of(audit_of(tmp_path, f"It took {shown}.", MANY), shown).verdict is not Verdict.BOUND


def test_numbers_of_other_rows_among_many(tmp_path: Path) -> None:
    page = table(7, 123, 408).replace(str(MANY[123]["tokens_per_sec"]), str(MANY[500]["tokens_per_sec"]))
    one = verdict_of(audit_of(tmp_path, page, MANY), str(MANY[500]["tokens_per_sec"]))
    assert (one.verdict, one.sources[0].place) == (Verdict.ANOTHER_ROW, "/500")


def test_a_setting_that_no_row_has_keeps_its_row_from_being_bound(tmp_path: Path) -> None:
    row = MANY[7]
    page = f"| batch | seq | tok/s |\n|---|---|---|\n| 7 | {row['seq']} | {row['tokens_per_sec']} |\n"
    audit = audit_of(tmp_path, page, MANY)
    assert verdict_of(audit, "7").verdict is Verdict.NOWHERE
    one = verdict_of(audit, str(row["tokens_per_sec"]))
    assert one.verdict is not Verdict.BOUND
    assert "no row has batch 7" in one.message


def test_a_ratio_of_two_rows_that_no_cell_prints(tmp_path: Path) -> None:
    page = "| batch | speedup of emu in time |\n|---|---|\n| 16 | 1.671x |\n| 64 | 1.670x |\n"
    audit = audit_of(tmp_path, page, PAIR)
    one = verdict_of(audit, "1.671x")
    assert one.verdict is Verdict.BOUND
    assert {source.place for source in one.sources} == {"/0", "/1"}
    assert verdict_of(audit, "1.670x").verdict is Verdict.BOUND
    assert verdict_of(audit_of(tmp_path, page.replace("1.671x", "1.85x"), PAIR), "1.85x").verdict is Verdict.NOWHERE


def test_a_change_without_its_sign(tmp_path: Path) -> None:
    page = "At batch 16 emu takes 549.495 ms where rhea takes 918.332 ms, which is 40.2 % less."
    assert verdict_of(audit_of(tmp_path, page, PAIR), "40.2 %").verdict is Verdict.BOUND


def test_a_difference_of_two_columns(tmp_path: Path) -> None:
    page = (
        "| batch | emu time (ms) | rhea time (ms) | diff |\n|---|---|---|---|\n"
        "| 16 | 549.495 | 918.332 | 368.837 |\n| 64 | 1204.118 | 2010.406 | 806.288 |\n"
    )
    one = verdict_of(audit_of(tmp_path, page, PAIR), "368.837")
    assert (one.verdict, one.how) == (Verdict.BOUND, "rhea time (ms) - emu time (ms)")


def test_a_ratio_of_printed_numbers_that_no_file_holds(tmp_path: Path) -> None:
    page = (
        "| batch | emu time (ms) | rhea time (ms) | speedup |\n|---|---|---|---|\n"
        "| 16 | 549.495 | 733.1 | 1.33x |\n| 64 | 1204.118 | 1604.9 | 1.33x |\n"
    )
    found = [one for one in audit_of(tmp_path, page, PAIR).judged if one.printed.text == "1.33x"]
    assert {one.verdict for one in found} == {Verdict.NOWHERE}
    assert "it follows from the numbers beside it, of which rhea time (ms) 733.1 is nowhere" in found[0].message


def test_a_single_row_whose_ratio_is_not_that_of_its_numbers(tmp_path: Path) -> None:
    page = "| batch | emu (ms) | rhea (ms) | speedup |\n|---|---|---|---|\n| 16 | 549.495 | 918.332 | 1.85x |\n"
    one = verdict_of(audit_of(tmp_path, page, PAIR), "1.85x")
    assert one.verdict is Verdict.OPERANDS
    assert "make 0.5984 or 1.671, not 1.85x" in one.message


def test_operands_in_two_units(tmp_path: Path) -> None:
    page = (
        "At batch 16 emu takes 549.495 ms and rhea 0.918332 s, 1.67x as long.\n\n"
        "At batch 16: 549.495 ms -> 0.918332 s (5.1x)."
    )
    audit = audit_of(tmp_path, page, PAIR)
    assert verdict_of(audit, "1.67x").verdict is Verdict.BOUND
    wrong = verdict_of(audit, "5.1x")
    assert wrong.verdict is Verdict.OPERANDS
    assert "make 1.67x, not 5.1x" in wrong.message


def test_of_several_pairs_of_rows_none_is_chosen(tmp_path: Path) -> None:
    rows = [{"model": "emu", "run": n, "time_ms": 100.0 + n} for n in range(12)]
    one = verdict_of(audit_of(tmp_path, "| model | speedup |\n|---|---|\n| emu | 1.05x |\n", rows), "1.05x")
    assert one.verdict is Verdict.AMBIGUOUS
    assert "a match may be chance" in one.message
