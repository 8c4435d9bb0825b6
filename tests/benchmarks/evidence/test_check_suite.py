from __future__ import annotations

import subprocess
import sys

from benchmarks import ROOT
from benchmarks.evidence.faults import edit_digit
from benchmarks.evidence.projects import write_store
from benchmarks.evidence.records import log_of
from benchmarks.evidence.suites.check import SUITE
from evidence import schema
from evidence.schema import ForeignWorkload, Rejected, Timed
from tests.benchmarks.evidence.sessions import measure, prepared_by

LISTED = """
import sys
from evidence.cli import cli
try:
    cli(["check", "--root", sys.argv[1]])
except SystemExit as left:
    print(left.code, *sorted({"torch", "triton", "mkdocs"} & set(sys.modules)))
"""


def synthetic(folder, sizes):
    root = folder / "site"
    root.mkdir()
    write_store(root, 20, seed=3)
    return root


def test_a_site_is_timed_once_an_edit_of_it_was_found(tmp_path):
    record = measure(prepared_by(SUITE, synthetic), tmp_path, {}, processes=1)
    assert [arm.name for arm in record.arms] == ["check", "check-again"]
    for cell in record.cells:
        assert isinstance(cell, Timed)
        assert isinstance(cell.gate.detail, schema.TestsDetail)
        assert cell.gate.detail.collected == 3
    (workload,) = record.workloads
    assert isinstance(workload, ForeignWorkload)
    assert {setting.name: setting.value for setting in workload.settings if "sha256" not in setting.name} == {
        "logs": "20",
        "pages": "2",
    }


def test_a_site_that_the_check_does_not_pass_is_not_timed(tmp_path):
    def spoilt(folder, sizes):
        root = synthetic(folder, sizes)
        edit_digit(root, log_of(2))
        return root

    record = measure(prepared_by(SUITE, spoilt), tmp_path, {}, processes=1, has_control=False)
    (cell,) = record.cells
    assert isinstance(cell, Rejected)
    assert cell.gate.message.startswith("exit code: 1: evidence: 1 error")


def test_a_check_loads_neither_frameworks_nor_the_site_builder(tmp_path):
    command = [sys.executable, "-c", LISTED, str(synthetic(tmp_path, {}))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0"
