from __future__ import annotations

import os

import pytest

from benchmarks import ROOT, capture, probe, session
from benchmarks.calibration import calls as usual
from benchmarks.calibration import plan
from benchmarks.calibration.calls import calls
from benchmarks.calibration.nvbench import NVBENCH
from benchmarks.calibration.runner import TIMERS
from benchmarks.calibration.selection import NAME, Selection, parser, selection, variables
from benchmarks.calibration.timers import main, rules
from benchmarks.plan import Plan
from benchmarks.timing import DO_BENCH, TORCH_TIMER
from evidence import runners
from evidence.compare import compare
from evidence.readings import Quantity
from evidence.schema import Setting, Timed, Unavailable
from evidence.statistics import Verdict
from tests import factories

CALLS = ("simple_gla:chunk:b1-t64-h2-d16", "kda:chunk:b1-t64-h2-d16")


def on_a_processor(timers: tuple[str, ...]) -> Selection:
    return Selection(calls(CALLS), timers, "cpu", processes=1, samples=3, nurseries=1)


def planned(chosen: Selection) -> Plan:
    environment = variables(os.environ)
    provenance, withheld = capture.provenance([], runner=NAME, seed=0, root=ROOT, environment=environment)
    answer = probe.ask("cpu", chosen.timers[0], 1, root=ROOT, environment=environment)
    return plan.build(
        chosen,
        probed=answer.torch,
        choice=answer.timer,
        facts=None,
        rules=rules(chosen, 0.02),
        further_warm_up_s=0.02,
        timeout_s=120.0,
        ends_by_s=None,
        provenance=provenance,
        withheld=withheld,
        environment=environment,
        domain="calibration",
        name="timers",
        limitations=(),
    )


def test_calls_are_gated_and_timed_by_the_harness_s_own_timer(tmp_path):
    pytest.importorskip("torch")
    record = session.run(planned(on_a_processor((TORCH_TIMER,))), tmp_path / "raw.jsonl")

    assert [arm.name for arm in record.arms] == ["timer", "timer-again"]
    assert [load.name for load in record.workloads] == ["simple_gla-b1-t64-h2-d16-fwd", "kda-b1-t64-h2-d16-fwd"]
    for cell in record.cells:
        assert isinstance(cell, Timed)
        assert cell.gate.source == "repository"
        assert len(cell.processes[0].samples[0].values) >= 3
    shown = TIMERS.recorded(record)
    assert shown == {"--calls": " ".join(sorted(CALLS)), "--no-control": "not given", "--domain": "calibration"}
    told = {setting.name: setting.value for setting in record.workloads[0].parameters}
    assert told["target"] == "fla.ops.simple_gla.naive:naive_chunk_simple_gla"
    # One process a side decides nothing, and says so.
    assert {one.verdict for one in compare(record, "timer", "timer-again", Quantity("time"))} == {Verdict.REFUSED}


def test_the_cells_of_nvbench_name_their_own_method():
    """Synthetic: one method stands for both timers, as in a session's stream."""
    switches = {
        "do-bench": (Setting(name=plan.TIMER_AXIS, value=DO_BENCH),),
        "nvbench-cold": (Setting(name=plan.TIMER_AXIS, value=NVBENCH),),
    }
    roles = {"do-bench": "baseline", "nvbench-cold": "candidate"}
    record = factories.record(
        axes=(plan.TIMER_AXIS,),
        arms=tuple(
            factories.arm(name, role, implementation="toy.timers:made", switches=switches[name])
            for name, role in roles.items()
        ),
        cells=tuple(factories.timed(name, "n1024") for name in roles),
        unavailable=(Unavailable(what="method of nvbench-cold", reason="synthetic"),),
    )
    told, artifacts = plan.with_methods(record)

    assert artifacts == {}
    own, other = told.methods
    assert {cell.arm: cell.method for cell in told.cells if isinstance(cell, Timed)} == {
        "do-bench": own.name,
        "nvbench-cold": "nvbench-cold",
    }
    assert (other.timer_requested, other.timer_used) == (NVBENCH, NVBENCH)
    assert other.flush_bytes == record.hosts[0].accelerators[0].l2_bytes
    assert told.unavailable == ()


def test_the_usual_comparison_has_two_timers_and_a_control():
    chosen = selection(parser().parse_args([]))
    assert [(name, role, timer) for name, role, timer in chosen.arms] == [
        ("do-bench", "baseline", DO_BENCH),
        ("nvbench-cold", "candidate", NVBENCH),
        ("do-bench-again", "control", DO_BENCH),
    ]


def test_a_dry_run_shows_the_plan_and_measures_nothing(capsys):
    assert main(["--dry-run", "--log"]) == 0
    said = capsys.readouterr().out
    assert "arm         nvbench-cold (candidate): cuda-bench.State.exec" in said
    assert "workload    rms_norm-m16384-d8192-fwd: torch.nn.functional:rms_norm" in said
    assert "calibration/nvbench_DEVICE_" in said
    assert "unverified" in said


def test_a_machine_without_what_is_compared_is_refused_with_what_to_do(capsys):
    try:
        capture.package_source("cuda-bench")
    except capture.UnreadableError:
        assert main([]) == 4
        said = capsys.readouterr().err
        assert "cuda-bench is not installed" in said
        assert "--dry-run prints what would run" in said
    else:
        pytest.skip("cuda-bench is installed")


def test_the_command_says_what_it_compares_defaults_written_out():
    options = runners.parse(TIMERS, ["--samples", "20", "--log"])
    assert options is not None
    told = TIMERS.configuration(options)
    assert told is not None
    assert (told["--samples"], told["--processes"], told["--log"]) == ("20", "9", "given")
    assert told["--calls"] == " ".join(sorted(usual.CALLS))
    assert TIMERS.rerun(["--log"], ROOT, brief=False) == ("--log", "--logs", str(ROOT))
    assert "--processes" in TIMERS.rerun([], ROOT, brief=True)


@pytest.mark.parametrize("words", [["--processes", "0"], ["--samples", "0"], ["--calls", "kda"]])
def test_what_makes_no_comparison_is_refused(words, capsys):
    assert main(words) == 2
    assert "error" in capsys.readouterr().err
