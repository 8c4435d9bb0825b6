from __future__ import annotations

import json

import pytest

from benchmarks import ROOT, capture
from benchmarks.calibration import account, counts
from benchmarks.calibration.options import NAME
from benchmarks.calibration.runner import STUDY
from benchmarks.calibration.study import main
from benchmarks.options import UsageError
from evidence import ledger, runners
from evidence.errors import UnknownNameError
from evidence.schema import Failed, Passed, Record, Timed
from evidence.schema.text import dump, parse
from evidence.store import Store, save
from tests.benchmarks.calibration.sessions import session

LOGS = ("kernels/one_20260901", "kernels/two_20260901")


@pytest.fixture
def root(tmp_path):
    """A folder with the files that a study pins, and a store of synthetic sessions."""
    for path in (*account.COMPARING, *account.COUNTING, account.FROZEN):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes((ROOT / path).read_bytes())
    save(tmp_path / "logs", session(LOGS[0]))
    save(tmp_path / "logs", session(LOGS[1], again=0.9, slowed=1.0))
    return tmp_path


def built(root, logs=LOGS, least=9, below=None) -> Record:
    provenance, withheld = capture.provenance(
        [*logs], runner=NAME, seed=0, root=ROOT, environment={}, destinations=("--logs",)
    )
    store = Store(root / "logs")
    return account.build(
        account.studied(store, logs, least),
        root=below or root,
        store=store.root,
        provenance=provenance,
        withheld=withheld,
        domain="calibration",
        name="study",
        limitations=(),
    )


def values(record: Record, workload: str) -> dict[str, float]:
    cell = record.cell(account.ARM, workload)
    assert isinstance(cell, Timed)
    return {column.metric: column.values[0] for column in cell.processes[0].samples}


def test_all_trials_are_counted_and_false_calls_and_misses_among_them(root):
    record = built(root)
    same, slow = values(record, "a-a"), values(record, "planted")
    assert (same["trials"], same["called"], same["faster"], same["same"], same["unusable"]) == (4, 2, 2, 2, 0)
    assert (slow["trials"], slow["found"], slow["missed"], slow["planted"]) == (4, 2, 2, pytest.approx(0.02))
    assert same["called_rate"] == 0.5
    assert same["least_effect"] <= same["least_effect_worst"]
    assert len(record.workloads) == 2 + 8


def test_each_trial_is_a_row_with_its_verdict(root):
    record = built(root)
    load = record.workload(f"{LOGS[1]} eager-again n2048")
    told = {setting.name: setting.value for setting in load.settings}
    assert told == {
        "study": "a-a",
        "session": LOGS[1],
        "compared": "eager-again",
        "cell": "n2048",
        "verdict": "FASTER",
        "measured_on": "Synthetic GPU A",
    }
    row = values(record, load.name)
    assert (row["trials"], row["called"]) == (1, 1)
    assert row["ratio_low"] < row["ratio"] < row["ratio_high"]


def test_the_record_pins_the_logs_it_read(root):
    (source,) = built(root).sources
    pinned = {entry.path: entry.sha256 for entry in source.paths}
    for log in LOGS:
        assert pinned[f"logs/{log}/record.json"] == ledger.digest_of(root / "logs" / log / "record.json")
    assert set(account.COMPARING) <= pinned.keys()


def test_the_same_logs_give_the_same_numbers_and_a_record_that_reads_back(root):
    first, second = built(root), built(root)
    for load in first.workloads:
        assert values(first, load.name) == values(second, load.name)
    assert parse(dump(first)) == first


def test_trials_of_fewer_processes_are_listed_and_not_counted(root):
    record = built(root, least=10)
    assert values(record, "a-a") == {
        "trials": 0,
        "unusable": 4,
        "not_tried": 0,
        "faster": 0,
        "slower": 0,
        "same": 0,
        "inconclusive": 0,
        "called": 0,
    }
    assert values(record, f"{LOGS[0]} eager-again n1024")["unusable"] == 1


def test_the_gate_counts_every_cell_and_every_digest(root):
    study = account.studied(Store(root / "logs"), LOGS, 9)
    outcome = account.outcome(tuple(account.faults(study, ledger.read(root / "logs"))))
    assert isinstance(outcome, Passed)
    assert outcome.detail.collected == 2 + 8


def test_a_dropped_trial_fails_the_gate_and_nothing_is_counted(root):
    study = account.studied(Store(root / "logs"), LOGS, 9)
    lacking = account.Study(study.read, study.trials[:-1], 9)
    outcome = account.outcome(tuple(account.faults(lacking, ledger.read(root / "logs"))))
    assert isinstance(outcome, Failed)
    assert "counted 0 times" in outcome.message
    twice = account.Study(study.read, (*study.trials, study.trials[0]), 9)
    assert [fault for _, fault in account.faults(twice, ledger.read(root / "logs")) if fault] == ["counted 2 times"]


def test_a_log_that_the_ledger_does_not_have_fails_the_gate(root):
    path = root / "logs" / LOGS[0] / "record.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["limitations"] = ["edited"]
    path.write_text(json.dumps(document), encoding="utf-8")
    record = built(root)
    assert {cell.kind for cell in record.cells} == {"rejected"}


def test_having_nothing_to_check_is_no_pass():
    assert isinstance(account.outcome(()), Failed)


def test_a_log_named_twice_or_without_a_trial_is_refused(root):
    with pytest.raises(UsageError, match="count twice"):
        account.studied(Store(root / "logs"), (LOGS[0], LOGS[0]), 9)
    with pytest.raises(UnknownNameError):
        account.studied(Store(root / "logs"), ("kernels/none_20260901",), 9)
    plain = session("kernels/plain_20260901")
    arms = tuple(arm for arm in plain.arms if arm.name == "eager")
    cells = tuple(cell for cell in plain.cells if cell.arm == "eager")
    save(root / "logs", plain.model_copy(update={"arms": arms, "cells": cells, "axes": ("implementation",)}))
    with pytest.raises(UsageError, match="none of these logs"):
        account.studied(Store(root / "logs"), ("kernels/plain_20260901",), 9)


def test_logs_outside_the_repository_are_no_source(root, capsys):
    with pytest.raises(UsageError, match="outside the repository"):
        built(root, below=ROOT)
    assert main([LOGS[0], "--from", str(root / "logs")]) == 2
    assert "outside the repository" in capsys.readouterr().err


def test_metrics_are_declared_for_what_is_counted_only():
    named = [metric.name for metric in counts.metrics([{"found": 1.0, "ratio": 1.0}])]
    assert named == ["found", "ratio"]


def test_the_command_counts_committed_logs(capsys):
    assert main(["kernels/chunk_gla_h200_20261130-2", "--processes", "9"]) == 0
    assert "a-a: trials 4" in capsys.readouterr().out


def test_a_study_s_command_says_what_its_record_shows(root):
    options = runners.parse(STUDY, [*reversed(LOGS), "--log"])
    assert options is not None
    told = STUDY.configuration(options)
    shown = STUDY.recorded(built(root))
    assert told is not None
    assert {name: told[name] for name in shown} == shown == {"logs": " ".join(LOGS), "--domain": "calibration"}
    assert told["--log"] == "given"
    assert STUDY.variables(options, {"OMP_NUM_THREADS": "1", "HOME": "/"}) == {"OMP_NUM_THREADS": "1"}
    assert STUDY.rerun(LOGS, root, brief=True) == (*LOGS, "--log", "--logs", str(root))


def test_no_process_is_refused(capsys):
    assert main([LOGS[0], "--processes", "0"]) == 2
    assert "at least 1" in capsys.readouterr().err
