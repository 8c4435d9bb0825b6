"""Tests of what a lock holds: each row and sentence as it is printed, each line whole by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence import lock, printed
from evidence.book import Book
from evidence.schema import Crashed, Skipped
from evidence.statistics import Interval, Verdict
from evidence.views import Absent, Column, Measured, Ratio, Row, Shown, Table, TableCell, Words
from tests import factories
from tests.evidence import splitkv

ONE = Interval(1.0, 1.0, 1.0)
AXES = (Column("N", "", "axis"), Column("dtype", "", "axis"))
NUMBERS = (
    Column("time, µs", "", "value", "time", "µs"),
    Column("a ÷ b", "", "ratio", "time"),
    Column("why", "", "text"),
)


def table(*rows: Row) -> Table:
    return Table("t", "T", "", (), (*AXES, *NUMBERS), rows, (), ())


def row(*cells: TableCell) -> Row:
    return Row((Words("8"), Words("bf16"), *cells))


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (
            (
                Measured(ONE, Shown("1.50", "1.4", "1.6")),
                Ratio(Verdict.BETTER, "FASTER", ONE, Shown("1.2×", "1.1", "1.3"), 0.01),
                Words("it"),
            ),
            "1.50 µs | 1.2× FASTER | it",
        ),
        (
            (
                Absent("crashed", "out of memory"),
                Ratio(Verdict.REFUSED, "REFUSED", None, None, 0.01, "b crashed"),
                Words(""),
            ),
            "— CRASHED: out of memory | — REFUSED: b crashed | ",
        ),
        (
            (Absent("skipped", "odd"), Absent("skipped", "odd"), Absent("skipped", "")),
            "— SKIPPED: odd | — SKIPPED | — SKIPPED",
        ),
        ((Words("baseline"), Words("baseline"), Words("é\n")), "baseline | baseline | é\n"),
    ],
)
def test_a_row_is_its_cells_with_units_and_verdicts(cells: tuple[TableCell, ...], text: str) -> None:
    view = table(row(*cells))
    assert printed.row_keys(view) == ["8 / bf16"]
    assert printed.row_text(view, view.rows[0]) == text


def test_rows_of_one_name_are_numbered() -> None:
    same = row(Words(""), Words(""), Words(""))
    odd = Row((Words("8 / bf16 (2)"), *same.cells[2:]))
    view = Table("t", "T", "", (), (AXES[0], *NUMBERS), (odd, Row((Words("8 / bf16"), *same.cells[2:]))), (), ())
    assert printed.row_keys(view) == ["8 / bf16 (2)", "8 / bf16"]
    assert printed.row_keys(table(same, same, same)) == ["8 / bf16", "8 / bf16 (2)", "8 / bf16 (3)"]


def test_the_example(tmp_path: Path) -> None:
    book = factories.book(tmp_path, splitkv.CLAIMS, splitkv.splitkv())
    facts = printed.facts_of(book)
    assert facts["claims", "splitkv", "says"] == (
        "Splitting the cache gives 1.14× on NVIDIA L4 (5 faster, 1 slower, 3 with identical configuration left out)."
    )
    assert facts["claims", "splitkv", "note"] == (
        "5 faster, 1 slower, 3 with identical configuration left out, geometric mean 1.14× (95 % 1.140–1.142), n 9, "
        "9 of 9 cells"
    )
    assert facts["series", splitkv.SERIES, "log"] == "20261105"
    assert facts["series", splitkv.SERIES, "stance"] == (
        "NVIDIA L4 · torch 2.11.0, triton 3.6.0, driver 580.00, Python 3.12.3"
    )
    assert facts["tables", "splitkv-l4", "1 / 8192"] == "118.62 µs | 108.80 µs | 1.091× FASTER"
    assert sum(key[0] == "tables" for key in facts) == 9


def test_a_claim_that_is_contradicted_is_printed_for_whoever_corrects_it(tmp_path: Path) -> None:
    claims = splitkv.CLAIMS.replace("{better: 5, worse: 1}", "better")
    book = factories.book(tmp_path, claims, splitkv.splitkv())
    assert book.shown("splitkv") is None
    assert printed.item_facts(book, "splitkv")["claims", "splitkv", "note"].startswith("5 faster, 1 slower")


def test_what_means_nothing_has_no_lines(tmp_path: Path) -> None:
    claims = splitkv.CLAIMS.replace("{ratio.geomean}", "{ratoi}").replace("rows: [B, T]", "rows: [B]")
    book = factories.book(tmp_path, claims, splitkv.splitkv())
    assert {key[0] for key in printed.facts_of(book)} == {"series"}


def test_a_dated_log_is_pinned_where_it_is_named(tmp_path: Path) -> None:
    claims = splitkv.CLAIMS.replace(f"series: {splitkv.SERIES}", f"series: {splitkv.FIRST}")
    claims = claims.replace("    expect:", "    status: {historical: the first run}\n    expect:")
    claims = claims.replace(
        "    baseline: whole\nclaims", "    baseline: whole\n    status: {historical: the first}\nclaims"
    )
    book = factories.book(tmp_path, claims, splitkv.splitkv())
    assert {key[0] for key in printed.facts_of(book)} == {"claims", "tables"}


def test_every_text_has_an_end(tmp_path: Path) -> None:
    made = factories.outcomes_record()
    crash = Crashed(arm="fused", workload="large", cause="error", phase="warm-up", message="x" * 1900)
    cells = tuple(crash if isinstance(cell, Crashed) else cell for cell in made.cells)
    claims = """
tables:
  toy:
    title: The toy op
    series: kernels/outcomes
    rows: [workload]
    across: arm
    columns: [time]
    where: {arm: [fused, eager]}
"""
    facts = printed.facts_of(factories.book(tmp_path, claims, made.model_copy(update={"cells": cells})))
    assert any("CRASHED: error in warm-up: xxx" in text for text in facts.values())
    assert all(len(text) <= lock.LIMIT for text in facts.values())
    assert any(isinstance(cell, Skipped) for cell in made.cells)
    assert facts["tables", "toy", "odd"].startswith("— SKIPPED: needs a size that four divides | ")


def test_the_lock_decides_which_log_is_printed(tmp_path: Path) -> None:
    book = factories.book(tmp_path, splitkv.CLAIMS, splitkv.splitkv(), splitkv.splitkv(splitkv.SECOND, splitkv.SLOWER))
    assert printed.facts_of(book)["series", splitkv.SERIES, "log"] == "20261128"
    project = factories.project(tmp_path)
    facts = {("series", splitkv.SERIES, "log"): "20261105"}
    (project.claims / lock.FILE_NAME).write_text(lock.dump(facts), encoding="utf-8")  # type: ignore[arg-type]
    pinned = Book(project, book._store)
    assert printed.facts_of(pinned)["series", splitkv.SERIES, "log"] == "20261105"
    assert printed.facts_of(pinned)["tables", "splitkv-l4", "1 / 8192"].endswith("FASTER")
    other = Book(project, book._store, pins={splitkv.SERIES: splitkv.SECOND})
    assert printed.facts_of(other)["tables", "splitkv-l4", "1 / 8192"].endswith("SLOWER")
