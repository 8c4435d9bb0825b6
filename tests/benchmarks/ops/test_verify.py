"""The command that verifies: each way that it ends, with its reason and exit code, on real ops and processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import ROOT
from benchmarks.ops.exits import MEANINGS, Blocker, Exit, first
from benchmarks.ops.outcomes import DENIED
from benchmarks.ops.verify import main
from evidence.schema import Passed, Record, Rejected, Timed
from evidence.schema import TestsDetail as DetailOfTests
from evidence.store import Loaded, Store
from tests.benchmarks.ops import checkouts

pytest.importorskip("torch")
pytest.importorskip("fla", exc_type=ImportError)

GATES = "tests/benchmarks/ops/toy_gates"
SMALL = ("--shapes", "b1-t64-h2-d16", "--modes", "fwd", "--sharing", "arm", "--start", "fork", "--nurseries", "1")
BRIEF = (*SMALL, "--warm-up", "0.02", "--minimum-samples", "3", "--maximum-samples", "5", "--budget", "0.3")
CLEAN = {name: value for name, value in os.environ.items() if name not in DENIED}
GREEN = ("--test-file", f"{GATES}/green.py")


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch):
    monkeypatch.chdir(ROOT)
    for name in DENIED:
        monkeypatch.delenv(name, raising=False)


def verify(*words: str, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.ops.verify", "--op", "linear_attn", *words],
        cwd=ROOT,
        env={**CLEAN, **environment},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    return checkouts.made(tmp_path_factory.mktemp("repositories") / "fla-checkout")


@pytest.fixture(scope="module")
def slower(checkout, tmp_path_factory) -> tuple[int, str, Record]:
    """The work tree of a checkout, on its slower commit, against its quick one."""
    logs = tmp_path_factory.mktemp("logs")
    words = ("--repo", str(checkout), "--base", "quick", "--processes", "6", "--mutants", "--log", "--logs", str(logs))
    code, said = verify(*GREEN, *BRIEF, *words)
    (loaded,) = Store(logs)
    assert isinstance(loaded, Loaded), said
    return code, said, loaded.record


def test_a_slower_candidate_is_a_regression(slower):
    code, said, _ = slower
    assert code == Exit.REGRESSION, said
    assert "b1-t64-h2-d16-fwd is SLOWER" in said


def test_each_arm_carries_its_own_source_and_the_proof_of_what_was_imported(slower, checkout):
    record = slower[2]
    sources = {source.name: source for source in record.sources}
    arms = {arm.name: arm.source for arm in record.arms}
    assert arms == {"recurrent-baseline": "baseline", "recurrent": "checkout", "recurrent-baseline-again": "baseline"}
    assert sources["baseline"].commit == checkouts.git(checkout, "rev-parse", "quick")
    assert sources["checkout"].commit == checkouts.git(checkout, "rev-parse", "main")
    assert record.axes == ("source",)
    proofs = {arm: setting.value for arm, load, setting in ran(record) if setting.name == "code" and "h2" in load}
    assert proofs["recurrent-baseline"] == proofs["recurrent-baseline-again"] != proofs["recurrent"]
    assert proofs["recurrent"].startswith("fla: 4 files, sha256 ")


def ran(record: Record):
    for cell in record.cells:
        assert isinstance(cell, Timed)
        yield from ((cell.arm, cell.workload, setting) for setting in cell.ran)


def test_the_sides_are_interleaved_beside_a_control_arm_and_a_control_op(slower):
    record = slower[2]
    assert {load.op: load.role for load in record.workloads} == {"linear_attn": "target", "control": "guard"}
    turns = sorted((process.started_s, cell.arm) for cell in record.cells for process in cell.processes)
    order = [arm for index, (_, arm) in enumerate(turns) if index % 2 == 0]
    assert order == ["recurrent-baseline", "recurrent", "recurrent-baseline-again"] * 6


def test_each_outcome_names_the_source_of_its_arm_the_controls_too(slower):
    record = slower[2]
    sources = {arm.name: arm.source for arm in record.arms}
    outcomes = [(cell.arm, outcome) for cell in record.cells for outcome in (cell.gate, *cell.further)]
    assert {(arm, outcome.source) for arm, outcome in outcomes} == set(sources.items())


def test_the_record_holds_the_outcome_of_each_test_and_what_the_gate_refuses(slower):
    record = slower[2]
    (tests,) = [gate for gate in record.gates if gate.kind == "tests"]
    assert (tests.name, tests.scope, tests.log) == ("linear_attn-tests", "full", "gate/outcomes.json")
    cell = record.cell("recurrent", "b1-t64-h2-d16-fwd")
    details = [outcome.detail for outcome in cell.further if isinstance(outcome.detail, DetailOfTests)]
    assert [(detail.collected, detail.passed) for detail in details] == [(5, 5)]
    baseline = record.cell("recurrent-baseline", "b1-t64-h2-d16-fwd")
    assert not any(isinstance(outcome.detail, DetailOfTests) for outcome in baseline.further)
    numeric = next(gate for gate in record.gates if gate.name == "linear_attn-fp32-forward")
    assert numeric.mutants is not None
    assert numeric.mutants == numeric.mutants_killed > 3
    assert isinstance(cell.gate, Passed)


def test_the_tests_ran_on_the_code_of_the_checkout(checkout, tmp_path):
    wrong = tmp_path / "wrong"
    checkouts.git(tmp_path, "clone", "-q", "--branch", "broken", str(checkout), str(wrong))
    code, said = verify(*GREEN, *BRIEF, "--repo", str(wrong), "--processes", "1")
    assert code == Exit.RED_GATE, said
    assert "5 of 5 tests failed" in said


def test_a_wrong_candidate_is_refused_on_the_timed_inputs_without_the_tests(checkout, tmp_path):
    wrong = tmp_path / "wrong"
    checkouts.git(tmp_path, "clone", "-q", "--branch", "broken", str(checkout), str(wrong))
    code, said = verify("--no-gate", *BRIEF, "--repo", str(wrong), "--base", "HEAD~1", "--processes", "1")
    assert code == Exit.RED_GATE, said
    assert "recurrent on b1-t64-h2-d16-fwd: o: " in said


def test_a_baseline_that_is_wrong_itself_is_none(checkout):
    code, said = verify("--no-gate", *BRIEF, "--repo", str(checkout), "--base", "broken", "--processes", "1")
    assert code == Exit.BASELINE_UNAVAILABLE, said


def test_a_commit_against_itself_says_so(checkout):
    code, said = verify("--no-gate", *BRIEF, "--repo", str(checkout), "--base", "main", "--processes", "1")
    assert "this compares a commit with itself" in said
    assert code == Exit.NO_GATE, said


def test_a_part_of_the_gate_or_none_of_it_is_measured_and_never_evidence(checkout):
    own = ("--repo", str(checkout), "--processes", "1")
    code, said = verify(*GREEN, "--gate-k", "tail", *BRIEF, *own)
    assert code == Exit.SUBSET_GATE, said
    assert "only the tests that 'tail' selects were run" in said
    code, said = verify("--no-gate", *BRIEF, *own)
    assert code == Exit.NO_GATE, said


@pytest.mark.parametrize(
    ("gate", "code"),
    [
        ("red", Exit.RED_GATE),
        ("skipped", Exit.ALL_SKIPPED),
        ("empty", Exit.NO_TEST_SELECTED),
        ("absent", Exit.GATE_MISSING),
        ("broken", Exit.GATE_MISSING),
    ],
)
def test_a_gate_that_is_not_green_ends_the_command_before_anything_is_timed(gate, code, capsys):
    assert main(["--op", "linear_attn", *BRIEF, "--test-file", f"{GATES}/{gate}.py"]) == code
    said = capsys.readouterr().out
    assert f"exit        {code.value}: {MEANINGS[code]}" in said
    assert "timing" not in said


def test_too_few_processes_are_inconclusive(checkout):
    words = ("--repo", str(checkout), "--base", "quick", "--processes", "2")
    code, said = verify(*GREEN, *BRIEF, *words)
    assert code == Exit.INCONCLUSIVE, said
    assert "2 of 6 processes" in said


@pytest.mark.parametrize("name", DENIED)
def test_a_variable_that_weakens_a_gate_ends_the_command(name, monkeypatch, capsys):
    monkeypatch.setenv(name, "1")
    assert main(["--op", "linear_attn", *BRIEF]) == Exit.ENVIRONMENT
    assert f"{name}=1 is set, which weakens a gate; unset {name}" in capsys.readouterr().out


def test_a_gate_that_changed_with_the_code_blocks(tmp_path, capsys):
    fresh = ROOT / GATES / "not_committed.py"
    fresh.write_text("def test_one():\n    assert True\n")
    try:
        words = ["--op", "linear_attn", *BRIEF, "--test-file", str(fresh), "--base", "HEAD"]
        assert main(words) == Exit.GATE_CHANGED
    finally:
        fresh.unlink()
    assert "a change and its gate are never changed together" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--op", "linear_atn"], Exit.USAGE, "did you mean 'linear_attn'"),
        ([], Exit.USAGE, "no op is named"),
        (["--op", "linear_attn", "--backend", "chunky"], Exit.USAGE, "did you mean 'chunk'"),
        (["--op", "linear_attn", "--shapes", "b1-h4"], Exit.USAGE, "no shape"),
        (["--op", "linear_attn", "--shapes", "b1-t8-h1-d8", "b1-t8-h1-d8"], Exit.USAGE, "given twice"),
        (["--op", "comba", "--modes", "bwd"], Exit.USAGE, "no direction"),
        (["--op", "linear_attn", "--no-gate", "--gate-k", "x"], Exit.USAGE, "--no-gate leaves out"),
        (["--op", "linear_attn", "--test-file", "/x/test_x.py"], Exit.USAGE, "outside the repository"),
        (["--op", "linear_attn", "--base", "no-such-ref"], Exit.BASELINE_UNAVAILABLE, "no commit 'no-such-ref'"),
        (["--op", "linear_attn", "--base", "einops==0.8.0"], Exit.BASELINE_UNAVAILABLE, "holds no code of"),
        (["--op", "linear_attn", "--repo", "/"], Exit.BASELINE_UNAVAILABLE, "no git repository"),
        (["--op", "chunk_gla", "--device", "cpu"], Exit.UNSUITABLE, "no implementation for a processor"),
    ],
)
def test_what_cannot_be_verified_says_why(words, code, said, capsys):
    assert main(words) == code
    assert said in capsys.readouterr().err


def test_a_device_that_is_missing_says_how_it_would_run(capsys):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is an accelerator")
    assert main(["--op", "chunk_gla", "--no-gate", "--modes", "fwd"]) == Exit.UNSUITABLE
    said = capsys.readouterr().err
    assert "torch sees no accelerator" in said
    assert (
        "python -m benchmarks.ops.verify --op chunk_gla --no-gate --modes fwd --dry-run shows what it would do" in said
    )


def test_a_dry_run_prints_the_plan_and_no_number_measured(capsys):
    assert main(["--op", "chunk_gla", "--base", "main", "--modes", "fwd", "fwdbwd", "--dry-run", "--log"]) == 0
    said = capsys.readouterr().out
    assert "docs/benchmark_logs/kernels/verify_chunk_gla_DEVICE_" in said
    assert "workload    b1-t8192-h96-d128-fwdbwd" in said
    assert said.rstrip().endswith("unverified: nothing was run")


def test_the_list_needs_no_torch_and_shows_gates():
    program = (
        "import sys; sys.modules['torch'] = None; from benchmarks.ops.verify import main; sys.exit(main({words!r}))"
    )
    for form, check in (("json", json.loads), ("text", str)):
        command = [sys.executable, "-c", program.format(words=["--list", "--format", form])]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        found = check(done.stdout)
        assert "linear_attn" in str(found)
    rows = json.loads(
        subprocess.check_output([sys.executable, "-m", "benchmarks.ops.verify", "--list", "--format", "json"], cwd=ROOT)
    )
    assert {"op", "category", "device", "shapes", "gate", "modes"} <= set(rows[0])


def test_every_exit_code_has_a_meaning_and_the_worst_is_told():
    assert set(MEANINGS) == set(Exit)
    assert first([]) is Exit.OK
    assert first([Blocker(Exit.INCONCLUSIVE, "x"), Blocker(Exit.SUBSET_GATE, "x")]) is Exit.SUBSET_GATE
    assert first([Blocker(Exit.INCONCLUSIVE, "x"), Blocker(Exit.REGRESSION, "x")]) is Exit.REGRESSION


def test_a_rejected_row_has_no_timing(checkout, tmp_path):
    logs = tmp_path / "logs"
    words = ("--repo", str(checkout), "--base", "broken", "--processes", "1", "--log", "--logs", str(logs))
    verify("--no-gate", *BRIEF, *words)
    (loaded,) = Store(logs)
    assert isinstance(loaded, Loaded)
    cell = loaded.record.cell("recurrent-baseline", "b1-t64-h2-d16-fwd")
    assert isinstance(cell, Rejected)
    assert any(entry.what == "frozen tests" and "--no-gate" in entry.reason for entry in loaded.record.unavailable)


def test_a_red_gate_is_kept_without_a_timing(tmp_path):
    logs = tmp_path / "logs"
    code, said = verify("--test-file", f"{GATES}/red.py", *BRIEF, "--log", "--logs", str(logs))
    assert code == Exit.RED_GATE, said
    (loaded,) = Store(logs)
    assert isinstance(loaded, Loaded)
    assert {type(cell) for cell in loaded.record.cells} == {Rejected}
    cell = loaded.record.cells[0]
    assert isinstance(cell, Rejected)
    assert cell.gate.detail == DetailOfTests(collected=2, passed=1, failed=1, skipped=0, allowed_skips=())
    report = json.loads((loaded.entry.path.parent / "gate/outcomes.json").read_text())
    assert [test["outcome"] for test in report["tests"]] == ["passed", "failed"]


def test_the_well_known_example_selects_nothing_and_says_what_would(capsys):
    assert main(["--op", "chunk_gla", "--gate-k", "T8192", "--modes", "fwd"]) == Exit.NO_TEST_SELECTED
    said = capsys.readouterr().out
    assert "--gate-k T8192 selects none of" in said
    assert "these do, with how many: " in said
    assert "tail (" in said
