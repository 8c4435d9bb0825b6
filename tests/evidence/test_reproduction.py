"""Tests of running a record's command again: really run, really refused, and judged on invented numbers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidence.project import Project
from evidence.reproduction import Judged, RefusedError, found_in, gates, judge, plan, worst
from evidence.schema import Record
from evidence.store import Loaded, Store
from tests import factories
from tests.evidence.checker import sites
from tests.projects import MKDOCS, write_project

ROOT = Path(__file__).parents[2]
CLAIMS = """\
tables:
  tiny:
    title: Tiny
    series: SERIES
    rows: [op]
    across: arm
    columns: [time, {ratio: time}]
    baseline: recurrent
claims:
  tiny-time:
    statement: It takes {value}.
    series: SERIES
    metric: time
    arm: chunk
"""
MEASURE = (
    *("-m", "benchmarks.ops.run", "--op", "linear_attn", "--shapes", "b1-t64-h2-d16", "--directions", "forward"),
    *("--no-control", "--processes", "6", "--start", "fork", "--nurseries", "1", "--sharing", "arm"),
    *("--minimum-samples", "3", "--maximum-samples", "5", "--budget", "0.2", "--warm-up", "0.02", "--log"),
)


def run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this repository with one log, measured in it for real."""
    pytest.importorskip("torch")
    root = tmp_path_factory.mktemp("repository")
    for name in ("evidence", "benchmarks"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "mkdocs.yml").write_text(MKDOCS)
    (root / ".gitignore").write_text("__pycache__\n")
    (root / "docs/claims").mkdir(parents=True)
    sites.git(root, "init", "--quiet")
    sites.commit(root)
    done = run(root, *MEASURE)
    assert done.returncode == 0, done.stderr
    (entry,) = Store(root / "docs/benchmark_logs").entries
    (root / "docs/claims/page.yml").write_text(CLAIMS.replace("SERIES", entry.series))
    sites.commit(root)
    return root


