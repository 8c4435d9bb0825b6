"""Tables: rows are cells of logs, a number says how sure it is, and nothing is left out without a word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from evidence.claims import Placed
from evidence.errors import ItemError
from evidence.schema import OpWorkload, Rank, Record, Setting
from evidence.schema.claims import Status, TableSpec
from evidence.statistics import Verdict
from evidence.tables import Built, build
from evidence.views import Absent, Banner, Measured, Ratio, Table, Words
from tests.factories import (
    arm,
    engine_record,
    loader,
    metric,
    on_device,
    outcomes_record,
    process,
    record,
    stack,
    sweep,
    timed,
    workload,
)

SWEEP = sweep({"eager": {1: 1e-3, 8: 2e-3, 64: 4e-3}, "fused": {1: 0.8e-3, 8: 2e-3, 64: 5e-3}})
RATIOS: dict[str, Any] = {
    "title": "Fusing by size",
    "series": "kernels/sweep",
    "rows": ["N"],
    "across": "arm",
    "columns": ["time", {"ratio": "time"}],
    "baseline": "eager",
}


def made(spec: Mapping[str, Any], *records: Record, log_status: Mapping[str, Status] | None = None) -> Built:
    placed = Placed("the-table", TableSpec.model_validate(dict(spec)), "docs/claims/page.yml", {(): 2})
    return build(placed, loader(*(records or (SWEEP,))), log_status or {})


def view(spec: Mapping[str, Any], *records: Record) -> Table:
    return made(spec, *records).view


def refused(spec: Mapping[str, Any], *records: Record, log_status: Mapping[str, Status] | None = None) -> ItemError:
    with pytest.raises(ItemError) as caught:
        made(spec, *records, log_status=log_status)
    return caught.value


def said(cell: object) -> str:
    """A cell as a reader sees it."""
    match cell:
        case Words(text):
            return text
        case Measured(_, shown):
            return shown.value
        case Ratio(_, word, _, shown):
            return f"{shown.value} {word}" if shown else f"– {word}"
        case Absent(outcome, reason):
            return f"{outcome}: {reason}"
        case _:
            raise AssertionError(cell)


def rows(table: Table) -> list[list[str]]:
    return [[said(cell) for cell in row.cells] for row in table.rows]


def test_a_table_of_two_arms_across() -> None:
    found = view(RATIOS)
    assert [column.title for column in found.columns] == ["N", "eager time, µs", "fused time, µs", "eager ÷ fused"]
    assert [column.kind for column in found.columns] == ["axis", "value", "value", "ratio"]
    assert [column.is_baseline for column in found.columns] == [False, True, False, False]
    assert (found.columns[3].arm, found.columns[3].vs) == ("fused", "eager")
    assert found.columns[3].subtitle == "time, 95 %, above 1 is faster"
    assert found.columns[1].subtitle == "median, 95 %"
    assert [row[0] for row in rows(found)] == ["1", "8", "64"]
    assert [row[3] for row in rows(found)] == ["1.250× FASTER", "1.000× SAME", "0.798× SLOWER"]
    assert found.tally == "1 faster · 1 same · 1 slower"
    assert (found.id, found.title, found.banner) == ("the-table", "Fusing by size", None)
    assert dict(found.stance)["lengths"] == "per line"
    assert [one.log for one in found.evidence] == ["kernels/sweep_20260901"]


def test_every_number_stands_within_its_interval_and_shares_the_unit_of_its_column() -> None:
    found = view(RATIOS)
    for row in found.rows:
        decimals = set()
        for cell in row.cells[1:3]:
            assert isinstance(cell, Measured)
            numbers = [float(text.replace(",", "")) for text in (cell.shown.low, cell.shown.value, cell.shown.high)]
            assert numbers == sorted(numbers)
            assert numbers[1] == pytest.approx(cell.interval.value * 1e6, rel=1e-3)
            decimals.add(len(cell.shown.value.partition(".")[2]))
        assert len(decimals) == 1


def test_the_noise_floor_is_a_footnote() -> None:
    (note,) = view(RATIOS).footnotes
    assert re.fullmatch(r"Noise floor: .* gives 0\.9\d\d–1\.0\d\d \(95 %\); the minimum effect is 1\.0 %\.", note)
    loud = tuple(
        timed("eager-again", c.workload, median_s=1.06e-3 * int(c.workload[1:]), slot=2)
        if c.arm == "eager-again"
        else c
        for c in SWEEP.cells
    )
    raised = view(RATIOS, SWEEP.model_copy(update={"cells": loud})).footnotes[0]
    assert "the minimum effect is up to " in raised
    assert view({**RATIOS, "columns": ["time"]}).footnotes == ()


def test_arms_as_rows() -> None:
    found = view({**RATIOS, "rows": ["N", "arm"], "across": None})
    assert [row[:2] for row in rows(found)] == [[n, a] for n in ("1", "8", "64") for a in ("eager", "fused")]
    assert [row[3] for row in rows(found)][::2] == ["baseline"] * 3
    assert rows(found)[1][3].endswith("FASTER")
    assert found.columns[3].title == "eager ÷ arm"
    first = view({**RATIOS, "rows": ["arm", "N"], "across": None, "where": {"arm": ["fused"]}})
    assert [row[:2] for row in rows(first)] == [["fused", "1"], ["fused", "8"], ["fused", "64"]]


def test_another_axis_across() -> None:
    loads = tuple(workload(f"n{n}-{d}", n, dtype=d) for n in (1, 2) for d in ("bf16", "fp16"))
    cells = tuple(
        timed(a, w.name, slot=s)
        for s, a in enumerate(("eager", "fused", "eager-again"))
        for w in loads
        if (a, w.name) != ("x", "")
    )
    two = record("kernels/two_20260901", workloads=loads, cells=cells)
    spec = {**RATIOS, "series": "kernels/two", "across": "dtype", "where": {"arm": "fused"}}
    found = view({**spec, "columns": ["time"]}, two)
    assert [c.title.split(",")[0] for c in found.columns] == ["N", "bf16 time", "fp16 time"]
    assert dict(found.stance)["precision"] == "per line"
    both = view({**spec, "columns": [{"ratio": "time"}]}, two)
    assert [c.title for c in both.columns] == ["N", "eager ÷ fused (bf16)", "eager ÷ fused (fp16)"]
    change = view({**spec, "columns": [{"change": "time"}]}, two)
    assert change.columns[1].title == "fused against eager (bf16)"
    holes = record(
        "kernels/two_20260901", workloads=loads[:3], cells=tuple(c for c in cells if c.workload != "n2-fp16")
    )
    assert rows(view({**spec, "columns": ["time"]}, holes))[1][2] == "missing: not in the log"


def test_a_change_is_the_metric_s_own_and_carries_its_word() -> None:
    found = view({**RATIOS, "columns": [{"change": "time"}]})
    assert found.columns[1].title == "fused against eager"
    assert found.columns[1].subtitle == "change of time, 95 %"
    texts = [row[1] for row in rows(found)]
    assert re.fullmatch(r"−(19|20)(\.\d)? % FASTER", texts[0])
    assert re.fullmatch(r"\+2[45](\.\d)? % SLOWER", texts[2])


def test_the_quotient_is_named_so_that_above_one_is_better() -> None:
    rate = metric("rate", unit="1/s", better="higher")
    base = record()
    cells = tuple(
        c.model_copy(
            update={
                "processes": tuple(
                    process(p.index, (2.0,), started_s=p.started_s, metric_name="rate") for p in c.processes
                )
            }
        )
        for c in base.cells
    )
    found = view(
        {**RATIOS, "series": "kernels/toy", "columns": [{"ratio": "rate"}, {"ratio": "rate", "title": "gain"}]},
        base.model_copy(update={"metrics": (rate,), "cells": cells}),
    )
    assert [c.title for c in found.columns[1:]] == ["fused ÷ eager", "gain"]
    memory = view(
        {
            **RATIOS,
            "series": "engine/continuous_toy",
            "rows": ["scenario"],
            "baseline": "static",
            "columns": [{"ratio": "peak_memory"}],
        },
        engine_record(),
    )
    assert memory.columns[1].subtitle == "peak_memory, 95 %, above 1 is smaller"


def test_each_arm_may_have_its_own_baseline() -> None:
    three = sweep({"eager": {1: 1e-3}, "fused": {1: 0.8e-3}, "wide": {1: 0.4e-3}})
    found = view({**RATIOS, "columns": [{"ratio": "time"}], "baseline": {"fused": "eager", "wide": "fused"}}, three)
    assert [c.title for c in found.columns] == ["N", "eager ÷ fused", "fused ÷ wide"]
    assert rows(found)[0][1:] == ["1.250× FASTER", "1.999× FASTER"]
    mixed = view({**RATIOS, "columns": [{"ratio": "time", "vs": "wide"}]}, three)
    assert [c.title for c in mixed.columns] == ["N", "wide ÷ eager", "wide ÷ fused"]
    assert mixed.tally == "2 slower"


# Cells without a number.


def test_cells_without_a_number_say_why() -> None:
    spec = {**RATIOS, "series": "kernels/outcomes"}
    found = view(spec, outcomes_record())
    by_size = {row[0]: row for row in rows(found)}
    assert by_size["1025"][2] == "rejected: gate failed: o: 41 of 1024 elements are beyond the tolerance"
    assert by_size["1026"][2] == "crashed: out of memory in warm-up: 64 GiB wanted | 3 GiB free"
    assert by_size["1027"][2] == "skipped: needs a size that four divides"
    assert by_size["1025"][3] == by_size["1025"][2]
    assert found.tally == "1 faster · 1 rejected · 1 crashed · 1 skipped"
    assert all(row.absent is None for row in found.rows)


def test_a_row_that_is_absent_for_one_reason_says_it_once() -> None:
    spec = {**RATIOS, "series": "kernels/outcomes", "rows": ["N", "arm"], "across": None}
    found = view(spec, outcomes_record())
    absent = [row.absent for row in found.rows if row.absent is not None]
    assert [one.outcome for one in absent] == ["rejected", "crashed", "skipped"]


def test_a_baseline_without_a_number_leaves_a_verdict_and_no_ratio() -> None:
    cells = tuple(
        outcomes_record().cells[5].model_copy(update={"arm": "eager", "workload": "n8"})
        if (c.arm, c.workload) == ("eager", "n8")
        else c
        for c in SWEEP.cells
    )
    found = view(RATIOS, SWEEP.model_copy(update={"cells": cells}))
    assert rows(found)[1][3] == "– REFUSED"
    cell = found.rows[1].cells[3]
    assert isinstance(cell, Ratio)
    assert (cell.verdict, cell.note) == (Verdict.REFUSED, "eager is rejected")
    assert found.tally == "1 faster · 1 slower · 1 refused · 1 rejected"


def test_a_metric_that_a_cell_does_not_hold_is_missing() -> None:
    more = engine_record(metrics=(*engine_record().metrics, metric("idle", of="process", role="context")))
    found = view(
        {**RATIOS, "series": "engine/continuous_toy", "rows": ["scenario"], "baseline": "static", "columns": ["idle"]},
        more,
    )
    assert rows(found)[0][1] == "missing: no idle"


# Units, digits, peaks and words.


def test_one_unit_a_column_from_its_smallest_value_or_as_chosen() -> None:
    wide = sweep({"eager": {1: 2e-6, 8: 3e-1}, "fused": {1: 1e-6, 8: 3e-1}})
    assert [c.unit for c in view({**RATIOS, "columns": ["time"]}, wide).columns] == ["", "µs", "µs"]
    chosen = view({**RATIOS, "columns": [{"value": "time", "unit": "ms", "title": "took"}]}, wide)
    assert [c.title for c in chosen.columns[1:]] == ["eager took, ms", "fused took, ms"]
    assert rows(chosen)[1][1].startswith(("300", "299", "301"))
    both = view({**RATIOS, "columns": ["time", {"value": "time", "unit": "s"}]}, wide)
    assert [c.unit for c in both.columns[3:]] == ["s", "s"]


def test_counts_are_exact_and_whole() -> None:
    spec = {
        **RATIOS,
        "series": "engine/continuous_toy",
        "rows": ["scenario"],
        "baseline": "static",
        "columns": ["wasted_tokens", "peak_memory", "token_agreement"],
    }
    found = view(spec, engine_record())
    first = found.rows[0].cells
    assert [said(cell) for cell in first] == ["skewed", "128", "0", "2.000", "2.000", "0.9766", "0.9766"]
    assert all(isinstance(cell, Words) or (isinstance(cell, Measured) and cell.shown.low == "") for cell in first)
    assert [c.title for c in found.columns[3:5]] == ["static peak_memory, GB", "continuous peak_memory, GB"]


def test_shares_of_peak_name_their_peak() -> None:
    fast = sweep({"eager": {2**20: 2e-6}, "fused": {2**20: 1e-6}}, hosts=on_device("NVIDIA H200"))
    found = view({**RATIOS, "columns": [{"peak": "bandwidth"}, {"peak": "flop_rate"}]}, fast)
    assert found.columns[1].title == "eager bandwidth, share of peak"
    assert found.columns[1].subtitle == "of 4.8 TB/s, datasheet: NVIDIA H200 SXM, dense"
    assert found.columns[3].subtitle.startswith("of 989.4 TFLOP/s")
    values = [cell for cell in found.rows[0].cells if isinstance(cell, Measured)]
    assert values[0].interval.value == pytest.approx(4 * 2**20 / 2e-6 / 4.8e12, rel=0.02)
    assert float(values[0].shown.value) == pytest.approx(43.7, abs=1)
    assert {c.unit for c in found.columns[1:]} == {"%"}


def test_a_device_without_a_peak_has_no_share_and_a_metric_without_one_no_column() -> None:
    unknown = view({**RATIOS, "columns": [{"peak": "bandwidth"}]})
    assert rows(unknown)[0][1] == "missing: no datasheet peak for Synthetic GPU A"
    assert unknown.columns[1].subtitle == "no peak known"
    for metric_name in ("time", "time.p90", "peak_memory"):
        error = refused({**RATIOS, "columns": [{"peak": metric_name}]})
        assert (error.code, error.parts) == ("EV601", ("columns", 0, "peak"))
        assert (error.message, error.fix) == (
            f"no datasheet states a peak of {metric_name}",
            "write {peak: bandwidth} or {peak: flop_rate}",
        )


def test_columns_of_words_by_an_axis() -> None:
    by_size = {"text": "regime", "by": "N", "cells": {"1": "launch-bound", "64": "memory-bound"}}
    by_arm = {"text": "kernel", "by": "arm", "cells": {"eager": "library", "fused": "ours"}}
    found = view({**RATIOS, "columns": [by_size, "time"]})
    assert [row[1] for row in rows(found)] == ["launch-bound", "", "memory-bound"]
    assert (found.columns[1].title, found.columns[1].kind) == ("regime", "text")
    arms = view({**RATIOS, "rows": ["N", "arm"], "across": None, "columns": [by_arm, "time"]})
    assert [row[2] for row in rows(arms)] == ["library", "ours"] * 3


# What is left out, noted or not covered.


def test_cells_left_out_are_counted_with_their_verdicts_and_the_reason() -> None:
    found = made({**RATIOS, "omit": [{"where": {"N": 64}, "why": "the tile does not fit"}]})
    assert [row[0] for row in rows(found.view)] == ["1", "8"]
    assert found.view.footnotes[1] == "Left out: 1 row (1 slower): the tile does not fit"
    log = "kernels/sweep_20260901"
    assert found.omitted == {(log, a, "n64") for a in ("eager", "fused", "eager-again")}
    assert found.shown == {(log, a, w) for a in ("eager", "fused") for w in ("n1", "n8")}
    two = view(
        {
            **RATIOS,
            "omit": [{"where": {"N": [8, 64]}, "why": "a"}, {"where": {"N": 1}, "why": "b"}],
            "where": {},
            "not_covered": [],
        },
        sweep({"eager": {1: 1e-3, 2: 1e-3, 8: 2e-3, 64: 4e-3}, "fused": {1: 0.8e-3, 2: 1e-3, 8: 2e-3, 64: 5e-3}}),
    )
    assert two.footnotes[1:] == ("Left out: 2 rows (1 same, 1 slower): a", "Left out: 1 row (1 faster): b")


def test_an_arm_left_out_has_no_column_and_its_losses_are_told() -> None:
    three = sweep({"eager": {1: 1e-3, 2: 1e-3}, "fused": {1: 0.8e-3, 2: 0.8e-3}, "wide": {1: 2e-3, 2: 0.5e-3}})
    found = made({**RATIOS, "omit": [{"where": {"arm": "wide"}, "why": "an older kernel"}]}, three)
    assert [c.title.split(",")[0] for c in found.view.columns] == ["N", "eager time", "fused time", "eager ÷ fused"]
    assert found.view.footnotes[1] == "Left out: wide in 2 rows (1 slower, 1 faster): an older kernel"
    assert {key[1] for key in found.omitted} == {"wide"}
    part = made({**RATIOS, "omit": [{"where": {"arm": "wide", "N": 1}, "why": "too slow to show"}]}, three)
    assert rows(part.view)[0][3] == "missing: left out"
    assert rows(part.view)[0][5] == "missing: left out"
    assert rows(part.view)[1][5].endswith("FASTER")
    assert ("kernels/sweep_20260901", "wide", "n1") not in part.shown
    as_rows = view(
        {**RATIOS, "rows": ["N", "arm"], "across": None, "omit": [{"where": {"arm": "wide", "N": 1}, "why": "x"}]},
        three,
    )
    assert [row[:2] for row in rows(as_rows)] == [
        ["1", "eager"],
        ["1", "fused"],
        ["2", "eager"],
        ["2", "fused"],
        ["2", "wide"],
    ]


def test_what_no_ratio_column_would_have_told_is_counted_only() -> None:
    found = view({**RATIOS, "columns": ["time"], "omit": [{"where": {"N": 64}, "why": "why not"}]})
    assert found.footnotes == ("Left out: 1 row: why not",)


def test_notes_are_footnotes_of_their_rows() -> None:
    notes = [{"where": {"N": [1, 8]}, "why": "launch-bound"}, {"where": {"N": 8}, "why": "odd"}]
    assert [row.footnote for row in view({**RATIOS, "notes": notes}).rows] == ["launch-bound", "launch-bound; odd", ""]
    by_arm = view(
        {**RATIOS, "rows": ["N", "arm"], "across": None, "notes": [{"where": {"arm": "fused"}, "why": "ours"}]}
    )
    assert [row.footnote for row in by_arm.rows] == ["", "ours"] * 3


def test_rows_that_no_log_declared_are_added_with_the_reason() -> None:
    found = view({**RATIOS, "not_covered": [{"where": {"N": [128, 256]}, "why": "does not fit the device"}]})
    assert rows(found)[-1] == ["128, 256", *["missing: does not fit the device"] * 3]
    assert found.rows[-1].absent == Absent("missing", "does not fit the device")


def test_rows_of_one_configuration_are_noted() -> None:
    tile = (Setting(name="tile", value="64"),)
    arms = (arm(), arm("fused", "candidate", implementation="toy.ops:eager"), record().arms[2])
    cells = tuple(c.model_copy(update={"ran": tile}) if c.workload != "n1" else c for c in SWEEP.cells)
    found = view(RATIOS, SWEEP.model_copy(update={"arms": arms, "cells": cells}))
    assert found.footnotes[-1] == "2 rows ran the same configuration under both arms: noise, not an effect."
    cell = found.rows[1].cells[3]
    assert isinstance(cell, Ratio)
    assert cell.note == "both arms ran the same configuration"
    one = tuple(c.model_copy(update={"ran": tile}) if c.workload == "n8" else c for c in SWEEP.cells)
    assert view(RATIOS, SWEEP.model_copy(update={"arms": arms, "cells": one})).footnotes[-1].startswith("1 row ran")


# Several logs.


def on(model: str, log: str, **changes: Any) -> Record:
    return sweep(
        {"eager": {1: 1e-3, 8: 1e-3}, "fused": {1: 0.8e-3, 8: 1.25e-3}}, log, hosts=on_device(model), **changes
    )


L4, H200 = on("NVIDIA L4", "kernels/l4_20260901"), on("NVIDIA H200", "kernels/h200_20260901")
DEVICES: dict[str, Any] = {
    "title": "By device",
    "series": ["kernels/l4", "kernels/h200"],
    "rows": ["N", "device"],
    "columns": [{"ratio": "time"}, {"peak": "bandwidth"}],
    "baseline": "eager",
    "where": {"arm": "fused"},
}


def test_devices_stand_side_by_side_by_ratio_only() -> None:
    found = made(DEVICES, L4, H200)
    assert [row[:2] for row in rows(found.view)] == [
        ["1", "NVIDIA L4"],
        ["8", "NVIDIA L4"],
        ["1", "NVIDIA H200"],
        ["8", "NVIDIA H200"],
    ]
    assert found.view.tally == "2 faster · 2 slower"
    assert dict(found.view.stance)["device"] == "per line"
    assert [one.log for one in found.view.evidence] == [L4.log, H200.log]
    assert found.pairs == {(L4.log, "eager", "fused"), (H200.log, "eager", "fused")}
    assert found.quantities == {(log, m) for log in (L4.log, H200.log) for m in ("time", "bandwidth")}
    narrow = made({**DEVICES, "where": {"arm": "fused", "device": "NVIDIA L4"}}, L4, H200)
    assert [row[1] for row in rows(narrow.view)] == ["NVIDIA L4"] * 2


@pytest.mark.parametrize(
    "changes",
    [{"columns": ["time"]}, {"columns": [{"ratio": "time"}, "time"]}, {"rows": ["N"]}, {"rows": ["N", "dtype"]}],
)
def test_absolutes_of_two_devices_never_stand_in_one_table(changes: dict[str, Any]) -> None:
    error = refused({**DEVICES, **changes}, L4, H200)
    assert (error.code, error.parts) == ("EV607", ("series",))
    assert "NVIDIA L4, NVIDIA H200" in error.message


def test_absolutes_of_two_stacks_never_stand_in_one_table() -> None:
    newer = on("NVIDIA L4", "kernels/new_20260902", stacks=(stack(packages=("torch==2.13.0",)),))
    spec = {**DEVICES, "series": ["kernels/l4", "kernels/new"], "rows": ["N", "workload"], "columns": ["time"]}
    error = refused(spec, L4, newer)
    assert (error.code, error.parts) == ("EV608", ("series",))
    assert view({**spec, "columns": [{"ratio": "time"}]}, L4, newer).rows
    same = on("NVIDIA L4", "kernels/same_20260902")
    assert len(view({**spec, "series": ["kernels/l4", "kernels/same"]}, L4, same).rows) == 4


def test_an_arm_that_one_log_does_not_have_is_missing_there() -> None:
    third = sweep({"eager": {1: 1e-3}, "wide": {1: 0.5e-3}}, "kernels/third_20260901")
    spec = {**RATIOS, "series": ["kernels/sweep", "kernels/third"], "rows": ["N", "workload"], "where": {"N": 1}}
    found = view(spec, SWEEP, third)
    assert [c.title.split(",")[0] for c in found.columns[2:5]] == ["eager time", "fused time", "wide time"]
    assert rows(found)[0][4] == "missing: no arm wide in this log"
    by_arm = view({**spec, "rows": ["workload", "arm"], "across": None}, SWEEP, third)
    assert [row[1] for row in rows(by_arm)] == ["eager", "fused", "eager", "wide"]


# What keeps a table from standing.


@pytest.mark.parametrize(
    ("changes", "code", "parts", "message", "fix"),
    [
        (
            {"series": "kernels/sweeps"},
            "EV601",
            ("series", 0),
            "no series 'kernels/sweeps'",
            "did you mean 'kernels/sweep'?",
        ),
        ({"series": ["kernels/sweep", "x/y"]}, "EV601", ("series", 1), "no series 'x/y'", ""),
        ({"rows": ["M"]}, "EV601", ("rows", 0), "no axis 'M'", "known: "),
        ({"rows": ["N", "dtyp"]}, "EV601", ("rows", 1), "no axis 'dtyp'", "did you mean 'dtype'?"),
        ({"across": "arms"}, "EV601", ("across",), "no axis 'arms'", "did you mean 'arm'?"),
        (
            {"rows": ["dtype"]},
            "EV620",
            ("rows",),
            "n1 and n8 share a row: N varies and is in no row, column or where",
            "add N to rows",
        ),
        (
            {"across": None},
            "EV620",
            ("columns", 0),
            "eager, fused share a column: arm is in no row, column or where",
            "across: arm",
        ),
        ({"across": "dtype"}, "EV620", ("columns", 0), "eager, fused share a column", ""),
        (
            {"columns": ["tyme"]},
            "EV601",
            ("columns", 0),
            "kernels/sweep_20260901: no metric 'tyme'",
            "did you mean 'time'?",
        ),
        ({"columns": ["time", {"ratio": "Time"}]}, "EV601", ("columns", 1), "'Time' is not a metric", ""),
        ({"columns": ["time/step"]}, "EV601", ("columns", 0), "no count 'step'", "known: accelerators, bytes, flop"),
        ({"columns": [{"ratio": "bandwidth"}]}, "EV601", ("columns",), "bandwidth has no direction", "show its value"),
        ({"columns": [{"value": "time", "unit": "GB"}]}, "EV620", ("columns",), "not shown in 'GB'", "one that fits"),
        (
            {"columns": [{"text": "kind", "by": "M", "cells": {"1": "x"}}]},
            "EV601",
            ("columns", 0, "by"),
            "no axis 'M'",
            "",
        ),
        ({"baseline": None}, "EV401", ("columns", 1), "a ratio column without a baseline", "vs"),
        (
            {"baseline": None, "columns": [{"change": "time"}]},
            "EV401",
            ("columns", 0),
            "a change column without a baseline",
            "",
        ),
        ({"baseline": "eagr"}, "EV601", ("baseline",), "no arm 'eagr'", "did you mean 'eager'?"),
        ({"columns": [{"ratio": "time", "vs": "fuse"}]}, "EV601", ("columns", 0, "vs"), "no arm 'fuse'", ""),
        (
            {"where": {"arm": "eager"}, "columns": [{"ratio": "time"}]},
            "EV620",
            ("columns", 0),
            "no arm is left to compare: eager is the baseline",
            "",
        ),
        ({"where": {"arm": "eagr"}}, "EV601", ("where", "arm"), "no value of arm 'eagr'", "did you mean 'eager'?"),
        ({"where": {"M": 1}}, "EV601", ("where", "M"), "no axis 'M'", ""),
        ({"where": {"N": [1, 2]}}, "EV601", ("where", "N"), "no value of N '2'", "known: 1, 64, 8"),
        ({"where": {"N": 1, "workload": "n8"}}, "EV601", ("where",), "no cell is selected", "widen"),
        ({"omit": [{"where": {"N": 2}, "why": "x"}]}, "EV601", ("omit", 0, "where", "N"), "no value of N '2'", ""),
        ({"omit": [{"where": {"M": 2}, "why": "x"}]}, "EV601", ("omit", 0, "where", "M"), "no axis 'M'", ""),
        (
            {"omit": [{"where": {"N": 1, "workload": "n8"}, "why": "x"}]},
            "EV601",
            ("omit", 0, "where"),
            "it leaves out no cell",
            "",
        ),
        ({"omit": [{"where": {"N": [1, 8, 64]}, "why": "x"}]}, "EV601", ("where",), "no cell is selected", ""),
        ({"notes": [{"where": {"N": 3}, "why": "x"}]}, "EV601", ("notes", 0, "where", "N"), "no value of N '3'", ""),
        (
            {"notes": [{"where": {"arm": "fused"}, "why": "x"}]},
            "EV601",
            ("notes", 0, "where"),
            "it notes no row of the table",
            "",
        ),
        (
            {"not_covered": [{"where": {"dtype": "fp8"}, "why": "x"}]},
            "EV620",
            ("not_covered", 0, "where", "dtype"),
            "dtype is not in rows",
            "rows: N",
        ),
        (
            {"not_covered": [{"where": {"N": 8}, "why": "x"}]},
            "EV620",
            ("not_covered", 0, "where"),
            "has n8, which is said not to be covered",
            "",
        ),
    ],
)
def test_the_first_thing_that_is_wrong(
    changes: dict[str, Any], code: str, parts: tuple[Any, ...], message: str, fix: str
) -> None:
    error = refused({**RATIOS, **changes})
    assert (error.code, error.parts) == (code, parts)
    assert message in error.message
    assert fix in error.fix


def test_an_ambiguous_row_of_workloads_alike_names_the_workload() -> None:
    loads = (workload("a", 1), workload("b", 1))
    twins = record(workloads=loads, cells=tuple(timed(a.name, w.name) for a in record().arms for w in loads))
    error = refused({**RATIOS, "series": "kernels/toy"}, twins)
    assert (error.code, error.message) == (
        "EV620",
        "a and b share a row: workload varies and is in no row, column or where",
    )
    assert "add workload to rows" in error.fix


def test_a_control_is_shown_when_it_is_asked_for() -> None:
    found = view({**RATIOS, "where": {"arm": ["eager", "eager-again"]}})
    assert [c.title.split(",")[0] for c in found.columns] == [
        "N",
        "eager time",
        "eager-again time",
        "eager ÷ eager-again",
    ]
    assert found.tally == "3 same"


# Status.


@pytest.mark.parametrize(
    ("own", "of_log", "banner"),
    [
        (None, None, None),
        ({"historical": "kept"}, None, Banner("historical", "kept")),
        (None, {"do_not_cite": "fan off"}, Banner("do_not_cite", "fan off")),
        ({"historical": "kept"}, {"do_not_cite": "fan off"}, Banner("do_not_cite", "fan off")),
        ({"do_not_cite": "odd"}, {"historical": "kept"}, Banner("do_not_cite", "odd")),
        ({"superseded_by": "new"}, {"historical": "kept"}, Banner("superseded", "replaced by new")),
    ],
)
def test_the_worst_status_is_the_banner(
    own: dict[str, str] | None, of_log: dict[str, str] | None, banner: Banner | None
) -> None:
    spec = {**RATIOS, "status": own}
    statuses = {SWEEP.log: Status(**of_log)} if of_log else {}
    assert made(spec, log_status=statuses).view.banner == banner
    if own or of_log:
        assert made({**spec, "series": SWEEP.log}, log_status=statuses).view.banner == banner


def test_ranks_without_a_device_run_on_the_cpu() -> None:
    cpu = (Rank(host="h0", device=None, stack="main"),)
    arms = tuple(one.model_copy(update={"ranks": cpu}) for one in SWEEP.arms)
    assert dict(view(RATIOS, SWEEP.model_copy(update={"arms": arms})).stance)["device"] == "Synthetic CPU"
    assert isinstance(SWEEP.workloads[0], OpWorkload)
