"""What stands above and below every table and statement is read from the record, and what is unknown says why."""

from __future__ import annotations

from typing import Any

import pytest

from evidence.schema import (
    AccuracyDetail,
    Closed,
    Poisson,
    PretrainedWeights,
    Rank,
    Record,
    Setting,
    Tolerance,
)
from evidence.schema.gates import TestsDetail as OfTests
from evidence.stance import (
    FACTS,
    command_of,
    computed_limitations,
    environment_of,
    evidence_of,
    short_stance,
    stance_of,
)
from tests.factories import (
    accelerator,
    arm,
    conditions,
    engine_record,
    engine_workload,
    failed,
    gate,
    git_source,
    held,
    host,
    imported_record,
    on_device,
    outcomes_record,
    passed,
    record,
    stack,
    sweep,
    timed,
    workload,
)


def stance(*records: Record, varying: tuple[str, ...] = ()) -> dict[str, str]:
    loaded = [held(one) for one in records]
    return dict(stance_of(loaded, [(one, cell) for one in loaded for cell in one.record.cells], varying))


def test_the_nine_facts_of_an_op() -> None:
    found = stance(record())
    assert tuple(found) == FACTS
    assert found == {
        "date": "2026-09-01",
        "device": "Synthetic GPU A",
        "model": "none (op: toy)",
        "precision": "bf16",
        "lengths": "N1024",
        "concurrency": "1 stream",
        "switches": "implementation eager/fused, cold cache",
        "software": "torch 2.11.0, triton 3.6.0, driver 580.00, Python 3.12.3",
        "instrument": "triton.testing.do_bench, 9 processes an arm, interleaved",
    }


def test_the_nine_facts_of_an_engine() -> None:
    found = stance(engine_record())
    assert found["model"] == "toy-3b (random weights, seed 17)"
    assert found["lengths"] == "64–512 tokens in, 16–64 out"
    assert found["concurrency"] == "8 requests at once"
    assert found["switches"] == "implementation static/continuous, batching static/continuous"


def test_the_facts_of_an_import() -> None:
    found = stance(imported_record())
    assert found["device"] == found["precision"] == found["instrument"] == "not recorded"
    assert found["model"] == "none"
    assert found["software"] == "toy-bench 1.2"
    assert found["lengths"] == "batch 4, dtype fp16"
    unversioned = imported_record().origin
    assert unversioned is not None
    reasons = (*unversioned.missing, {"field": "tool_version", "reason": "not told"})
    older = unversioned.model_copy(update={"tool_version": None, "missing": reasons})
    assert stance(imported_record(origin=older))["software"] == "toy-bench"


def test_facts_that_differ_between_lines_say_so() -> None:
    loads = (workload("n1", 1), workload("n2", 2, dtype="fp16"))
    two = record(
        workloads=loads, cells=tuple(timed(a, w) for a in ("eager", "fused", "eager-again") for w in ("n1", "n2"))
    )
    assert stance(two)["lengths"] == "per line"
    assert stance(two)["precision"] == "bf16, fp16"
    assert stance(two, varying=("dtype", "N"))["precision"] == "per line"
    other = record("kernels/other_20260901", hosts=on_device("NVIDIA L4"))
    assert stance(record(), other)["device"] == "Synthetic GPU A, NVIDIA L4"
    assert stance(record(), other, varying=("device",))["device"] == "per line"


@pytest.mark.parametrize(
    ("arrival", "words"),
    [
        (Closed(concurrency=4), "8 requests, closed, 4 in flight"),
        (Poisson(rate_per_s=2.0, seed=1, concurrency=None), "8 requests, poisson, unbounded in flight"),
    ],
)
def test_arrivals_are_never_a_constant(arrival: Any, words: str) -> None:
    loads = (engine_workload(arrival=arrival), engine_workload("even", arrival=arrival))
    assert stance(engine_record(workloads=loads))["concurrency"] == words


def test_several_ranks_weights_and_stacks() -> None:
    pair = (Rank(host="h0", device=0, stack="main"), Rank(host="h0", device=1, stack="main"))
    arms = tuple(one.model_copy(update={"ranks": pair}) for one in record().arms)
    two = host(accelerators=(accelerator(), accelerator()))
    assert stance(record(hosts=(two,), arms=arms))["concurrency"] == "2 ranks"
    weights = PretrainedWeights(model="toy-7b", parameters=7 * 10**9, revision="abc", sha256=None)
    loads = (engine_workload(weights=weights), engine_workload("even", weights=weights))
    assert stance(engine_record(workloads=loads))["model"] == "toy-7b (revision abc)"
    older = stack(name="old", python="3.11.9", packages=("torch==2.10.0",))
    assert stance(record(stacks=(stack(), older)))["software"] == (
        "torch 2.11.0/2.10.0, triton 3.6.0, driver 580.00, Python 3.12.3/3.11.9"
    )


