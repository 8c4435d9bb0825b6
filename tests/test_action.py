"""The composite action: its script, run as GitHub runs it, over a real project."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.evidence.checker.sites import commit
from tests.projects import write_project

ACTION = Path(__file__).parent.parent / "action.yml"


@pytest.fixture(scope="module")
def action() -> dict[str, Any]:
    made: dict[str, Any] = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    return made


def run(action: dict[str, Any], root: Path, temporary: Path, **inputs: str) -> tuple[int, str, str]:
    step = next(one for one in action["runs"]["steps"] if one.get("id") == "check")
    given = {name: inputs.get(name, one["default"]) for name, one in action["inputs"].items()}
    variables = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: given[match[1]], text)
        for name, text in step["env"].items()
    }
    temporary.mkdir(exist_ok=True)
    output = temporary / "output"
    output.write_text("")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **variables, "PATH": path, "RUNNER_TEMP": str(temporary), "GITHUB_OUTPUT": str(output)}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr, output.read_text()


def test_a_sound_site_passes_and_says_its_counts(action: dict[str, Any], tmp_path: Path) -> None:
    root = write_project(tmp_path / "site")
    commit(root)
    code, said, output = run(action, root, tmp_path / "runner")
    assert code == 0, said
    assert output.startswith("summary=evidence: 0 errors, 0 warnings")


def test_a_finding_annotates_its_line_and_fails(action: dict[str, Any], tmp_path: Path) -> None:
    root = write_project(tmp_path / "site", {"more.md": "# More\n\nIt is 1.5x faster.\n"})
    commit(root)
    code, said, _ = run(action, root, tmp_path / "runner")
    assert code == 1
    assert "::" in said
    assert "file=docs/more.md,line=3" in said
    code, said, _ = run(action, root, tmp_path / "runner", changed="HEAD", arguments="--ignore EV715")
    assert code == 0, said


def test_inputs_are_never_part_of_a_script(action: dict[str, Any], tmp_path: Path) -> None:
    for step in action["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
    root = write_project(tmp_path / "site")
    commit(root)
    code, said, _ = run(action, root, tmp_path / "runner", changed="$(touch owned); touch owned", base='"; touch owned')
    assert code == 2, said
    assert not (root / "owned").exists()


def test_every_input_is_described_and_used(action: dict[str, Any]) -> None:
    text = ACTION.read_text(encoding="utf-8")
    for name, one in action["inputs"].items():
        assert one["description"]
        assert f"inputs.{name}" in text
