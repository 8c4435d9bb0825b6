"""Tests of the command: whole sessions with real engines on the tiny model, and what they leave behind."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import ROOT
from benchmarks.engine import run, timeline
from benchmarks.engine.runner import RUNNER
from evidence import runners
from evidence.readings import Quantity, process_values
from evidence.schema import Failed, Record, Rejected, Skipped, Timed
from evidence.store import Loaded, Store

pytest.importorskip("transformers")

WORDS = ("scheduler", "continuous", "--model", "tiny", "--workloads", "skewed", "poisson", "--processes", "1")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one session of the command, which was killed once it had measured something, and gone on with."""
    # A tree of its own: a session is not gone on with where the code has changed, and whoever tests may be editing it.
    tree = tmp_path_factory.mktemp("tree")
    for package in ("benchmarks", "evidence"):
        shutil.copytree(ROOT / package, tree / package, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "benchmarks.engine.run", *WORDS, "--log", "--logs", "logs"]
    running = subprocess.Popen(command, cwd=tree, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not any('"measured"' in raw.read_text() for raw in tree.glob("logs/.incomplete/*/raw.jsonl")):
        assert time.monotonic() < deadline
        assert running.poll() is None
        time.sleep(0.02)
    running.kill()
    running.wait()
    subprocess.run([*command, "--resume"], cwd=tree, check=True)
    return tree / "logs"


@pytest.fixture(scope="module")
def record(logs: Path) -> Record:
    [loaded] = Store(logs)
    assert isinstance(loaded, Loaded)
    return loaded.record


def timed(record: Record) -> list[Timed]:
    return [cell for cell in record.cells if isinstance(cell, Timed)]


def test_every_cell_is_proven_then_timed(record: Record) -> None:
    assert len(timed(record)) == len(record.cells) == 6
    for cell in timed(record):
        assert cell.gate.phase == "before"
        assert [outcome.phase for outcome in cell.further] == ["timed-outputs"]
        assert process_values(record, cell, Quantity("token_agreement")) == (1.0,)


def test_what_was_asked_is_what_was_served(record: Record) -> None:
    loads = {load.name: load for load in record.workloads}
    for cell in timed(record):
        load = loads[cell.workload]
        assert load.kind == "engine"
        for process in cell.processes:
            assert process.requests is not None
            assert sum(process.requests.output_tokens) == load.output_tokens.total
            assert sum(process.requests.prompt_tokens) == load.prompt_tokens.total
            assert process.compilations == 0
            assert process.client_cpu_s is not None
        walls = process_values(record, cell, Quantity("wall_time"))
        throughputs = process_values(record, cell, Quantity("throughput"))
        for wall, throughput in zip(walls, throughputs, strict=True):
            assert throughput * wall == pytest.approx(load.output_tokens.total, rel=0.05)


def test_continuous_batching_did_what_its_name_says(record: Record) -> None:
    arms = {arm.name: arm for arm in record.arms}
    assert arms["continuous"].mechanism == ("joined_running_batch",)
    wasted = {}
    for cell in timed(record):
        counters = {counter.name: counter.count for counter in cell.processes[0].counters}
        assert all(counters[name] > 0 for name in arms[cell.arm].mechanism)
        wasted[cell.arm, cell.workload] = counters["wasted_tokens"]
    assert wasted["static", "skewed"] > 0
    assert wasted["continuous", "skewed"] == 0


def test_the_record_says_which_weights(record: Record) -> None:
    [digest] = {setting.value for cell in timed(record) for setting in cell.ran if setting.name == "weights"}
    assert len(digest) == 64
    assert all(load.kind == "engine" and load.weights.model == "tiny" for load in record.workloads)


def test_the_timeline_holds_the_times_of_every_token(logs: Path, record: Record) -> None:
    [artifact] = record.artifacts
    assert artifact.role == "timeline"
    path = logs / record.log / timeline.NAME
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    rows = {
        (cell.arm, cell.workload, process.index, row): (ttft, latency, tokens)
        for cell in timed(record)
        for process in cell.processes
        if (requests := process.requests) is not None
        for row, (ttft, latency, tokens) in enumerate(
            zip(requests.ttft_s, requests.latency_s, requests.output_tokens, strict=True)
        )
    }
    assert len(lines) == len(rows)
    for line in lines:
        ttft, latency, tokens = rows[line["arm"], line["workload"], line["process"], line["request"]]
        assert len(line["gaps_us"]) == tokens
        assert min(line["gaps_us"]) >= 0
        assert line["gaps_us"][0] == pytest.approx((ttft or 0) * 1e6, abs=1)
        assert sum(line["gaps_us"]) == pytest.approx((latency or 0) * 1e6, abs=1)


def test_the_command_of_a_record_measures_what_the_record_shows(record: Record) -> None:
    assert record.provenance is not None
    options = runners.parse(RUNNER, record.provenance.argv[3:])
    assert options is not None
    configuration = RUNNER.configuration(options)
    assert configuration is not None
    shown = RUNNER.recorded(record)
    assert {name: configuration[name] for name in shown} == shown
    assert configuration["--log"] == "given"


def test_a_dry_run_prints_the_plan_and_runs_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run.main([*WORDS, "--dry-run", "--log", "--logs", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    for part in ("arm         static (baseline)", "workload    skewed", "benchmarks.engine.worker --study continuous"):
        assert part in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ("--model", "tinny"),
        ("--workloads", "unifrom"),
        ("--arms", "static"),
        ("--processes", "0"),
        ("--agreement", "2"),
    ],
)
def test_what_makes_no_measurement_is_refused(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["scheduler", "continuous", *words]) == 2
    assert "error:" in capsys.readouterr().err


def test_an_accelerator_that_is_not_there_is_no_measurement(capsys: pytest.CaptureFixture[str]) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has an accelerator")
    assert run.main([*WORDS, "--device", "cuda"]) == 4
    assert "accelerator" in capsys.readouterr().err


def test_an_interrupted_session_was_gone_on_with(logs: Path, record: Record) -> None:
    assert len([text for text in record.limitations if "went on in another process" in text]) == 1
    assert not (logs / ".incomplete").exists()


def test_without_an_interrupted_session_there_is_nothing_to_resume(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run.main([*WORDS, "--log", "--logs", str(tmp_path), "--resume"]) == 2
    assert "no interrupted session" in capsys.readouterr().err


def test_a_failed_gate_is_no_success_whatever_else_was_timed(record: Record) -> None:
    assert run.exit_code(record) == 0
    first = record.cells[0]
    failed = Failed(gate="parity", source="transformers", reason="control", message="x", seeds=(1,), detail=None)
    rejected = Rejected(arm=first.arm, workload=first.workload, gate=failed, further=())
    assert run.exit_code(record.model_copy(update={"cells": (rejected, *record.cells[1:])})) == 1
    skipped = tuple(Skipped(arm=cell.arm, workload=cell.workload, reason="x") for cell in record.cells)
    assert run.exit_code(record.model_copy(update={"cells": skipped})) == 1
