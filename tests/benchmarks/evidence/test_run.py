from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks import ROOT
from benchmarks.evidence.run import main
from benchmarks.evidence.selection import variables
from benchmarks.evidence.suite import Check, find, suites
from benchmarks.evidence.worker import outcome
from evidence.errors import UnknownNameError
from evidence.schema import Failed, Passed
from evidence.store import Loaded, Store


def test_a_run_with_log_keeps_a_record_and_says_what_comes_next(tmp_path, capfd):
    words = ["store", "--records", "4", "--processes", "1", "--no-control", "--log", "--logs", str(tmp_path / "logs")]
    assert main([*words, "--limitation", "two records"]) == 0
    said = capfd.readouterr().out
    assert "python -m evidence.check" in said
    assert "peak_memory" in said
    (loaded,) = Store(tmp_path / "logs")
    assert isinstance(loaded, Loaded)
    assert loaded.entry.series.startswith("evidence/store_")
    assert loaded.record.limitations[-1] == "two records"
    provenance = loaded.record.provenance
    assert provenance is not None
    assert provenance.argv[1:4] == ("-m", "benchmarks.evidence.run", "store")
    assert str(tmp_path) not in loaded.entry.path.read_text(encoding="utf-8")


def test_what_is_measured_keeps_its_byte_code():
    found = variables({"PYTHONDONTWRITEBYTECODE": "1", "HOME": "/there"})
    assert found["HOME"] == "/there"
    assert "PYTHONDONTWRITEBYTECODE" not in found


@pytest.mark.parametrize("name", sorted(suites()))
def test_a_dry_run_shows_the_plan_and_measures_nothing(name, capsys):
    assert main([name, "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert f"suite       {name}: " in said
    assert "(control)" in said
    assert f"-m benchmarks.evidence.worker --suite {name} --side " in said
    assert "unverified" in said


@pytest.mark.parametrize("words", [["store", "--records", "0"], ["site", "--processes", "0"]])
def test_what_makes_no_measurement_is_refused(words, capsys):
    assert main(words) == 2
    assert "at least 1" in capsys.readouterr().err


def test_a_name_that_is_none_names_the_nearest():
    with pytest.raises(UnknownNameError, match="no suite 'stroe'") as error:
        find("stroe")
    assert "store" in error.value.fix
    with pytest.raises(UnknownNameError, match="no side of store 'chek'") as error:
        find("store").side("chek")
    assert "check" in error.value.fix


@pytest.mark.parametrize("name", sorted(suites()))
def test_a_suite_names_files_that_are_there(name):
    suite = find(name)
    assert all(list(ROOT.glob(pattern)) for pattern in suite.measured)
    assert all((ROOT / path).is_file() for path in suite.gates)
    assert [side.role for side in suite.sides].count("baseline") == 1


def test_an_outcome_counts_checks_and_none_is_no_pass():
    assert isinstance(outcome([Check("a", ""), Check("b", "")], "gate", "before", 1), Passed)
    failed = outcome([Check("a", ""), Check("b", "is wrong"), Check("c", "too")], "gate", "before", 1)
    assert isinstance(failed, Failed)
    assert (failed.reason, failed.message) == ("mismatch", "b: is wrong (2 of 3)")
    empty = outcome([], "gate", "before", 1)
    assert isinstance(empty, Failed)
    assert empty.reason == "no-test-selected"


def test_the_runner_loads_nothing_slow():
    program = "import sys; from benchmarks.evidence import run, worker; run.parser(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"torch", "triton", "scipy", "numpy", "mkdocs", "click", "rich", "jinja2"}
