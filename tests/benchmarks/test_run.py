from __future__ import annotations

import getpass
import json
import socket
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from benchmarks.ops import plan
from benchmarks.ops.inputs import draw_timed, fingerprint
from benchmarks.ops.registry import find
from benchmarks.ops.run import main
from benchmarks.ops.runner import RUNNER
from benchmarks.ops.selection import parser, selection
from benchmarks.timing import TORCH_TIMER
from evidence import runners
from evidence.schema import GitSource, Record, Setting, Skipped, Timed
from evidence.store import Loaded, Store

torch = pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]
SMALL = ("--shapes", "b1-t64-h2-d16", "--directions", "forward", "--sharing", "arm", "--warm-up", "0.02")
BRIEF = (*SMALL, "--minimum-samples", "3", "--maximum-samples", "5", "--budget", "0.5")


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch):
    monkeypatch.chdir(ROOT)


def measure(logs: Path, *more: str) -> Loaded:
    words = ["--op", "linear_attn", *BRIEF, "--no-control", "--processes", "2", "--log", "--logs", str(logs), *more]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.ops.run", *words], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "python -m evidence.check" in done.stdout
    (loaded,) = Store(logs)
    assert isinstance(loaded, Loaded)
    return loaded


@pytest.fixture(scope="module")
def measured(tmp_path_factory) -> tuple[Path, Loaded]:
    """The store and the log of one real session of linear attention on this machine's processor."""
    logs = tmp_path_factory.mktemp("logs")
    return logs, measure(logs)


def between_windows_s(record: Record) -> float:
    """The median time from the end of a window to the start of the next: what a process costs beside measuring."""
    windows = sorted(
        (p.started_s, p.ended_s) for cell in record.cells if isinstance(cell, Timed) for p in cell.processes
    )
    return median(later[0] - earlier[1] for earlier, later in pairwise(windows))


SEVERAL = ("linear_attn", "simple_gla", "kda")


@pytest.fixture(scope="module")
def several(tmp_path_factory) -> Record:
    """The record of one real session of three ops, forked, one process an arm and round, two gates at once."""
    logs = tmp_path_factory.mktemp("several")
    more = ("--name", "linear", "--start", "fork", "--nurseries", "1", "--gate-processes", "2", "--op", *SEVERAL)
    return measure(logs, *more).record


def test_several_ops_share_one_session(several):
    assert [arm.name for arm in several.arms] == ["recurrent", "chunk", "parallel"]
    assert [load.name for load in several.workloads] == [f"{op}-b1-t64-h2-d16-fwd" for op in SEVERAL]
    assert [load.op for load in several.workloads] == list(SEVERAL)
    ends = {(cell.arm, cell.workload): cell for cell in several.cells}
    for op in SEVERAL:
        for arm in ("recurrent", "chunk"):
            cell = ends[arm, f"{op}-b1-t64-h2-d16-fwd"]
            assert isinstance(cell, Timed)
            assert cell.gate.gate == f"{op}-fp32-forward"
            assert len(cell.processes) == 2
    skipped = ends["parallel", "kda-b1-t64-h2-d16-fwd"]
    assert isinstance(skipped, Skipped)
    assert skipped.reason == "kda has no implementation 'parallel'"


def test_an_arm_of_several_ops_says_in_each_cell_what_ran(several):
    arms = {arm.name: arm for arm in several.arms}
    assert arms["recurrent"].implementation == "benchmarks.ops.definitions:recurrent"
    assert arms["parallel"].implementation == "fla.ops.simple_gla.naive:naive_parallel_simple_gla"
    cell = several.cell("chunk", "kda-b1-t64-h2-d16-fwd")
    assert isinstance(cell, Timed)
    assert Setting(name="target", value="fla.ops.kda.naive:naive_chunk_kda") in cell.ran


def test_a_workload_has_the_digest_of_the_inputs_that_its_arms_were_given(several):
    for load in several.workloads:
        case = find(load.op).case("b1-t64-h2-d16", "fp32", "forward")
        assert load.inputs.sha256 == fingerprint(draw_timed(case, "cpu"))


def test_inputs_too_large_to_hash_in_passing_are_named():
    words = ("--op", "kda", "--shapes", "b1-t64-h2-d16", "b64-t4096-h16-d64", "--directions", "forward")
    chosen = selection(parser().parse_args(words))
    (entry,) = plan.undigested(chosen)
    assert entry.reason.endswith("of b64-t4096-h16-d64-fwd")


