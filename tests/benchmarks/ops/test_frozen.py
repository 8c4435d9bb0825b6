"""The frozen gate: what each kind of gate file comes to, by its own reason and exit code."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import ROOT
from benchmarks.ops import frozen
from benchmarks.ops.exits import Exit
from benchmarks.ops.registry import find
from evidence.schema import Failed, Passed

torch = pytest.importorskip("torch")
GATES = ROOT / "tests/benchmarks/ops/toy_gates"


def asked(name: str, selection: str | None = None, **environment: str) -> frozen.Asked:
    return frozen.Asked(find("linear_attn"), (GATES / name,), selection, ROOT, {**os.environ, **environment})


@pytest.fixture(scope="module")
def green() -> frozen.Judged:
    return frozen.run(asked("green.py"), "fla-core")


def test_a_green_gate_passes_with_its_counts_hashes_and_report(green):
    assert green.blocker is None
    assert isinstance(green.outcome, Passed)
    assert (green.outcome.detail.collected, green.outcome.detail.passed) == (5, 5)
    assert (green.gate.scope, green.gate.selection, green.gate.kind) == ("full", None, "tests")
    report = frozen.Report.model_validate_json(green.log)
    assert {test.outcome for test in report.tests} == {"passed"}
    assert report.poisoned_allocations > 0


def test_the_digests_cover_tests_conftests_references_tolerances_registry_and_settings(green):
    paths = {path.path for path in green.gate.frozen}
    assert {
        "tests/benchmarks/ops/toy_gates/green.py",
        "tests/benchmarks/ops/conftest.py",
        "tests/conftest.py",
        "benchmarks/ops/references.py",
        "benchmarks/ops/tolerances.py",
        "benchmarks/ops/definitions/linear_attn.py",
        "pyproject.toml#tool.pytest.ini_options",
    } <= paths


@pytest.mark.parametrize(
    ("name", "code", "reason", "said"),
    [
        ("red.py", Exit.RED_GATE, "mismatch", "1 of 2 tests failed"),
        ("skipped.py", Exit.ALL_SKIPPED, "all-skipped", "all 2 tests were skipped: needs an accelerator"),
        ("partly.py", Exit.ALL_SKIPPED, "all-skipped", "ALLOWED_SKIPS of its file does not allow that: flaky"),
        ("empty.py", Exit.NO_TEST_SELECTED, "no-test-selected", "holds no test"),
        ("absent.py", Exit.GATE_MISSING, "gate-missing", "there is no gate file"),
        ("broken.py", Exit.GATE_MISSING, "gate-missing", "cannot be collected"),
        ("crashing.py", Exit.RED_GATE, "error", "pytest ended without a report: exit code 11"),
        ("uninitialised.py", Exit.RED_GATE, "mismatch", "1 of 1 tests failed"),
    ],
)
def test_a_gate_that_proves_nothing_does_not_pass(name, code, reason, said):
    judged = frozen.run(asked(name), "fla-core")
    assert judged.blocker is not None
    assert judged.blocker.code is code
    assert said in judged.blocker.reason
    assert isinstance(judged.outcome, Failed)
    assert judged.outcome.reason == reason


def test_what_a_library_warns_of_is_no_fault_of_an_op():
    assert isinstance(frozen.run(asked("warning.py"), "fla-core").outcome, Passed)


def test_a_skip_that_the_file_allows_passes():
    judged = frozen.run(asked("allowed.py"), "fla-core")
    assert isinstance(judged.outcome, Passed)
    assert judged.outcome.detail.allowed_skips == ("test_other",)


def test_a_part_of_the_gate_is_recorded_as_a_part():
    judged = frozen.run(asked("red.py", "right"), "fla-core")
    assert isinstance(judged.outcome, Passed)
    assert (judged.gate.scope, judged.gate.selection) == ("partial", "right")


def test_a_selection_of_nothing_says_what_selects_something():
    judged = frozen.run(asked("red.py", "T8192"), "fla-core")
    assert judged.blocker is not None
    assert judged.blocker.code is Exit.NO_TEST_SELECTED
    assert "--gate-k T8192 selects none of 2 tests; these do" in judged.blocker.reason
    assert "right (1)" in judged.blocker.reason
    assert "wrong (1)" in judged.blocker.reason


def test_a_selection_that_is_no_expression_says_so():
    judged = frozen.run(asked("red.py", "right and"), "fla-core")
    assert judged.blocker is not None
    assert judged.blocker.code is Exit.NO_TEST_SELECTED
    assert "no expression that pytest understands" in judged.blocker.reason


def test_asserts_switched_off_are_no_pass():
    judged = frozen.run(asked("red.py", PYTHONOPTIMIZE="1"), "fla-core")
    assert judged.blocker is not None
    assert judged.blocker.code is Exit.RED_GATE


def test_variables_that_weaken_a_gate_are_in_its_record():
    judged = frozen.run(asked("allowed.py", FLA_CI_ENV="1"), "fla-core")
    assert [(one.name, one.value) for one in judged.gate.variables] == [("FLA_CI_ENV", "1")]


def test_a_gate_that_changed_against_the_baseline_is_named():
    about = asked("red.py")
    names = frozen.frozen_names(about.op, about.files, ROOT)
    before = {name: (ROOT / name).read_bytes() for name in (*names, "pyproject.toml")}
    assert frozen.changed(about, before) == ""
    tolerance = "benchmarks/ops/tolerances.py"
    looser = {**before, tolerance: before[tolerance].replace(b"1e-4", b"1e-5")}
    assert frozen.changed(about, looser) == f"{tolerance} differs from the baseline's"
    settings = before["pyproject.toml"]
    assert "pytest.ini_options" in frozen.changed(
        about, {**before, "pyproject.toml": settings.replace(b'addopts = "', b'addopts = "-k nothing ')}
    )
    assert frozen.changed(about, {**before, "pyproject.toml": settings + b"\n[tool.other]\nx = 1\n"}) == ""
    gone = {name: data for name, data in before.items() if not name.endswith("red.py")}
    assert frozen.changed(about, gone).endswith("red.py is not in the baseline")


def test_a_conftest_beside_the_tests_is_part_of_the_gate(tmp_path: Path):
    (tmp_path / "tests").mkdir()
    for name in ("tests/conftest.py", "conftest.py", "tests/test_x.py"):
        (tmp_path / name).write_text("")
    about = replace(asked("red.py"), root=tmp_path, files=(tmp_path / "tests/test_x.py",))
    names = frozen.frozen_names(about.op, about.files, tmp_path)
    assert {"conftest.py", "tests/conftest.py", "tests/test_x.py"} <= set(names)
