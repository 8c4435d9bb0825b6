"""Tests of fused norms in the engine: equal to the model's own by real Triton in its interpreter, counted, put back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.engine import models, plan
from benchmarks.engine.engines.making import make
from benchmarks.engine.qk_norm import FusedNorms, UnexpectedAttentionError
from benchmarks.engine.selection import parser, selection
from benchmarks.engine.study import continuous
from benchmarks.engine.workloads import load

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("triton")

ROOT = Path(__file__).resolve().parents[3]
FUSED = continuous("fused", "candidate", {"fused-qk-norm": "on"}, ("fused-qk-norm",))
KERNEL = "benchmarks/ops/kernels/qk_norm.py"


@pytest.fixture(scope="module")
def interpreted() -> dict[str, Any]:
    program = [sys.executable, "-m", "tests.benchmarks.engine.fused_qk_norm"]
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_the_attention_computes_what_it_did(interpreted: dict[str, Any]) -> None:
    # Another order of sums: what is equal to the last bit did not go through the kernel.
    assert not interpreted["is exact"]
    assert interpreted["error"] < 1e-5
    one, other = interpreted["texts"]
    assert one == other


def test_every_layer_of_every_step_is_counted(interpreted: dict[str, Any]) -> None:
    assert interpreted["calls a forward"] == interpreted["layers"]
    assert interpreted["steps"] > 1
    assert interpreted["fused"] == interpreted["layers"] * interpreted["steps"]


def test_an_engine_serves_with_it_what_it_serves_without(interpreted: dict[str, Any]) -> None:
    assert not interpreted["failures"]
    plain, quick = interpreted["served"]
    assert plain == quick


def test_the_model_is_as_it_was_afterwards(interpreted: dict[str, Any]) -> None:
    assert interpreted["is left as it was"]


def test_logits_are_held_to_the_model_without_it(interpreted: dict[str, Any]) -> None:
    assert 0 < interpreted["logit error"] < 1e-4


def test_a_model_without_such_norms_is_refused() -> None:
    sizes = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16, "tie_word_embeddings": True}
    llama = models.build(models.Shape("small", "llama", {**sizes, **heads}), "fp32", "cpu")
    engine = make(FUSED, llama)
    with pytest.raises(UnexpectedAttentionError, match="LlamaForCausalLM has no attention that normalises"):
        engine.open(load("uniform", "small").limits)
    engine.close()


def test_attention_that_is_not_as_expected_is_refused_and_left_alone(tiny: Any) -> None:
    first, second = (layer.self_attn for layer in tiny.model.layers)
    second.k_norm.variance_epsilon *= 2
    try:
        with pytest.raises(UnexpectedAttentionError, match="different epsilons"):
            FusedNorms(tiny)
    finally:
        second.k_norm.variance_epsilon /= 2
    assert "forward" not in vars(first)
    norms = FusedNorms(tiny)
    try:
        with pytest.raises(UnexpectedAttentionError, match="another forward already"):
            FusedNorms(tiny)
    finally:
        norms.close()
    kind = type(first)
    changed = kind.forward
    try:
        kind.forward = lambda self, hidden_states: (hidden_states, None)
        with pytest.raises(UnexpectedAttentionError, match=r"Qwen3Attention\.forward is not the code"):
            FusedNorms(tiny)
    finally:
        kind.forward = changed


def test_a_processor_does_not_time_it_and_says_why() -> None:
    words = ["optimizations", "--arms", "fused-qk-norm"]
    [skipped] = plan.not_tried(selection(parser().parse_args(words)))
    assert (skipped.arm, "interprets it" in skipped.reason) == ("fused-qk-norm", True)
    assert not plan.not_tried(selection(parser().parse_args([*words, "--device", "cuda"])))


def test_its_kernel_is_a_measured_file_where_an_arm_has_it() -> None:
    paths = {
        name: plan.measured_paths(selection(parser().parse_args([name]))) for name in ("optimizations", "quant", "cpu")
    }
    assert [name for name, found in paths.items() if KERNEL in found] == ["optimizations"]
    assert all((ROOT / path).is_file() for found in paths.values() for path in found)
