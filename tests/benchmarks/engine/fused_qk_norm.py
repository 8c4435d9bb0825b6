"""Has the tiny model's norms fused by real Triton in its interpreter, and prints what came of it as JSON.

A process of its own: the interpreter is chosen by a variable that triton reads when a kernel is defined.
test_qk_norm.py starts it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import torch

from benchmarks.engine import models
from benchmarks.engine.engines.making import make
from benchmarks.engine.load import Trial, drive
from benchmarks.engine.preparation import prepare_model
from benchmarks.engine.qk_norm import fused
from benchmarks.engine.study import Side, continuous
from benchmarks.engine.workloads import AT_ONCE, Lengths, Load

FEW = Load("few", "x", 4, Lengths(3, 9), Lengths(2, 4), concurrency=2)
PLAIN = continuous("plain", "baseline")
FUSED = continuous("fused", "candidate", {"fused-qk-norm": "on"}, ("fused-qk-norm",))


def weighted(model: Any) -> Any:
    """Give norms weights that are not one, and queries other ones than keys."""
    generator = torch.Generator().manual_seed(5)
    for name, weight in model.named_parameters():
        if name.endswith(("q_norm.weight", "k_norm.weight")):
            weight.data = 0.5 + torch.rand(weight.shape, generator=generator)
    return model


def logits(model: Any) -> torch.Tensor:
    """Read two rows of tokens."""
    tokens = torch.randint(0, 512, (2, 7), generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        return model(tokens, use_cache=False).logits


def generated(model: Any) -> list[int]:
    """Say what follows a prompt, by a cache."""
    return model.generate(torch.tensor([[5, 9, 17, 3]]), max_new_tokens=4, do_sample=False)[0].tolist()


def served(side: Side, model: Any) -> tuple[Trial, dict[str, int]]:
    """Serve the load."""
    engine = make(side, model)
    try:
        engine.open(FEW.limits)
        return drive(engine, FEW.drawn(512), AT_ONCE, timeout_s=120), dict(engine.counters())
    finally:
        engine.close()


def main() -> int:
    """Print what came of it."""
    torch.set_num_threads(1)
    model = weighted(models.build(models.find("tiny"), "fp32", "cpu"))
    layers = [layer.self_attn for layer in model.model.layers]
    before, texts = logits(model), [generated(model)]
    with fused(model) as norms:
        during = logits(model)
        calls = norms.calls
        texts.append(generated(model))
    after = logits(model)
    plain, _ = served(PLAIN, model)
    quick, counts = served(FUSED, model)
    assessed = prepare_model(models.find("tiny"), "fp32", "cpu", "none", is_assessed=True, is_fused=True)
    found = {
        "error": float((during - before).abs().max() / before.abs().max()),
        "is exact": bool(torch.equal(during, before)),
        "is left as it was": bool(torch.equal(after, before)) and not any("forward" in vars(one) for one in layers),
        "texts": texts,
        "calls a forward": calls,
        "layers": len(layers),
        "failures": [one.message for trial in (plain, quick) for one in trial.failures],
        "served": [[list(answer.tokens) for answer in trial.answers] for trial in (plain, quick)],
        "fused": counts["fused_qk_norms"],
        "steps": counts["steps"],
        "logit error": assessed.compared.after.logit_error if assessed.compared is not None else None,
    }
    sys.stdout.write(json.dumps(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
