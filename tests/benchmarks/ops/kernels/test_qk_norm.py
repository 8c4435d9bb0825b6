"""The fused QK norm against fp64: real Triton in its interpreter, in fp32; on a GPU in bf16 through its op's gate."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.ops.gates import verify
from benchmarks.ops.registry import find
from evidence.schema.gates import Passed

CASES = (
    *(f"{name}, packed" for name in ("one token", "one head a side", "tail in the last tile")),
    *(f"{name}, packed" for name in ("width not a power of two", "real heads")),
    *(f"tail, {layout}" for layout in ("contiguous", "packed", "heads first", "width strided")),
    "large epsilon",
)


@pytest.fixture(scope="module")
def interpreted(torch) -> dict[str, dict[str, float]]:
    pytest.importorskip("triton")
    program = [sys.executable, "-m", "tests.benchmarks.ops.kernels.interpreted_qk_norm"]
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    root = Path(__file__).resolve().parents[4]
    ran = subprocess.run(program, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_every_case_ran(interpreted) -> None:
    assert sorted(interpreted) == sorted(CASES)


@pytest.mark.parametrize("case", CASES)
def test_results_and_gradients_equal_fp64(interpreted, case: str) -> None:
    errors = interpreted[case]
    assert len(errors) == 8
    assert {name: error for name, error in errors.items() if not error < 2e-6} == {}


@pytest.fixture(scope="module")
def module(torch):
    pytest.importorskip("triton")
    return importlib.import_module("benchmarks.ops.kernels.qk_norm")


@pytest.mark.parametrize("rows", [1, 24, 512, 1024, 24 * 1024, 40 * 65536])
@pytest.mark.parametrize("width", [16, 64, 80, 128, 256, 8192])
def test_tiles_hold_a_row_and_no_more_than_they_should(module, rows: int, width: int) -> None:
    tile_rows, block, warps = module.tiling(rows, width)
    assert block >= width
    assert tile_rows & (tile_rows - 1) == block & (block - 1) == warps & (warps - 1) == 0
    assert tile_rows == 1 or tile_rows * block <= module._TILE_ELEMENTS
    assert 1 <= warps <= 8


def test_operands_that_do_not_belong_together_are_refused(torch, module) -> None:
    q, k, weight = torch.ones(4, 2, 16), torch.ones(4, 1, 16), torch.ones(16)
    for wrong in (
        (q[0], k, weight, weight),
        (q, k[:3], weight, weight),
        (q, k[..., :8], weight, weight),
        (q, k, weight[:8], weight),
        (q, k, weight, torch.ones(32)[::2]),
    ):
        with pytest.raises(ValueError, match=r"q and k are|is a contiguous vector"):
            module.qk_norm(*wrong)


@pytest.mark.gpu
@pytest.mark.parametrize("direction", ["forward", "forward-backward"])
@pytest.mark.parametrize("tokens", [1, 63, 1024])
def test_passes_its_gate_on_a_gpu(torch, tokens: int, direction: str) -> None:
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    op = find("qk_norm")
    case = op.case(f"t{tokens}-hq16-hkv8-d128", "bf16", direction)
    outcome = verify(case, op.implementation("fused"))
    assert isinstance(outcome, Passed), outcome
