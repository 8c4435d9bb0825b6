from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.profile import handoff, ncu
from benchmarks.profile.__main__ import main
from benchmarks.profile.attachment import attach
from benchmarks.profile.summaries import taken
from evidence.schema import Record, Unavailable
from evidence.store import Store, save
from tests.benchmarks.profile import files
from tests.factories import record

SUMMARY = ncu.read(files.ncu_rows([("toy_kernel", files.counters())]))


@pytest.fixture
def stored(tmp_path: Path) -> tuple[Path, Record]:
    made = record()
    made = made.model_copy(update={"unavailable": (Unavailable(what="profile", reason="not taken in this run"),)})
    found = taken(SUMMARY, "fused", made.workloads[0].name, ("ncu", "--csv"))
    whole, artifacts = attach(made, (found, Unavailable(what="torch profile of fused", reason="no trace")))
    save(tmp_path, whole, artifacts)
    return tmp_path, whole


def test_a_profile_lies_in_the_record_and_its_summary_beside_it(stored):
    logs, whole = stored
    (loaded,) = Store(logs)
    (profile,) = loaded.record.profiles
    assert (profile.bottleneck, profile.top_kernels) == ("memory", ("toy_kernel",))
    kept = json.loads((logs / whole.log / profile.artifact).read_text())
    assert kept["raw"] == [{"name": "ncu.csv", "sha256": SUMMARY.raw[0].sha256, "bytes": SUMMARY.raw[0].bytes}]
    assert kept["note"] == "profiled times are not timings"
    assert [entry.what for entry in loaded.record.unavailable] == ["torch profile of fused"]


def test_where_nothing_was_asked_for_the_note_stays():
    made = record().model_copy(update={"unavailable": (Unavailable(what="profile", reason="not taken"),)})
    assert attach(made, ()) == (made, {})


def test_a_handoff_has_only_numbers_of_its_record(stored, capsys):
    logs, whole = stored
    words = ["--baseline", "eager", "--candidate", "fused", "--workload", whole.workloads[0].name]
    assert main(["handoff", whole.log, "--logs", str(logs), *words]) == 0
    said = capsys.readouterr().out
    assert "bottleneck  memory by ncu, top kernel toy_kernel" in said
    assert whole.artifacts[-1].sha256 in said
    assert "verdict     FASTER" in said
    assert main(["handoff", whole.log, "--logs", str(logs), *words[:-1], "nowhere"]) == 2


def test_without_a_profile_the_handoff_says_so(tmp_path):
    made = record().model_copy(update={"unavailable": (Unavailable(what="profile", reason="ncu is not here"),)})
    save(tmp_path, made)
    (loaded,) = Store(tmp_path)
    block = handoff.of_record(loaded, "eager", "fused", made.workloads[0].name)
    assert "bottleneck  unavailable: ncu is not here" in block


@pytest.mark.parametrize("vendor", ["nvidia", "ascend"])
def test_what_is_still_to_be_run_has_commands_and_no_number_measured(vendor, capsys):
    assert main(["command", "--vendor", vendor, "--", "python", "-m", "toy", "--n", "8"]) == 0
    said = capsys.readouterr().out
    assert "unverified: nothing was run" in said
    assert ("ncu --csv" in said) == (vendor == "nvidia")
    assert ("msprof" in said) == (vendor == "ascend")
    assert main(["command"]) == 2


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.csv", files.ncu_rows([("toy_kernel", files.counters())]), "memory: toy_kernel"),
        ("b.json", files.trace(files.event("toy", "kernel", 0, 9)), "toy"),
        ("c.csv", files.details(files.detail(aiv_vec_ratio=0.9)), "Vector"),
    ],
)
def test_a_file_is_read_by_what_it_is(tmp_path, capsys, name, data, said):
    (tmp_path / name).write_bytes(data)
    assert main(["read", str(tmp_path / name)]) == 0
    out = capsys.readouterr().out
    assert said in out
    assert "profiled times are not timings" in out
    assert main(["read", str(tmp_path / "none")]) == 2