def reproduce(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(root, "-m", "evidence", "reproduce", *words)


def stored(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in (root / "docs/benchmark_logs").rglob("*"))


def test_a_run_is_compared_cell_by_cell(measured: Path) -> None:
    before = stored(measured)
    done = reproduce(measured, "tiny", "--yes")
    assert done.returncode in (0, 1, 3), done.stdout + done.stderr
    assert "time, chunk against recurrent on b1-t64-h2-d16-fwd" in done.stdout
    last = done.stdout.splitlines()[-1]
    assert last.startswith("evidence: ")
    assert any(word in last for word in ("inside", "outside", "inconclusive"))
    assert stored(measured) == before


def test_a_smoke_run_shows_that_the_command_runs(measured: Path, tmp_path: Path) -> None:
    done = reproduce(measured, "tiny-time", "--smoke", "--yes", "--keep", str(tmp_path / "kept"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ran            chunk on b1-t64-h2-d16-fwd (gate passed)" in done.stdout
    assert "says nothing about the numbers" in done.stdout
    assert isinstance(found_in(tmp_path / "kept"), Loaded)
    again = reproduce(measured, "tiny-time", "--smoke", "--yes", "--keep", str(tmp_path / "kept"))
    assert again.returncode == 2
    assert "is not empty" in again.stderr


def test_a_dry_run_prints_the_command_and_runs_nothing(measured: Path) -> None:
    done = reproduce(measured, "tiny", "--dry-run")
    assert done.returncode == 0
    assert "-m benchmarks.ops.run --op linear_attn --shapes b1-t64-h2-d16" in done.stdout
    assert "with     OMP_NUM_THREADS=1" in done.stdout
    assert done.stdout.endswith("evidence: nothing was run\n")


def test_nothing_is_run_unless_somebody_agrees(measured: Path) -> None:
    done = reproduce(measured, "tiny")
    assert done.returncode == 2
    assert "nobody agreed" in done.stderr


def test_a_name_that_is_none(measured: Path) -> None:
    done = reproduce(measured, "tine", "--dry-run")
    assert done.returncode == 2
    assert "did you mean 'tiny'?" in done.stderr


Edit = Callable[[dict[str, Any]], object]
HOSTILE: list[tuple[str, Edit, str]] = [
    ("rm", lambda p: p.update(argv=["rm", "-rf", "marked"]), "is not run: 'rm'"),
    ("rm named as its runner", lambda p: p.update(argv=["rm", "-rf", "marked"], runner="rm"), "is not run: 'rm'"),
    ("a shell", lambda p: p.update(argv=["sh", "-c", "rm -rf marked"]), "is not run: 'sh'"),
    ("code", lambda p: p.update(argv=["python", "-c", "import shutil; shutil.rmtree('marked')"]), "is not run"),
    (
        "another module",
        lambda p: p.update(argv=["python", "-m", "shutil"], runner="shutil"),
        "benchmarks.evidence.run, benchmarks.ops.run",
    ),
    ("a program before it", lambda p: p.update(argv=["rm", *p["argv"]]), "is not run: 'rm'"),
    ("an option before it", lambda p: p.update(argv=["python", "-i", *p["argv"][1:]]), "is not run"),
    (
        "another program of that name",
        lambda p: p.update(argv=["./python", *p["argv"][1:], ";", "rm"]),
        "unrecognized arguments: ; rm",
    ),
    (
        "an option that is none",
        lambda p: p.update(argv=[*p["argv"], "--exec", "rm"]),
        "unrecognized arguments: --exec rm",
    ),
    ("another arm than it shows", lambda p: p["argv"].remove("--no-control"), "would measure something else"),
]


@pytest.mark.parametrize(("edit", "said"), [case[1:] for case in HOSTILE], ids=[case[0] for case in HOSTILE])
def test_a_record_that_names_another_program_is_refused(measured: Path, tmp_path: Path, edit: Edit, said: str) -> None:
    root = tmp_path / "copy"
    shutil.copytree(measured, root)
    (root / "marked").mkdir()
    (path,) = (root / "docs/benchmark_logs").glob("*/*/record.json")
    document = json.loads(path.read_text())
    edit(document["provenance"])
    path.write_text(json.dumps(document))
    done = reproduce(root, "tiny", "--yes")
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr
    assert (root / "marked").is_dir()


def test_variables_that_would_run_something_are_left_out(measured: Path, tmp_path: Path) -> None:
    root = tmp_path / "copy"
    shutil.copytree(measured, root)
    (path,) = (root / "docs/benchmark_logs").glob("*/*/record.json")
    document = json.loads(path.read_text())
    document["provenance"]["variables"] += [
        {"name": name, "value": "evil"} for name in ("LD_PRELOAD", "PATH", "PYTHONPATH", "PYTHONSTARTUP")
    ]
    path.write_text(json.dumps(document))
    done = reproduce(root, "tiny", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "evil" not in done.stdout


# What needs no run: refusals by what the record is, and judging invented numbers.


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project.find(write_project(tmp_path_factory.mktemp("project")))


def test_a_runner_of_another_tree_is_not_run(project: Project) -> None:
    with pytest.raises(RefusedError, match="does not call a runner of this tree"):
        plan(project, "toy")


def held(change: Callable[[Record], Record], project: Project) -> tuple[Loaded, Loaded]:
    (then,) = Store(project.logs)
    assert isinstance(then, Loaded)
    return then, factories.held(change(then.record))


def slower(by: float, arm: str = "fused") -> Callable[[Record], Record]:
    def change(record: Record) -> Record:
        return record.model_copy(
            update={"cells": tuple(_scaled(cell, by) if cell.arm == arm else cell for cell in record.cells)}
        )

    return change


def _scaled(cell: Any, by: float) -> Any:
    processes = []
    for process in cell.processes:
        columns = tuple(
            column.model_copy(update={"values": tuple(value * by for value in column.values)})
            if column.metric == "time"
            else column
            for column in process.samples
        )
        processes.append(process.model_copy(update={"samples": columns}))
    return cell.model_copy(update={"processes": tuple(processes)})


def other_device(record: Record) -> Record:
    host = record.hosts[0]
    accelerators = tuple(one.model_copy(update={"model": "Another"}) for one in host.accelerators)
    return record.model_copy(update={"hosts": (host.model_copy(update={"accelerators": accelerators}),)})


def rejected(record: Record) -> Record:
    cells = tuple(factories.rejected("fused", one.workload) if one.arm == "fused" else one for one in record.cells)
    return record.model_copy(update={"cells": cells})


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        (slower(1.0), "inside"),
        (slower(1.5), "outside"),
        (slower(1.0025), "inconclusive"),
        (other_device, "not comparable"),
    ],
)
@pytest.mark.parametrize("id_", ["toy-fused", "toy"])
def test_new_numbers_are_held_to_the_interval(
    project: Project, change: Callable[[Record], Record], outcome: str, id_: str
) -> None:
    then, now = held(change, project)
    found = list(judge(project, id_, then, now))
    assert found
    assert worst(found) == outcome, found


def test_a_cell_that_its_gate_rejects_has_no_number(project: Project) -> None:
    then, now = held(rejected, project)
    assert worst(list(judge(project, "toy", then, now))) == "no number"
    assert [one.outcome for one in gates(then, now)].count("no number") == 1
    assert worst(list(gates(then, then))) == "inside"


def test_what_decides_a_run() -> None:
    def one(outcome: Any) -> Judged:
        return Judged("x", None, None, outcome)

    assert worst([one("inside"), one("inconclusive"), one("outside")]) == "outside"
    assert worst([one("outside"), one("no number")]) == "no number"
    assert worst([]) == "no number"


def test_a_run_that_wrote_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="wrote 0 logs"):
        found_in(tmp_path)
