"""Pages beside Evidence records: bound to cells, and proposed as claims that load. All numbers are synthetic."""

from __future__ import annotations

from pathlib import Path

from evidence import claims, store
from evidence.audit import proposals
from evidence.audit.auditing import Run, run
from evidence.audit.verdicts import Verdict
from evidence.readings import Quantity, process_values
from evidence.schema import Record
from tests.evidence.audit.pairs import kernel_logs, kernel_page, verdict_of
from tests.factories import sweep

TIMES = {"eager": {1024: 1.2345e-3, 4096: 4.5678e-3}, "fused": {1024: 0.8123e-3, 4096: 2.7182e-3}}


def median(record: Record, arm: str, size: int) -> float:
    values = sorted(process_values(record, record.cell(arm, f"n{size}"), Quantity("time")))
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def migrated(root: Path) -> tuple[Run, Record, str]:
    record = sweep(TIMES)
    store.save(root / "logs", record)
    rows = [
        f"| {size} | {median(record, 'eager', size) * 1e3:.3f} | {median(record, 'fused', size) * 1e3:.3f} "
        f"| {median(record, 'eager', size) / median(record, 'fused', size):.2f}x |"
        for size in (1024, 4096)
    ]
    page = root / "page.md"
    page.write_text(
        "\n".join(
            [
                "# Fused toy in 3 steps",
                "",
                "| N | eager (ms) | fused (ms) | speedup |",
                "|---|---|---|---|",
                *rows,
                "",
                f"With fused, the time at N of 4096 is {median(record, 'fused', 4096) * 1e6:.1f} us.",
                "",
            ]
        ),
        encoding="utf-8",
    )
    found = run([page], [root / "logs"])
    return found, record, proposals.propose(found)


def load(root: Path, text: str) -> claims.Claims:
    (root / "claims").mkdir()
    (root / "claims/proposed.yml").write_text(text, encoding="utf-8")
    return claims.load(root / "claims", root)


def test_numbers_are_bound_to_cells_of_records(tmp_path: Path) -> None:
    found, record, _ = migrated(tmp_path)
    results = [one for one in found.audit.judged if one.verdict is Verdict.BOUND]
    assert len(results) == 7
    one = verdict_of(found.audit, f"{median(record, 'fused', 1024) * 1e3:.3f}")
    assert (one.sources[0].field, one.how) == ("time", "times 1,000, rounded")
    cell = found.index.rows[one.sources[0].row].cell
    assert cell is not None
    assert (cell.series, cell.arm, cell.workload) == ("kernels/sweep", "fused", "n1024")


def test_what_is_proposed_loads_and_names_lines(tmp_path: Path) -> None:
    _, _, text = migrated(tmp_path)
    loaded = load(tmp_path, text)
    assert not loaded.findings
    (table,) = loaded.tables.values()
    assert (table.item.series, table.item.rows, table.item.across) == (("kernels/sweep",), ("N",), "arm")
    assert [str(getattr(column, "ratio", column)) for column in table.item.columns] == ["time", "time"]
    assert table.item.baseline == "eager"
    assert not any(letter.isdigit() for letter in table.item.title)
    (claim,) = loaded.claims.values()
    assert (claim.item.metric, claim.item.arm, claim.item.where) == ("time", "fused", {"workload": ("n4096",)})
    assert "page.md:3" in text
    assert "page.md:8" in text


def test_a_ratio_of_two_arms_in_prose_is_a_claim_that_expects_what_the_page_says(tmp_path: Path) -> None:
    record = sweep(TIMES)
    store.save(tmp_path / "logs", record)
    eager, fused = median(record, "eager", 4096), median(record, "fused", 4096)
    page = tmp_path / "page.md"
    words = f"At N of 4096 eager takes {eager * 1e3:.4f} ms and fused {fused * 1e3:.4f} ms, {eager / fused:.3f}x."
    page.write_text(words, encoding="utf-8")
    loaded = load(tmp_path, proposals.propose(run([page], [tmp_path / "logs"])))
    assert not loaded.findings
    pair = next(one.item for one in loaded.claims.values() if one.item.candidate is not None)
    assert (pair.baseline, pair.candidate, pair.expect) == ("eager", "fused", "better")
    assert pair.mechanism is not None


def test_for_files_of_other_tools_it_says_what_would_read_them(tmp_path: Path) -> None:
    found = run([kernel_page(tmp_path)], [kernel_logs(tmp_path)])
    text = proposals.propose(found)
    assert "no number on these pages comes from an Evidence record" in text
    assert "quokka.plain-hip.jsonl" in text
    assert "no importer reads it" in text
    assert not load(tmp_path, text).findings


def test_a_page_cannot_break_out_of_the_comments(tmp_path: Path) -> None:
    record = sweep(TIMES)
    store.save(tmp_path / "logs", record)
    page = tmp_path / "page: x\u2028claims.md"
    page.write_text(f"With fused at N of 4096 it is {median(record, 'fused', 4096) * 1e6:.1f} us.", encoding="utf-8")
    loaded = load(tmp_path, proposals.propose(run([page], [tmp_path / "logs"])))
    assert not loaded.findings
    assert len(loaded.claims) == 1


def test_a_number_of_an_older_log_of_a_series_is_stale(tmp_path: Path) -> None:
    old = sweep(TIMES)
    new = sweep(
        {arm: {size: time * 0.7 for size, time in by_size.items()} for arm, by_size in TIMES.items()},
        "kernels/sweep_20261015",
    )
    for record in (old, new):
        store.save(tmp_path / "logs", record)
    page = tmp_path / "page.md"
    cells = [f"| {arm} | {median(old, arm, 4096) * 1e3:.3f} |" for arm in TIMES]
    page.write_text("\n".join(["## N of 4096", "", "| arm | time (ms) |", "|---|---|", *cells]), encoding="utf-8")
    judged = run([page], [tmp_path / "logs"]).audit.judged
    found = [one for one in judged if one.printed.table is not None]
    assert {one.verdict for one in found} == {Verdict.STALE}
    assert "sweep_20261015" in found[0].message
