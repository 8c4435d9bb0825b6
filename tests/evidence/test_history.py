"""A quantity over the logs of its series: every log keeps its place, with a number or with why it has none."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from evidence.book import Book
from evidence.errors import UnknownNameError
from evidence.history import of_claim, of_series
from evidence.schema import Record
from evidence.views import Absent, Measured, Ratio
from tests.factories import book, on_device, sweep

CLAIMS = """
claims:
  gain:
    statement: Fusing is {ratio} faster.
    series: kernels/sweep
    metric: time
    baseline: eager
    candidate: fused
    where: {N: 8}
    expect: better
    mechanism: {unknown: nothing was profiled}
  cost:
    statement: It takes {value}.
    series: kernels/sweep
    metric: time
    arm: fused
"""


def session(day: int, fused: float, **changes: object) -> Record:
    begun = datetime(2026, 9, day, 10, tzinfo=UTC)
    times = {"eager": {1: 1e-3, 8: 8e-3}, "fused": {1: fused, 8: 8 * fused}}
    return sweep(times, f"kernels/sweep_202609{day:02}", started_at=begun, ended_at=begun.replace(hour=11), **changes)


def history_book(path: Path, *records: Record, claims: str = CLAIMS) -> Book:
    return book(path, claims, *records)


def test_a_claim_over_its_logs(tmp_path: Path) -> None:
    (only,) = of_claim(history_book(tmp_path, *(session(day, 0.5e-3) for day in (3, 1, 2))), "gain")
    assert only.title == "time of fused against eager, n8"
    assert [moment.date for moment in only.moments] == ["2026-09-01", "2026-09-02", "2026-09-03"]
    assert all(isinstance(moment.cell, Ratio) and moment.cell.word == "FASTER" for moment in only.moments)
    assert only.moments[0].relative == only.moments[0].cell.interval  # type: ignore[union-attr]
    assert only.changes == "3 logs: a change of level shows in 4 or more"


def test_a_level_that_changes_is_named_with_its_log(tmp_path: Path) -> None:
    records = [session(day, 0.5e-3 if day < 4 else 0.6e-3) for day in range(1, 8)]
    first, second = of_claim(history_book(tmp_path, *records), "cost")
    assert (first.title, second.title) == ("time of fused, n1", "time of fused, n8")
    assert [moment.level for moment in first.moments] == ["", "", "", "+20 %", "", "", ""]
    assert first.changes == "the level changes in 7 logs: +20 % with kernels/sweep_20260904"
    assert first.unit == "µs"
    relative = first.moments[-1].relative
    assert relative is not None
    assert relative.value == pytest.approx(1.2, rel=0.01)


def test_a_series_shows_each_arm_and_workload_but_no_control(tmp_path: Path) -> None:
    found = of_series(history_book(tmp_path, session(1, 0.5e-3), session(2, 0.5e-3)), "kernels/sweep")
    assert [one.title for one in found] == [f"time of {arm}, n{n}" for arm in ("eager", "fused") for n in (1, 8)]
    assert all(isinstance(moment.cell, Measured) for one in found for moment in one.moments)


def test_what_is_no_evidence_keeps_its_place_without_a_number(tmp_path: Path) -> None:
    claims = CLAIMS + "logs:\n  kernels/sweep_20260902: {do_not_cite: another job ran}\n"
    records = session(1, 0.5e-3, hosts=on_device("Synthetic GPU B")), session(2, 0.1e-3), session(3, 0.5e-3)
    (only,) = of_claim(history_book(tmp_path, *records, claims=claims), "gain")
    cells = [moment.cell for moment in only.moments]
    assert [cell.reason for cell in cells if isinstance(cell, Absent)] == [
        "ran on Synthetic GPU B, not Synthetic GPU A",
        "not to be cited: another job ran",
    ]
    assert isinstance(cells[2], Ratio)


def test_a_log_without_the_workload_says_so(tmp_path: Path) -> None:
    begun = datetime(2026, 9, 1, 10, tzinfo=UTC)
    short = sweep({"eager": {1: 1e-3}, "fused": {1: 5e-4}}, started_at=begun, ended_at=begun.replace(hour=11))
    gain, cost = of_claim(history_book(tmp_path, short, session(2, 0.5e-3)), "gain"), "cost"
    assert isinstance(gain[0].moments[0].cell, Absent)
    second = of_claim(history_book(tmp_path / "other", short, session(2, 0.5e-3)), cost)[1]
    assert second.moments[0].cell == Absent("missing", "not in this log")


def test_names_that_are_not_there_name_the_nearest(tmp_path: Path) -> None:
    one = history_book(tmp_path, session(1, 0.5e-3))
    with pytest.raises(UnknownNameError, match="gains"):
        of_claim(one, "gains")
    with pytest.raises(UnknownNameError, match="sweeps"):
        of_series(one, "kernels/sweeps")
    with pytest.raises(UnknownNameError, match="tme"):
        of_series(one, "kernels/sweep", "tme")
