"""Tests of quant, optimizations and cpu: what their arms differ in, and that each fires and says how wrong it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks import protocol
from benchmarks.engine import quantization, run, worker
from benchmarks.engine.features import FEATURES
from benchmarks.engine.study import Asked, Side, find
from benchmarks.engine.worker import EngineWorker
from benchmarks.options import UsageError
from evidence.errors import UnknownNameError
from evidence.readings import Quantity, process_values
from evidence.schema import AccuracyDetail, Failed, Passed, Record, Timed
from evidence.store import Loaded, Store
from tests.benchmarks.engine.listening import PROOF, Listener

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("torchao")

COMMON = ("--model", "tiny", "--dtype", "fp32", "--device", "cpu", "--scale", "small", "--agreement", "0.001")


def working(words: tuple[str, ...]) -> tuple[EngineWorker, Listener]:
    session = Listener()
    return EngineWorker(worker.parse([*words, *COMMON]), session), session  # type: ignore[arg-type]


def job(phase: str, workload: str) -> protocol.Job:
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
            "assignments": (protocol.Assignment(workload=workload, proof=PROOF, is_rechecked=phase == "timing"),),
        }
    )


def arranged(name: str, *, scale: str = "small", **more: tuple[str, ...]) -> tuple[Side, ...]:
    study = find(name)
    options = {option.name: option.default for option in study.options}
    return study.arrange(Asked("cuda", scale, {**options, **more})).sides  # type: ignore[arg-type]


def values(sampled: protocol.Sampled) -> dict[str, float]:
    return {column.metric: column.values[0] for column in sampled.samples}


def test_quant_has_every_scheme_in_every_mode_against_none_in_the_first() -> None:
    sides = arranged("quant", modes=("eager", "compiled-graphs"))
    assert [side.name for side in sides] == [
        f"{scheme}-{mode}" for mode in ("eager", "compiled-graphs") for scheme in ("unquantized", *quantization.SCHEMES)
    ]
    by_name = {side.name: set(side.varies) for side in sides}
    assert by_name["unquantized-eager"] == set()
    assert by_name["unquantized-compiled-graphs"] == {"compile", "cuda-graphs"}
    assert by_name["fp8-dynamic-eager"] == {"scheme"}
    assert by_name["fp8-dynamic-compiled-graphs"] == {"compile", "cuda-graphs", "scheme"}


@pytest.mark.parametrize("more", [{"schemes": ("int3",)}, {"modes": ("fast",)}])
def test_what_is_no_scheme_or_mode_is_refused(more: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(UnknownNameError):
        arranged("quant", **more)


@pytest.mark.parametrize("scale", ["small", "full"])
def test_every_optimisation_is_had_alone_and_the_baseline_has_none(scale: str) -> None:
    off, *others = arranged("optimizations", scale=scale)
    assert [feature.switch for feature in off.features] == ["batching"]
    alone = {side.varies[0] for side in others if len(side.varies) == 1}
    assert alone >= {name for side in others for name in side.varies}
    for side in others:
        may_differ = any(FEATURES[name].outputs == "may-differ" for name in side.varies)
        assert (side.outputs == "may-differ") == may_differ
        assert {FEATURES[name].mechanism for name in side.varies} <= set(side.mechanism)


@pytest.mark.parametrize("counts", [("two",), ("0", "1")])
def test_what_is_no_number_of_threads_is_refused(counts: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        arranged("cpu", counts=counts)


@pytest.mark.parametrize("name", ["prefix-and-chunks", "prefix-and-int8"])
def test_a_combination_fires_all_of_its_mechanisms(name: str) -> None:
    one, session = working(("--study", "optimizations", "--arm", name))
    one.run(job("timing", "mixed"))
    sampled, judged = session.told[-2:]
    assert isinstance(sampled, protocol.Sampled)
    counters = {counter.name: counter.count for counter in sampled.counters}
    assert all(counters[mechanism] > 0 for mechanism in one._side.mechanism)
    assert len(one._side.mechanism) == 3
    assert isinstance(judged, protocol.Judged)
    assert isinstance(judged.outcome, Passed)
    assert isinstance(judged.outcome.detail, AccuracyDetail)


def test_an_arm_has_the_threads_of_its_name() -> None:
    before = torch.get_num_threads()
    try:
        one, session = working(("--study", "cpu", "--arm", "threads-2"))
        one.run(job("timing", "decode"))
        sampled = session.told[-2]
        assert isinstance(sampled, protocol.Sampled)
        # As OpenMP has it in the thread that computes, not as torch was told.
        assert {setting.name: setting.value for setting in sampled.ran}["threads"] == "2"
        assert values(sampled)["cpu_time"] > 0
    finally:
        torch.set_num_threads(before)


def test_an_arm_that_computes_something_else_is_not_timed() -> None:
    one, session = working(("--study", "quant", "--arm", "int8-weight-only-eager"))
    prepared = one._prepare()
    assert prepared.compared is not None
    wrong = replace(prepared.compared, after=replace(prepared.compared.after, agreed=1))
    one._prepared = replace(prepared, compared=wrong)
    one.run(job("gate", "decode"))
    judged = session.told[-1]
    assert isinstance(judged, protocol.Judged)
    assert isinstance(judged.outcome, Failed)
    assert (judged.outcome.gate, judged.outcome.reason) == ("accuracy", "mismatch")


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A session of one scheme."""
    folder = tmp_path_factory.mktemp("logs")
    words = ("quant", "--schemes", "int8-weight-only", "--workloads", "decode", "--processes", "1")
    assert run.main([*words, "--no-control", "--log", "--logs", str(folder)]) == 0
    [loaded] = Store(folder)
    assert isinstance(loaded, Loaded)
    return loaded.record


def test_a_scheme_is_shown_with_how_wrong_it_is(record: Record) -> None:
    cells = {cell.arm: cell for cell in record.cells if isinstance(cell, Timed)}
    assert cells.keys() == {"unquantized-eager", "int8-weight-only-eager"}

    def value(arm: str, metric: str) -> float:
        [found] = process_values(record, cells[arm], Quantity(metric))
        return found

    plain, quantised = "unquantized-eager", "int8-weight-only-eager"
    assert value(plain, "token_agreement") == value(plain, "argmax_agreement") == 1
    assert value(plain, "logit_error") == 0
    assert 0.01 < value(quantised, "logit_error") < 0.1
    assert 0 < value(quantised, "token_agreement") < 1
    assert 2 < value(plain, "model_memory") / value(quantised, "model_memory") < 4
    for metric in ("throughput", "peak_memory", "cache_capacity"):
        assert value(quantised, metric) > 0
    for cell in cells.values():
        assert [outcome.gate for outcome in cell.further] == ["accuracy"]
    ran = {setting.name: setting.value for setting in cells[quantised].ran}
    assert ran["quantised layers"] == "14 of 14"


def test_a_scheme_that_a_processor_cannot_run_is_a_row_with_the_reason() -> None:
    [side] = [side for side in arranged("quant") if "fp8" in side.name]
    [one, _] = find("quant").arrange(Asked("cpu", "small", {"schemes": ("fp8-dynamic",), "modes": ("eager",)})).loads
    assert "fp8 units" in (side.obstacle(one, "cpu") or "")
    assert side.obstacle(one, "cuda") is None


def test_every_cell_has_processes_of_its_own(record: Record) -> None:
    assert not any("measured all workloads in turn" in text for text in record.limitations)
