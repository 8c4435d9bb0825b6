"""The cells of a table under a roofline: each from its log, none lost, ceilings of the same device only."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.attainment import RooflineError, of_table
from evidence.errors import UnknownNameError
from evidence.schema import Dimension, OpWorkload, Record, Work
from evidence.views import Absent, Measured
from tests.factories import book, on_device, outcomes_record, sweep, workload

CLAIMS = """
tables:
  cost:
    title: Time by size
    series: kernels/sweep
    rows: [N]
    across: arm
    columns: [{ratio: time}, time]
    baseline: eager
"""
H200 = on_device("NVIDIA H200")
TIMES = {"eager": {1024: 1e-3, 8192: 8e-3}, "fused": {1024: 5e-4, 8192: 2e-3}}


def worked(size: int, *work: Work) -> OpWorkload:
    return workload(f"n{size}", size, work=work)


def test_each_cell_is_its_work_a_byte_and_a_second(tmp_path: Path) -> None:
    view = of_table(book(tmp_path, CLAIMS, sweep(TIMES, hosts=H200)), "cost")
    assert [(point.row, point.arm, point.intensity_text) for point in view.points] == [
        ("1024", "eager", "2.50"),
        ("1024", "fused", "2.50"),
        ("8192", "eager", "2.50"),
        ("8192", "fused", "2.50"),
    ]
    rates = [point.rate.interval.value for point in view.points if isinstance(point.rate, Measured)]
    assert rates == pytest.approx([10240 / 1e-3, 10240 / 5e-4, 81920 / 8e-3, 81920 / 2e-3], rel=0.01)
    assert view.arms == (("eager", True), ("fused", False))
    assert view.unit == "MFLOP/s"
    (ceiling,) = view.ceilings
    assert (ceiling.kind, ceiling.bytes_text, ceiling.flop_text) == ("datasheet", "4.8 TB/s", "989.4 TFLOP/s")
    assert [one.log for one in view.evidence] == ["kernels/sweep_20260901"]


def test_a_device_without_a_datasheet_has_no_ceiling_and_is_named(tmp_path: Path) -> None:
    view = of_table(book(tmp_path, CLAIMS, sweep(TIMES)), "cost")
    assert view.ceilings == ()
    assert view.unknown == ("Synthetic GPU A in bf16",)


def limits(**changes: object) -> Record:
    """A log whose cells reach what a device can: a copy and a product."""
    loads = (
        workload("copy", 1, work=(Work(of="bytes", count=4 * 10**9),), shape=(Dimension(name="N", size=1),)),
        workload("product", 2, work=(Work(of="flop", count=6 * 10**11), Work(of="bytes", count=10**6))),
    )
    times = {"eager": {1: 1e-3, 2: 1e-3}}
    made = sweep(times, "kernels/limits_20260901", control_of=None, hosts=H200)
    cells = tuple(cell.model_copy(update={"workload": load.name}) for cell, load in zip(made.cells, loads, strict=True))
    return made.model_copy(update={"workloads": loads, "cells": cells, **changes})


def test_measured_ceilings_are_the_best_of_their_log(tmp_path: Path) -> None:
    view = of_table(book(tmp_path, CLAIMS, sweep(TIMES, hosts=H200), limits()), "cost", "kernels/limits")
    sheet, measured = view.ceilings
    assert (sheet.kind, measured.kind) == ("datasheet", "measured")
    assert measured.bytes_per_s == pytest.approx(4e12, rel=0.01)
    assert measured.flop_per_s == pytest.approx(6e14, rel=0.01)
    assert [one.log for one in view.evidence] == ["kernels/sweep_20260901", "kernels/limits_20260901"]


def test_ceilings_of_another_device_are_refused(tmp_path: Path) -> None:
    records = sweep(TIMES, hosts=H200), limits(hosts=on_device("NVIDIA L4"))
    with pytest.raises(RooflineError, match="measured on NVIDIA L4, the table on NVIDIA H200"):
        of_table(book(tmp_path, CLAIMS, *records), "cost", "kernels/limits")


def test_a_table_whose_cells_state_no_work_is_refused(tmp_path: Path) -> None:
    made = sweep(TIMES, hosts=H200, workloads=(worked(1024), worked(8192, Work(of="bytes", count=4))))
    with pytest.raises(RooflineError, match="no cell of table 'cost' states both FLOP and bytes"):
        of_table(book(tmp_path, CLAIMS, made), "cost")


def test_a_cell_without_a_number_keeps_its_place(tmp_path: Path) -> None:
    claims = CLAIMS.replace("kernels/sweep", "kernels/outcomes")
    view = of_table(book(tmp_path, claims, outcomes_record(hosts=H200)), "cost")
    found = {(point.row, point.arm): point.rate for point in view.points}
    assert len(found) == 8
    assert [rate.outcome for rate in found.values() if isinstance(rate, Absent)] == ["rejected", "crashed", "skipped"]


def test_names_that_are_not_there_name_the_nearest(tmp_path: Path) -> None:
    made = book(tmp_path, CLAIMS, sweep(TIMES, hosts=H200))
    with pytest.raises(UnknownNameError, match="costs"):
        of_table(made, "costs")
    with pytest.raises(UnknownNameError, match="kernels/limit"):
        of_table(made, "cost", "kernels/limit")
