"""The W8A16 product against fp64: real Triton in its interpreter, fp32 and fp16; on a GPU bf16 through its gate."""

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
from tests.benchmarks.ops.kernels.interpreted_w8a16 import CASES

LIMITS = {"float32": 1e-6, "float16": 1e-3}


@pytest.fixture(scope="module")
def interpreted(torch) -> dict[str, float]:
    pytest.importorskip("triton")
    program = [sys.executable, "-m", "tests.benchmarks.ops.kernels.interpreted_w8a16"]
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    root = Path(__file__).resolve().parents[4]
    ran = subprocess.run(program, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize("dtype", sorted(LIMITS))
@pytest.mark.parametrize("case", sorted(CASES))
def test_equals_fp64(interpreted, case: str, dtype: str) -> None:
    assert interpreted[f"{case}, {dtype}"] < LIMITS[dtype]


@pytest.fixture(scope="module")
def module(torch):
    pytest.importorskip("triton")
    return importlib.import_module("benchmarks.ops.kernels.w8a16")


@pytest.mark.parametrize("rows", [1, 16, 17, 64, 65, 4096])
def test_tiles_are_powers_of_two_that_a_product_takes(module, rows: int) -> None:
    *tile, warps = module.tiling(rows)
    assert all(size >= 16 and size & (size - 1) == 0 for size in tile)
    assert warps in {4, 8}


def test_operands_that_do_not_belong_together_are_refused(torch, module) -> None:
    x, weight, scale = torch.ones(4, 32), torch.ones(32, 8, dtype=torch.int8), torch.ones(8)
    for wrong in (
        (x[0], weight, scale),
        (x[:, :16], weight, scale),
        (x, weight, scale[:4]),
        (x, weight, torch.ones(16)[::2]),
        (x, weight, scale.to(torch.int8)),
        (x, weight.float(), scale),
        (x.double(), weight, scale),
    ):
        with pytest.raises(ValueError, match=r"x is|scale is|weight is"):
            module.w8a16_matmul(*wrong)


@pytest.mark.gpu
@pytest.mark.parametrize("shape", ["m1-n4096-k4096", "m17-n1000-k777", "m300-n4096-k512"])
def test_passes_its_gate_on_a_gpu(torch, shape: str) -> None:
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    op = find("w8a16_matmul")
    outcome = verify(op.case(shape, "bf16", "forward"), op.implementation("fused"))
    assert isinstance(outcome, Passed), outcome
