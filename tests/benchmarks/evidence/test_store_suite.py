from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.evidence.faults import edit_digit, plant
from benchmarks.evidence.records import log_of
from benchmarks.evidence.suite import CPU_TIME, PEAK_MEMORY, WALL_TIME
from benchmarks.evidence.suites.store import SUITE
from evidence import schema
from evidence.schema import ForeignWorkload, Record, Rejected, Timed
from evidence.store import Loaded, Store
from tests.benchmarks.evidence.sessions import STORE, measure, prepared_by


@pytest.fixture(scope="module")
def measured(tmp_path_factory) -> tuple[Path, Record]:
    folder = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(Path(__file__).resolve().parents[3])
        return folder, measure(SUITE, folder, STORE)


def test_the_record_loads_and_holds_every_process_of_every_arm(measured):
    folder, record = measured
    (loaded,) = Store(folder / "logs")
    assert isinstance(loaded, Loaded)
    assert loaded.record == record
    assert [(arm.name, arm.role) for arm in record.arms] == [
        ("validate", "baseline"),
        ("check", "candidate"),
        ("unchanged", "alternative"),
        ("validate-again", "control"),
    ]
    for cell in record.cells:
        assert isinstance(cell, Timed)
        assert len(cell.processes) == 2
        for process in cell.processes:
            values = {column.metric: column.values[0] for column in process.samples}
            assert 0 < values[CPU_TIME] < 1.5 * values[WALL_TIME]
            assert values[PEAK_MEMORY] > 20 * 2**20
    assert 0 < (record.methods[0].timer_overhead_s or 0) < 0.05


def test_every_gate_says_how_much_it_looked_at(measured):
    _, record = measured
    for cell in record.cells:
        assert isinstance(cell, Timed)
        detail = cell.gate.detail
        assert isinstance(detail, schema.TestsDetail)
        assert detail.passed == detail.collected >= (STORE["records"] if cell.arm.startswith("validate") else 3)
        assert [further.phase for further in cell.further] == ["timed-outputs"]
    check = record.cell("check", "store")
    assert isinstance(check, Timed)
    assert check.gate.compared == 3 + 14, "the clean store, and each planted fault"


def test_processes_of_the_arms_alternate(measured):
    _, record = measured
    cells = [cell for cell in record.cells if isinstance(cell, Timed)]
    turns = sorted((p.started_s, p.ended_s, cell.arm) for cell in cells for p in cell.processes)
    assert [arm for _, _, arm in turns] == ["validate", "check", "unchanged", "validate-again"] * 2
    assert all(first[1] <= second[0] for first, second in pairwise(turns))


def test_the_inputs_are_told_by_digest_and_no_path_of_them(measured):
    folder, record = measured
    (workload,) = record.workloads
    assert isinstance(workload, ForeignWorkload)
    settings = {setting.name: setting.value for setting in workload.settings}
    assert settings["records"] == "24"
    assert (settings["claims"], settings["pages"], settings["calls"]) == ("2", "5", "20")
    assert len(settings["inputs sha256"]) == 64
    assert str(folder) not in record.model_dump_json()


def test_a_fault_in_the_store_rejects_both_sides(tmp_path):
    def spoilt(folder, sizes):
        root = SUITE.prepare(folder, sizes)
        edit_digit(root, log_of(5))
        return root

    record = measure(prepared_by(SUITE, spoilt), tmp_path, STORE, has_control=False)
    for cell in record.cells:
        assert isinstance(cell, Rejected)
        assert isinstance(cell.gate.detail, schema.TestsDetail)
        assert cell.gate.detail.failed
    validate, check, _ = record.cells
    assert isinstance(validate, Rejected)
    assert f"{log_of(5)}/record.json: is not what the ledger says (1 of 24)" == validate.gate.message
    assert isinstance(check, Rejected)
    assert "exit code" in check.gate.message


def test_every_planted_fault_lies_in_a_log_of_its_own(tmp_path):
    root = tmp_path / "spoilt"
    root.mkdir()
    planted = plant(root, seed=3)
    assert len({fault.what for fault in planted}) == len(planted) == 14
    assert len({fault.path for fault in planted}) == len(planted)
