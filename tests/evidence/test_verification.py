from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evidence import cli
from evidence.errors import UnknownNameError
from evidence.project import Project
from evidence.verification import Verified, verify
from tests.projects import write_project

ROOT = Path(__file__).parents[2]
LOG = "kernels/toy_20260901"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_project(tmp_path_factory.mktemp("project"))
    assert invoke(root, "update").exit_code == 0
    return root


@pytest.fixture
def root(sound: Path, tmp_path: Path) -> Path:
    import shutil

    shutil.copytree(sound, tmp_path / "copy")
    return tmp_path / "copy"


def invoke(root: Path, *words: str) -> Result:
    return CliRunner().invoke(cli.cli, [*words, "--root", str(root)])


def failing(found: Verified) -> list[str]:
    return [step.name for step in found.steps if not step.holds]


def test_a_claim_is_recomputed_from_bytes_to_text(sound: Path) -> None:
    found = verify(Project.find(sound), "toy-fused")
    names = [step.name for step in found.steps]
    assert found.holds
    assert names[:3] == ["file", "sha256", "reading"]
    assert names[-2:] == ["printed", "printed"]
    for name in ("gate", "samples", "processes", "value", "ratio", "least effect", "verdict", "expect"):
        assert name in names
    assert all("equal to the lock" in step.text for step in found.steps if step.name == "printed")


def test_a_table_is_recomputed_cell_by_cell(sound: Path) -> None:
    found = verify(Project.find(sound), "toy")
    assert found.holds
    assert {"gate", "samples", "value", "ratio", "verdict", "printed"} <= {step.name for step in found.steps}


def test_one_cell(sound: Path) -> None:
    project = Project.find(sound)
    whole = verify(project, "toy")
    workload = next(step.text for step in whole.steps if step.name == "value").split(" on ")[1].split(":")[0]
    one = verify(project, "toy", cell=f"fused/{workload}")
    assert 0 < len(one.steps) < len(whole.steps)
    assert not any(step.text.startswith("eager on") for step in one.steps)
    with pytest.raises(UnknownNameError, match="fusd"):
        verify(project, "toy", cell=f"fusd/{workload}")


def test_names_that_are_none_name_the_nearest(sound: Path) -> None:
    result = invoke(sound, "verify", "toy-fusd")
    assert result.exit_code == 2
    assert "did you mean 'toy-fused'?" in result.output
    assert invoke(sound, "verify", "toy", "--log", "kernels/tyo_20260901").exit_code == 2
    assert invoke(sound, "verify", "toy", "--log", LOG).exit_code == 0


def test_an_edited_record_is_told(root: Path) -> None:
    path = root / "docs/benchmark_logs" / LOG / "record.json"
    text = path.read_text()
    match = re.search(r'"values":\s*\[\s*0\.00\d*?([1-8])', text)
    assert match is not None
    path.write_text(text[: match.start(1)] + str(int(match[1]) + 1) + text[match.end(1) :])
    found = verify(Project.find(root), "toy-fused")
    assert "sha256" in failing(found)
    result = invoke(root, "verify", "toy-fused")
    assert result.exit_code == 1
    assert "✗ sha256" in result.output


def test_an_edited_lock_is_told(root: Path) -> None:
    path = root / "docs/claims/evidence.lock"
    path.write_text(re.sub(r"(claims\.toy-fused\.says = .*?)(\d)\.", r"\g<1>9.", path.read_text()))
    assert failing(verify(Project.find(root), "toy-fused")) == ["printed"]


def test_a_contradicted_belief_is_told(root: Path) -> None:
    path = root / "docs/claims/features.yml"
    path.write_text(path.read_text().replace("expect: better", "expect: worse"))
    assert "expect" in failing(verify(Project.find(root), "toy-fused"))


def test_the_steps_as_json(sound: Path) -> None:
    result = invoke(sound, "verify", "toy-fused", "--json")
    document = json.loads(result.output)
    assert (document["id"], document["kind"], document["holds"]) == ("toy-fused", "claim", True)
    ratio = next(step for step in document["steps"] if step["step"] == "ratio")
    assert ratio["low"] < ratio["value"] < ratio["high"]
    values = [step["values"] for step in document["steps"] if step["step"] == "processes"]
    assert all(len(one) >= 6 for one in values)


def test_what_this_project_claims_comes_out_as_printed() -> None:
    project = Project.find(ROOT)
    for id_ in ("delta-chunked", "delta-forms", "check-cold"):
        found = verify(project, id_)
        assert [step for step in found.steps if not step.holds and step.name != "printed"] == []
