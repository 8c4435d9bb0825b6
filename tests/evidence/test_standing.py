"""Tests of which log a series stands on: its pin, the newest start, its first device, and what is set aside."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from evidence.errors import RecordError, UnknownNameError
from evidence.schema import Record
from evidence.standing import Standing
from evidence.store import Store
from tests import factories
from tests.factories import STARTED

SERIES = "kernels/toy"


def log(day: str, *, hours: int = 0, device: str = "Synthetic GPU A") -> Record:
    """A session of a day, some hours after ten."""
    run = day.partition("-")[0]
    started = STARTED.replace(month=int(run[4:6]), day=int(run[6:8])) + timedelta(hours=hours)
    ended = started + timedelta(minutes=6)
    return factories.record(f"{SERIES}_{day}", started_at=started, ended_at=ended, hosts=factories.on_device(device))


def stands(
    folder: Path, *records: Record, pins: Mapping[str, str] | None = None, aside: tuple[str, ...] = ()
) -> Standing:
    for one in records:
        factories.loaded(one, folder)
    return Standing(Store(folder), pins or {}, aside)


def test_the_newest_start_is_chosen_whatever_the_run_is_called(tmp_path: Path) -> None:
    early, late = log("20260902", hours=5), log("20260902", hours=1)
    standing = stands(tmp_path, log("20260901"), early, late)  # the second run of that day started first
    assert standing.log(SERIES).entry.log == f"{SERIES}_20260902"
    assert standing.choice(SERIES).newest.entry.log == f"{SERIES}_20260902"


def test_the_lock_decides_and_the_newest_is_known(tmp_path: Path) -> None:
    standing = stands(tmp_path, log("20260901"), log("20260902"), pins={SERIES: f"{SERIES}_20260901"})
    assert standing.log(SERIES).entry.log == f"{SERIES}_20260901"
    choice = standing.choice(SERIES)
    assert choice.pinned is not None
    assert (choice.pinned.entry.log, choice.newest.entry.log) == (f"{SERIES}_20260901", f"{SERIES}_20260902")
    assert standing.stand(SERIES).log == f"{SERIES}_20260901"


def test_a_dated_log_is_itself(tmp_path: Path) -> None:
    standing = stands(tmp_path, log("20260901"), log("20260902"))
    assert standing.log(f"{SERIES}_20260901").entry.log == f"{SERIES}_20260901"


def test_a_log_with_a_status_is_passed_over_and_pinned_to_no_longer(tmp_path: Path) -> None:
    second = f"{SERIES}_20260902"
    standing = stands(tmp_path, log("20260901"), log("20260902"), pins={SERIES: second}, aside=(second,))
    assert standing.log(SERIES).entry.log == second
    assert standing.choice(SERIES).newest.entry.log == f"{SERIES}_20260901"


def test_where_all_have_a_status_the_last_is_shown_under_its_banner(tmp_path: Path) -> None:
    aside = (f"{SERIES}_20260901", f"{SERIES}_20260902")
    standing = stands(tmp_path, log("20260901"), log("20260902"), aside=aside)
    assert standing.log(SERIES).entry.log == f"{SERIES}_20260902"


@pytest.mark.parametrize("pins", [{}, {SERIES: f"{SERIES}_20260901"}])
def test_a_series_stays_on_its_first_device(tmp_path: Path, pins: dict[str, str]) -> None:
    other = log("20260903", device="Synthetic GPU B")
    choice = stands(tmp_path, log("20260901"), log("20260902"), other, pins=pins).choice(SERIES)
    assert choice.device == "Synthetic GPU A"
    assert choice.newest.entry.log == f"{SERIES}_20260902"
    assert [one.entry.log for one in choice.strangers] == [f"{SERIES}_20260903"]


def test_a_pin_to_another_device_is_a_stranger(tmp_path: Path) -> None:
    pins = {SERIES: f"{SERIES}_20260902"}
    choice = stands(tmp_path, log("20260901"), log("20260902", device="Synthetic GPU B"), pins=pins).choice(SERIES)
    assert [one.entry.log for one in choice.strangers] == [f"{SERIES}_20260902"]


def test_a_damaged_rival_is_no_rival(tmp_path: Path) -> None:
    standing = stands(tmp_path, log("20260901"), log("20260902"))
    (tmp_path / f"{SERIES}_20260902/record.json").write_text("{")
    assert standing.log(SERIES).entry.log == f"{SERIES}_20260901"


def test_a_damaged_pin_is_an_error(tmp_path: Path) -> None:
    standing = stands(tmp_path, log("20260901"), log("20260902"), pins={SERIES: f"{SERIES}_20260901"})
    (tmp_path / f"{SERIES}_20260901/record.json").write_text("{")
    with pytest.raises(RecordError):
        standing.log(SERIES)


def test_a_pin_that_is_gone_gives_the_newest(tmp_path: Path) -> None:
    standing = stands(tmp_path, log("20260901"), pins={SERIES: f"{SERIES}_20260801"})
    assert standing.log(SERIES).entry.log == f"{SERIES}_20260901"
    assert standing.choice(SERIES).pinned is None


def test_no_such_series(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="kernels/tyo"):
        stands(tmp_path, log("20260901")).log("kernels/tyo")