def test_what_devices_suffered_is_a_tenth_fact() -> None:
    hot = conditions(power_violation_ns=tuple(range(10)))
    assert stance(record(conditions=(hot,)))["conditions"] == "power-capped"
    assert "conditions" not in stance(record())


def test_the_short_stance_is_date_device_and_precision() -> None:
    loaded = held(record())
    assert [name for name, _ in short_stance(loaded, [(loaded, record().cells[0])])] == ["date", "device", "precision"]


# The fold.


def test_the_fold_of_a_log() -> None:
    found = evidence_of(held(engine_record()), ["one more limit"])
    assert (found.log, found.raw) == (
        "engine/continuous_toy_20260902",
        "benchmark_logs/engine/continuous_toy_20260902/record.json",
    )
    assert found.limitations == (
        "synthetic numbers for a test",
        "one more limit",
        "one device, one session: another device or day may differ by more than the interval",
        "synthetic inputs: uniform token ids",
        "no prompts: too large to keep",
    )
    (line,) = found.gates
    assert (line.name, line.state, line.counts) == ("parity", "passed", "1,500 of 1,536 tokens")
    assert (
        line.text == "tokens, full scope, reference toy.engine:greedy in fp32, agreement 0.95, 6 of 6 outcomes passed"
    )
    assert line.log == ""


def test_limitations_are_told_once() -> None:
    assert (
        evidence_of(held(record()), ["synthetic numbers for a test"]).limitations.count("synthetic numbers for a test")
        == 1
    )


def test_computed_limitations() -> None:
    assert computed_limitations(imported_record()) == ()
    pair = (Rank(host="h0", device=0, stack="main"), Rank(host="h0", device=1, stack="main"))
    arms = tuple(one.model_copy(update={"ranks": pair}) for one in record().arms)
    two = record(hosts=(host(accelerators=(accelerator(), accelerator())),), arms=arms)
    assert computed_limitations(two) == ("synthetic inputs: normal",)


@pytest.mark.parametrize(
    ("changes", "command"),
    [
        ({}, "OMP_NUM_THREADS=1 python -m benchmarks.ops.run --op toy --log"),
        ({"directory": "suites", "variables": ()}, "cd suites && python -m benchmarks.ops.run --op toy --log"),
        ({"directory": "a b", "variables": ()}, "cd 'a b' && python -m benchmarks.ops.run --op toy --log"),
        ({"argv": ("python", "-c", "print('x'); $(rm)"), "variables": ()}, "python -c 'print('\"'\"'x'\"'\"'); $(rm)'"),
        ({"variables": (Setting(name="X", value="a b"),), "argv": ("run",)}, "X='a b' run"),
    ],
)
def test_the_command_is_quoted_for_a_shell(changes: dict[str, Any], command: str) -> None:
    provenance = record().provenance
    assert provenance is not None
    assert command_of(record(provenance=provenance.model_copy(update=changes))) == command


def test_the_command_of_an_import_is_what_it_was_read_from() -> None:
    assert command_of(imported_record()) == "# imported from raw.json (toy-bench-json)"


def test_the_environment_in_lines() -> None:
    found = dict(environment_of(record()))
    assert found["Accelerator"] == (
        "Synthetic GPU A, 75 GiB, ECC on, MIG off, persistence on, uuid sha256 0123456789ab…"
    )
    assert found["Power and clocks"] == "limit 700 W, max SM 1,980 MHz, max memory 3,200 MHz"
    assert found["Driver"] == "580.00"
    assert found["Host"] == "Synthetic CPU, 16 cores, governor performance, 16 allowed, 119 GiB"
    assert found["System"] == "Linux 12, kernel 6.1"
    assert found["Stack"] == "Python 3.12.3, CUDA 13.0, torch 2.11.0, triton 3.6.0, 1 more in the record"
    lines = [text for label, text in environment_of(record()) if label == "Source"]
    assert lines == ["repository: commit 0123456789abcdef0123456789abcdef01234567, clean", "toy: toy==1.0"]
    assert environment_of(imported_record()) == ()