def test_a_record_of_several_ops_depends_on_the_definition_of_each(several):
    paths = {one.path for source in several.sources if isinstance(source, GitSource) for one in source.paths}
    assert paths == {f"benchmarks/ops/definitions/{op}.py" for op in SEVERAL}


def test_the_command_of_several_ops_measures_what_its_record_shows(several):
    assert several.provenance is not None
    options = runners.parse(RUNNER, several.provenance.argv[3:])
    assert options is not None
    configuration = RUNNER.configuration(options)
    assert configuration is not None
    shown = RUNNER.recorded(several)
    assert {name: configuration[name] for name in shown} == shown
    assert (configuration["--name"], configuration["--gate-processes"]) == ("linear", "2")
    assert any("up to 2 gates ran at once" in text for text in several.limitations)


def test_forked_processes_measure_the_same_and_import_nothing(measured, tmp_path):
    record = measure(tmp_path, "--start", "fork", "--nurseries", "1").record
    assert [(cell.arm, type(cell)) for cell in record.cells] == [("recurrent", Timed), ("chunk", Timed)]
    assert any("forked in turn from 1" in text for text in record.limitations)
    assert not any(entry.what.startswith("forks of") for entry in record.unavailable)
    assert between_windows_s(record) < between_windows_s(measured[1].record) / 2


def test_a_real_session_times_every_arm_under_its_gate(measured):
    record = measured[1].record
    assert [arm.name for arm in record.arms] == ["recurrent", "chunk"]
    for cell in record.cells:
        assert isinstance(cell, Timed)
        assert len(cell.processes) == 2
        assert cell.gate.seeds == (0, 1, 2)
        assert [outcome.phase for outcome in cell.further] == ["timed-outputs"]
        assert all(process.compilations == 0 for process in cell.processes)


def test_a_real_session_samples_time_and_memory(measured):
    record = measured[1].record
    for cell in record.cells:
        assert isinstance(cell, Timed)
        for process in cell.processes:
            columns = {column.metric: column.values for column in process.samples}
            assert len(columns["time"]) >= 3
            assert columns["peak_memory"][0] > 2**20
    (method,) = record.methods
    assert (method.timer_used, method.fallback_reason, method.flush_bytes) == (TORCH_TIMER, None, 0)
    assert 0 < (method.timer_overhead_s or 0) < 1e-5


def test_a_real_session_is_interleaved(measured):
    record = measured[1].record
    turns = sorted((p.started_s, p.ended_s, cell.arm) for cell in record.cells for p in cell.processes)
    assert [arm for _, _, arm in turns] == ["recurrent", "chunk"] * 2
    assert all(first[1] <= second[0] for first, second in pairwise(turns))


def test_a_real_record_says_how_to_run_it_again_and_not_where_it_ran(measured):
    logs, loaded = measured
    provenance = loaded.record.provenance
    assert provenance is not None
    assert provenance.argv[1:5] == ("-m", "benchmarks.ops.run", "--op", "linear_attn")
    assert "--logs" not in provenance.argv
    text = loaded.entry.path.read_text()
    for secret in (socket.gethostname(), str(Path.home()) + "/", str(ROOT), str(logs)):
        assert secret not in text
    if getpass.getuser() != "root":
        assert getpass.getuser() not in text


def test_a_real_session_leaves_nothing_but_its_log(measured):
    logs, loaded = measured
    assert sorted(path.name for path in logs.iterdir()) == ["SHA256SUMS", "kernels"]
    assert [path.name for path in loaded.entry.path.parent.iterdir()] == ["record.json"]


def test_a_wrong_result_is_rejected_and_nothing_is_stored_without_log(tmp_path, capfd):
    words = ["--op", "comba", "--implementations", "chunk", *BRIEF, "--no-control", "--logs", str(tmp_path / "logs")]
    assert main(words) == 1
    said = capfd.readouterr().out
    assert "rejected: o: " in said
    assert "nothing is stored" in said
    assert not (tmp_path / "logs").exists()


def test_ops_are_listed_without_torch():
    program = "import sys; sys.modules['torch'] = None; from benchmarks.ops.run import main; sys.exit(main({words!r}))"
    for form, check in (("json", json.loads), ("text", str)):
        command = [sys.executable, "-c", program.format(words=["--list", "--format", form])]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert "linear_attn" in str(check(done.stdout))


