"""Tests of what the runners of this repository say of their commands, held to the records that they made."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import ROOT
from benchmarks.calibration.runner import STUDY, TIMERS
from benchmarks.engine.runner import RUNNER as ENGINES
from benchmarks.evidence.runner import RUNNER as SUITES
from benchmarks.ops.runner import RUNNER as OPS
from benchmarks.ops.runner import VERIFY
from evidence import runners
from evidence.errors import EvidenceError
from evidence.store import Loaded, Store

LOGS = [one for one in Store(ROOT / "docs/benchmark_logs") if isinstance(one, Loaded)]
BY_NAME = {
    "benchmarks.engine.run": ENGINES,
    "benchmarks.calibration.study": STUDY,
    "benchmarks.calibration.timers": TIMERS,
    "benchmarks.ops.run": OPS,
    "benchmarks.ops.verify": VERIFY,
    "benchmarks.evidence.run": SUITES,
}


@pytest.mark.parametrize("loaded", LOGS, ids=lambda loaded: loaded.entry.log)
def test_the_command_of_a_record_measures_what_the_record_shows(loaded: Loaded) -> None:
    provenance = loaded.record.provenance
    assert provenance is not None
    runner = BY_NAME[provenance.runner]
    options = runners.parse(runner, provenance.argv[3:])
    assert options is not None
    configuration = runner.configuration(options)
    assert configuration is not None
    shown = runner.recorded(loaded.record)
    assert {name: configuration[name] for name in shown} == shown
    assert configuration["--log"] == "given"


def configuration(*words: str) -> dict[str, str]:
    options = runners.parse(OPS, words)
    assert options is not None
    return dict(OPS.configuration(options) or {})


def test_what_is_left_out_is_its_default() -> None:
    short = configuration("--op", "qk_norm")
    written = ("--dtype", "bf16", "--device", "cuda", "--timer", "do-bench", "--start", "fork", "--nurseries", "3")
    assert short == configuration("--op", "qk_norm", *written, "--directions", "forward-backward", "forward")
    assert short["--log"] == "not given"
    assert configuration("--list") == {}
    assert "--log" not in configuration("--op", "qk_norm", "--dry-run")


def test_what_makes_no_measurement_is_refused() -> None:
    for words in (
        ("--op", "qk_nrm"),
        (),
        ("--op", "qk_norm", "--device", "cpu"),
        ("--op", "qk_norm", "--dtype", "fp8"),
    ):
        with pytest.raises(EvidenceError):
            configuration(*words)


def test_only_what_a_record_would_hold_is_told_of_variables() -> None:
    options = runners.parse(OPS, ["--op", "kda"])
    assert options is not None
    given = {"OMP_NUM_THREADS": "8", "LD_PRELOAD": "x.so", "PATH": "x", "TRITON_INTERPRET": "1", "HOME": "x"}
    assert OPS.variables(options, given) == {"OMP_NUM_THREADS": "1", "TRITON_INTERPRET": "1"}
    assert set(SUITES.variables({}, given)) <= {"OMP_NUM_THREADS", "TRITON_INTERPRET"}


@pytest.mark.parametrize("brief", [True, False])
def test_a_rerun_goes_elsewhere_and_measures_the_same(brief: bool, tmp_path: Path) -> None:
    for runner, words in ((OPS, ("--op", "kda", "--log")), (SUITES, ("check", "--logs", "x"))):
        options = runners.parse(runner, runner.rerun(words, tmp_path, brief=brief))
        assert options is not None
        assert (options["log"], options["logs"]) == (True, str(tmp_path))
        usual = runners.parse(runner, words)
        assert usual is not None
        assert (options["processes"] == usual["processes"]) is not brief


def test_a_verification_is_told_by_its_options_with_defaults_written_out() -> None:
    def told(*words: str) -> dict[str, str]:
        options = runners.parse(VERIFY, words)
        assert options is not None
        return dict(VERIFY.configuration(options) or {})

    short = told("--op", "chunk_gla", "--base", "main")
    assert short == told("--op", "chunk_gla", "--base", "main", "--backend", "chunk", "--modes", "fwdbwd", "fwd")
    assert (short["--test-file"], short["--no-gate"]) == ("tests/ops/test_chunk_gla.py", "not given")
    assert short != told("--op", "chunk_gla", "--base", "main", "--gate-k", "tail")
    assert told("--list") == {}
    with pytest.raises(EvidenceError):
        told("--op", "chunk_gl")


def test_verify_is_declared_as_a_runner() -> None:
    assert "benchmarks.ops.verify" in runners.known(ROOT)
