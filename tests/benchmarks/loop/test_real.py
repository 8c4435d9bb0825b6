"""A loop on a real op of this processor, measured by `benchmarks.ops.run` in a copy of this repository's packages.

Budgets are tiny: what is asserted is how rows come about, not how fast anything is.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from benchmarks.loop.reasons import Reason
from evidence.schema import Record
from evidence.store import Store
from tests.benchmarks.loop.loops import ROOT, Sandbox, draft

pytest.importorskip("torch")

KERNEL, STEPS = "benchmarks/ops/kernels/own_attn.py", "benchmarks/ops/kernels/own_steps.py"
DEFINITION = '''"""Linear attention of our own, for a loop in a test."""

from __future__ import annotations

from benchmarks.ops.cost import recurrence_flop
from benchmarks.ops.registry import Implementation, Op, Operand, Shape
from benchmarks.ops.shapes import BTHD
from benchmarks.ops.tolerances import FP32

OWN_ATTN = Op(
    name="own_attn",
    module=__name__,
    category="linear attention",
    device="cpu",
    inputs=(Operand("q", BTHD), Operand("k", BTHD), Operand("v", BTHD)),
    outputs=(Operand("o", BTHD),),
    reference=Implementation("reference", "benchmarks.ops.references:linear_attention", None),
    implementations=(
        Implementation("recurrent", "benchmarks.ops.kernels.own_steps:attention", None),
        Implementation("own", "benchmarks.ops.kernels.own_attn:attention", None),
    ),
    shapes=(Shape.of(B=1, T=64, H=2, D=16),),
    dtypes=("fp32",),
    directions=("forward", "forward-backward"),
    tolerances=FP32,
    flop=recurrence_flop(4),
    independent=("B", "H"),
)
'''
BASE = '''"""Linear attention, to be made faster."""

import torch


def attention(q, k, v):
    """Return the output, step by step."""
    state = torch.zeros(q.shape[0], q.shape[2], q.shape[3], v.shape[3], dtype=q.dtype)
    steps = []
    for t in range(q.shape[1]):
        state = state + torch.einsum("bhk,bhv->bhkv", k[:, t], v[:, t])
        steps.append(torch.einsum("bhkv,bhk->bhv", state, q[:, t] * q.shape[3] ** -0.5))
    return torch.stack(steps, 1)
'''
PRODUCT = '''"""Linear attention, to be made faster."""

import torch


def attention(q, k, v):
    """Return the output as one masked product over all steps."""
    scores = torch.einsum("bthk,bshk->bhts", q * q.shape[3] ** -0.5, k).tril()
    return torch.einsum("bhts,bshv->bthv", scores, v)
'''
BENCHMARK = (
    "python -m benchmarks.ops.run --op own_attn --directions forward --processes 6 --start fork --nurseries 1 "
    "--sharing arm --warm-up 0.02 --further-warm-up 0.02 --minimum-samples 5 --maximum-samples 9 --budget 0.3 "
    "--no-control --log"
)


def device() -> str:
    """What a record calls this processor."""
    from benchmarks import capture

    host = capture.machine(capture.Probed(None, "not asked", ())).host
    return host.cpu_model or "unknown CPU"


@pytest.fixture(scope="module")
def looped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sandbox, list[int]]:
    """A loop of a base and two iterations, with the exit code of each."""
    root = tmp_path_factory.mktemp("real") / "repository"
    for package in ("benchmarks", "evidence"):
        shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    (root / ".gitignore").write_text("__pycache__/\n")
    (root / "benchmarks/ops/definitions/own_attn.py").write_text(DEFINITION)
    for path in (KERNEL, STEPS):
        (root / path).write_text(BASE)
    made = Sandbox(root)
    for words in (
        ("init", "-q"),
        ("config", "user.name", "Tester"),
        ("config", "user.email", "tester@example.invalid"),
    ):
        made.git(*words)
    made.commit("Begin")
    contract = draft(
        op="own_attn",
        entry_point="benchmarks.ops.kernels.own_attn:attention",
        baseline_entry_point="benchmarks.ops.kernels.own_steps:attention",
        candidate="own",
        baseline="recurrent",
        baseline_source="repository",
        hardware=device(),
        backend="torch",
        workloads=["b1-t64-h2-d16-fwd"],
        guards=[],
        benchmark=BENCHMARK.split(),
        frozen=[STEPS, "benchmarks/ops/gates.py", "benchmarks/ops/definitions/own_attn.py"],
        buckets=[{"condition": "T <= 64", "workloads": ["b1-t64-h2-d16-fwd"]}],
    )
    (root.parent / "draft.json").write_text(json.dumps(contract))
    assert run(made, "start", str(root.parent / "draft.json")).returncode == 0
    codes = [step(made, BASE, "the base: step by step")]
    codes.append(step(made, PRODUCT, "one masked product instead of a loop"))
    codes.append(step(made, PRODUCT.replace(".tril()", ""), "leave out the mask"))
    return made, codes


def run(made: Sandbox, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command with the copy's own packages."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.loop", *words]
    return subprocess.run(command, cwd=made.root, env=environment, capture_output=True, text=True, check=False)


def step(made: Sandbox, kernel: str, direction: str) -> int:
    (made.root / KERNEL).write_text(kernel)
    if made.git("status", "--porcelain"):
        made.commit(direction)
    done = run(made, "iterate", "--direction", direction)
    assert done.returncode == 0, done.stderr
    return done.returncode


def test_a_real_loop_keeps_what_is_faster_and_drops_what_is_wrong(looped):
    made, codes = looped
    assert codes == [0] * 3
    assert made.statuses == ["base", "keep", "drop"]
    base, kept, wrong = made.rows
    assert kept["change"]["high"] < 0
    assert (wrong["gate"], wrong["change"], base["change"]) == ("red", None, None)


def test_every_row_stands_on_a_record_of_its_own_commit(looped):
    made, _ = looped
    store = Store(made.root / "docs/benchmark_logs")
    for row in made.rows:
        record: Record = store.load(row["record"]).record
        source = next(one for one in record.sources if one.name == "repository")
        assert source.commit == row["commit"]
        assert source.is_dirty is False  # type: ignore[union-attr]


def test_what_is_not_promotable_ends_in_a_no_go(looped):
    made, _ = looped
    refused = run(made, "promote")
    assert Reason(refused.returncode) is Reason.ONE_SESSION, refused.stdout
    assert "no session holds a profile of own" in refused.stdout
    done = run(made, "no-go", "--bound", "shape")
    assert done.returncode == 0, done.stderr
    told = run(made, "report")
    assert told.returncode == 0
    assert "**no-go**: no\\-go: shape" in told.stdout or "**no-go**: no-go: shape" in told.stdout
    assert "faster on all of 1" in told.stdout
