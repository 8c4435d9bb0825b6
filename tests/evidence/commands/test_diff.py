"""Tests of `evidence diff`: two logs, two commits, a commit and the work tree, in a real repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evidence.cli import cli
from evidence.schema import Crashed
from tests import factories
from tests.evidence import splitkv
from tests.evidence.checker.sites import commit, git, write_lock
from tests.evidence.splitkv import FIRST, SECOND


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two commits: the first session, then the second adopted and the claim corrected."""
    made = splitkv.write(tmp_path_factory.mktemp("diff") / "site", splitkv.splitkv())
    write_lock(made)
    git(made, "init", "--quiet")
    commit(made)
    git(made, "tag", "first")
    second = splitkv.splitkv(SECOND, splitkv.SLOWER, hosts=factories.on_device("NVIDIA L4", vbios="11.22"))
    factories.loaded(second, made / "docs/benchmark_logs")
    path = made / "docs/claims/features.yml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("{better: 5, worse: 1}", "{better: 4, worse: 2}"), encoding="utf-8")
    write_lock(made)
    commit(made)
    return made


def diff(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["diff", "--root", str(root), *arguments])


def test_two_commits_are_told_by_the_lines_that_moved_and_what_was_edited(root: Path) -> None:
    done = diff(root, "first", "HEAD")
    assert done.exit_code == 0, done.output
    assert (
        'tables.splitkv-l4."1 / 8192"\n'
        "  - 118.62 µs | 108.80 µs | 1.091× FASTER\n"
        "  + 118.46 µs | 122.20 µs | 0.970× SLOWER\n"
        "      whole time: 118.62 µs -> 118.46 µs, within the noise (1.00×, 95 % 0.996–1.002)\n"
        "      split time: 108.80 µs -> 122.20 µs, beyond the noise (1.12×, 95 % 1.12–1.13)\n"
    ) in done.output
    assert 'claims.splitkv.expect\n  - {"better": 5, "worse": 1}\n  + {"better": 4, "worse": 2}\n' in done.output
    assert done.output.endswith("verdicts changed, 1 key of claims files edited\n")


def test_a_commit_against_the_work_tree(root: Path) -> None:
    assert diff(root, "HEAD").output == "evidence: 0 lines changed\n"
    assert diff(root, "first").output == diff(root, "first", "HEAD").output


def test_backwards_swaps_the_sides(root: Path) -> None:
    there, back = diff(root, "first", "HEAD").output, diff(root, "HEAD", "first").output
    assert there.count("\n  - ") == back.count("\n  + ")
    assert "whole ÷ split of time: SLOWER -> FASTER" in back


def test_commits_as_json(root: Path) -> None:
    document = json.loads(diff(root, "first", "HEAD", "--format", "json").output)
    assert {change["section"] for change in document["changes"]} == {"claims", "series", "tables"}
    assert [edit["what"] for edit in document["edits"]] == ["claims.splitkv.expect"]
    assert document["faults"] == []


def test_two_logs_are_told_cell_by_cell(root: Path) -> None:
    done = diff(root, FIRST, SECOND)
    assert done.exit_code == 0, done.output
    lines = done.output.split("\n")
    assert lines[0] == f"{FIRST} -> {SECOND}"
    assert "  date\n    - 2026-11-05\n    + 2026-11-28\n" in done.output
    (row,) = [line for line in lines if line.startswith("  b1-t8192 / split / time: ")]
    assert row.startswith("  b1-t8192 / split / time: 108.80 µs (")
    assert row.endswith(" SLOWER")
    assert lines[-2] == "evidence: 18 numbers compared: 17 same, 1 slower"


@pytest.mark.parametrize("form", ["{}", "{}/", "docs/benchmark_logs/{}", "docs/benchmark_logs/{}/record.json"])
def test_a_log_may_be_named_by_its_path(root: Path, form: str) -> None:
    assert diff(root, form.format(FIRST), form.format(SECOND)).output == diff(root, FIRST, SECOND).output


def test_logs_as_json(root: Path) -> None:
    document = json.loads(diff(root, FIRST, SECOND, "--format", "json").output)
    assert (document["old"], document["new"]) == (FIRST, SECOND)
    (one,) = [one for one in document["shared"] if (one["workload"], one["arm"]) == ("b1-t8192", "split")]
    assert (one["metric"], one["verdict"], one["word"]) == ("time", "worse", "SLOWER")
    assert 0.88 < one["ratio"]["value"] < 0.9


def test_a_cell_that_crashed_is_told_with_its_reason(tmp_path: Path) -> None:
    crash = Crashed(arm="fused", workload="n1024", cause="error", phase="gate", message="\u202eit broke")
    made = factories.record("kernels/toy_20260902")
    cells = (made.cells[0], crash, made.cells[2])
    root = splitkv.write(tmp_path / "site", factories.record(), made.model_copy(update={"cells": cells}))
    done = diff(root, "kernels/toy_20260901", "kernels/toy_20260902")
    assert "n1024 / fused: timed -> crashed: error in gate: \\u202eit broke" in done.output


@pytest.mark.parametrize("names", [("firts", "HEAD"), (FIRST, "nowhere"), ("HEAD^{tree}", "HEAD"), ("--", "-x")])
def test_what_is_neither_log_nor_commit(root: Path, names: tuple[str, str]) -> None:
    done = diff(root, *names)
    assert done.exit_code == 2
    assert "no log or commit" in done.output


def test_no_repository_is_an_error_with_what_to_do(tmp_path: Path) -> None:
    root = splitkv.write(tmp_path / "site", splitkv.splitkv())
    done = diff(root, "HEAD")
    assert done.exit_code == 2
    assert "is in no git repository" in done.output