def test_the_runner_needs_no_package_that_only_documentation_needs():
    program = "import sys; from benchmarks.ops import run, worker; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"torch", "triton", "click", "rich", "ruamel", "ruamel.yaml", "jsonschema", "mkdocs", "jinja2"}


def test_a_dry_run_shows_the_plan_and_no_number_measured(capsys):
    assert main(["--op", "chunk_gdn", "--shapes", "b1-t8192-h96-d128", "--dry-run", "--log"]) == 0
    said = capsys.readouterr().out
    assert "arm         chunk-again (control): fla.ops.gated_delta_rule:chunk_gated_delta_rule" in said
    assert "not tried   recurrent on b1-t8192-h96-d128-fwdbwd: the kernel has no backward pass" in said
    assert "benchmarks.ops.worker --op chunk_gdn --implementation chunk --dtype bf16 --device cuda" in said
    assert "docs/benchmark_logs/kernels/chunk_gdn_DEVICE_" in said
    assert "start       fork, 3 nurseries an arm" in said
    assert "unverified" in said


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--op", "linear_atn"], 2, "did you mean 'linear_attn'"),
        ([], 2, "no op is named"),
        (["--op", "linear_attn", "--implementations", "chunky"], 2, "did you mean 'chunk'"),
        (["--op", "linear_attn", "--implementations", "chunk", "--baseline", "recurrent"], 2, "known: chunk"),
        (["--op", "linear_attn", "--implementations", "chunk", "chunk"], 2, "given twice"),
        (["--op", "linear_attn", "--alternatives", "recurrent"], 2, "the baseline and an alternative"),
        (["--op", "linear_attn", "--shapes", "b1-h4"], 2, "no shape"),
        (["--op", "linear_attn", "--shapes", "b1-t8-h1-d8", "b1-t8-h1-d8"], 2, "given twice"),
        (["--op", "linear_attn", "--directions", "sideways"], 2, "no direction"),
        (["--op", "linear_attn", "--dtype", "fp8"], 2, "no dtype"),
        (["--op", "linear_attn", "linear_attn", "--name", "x"], 2, "given twice"),
        (["--op", "linear_attn", "kda"], 2, "several ops has no name"),
        (["--op", "linear_attn", "chunk_gla", "--name", "x"], 2, "the device is not one: linear_attn cpu, chunk_gla"),
        (["--op", "linear_attn", "hgrn", "--name", "x", "--shapes", "b1-t8-h1-d8"], 2, "fits hgrn"),
        (["--op", "linear_attn", "--slowed", "-2"], 2, "percent"),
        (["--op", "linear_attn", "--processes", "0"], 2, "at least 1"),
        (["--op", "linear_attn", "--nurseries", "0"], 2, "at least 1"),
        (["--op", "linear_attn", "--minimum-samples", "9", "--maximum-samples", "3"], 2, "minimum_samples"),
        (["--op", "linear_attn", "--limitation", "/etc/motd"], 2, "outside the repository"),
        (["--op", "chunk_gla", "--device", "cpu"], 4, "no implementation for a processor"),
    ],
)
def test_what_makes_no_measurement_is_refused_with_a_fix(words, code, said, capsys):
    assert main(words) == code
    assert said in capsys.readouterr().err


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is an accelerator")
def test_a_machine_without_an_accelerator_is_unsuitable(capsys):
    assert main(["--op", "chunk_gla"]) == 4
    assert "torch sees no accelerator" in capsys.readouterr().err


def test_an_implementation_that_is_not_installed_is_unsuitable(capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if "site-packages" not in entry])
    assert main(["--op", "linear_attn"]) == 4
    assert "is not installed" in capsys.readouterr().err


def test_guards_are_declared_and_measured_once(capsys):
    shapes = ["--shapes", "b1-t64-h2-d16", "--guards", "b1-t8-h1-d8", "b1-t64-h2-d16"]
    assert main(["--op", "linear_attn", *shapes, "--directions", "forward", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert [line.split()[1] for line in said.splitlines() if line.startswith("workload")] == [
        "b1-t64-h2-d16-fwd",
        "b1-t8-h1-d8-fwd",
    ]
