"""The guide's draft is a contract of this repository, and its measuring command means what the contract says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.loop import contract as contracts
from benchmarks.loop.contract import Contract
from benchmarks.ops.registry import find
from benchmarks.ops.verification import parser, resolve
from tests.benchmarks.loop.loops import ROOT


@pytest.fixture
def shown(tmp_path: Path) -> Contract:
    page = (ROOT / "docs/guides/optimise-a-kernel.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    path = tmp_path / "draft.json"
    path.write_text(block)
    return contracts.draft(path, ROOT)


def test_its_command_measures_its_targets_in_its_modes(shown: Contract) -> None:
    assert shown.benchmark[:3] == ("python", "-m", "benchmarks.ops.verify")
    options = parser().parse_args(shown.benchmark[3:])
    asked = resolve(options)
    assert options.log
    assert options.profile
    measured = {case.name: case.direction for case in asked.selection.cases}
    assert {*shown.workloads, *shown.guards} <= measured.keys()
    assert set(shown.modes) == {measured[name] for name in shown.workloads}
    assert asked.implementation.name == shown.candidate
    assert asked.implementation.target == shown.entry_point
    assert options.base == shown.baseline_source


def test_its_kernel_is_one_of_the_entry_points_module(shown: Contract) -> None:
    module = shown.entry_point.partition(":")[0].replace(".", "/") + ".py"
    assert f"def {shown.criteria.mechanism.kernel}(" in (ROOT / module).read_text(encoding="utf-8")
    assert find(shown.op).name == shown.op
