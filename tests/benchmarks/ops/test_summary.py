"""The summary of result files: FLA's and our own, and every row that would mislead."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import ROOT
from benchmarks.ops.exits import Exit
from benchmarks.ops.summary import main, summarise
from evidence.errors import EvidenceError
from evidence.schema.text import dump
from tests import factories

MACHINE = {"hostname": "secret", "gpu_name": "NVIDIA H200", "pytorch_version": "2.11", "triton_version": "3.6"}


def row(median_ms: Any = 1.0, **changes: Any) -> dict[str, Any]:
    """A row as FLA's benchmarks write it; all numbers here are invented."""
    return {"op": "chunk_gla", "mode": "fwd", "B": 1, "T": 8192, "H": 96, "D": 128, "median_ms": median_ms, **changes}


def compared(base: list[Any], head: list[Any], **changes: Any) -> dict[str, Any]:
    sides = {"base_sha": "a" * 40, "head_sha": "b" * 40, "base_results": base, "head_results": head}
    return {**sides, "machine_info": MACHINE, "regressions": [], "speedups": [], **changes}


def written(folder: Path, content: Any) -> str:
    path = folder / "results.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


def test_a_comparison_lists_gate_and_environment_first_then_the_worst_and_the_best(tmp_path, capsys):
    modes = ("fwd", "fwdbwd", "bwd")
    base = [row(2.0, mode=mode) for mode in modes]
    head = [row(ms, mode=mode) for ms, mode in zip((2.4, 1.0, 2.04), modes, strict=True)]
    assert main([written(tmp_path, compared(base, head)), "--threshold", "5", "--top", "10"]) == 0
    said = capsys.readouterr().out
    order = [said.index(text) for text in ("Gate", "Environment", "Slower by more than 5 %", "Faster by more than 5 %")]
    assert order == sorted(order)
    assert "chunk_gla fwd B1_T8192_H96_D128  2.000 ms  2.400 ms  +20.0 %" in said
    assert "-50.0 %" in said
    assert "3 rows" not in said
    assert "6 rows, 3 compared, 1 within the threshold" in said
    assert "secret" not in said


def test_the_threshold_and_the_number_shown_are_kept(tmp_path, capsys):
    base = [row(1.0, T=2**index) for index in range(5, 12)]
    head = [row(1.0 + index / 10, T=2**index) for index in range(5, 12)]
    assert main([written(tmp_path, compared(base, head)), "--threshold", "65", "--top", "2"]) == 0
    said = capsys.readouterr().out
    assert said.index("+110.0 %") < said.index("+100.0 %")
    assert "and 3 more" in said
    assert "+60.0 %" not in said.split("Blocks")[0]


@pytest.mark.parametrize(
    ("base", "head", "code", "said"),
    [
        ([row(), row(T=1)], [row()], Exit.LOST_ROW, "is in base aaaaaaaaaaaa and not in head"),
        ([row()], [row(), row(T=1)], Exit.LOST_ROW, "is in head bbbbbbbbbbbb and not in base"),
        ([row()], [row(), row(0.1)], Exit.DUPLICATE_ROW, "stands there twice"),
        ([row()], [row(float("nan"))], Exit.NOT_A_NUMBER, "median_ms is nan"),
        ([row()], [row(float("inf"))], Exit.NOT_A_NUMBER, "median_ms is inf"),
        ([row()], [row(0.0)], Exit.NOT_A_NUMBER, "median_ms is 0.0"),
        ([row()], [row(None)], Exit.NOT_A_NUMBER, "median_ms is None"),
        ([row()], [row("1.0")], Exit.NOT_A_NUMBER, "median_ms is '1.0'"),
        ([row(shape="B1_L32_H96_D2K", L=64)] * 1, [row(L=64)], Exit.UNMATCHED_SHAPE, "says L32, its dimension is 64"),
        ([row(D=8192, shape="D2K")], [row(D=8192)], Exit.UNMATCHED_SHAPE, "says D2K, its dimension is 8192"),
        ([row()], [row(10.0)], Exit.REGRESSION, "takes +900.0 %"),
        ([], [row()], Exit.BENCHMARK_FAILED, "has no results"),
        ([row()], [], Exit.BENCHMARK_FAILED, "has no results"),
        ([row()], [row()], Exit.GATE_MISSING, "records no gate"),
    ],
)
def test_each_way_to_mislead_is_shown_and_blocks_when_strict(tmp_path, capsys, base, head, code, said):
    path = written(tmp_path, compared(base, head))
    assert main([path]) == Exit.OK
    assert said in capsys.readouterr().out
    assert main([path, "--strict"]) == code


def test_what_is_not_known_of_the_machine_blocks_when_strict(tmp_path, capsys):
    path = written(tmp_path, compared([row()], [row()], machine_info={}))
    assert main([path, "--strict"]) == Exit.ENVIRONMENT
    assert "the file does not say its gpu_name" in capsys.readouterr().out


def test_a_run_compares_nothing(tmp_path):
    summary = summarise(json.dumps({"machine_info": MACHINE, "results": [row(), row(T=1)]}).encode())
    assert (summary.measured, summary.changes, summary.problems) == (2, (), ())


def test_a_record_shows_its_gates_and_its_verdicts():
    summary = summarise(dump(factories.record()))
    assert any("passed in" in text for text in summary.gates)
    assert {problem.code for problem in summary.problems} >= {Exit.NO_GATE}


def test_a_record_with_a_part_of_a_gate_or_a_weak_one_blocks():
    gate = factories.gate(scope="partial", selection="-k tail", variables=({"name": "FLA_CI_ENV", "value": "1"},))
    summary = summarise(dump(factories.record(gates=(gate,))))
    codes = {problem.code for problem in summary.problems}
    assert {Exit.SUBSET_GATE, Exit.ENVIRONMENT} <= codes


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", "null", '{"results": 3, "schema_version": 1}', "[" * 100000])
def test_what_is_no_result_is_refused(tmp_path, content, capsys):
    assert main([written(tmp_path, content)]) == Exit.USAGE
    assert capsys.readouterr().err.startswith("error: ")
    with pytest.raises(EvidenceError):
        summarise(content.encode())


def test_a_file_that_is_not_there_is_refused(tmp_path, capsys):
    assert main([str(tmp_path / "absent.json")]) == Exit.USAGE
    assert "absent.json cannot be read" in capsys.readouterr().err


def test_json_is_for_programs_and_markdown_shows_what_files_say_as_it_is(tmp_path, capsys):
    path = written(tmp_path, compared([row(op="<script>|x")], [row(2.0, op="<script>|x")]))
    main([path, "--format", "json"])
    said = json.loads(capsys.readouterr().out)
    assert said["regressions"][0]["percent"] == pytest.approx(100)
    assert {"code": 16, "name": "REGRESSION", "reason": said["blocks"][0]["reason"]} == said["blocks"][0]
    main([path, "--format", "markdown"])
    said = capsys.readouterr().out
    assert "| &lt;script>&#124;x fwd" in said
    assert "<script>" not in said


@pytest.mark.parametrize("script", ["summarize_benchmark_json", "fla_verify_op_command"])
def test_the_scripts_import_neither_torch_nor_fla(script):
    program = (
        "import runpy, sys\n"
        "for name in ('torch', 'triton', 'fla'): sys.modules[name] = None\n"
        f"sys.argv = ['{script}', '--help']\n"
        f"runpy.run_path('scripts/{script}.py', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "usage" in done.stdout
