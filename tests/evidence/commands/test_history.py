"""`evidence history`: what an author sees, in text and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evidence.cli import cli
from tests.projects import rerun, write_project


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = write_project(tmp_path_factory.mktemp("history") / "site")
    rerun(made)
    return made


def run(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["history", "--root", str(root), *arguments])


def test_a_claim_in_every_log(root: Path) -> None:
    done = run(root, "toy-fused")
    assert done.exit_code == 0, done.output
    title, heads, _, first, second = done.output.splitlines()
    assert title == "time of fused against eager, n1024: 2 logs: a change of level shows in 4 or more"
    assert heads.split() == ["log", "value", "interval", "verdict", "software"]
    assert first.startswith("kernels/toy_20260901")
    assert "FASTER" in first
    assert "torch" in first
    assert "torch" not in second


def test_a_series_as_json(root: Path) -> None:
    done = run(root, "kernels/toy", "--format", "json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert [one["title"] for one in found] == ["time of eager, n1024", "time of fused, n1024"]
    assert [moment["log"] for moment in found[0]["moments"]] == ["kernels/toy_20260901", "kernels/toy_20260902"]
    assert found[0]["moments"][0]["cell"]["interval"]["value"] > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["kernels/tyo"], "did you mean 'kernels/toy'"),
        (["kernels/toy", "--metric", "tme"], "did you mean 'time'"),
        (["toy-fused", "--metric", "time"], "leave out --metric"),
    ],
)
def test_what_cannot_be_shown_says_why(root: Path, arguments: list[str], said: str) -> None:
    done = run(root, *arguments)
    assert done.exit_code == 2
    assert said in done.output
