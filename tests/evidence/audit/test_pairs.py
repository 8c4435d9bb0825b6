"""The pages of `pairs` against their files: synthetic twins of public pairs, with invented numbers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from evidence.audit.verdicts import Verdict
from tests.evidence.audit.pairs import (
    BUILDS,
    DEPTHS,
    METRICS,
    SWEEP,
    audited,
    kernel_logs,
    kernel_page,
    moved_on_pair,
    serving_pair,
    sweep_pair,
    verdict_of,
)


def test_every_number_of_a_true_page_is_found_with_its_file_row_and_field(tmp_path: Path) -> None:
    logs = kernel_logs(tmp_path)
    audit = audited(kernel_page(tmp_path), logs)
    assert not audit.problems
    assert {one.verdict for one in audit.judged} == {Verdict.BOUND, Verdict.CONFIGURATION}
    tables = [one for one in audit.judged if one.printed.table is not None]
    assert Counter(one.verdict for one in tables) == {
        Verdict.BOUND: 2 * 2 * 2 * len(DEPTHS) * 3,
        Verdict.CONFIGURATION: 2 * 2 * 2 * len(DEPTHS) * 2,
    }
    assert all(one.sources for one in tables)


def test_a_change_is_bound_to_both_of_its_operands(tmp_path: Path) -> None:
    audit = audited(kernel_page(tmp_path), kernel_logs(tmp_path))
    change = next(one for one in audit.judged if one.printed.head == "Δ%")
    assert [Path(source.file).name for source in change.sources] == [f"quokka.{build}.jsonl" for build in BUILDS[:2]]
    assert {source.field for source in change.sources} == {"avg_ts"}
    assert change.how == "(old-mfma - HIP) / HIP as percent"


def test_sizes_and_counts_are_scaled_to_their_fields(tmp_path: Path) -> None:
    audit = audited(kernel_page(tmp_path), kernel_logs(tmp_path))
    found = {one.printed.text: (one.sources[0].field, one.how) for one in audit.judged if one.sources}
    assert found["1536.00 MiB"] == ("model_size", "divided by 1,024^2")
    assert found["2.05 B"] == ("model_n_params", "divided by 1,000^3, rounded")


def test_what_a_missing_file_held_is_nowhere_and_so_are_its_changes(tmp_path: Path) -> None:
    logs = kernel_logs(tmp_path, leave_out=("wombat 9B F16", "old-mfma"))
    audit = audited(kernel_page(tmp_path), logs)
    unfound = [one for one in audit.judged if one.verdict.is_finding]
    assert {one.verdict for one in unfound} == {Verdict.NOWHERE}
    assert Counter(one.printed.head for one in unfound) == {"old-mfma": 2 * len(DEPTHS), "Δ%": 2 * len(DEPTHS)}


def test_a_csv_is_a_page_and_its_rows_are_found_in_the_files_they_name(tmp_path: Path) -> None:
    page, folder = serving_pair(tmp_path)
    audit = audited(page, folder)
    found = [one for one in audit.judged if one.printed.row in (1, 4)]
    assert {one.verdict for one in found} == {Verdict.BOUND, Verdict.CONFIGURATION}
    bound = [one for one in found if one.verdict is Verdict.BOUND]
    assert [one.printed.head for one in bound] == [*METRICS, *METRICS]
    assert all(one.printed.head == one.sources[0].field and one.how == "as stored" for one in bound)
    missing = [one for one in audit.judged if one.printed.row not in (1, 4) and one.printed.head in METRICS]
    assert {one.verdict for one in missing} == {Verdict.NOWHERE}
    assert "is not among the files" in missing[0].message


def test_numbers_that_no_row_holds_are_nowhere(tmp_path: Path) -> None:
    audit = audited(*moved_on_pair(tmp_path))
    results = [one for one in audit.judged if "." in one.printed.text]
    assert len(results) == 8
    assert {one.verdict for one in results} == {Verdict.NOWHERE}
    settings = [one for one in audit.judged if one not in results]
    assert {one.verdict for one in settings} == {Verdict.CONFIGURATION}
    assert verdict_of(audit, "61.93").sources[0].field == "median_ttft_ms"


def test_a_nan_is_no_rendered_number_and_its_place_is_told(tmp_path: Path) -> None:
    audit = audited(*sweep_pair(tmp_path))
    counts = audit.counts()
    assert counts[Verdict.NOT_RENDERED] == 4 * (len(SWEEP) - 1)
    assert counts[Verdict.BOUND] == 4
    first = next(one for one in audit.judged if one.verdict is Verdict.NOT_RENDERED and one.printed.head == "16")
    assert first.sources[0].place == "line 5"
    assert first.sources[0].field == "tokens_per_sec"