def test_what_is_not_known_says_why() -> None:
    fields = ("memory_bytes", "ecc_enabled", "power_limit_w", "max_sm_clock_hz", "uuid_sha256")
    blind = accelerator(**dict.fromkeys(fields), missing=tuple({"field": f, "reason": "no driver"} for f in fields))
    unknown = ("driver", "cpu_governor", "cpu_affinity", "memory_bytes", "kernel", "interconnect")
    bare = host(
        accelerators=(blind,),
        **dict.fromkeys(unknown),
        missing=tuple({"field": f, "reason": "in a container"} for f in unknown),
    )
    found = dict(environment_of(record(hosts=(bare,))))
    assert found["Accelerator"] == (
        "Synthetic GPU A, ecc enabled not recorded (no driver), MIG off, persistence on, "
        "uuid sha256 not recorded (no driver)"
    )
    assert found["Power and clocks"].startswith("power limit not recorded (no driver), max sm clock not recorded")
    assert found["Driver"] == "driver not recorded (in a container)"
    assert found["Host"] == "Synthetic CPU, 16 cores, cpu governor not recorded (in a container)"
    assert found["System"] == "Linux 12, kernel not recorded (in a container)"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"tree_sha256": "f" * 64},
            "repository: commit 0123456789abcdef0123456789abcdef01234567, with uncommitted changes",
        ),
        ({"commit": None, "commit_tree_sha256": None}, "repository: commit unknown, state unknown"),
    ],
)
def test_a_dirty_source_is_never_shown_clean(changes: dict[str, Any], words: str) -> None:
    missing = (
        *git_source().missing,
        *({"field": f, "reason": "no git"} for f, value in changes.items() if value is None),
    )
    source = git_source(**changes, missing=missing)
    one = record(sources=(source, record().sources[1]))
    assert ("Source", words) in environment_of(one)


# Gates.


def gate_line(one: Record) -> Any:
    return evidence_of(held(one)).gates[0]


def test_a_gate_that_failed_in_part_is_partly_passed() -> None:
    line = gate_line(outcomes_record())
    assert (line.state, line.counts) == ("partly", "10,199 of 10,240 elements")
    assert "9 of 10 outcomes passed" in line.text


def test_a_gate_that_failed_everywhere_or_was_never_run() -> None:
    cells = tuple(
        outcomes_record().cells[5].model_copy(update={"arm": one.name, "workload": "n1024"}) for one in record().arms
    )
    assert gate_line(record(cells=cells)).state == "failed"
    unused = record(gates=(gate(), gate(name="second", scope="partial", selection="-k fast")))
    second = evidence_of(held(unused)).gates[1]
    assert (second.state, second.counts) == ("none", "no cell went through it")
    assert second.text.startswith("numeric, partial scope (-k fast), reference")


def test_counts_by_kind_of_gate() -> None:
    tests = passed(gate="frozen", detail=OfTests(collected=5, passed=4, failed=0, skipped=1, allowed_skips=("slow",)))
    task = AccuracyDetail(
        task="t", measure="m", numerator=7, denominator=10, reference_numerator=7, reference_denominator=10
    )
    ended = failed(gate="frozen", reason="error", message="did not start", detail=None)
    asked = (
        gate(),
        gate(name="frozen", kind="tests", reference=None, tolerances=(), log="timeline.jsonl"),
        gate(name="quality", kind="accuracy", tolerances=(Tolerance(of="accuracy", limit=0.02),)),
    )
    first = timed("eager", further=(tests, passed(gate="quality", detail=task)))
    rejected = outcomes_record().cells[5].model_copy(update={"arm": "fused", "workload": "n1024", "further": (ended,)})
    artifacts = engine_record().artifacts
    one = record(gates=asked, cells=(first, rejected, record().cells[2]), artifacts=artifacts)
    lines = evidence_of(held(one)).gates
    assert [line.counts for line in lines] == ["3,031 of 3,072 elements", "4 of 5 tests", "10 of 10 items"]
    assert [line.state for line in lines] == ["partly", "partly", "passed"]
    assert lines[1].log == "benchmark_logs/kernels/toy_20260901/timeline.jsonl"
    assert lines[1].text == "tests, full scope, 1 of 2 outcomes passed"


def test_an_import_s_outcome_counts() -> None:
    cell = imported_record().cells[0].model_copy(update={"outcome": passed()})
    assert gate_line(imported_record(cells=(cell,), gates=(gate(),))).counts == "1,024 of 1,024 elements"
    assert gate_line(imported_record(gates=(gate(),))).state == "none"


def test_switches_of_a_control_are_its_twin_s() -> None:
    assert stance(sweep({"a": {1: 1.0}, "b": {1: 1.0}}, control_of="a"))["switches"] == "implementation a/b, cold cache"
    assert arm().switches == ()
