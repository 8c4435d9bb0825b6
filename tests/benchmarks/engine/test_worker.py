"""Tests of the worker: what goes wrong is a row with its cause, and never a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import protocol
from benchmarks.engine import run, worker
from benchmarks.engine.features import PREFIX_SHARING
from benchmarks.engine.preparation import Prepared
from benchmarks.engine.quantization import Coverage
from benchmarks.engine.study import continuous
from benchmarks.engine.worker import EngineWorker
from evidence.schema import Crashed, Failed, Passed
from evidence.store import Loaded, Store
from tests.benchmarks.engine.listening import PROOF, Listener

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

WORDS = ("--study", "continuous", "--arm", "continuous", "--model", "tiny", "--dtype", "fp32", "--device", "cpu")


def job(phase: str, *, proof: Passed | None = PROOF) -> protocol.Job:
    return protocol.Job.model_validate(
        {
            "phase": phase,
            "timer": "time.perf_counter",
            "threads": 1,
            "minimum_samples": 1,
            "maximum_samples": 1,
            "target_spread": None,
            "budget_s": None,
            "warm_up_s": 0.0,
            "further_warm_up_s": 0.0,
            "assignments": (protocol.Assignment(workload="uniform", proof=proof, is_rechecked=False),),
        }
    )


def prepared(model: Any) -> Prepared:
    return Prepared(model, weights="digest", coverage=Coverage(0, 14), compared=None, memory_bytes=0)


def told(asked: Any, phase: str, **changes: Any) -> protocol.Message:
    session = Listener()
    one = EngineWorker(asked, session)  # type: ignore[arg-type]
    for name, value in changes.items():
        setattr(one, name, value)
    one.run(job(phase))
    return session.told[-1]


@pytest.fixture
def asked(tmp_path: Path) -> Any:
    return worker.parse([*WORDS, "--scale", "small", "--agreement", "0", "--timelines", str(tmp_path)])


def test_a_process_that_measures_says_what_it_did(asked: Any, tiny: Any, tmp_path: Path) -> None:
    message = told(asked, "timing", _prepared=prepared(tiny))
    assert isinstance(message, protocol.Sampled)
    assert message.warm_up_calls == 4
    assert message.requests is not None
    assert len(list(tmp_path.iterdir())) == 1


def test_a_feature_that_did_nothing_is_not_timed(asked: Any, tiny: Any) -> None:
    # Prompts without a common prefix: sharing is on, and finds nothing to share.
    idle = continuous("continuous", "candidate", {PREFIX_SHARING.switch: "on"})
    message = told(asked, "timing", _prepared=prepared(tiny), _side=idle)
    assert isinstance(message, protocol.Failed)
    assert (message.phase, "prefix_tokens" in message.message) == ("mechanism", True)


def test_no_gate_no_time(asked: Any, tiny: Any) -> None:
    session = Listener()
    one = EngineWorker(asked, session)  # type: ignore[arg-type]
    one._prepared = prepared(tiny)
    one.run(job("timing", proof=None))
    [message] = session.told
    assert isinstance(message, protocol.Failed)


def test_memory_that_runs_out_is_told_as_that(asked: Any, tiny: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: Any, **named: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")

    monkeypatch.setattr(tiny, "forward", full)
    message = told(asked, "gate", _prepared=prepared(tiny))
    assert isinstance(message, protocol.Failed)
    assert (message.cause, message.phase) == ("oom", "gate")


def test_what_takes_too_long_is_a_row_and_the_exit_code_says_so(tmp_path: Path) -> None:
    words = ("--workloads", "uniform", "--processes", "1", "--no-control", "--timeout", "0.05", "--start", "spawn")
    assert run.main(["scheduler", "continuous", *words, "--log", "--logs", str(tmp_path)]) == 1
    [loaded] = Store(tmp_path)
    assert isinstance(loaded, Loaded)
    for cell in loaded.record.cells:
        assert isinstance(cell, Crashed)
        assert cell.cause == "timeout"


def test_a_model_whose_logits_are_no_numbers_is_refused(tiny: Any, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "broken"
    tiny.save_pretrained(folder)
    weights = load_file(folder / "model.safetensors")
    weights["model.norm.weight"][0] = float("nan")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    words = ("--study", "continuous", "--arm", "static", "--model", str(folder), "--dtype", "fp32", "--device", "cpu")
    message = told(worker.parse([*words, "--scale", "small", "--agreement", "0"]), "gate")
    assert isinstance(message, protocol.Judged)
    assert isinstance(message.outcome, Failed)
    assert message.outcome.reason == "non-finite"
