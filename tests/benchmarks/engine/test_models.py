"""Tests of models: counted without building them, the same weights for the same seed, and from a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.engine import models
from evidence.errors import UnknownNameError

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


@pytest.mark.parametrize("name", sorted(models.SHAPES))
def test_weights_are_counted_as_the_library_has_them(name: str) -> None:
    shape = models.SHAPES[name]
    config_class, model_class = (getattr(transformers, one) for one in models._CLASSES[shape.family])
    with torch.device("meta"):
        built = model_class(config_class(**shape.values))
    assert shape.parameters == sum(parameter.numel() for parameter in built.parameters())


def test_a_seed_stands_for_its_weights(tiny: Any) -> None:
    again = models.build(models.find("tiny"), "fp32", "cpu")
    assert models.fingerprint(again) == models.fingerprint(tiny)
    with torch.no_grad():
        again.lm_head.weight[3, 5] += 1e-6
    assert models.fingerprint(again) != models.fingerprint(tiny)


def test_what_comes_next_depends_on_all_that_stood_before(tiny: Any) -> None:
    tokens = torch.tensor([[1, 2, 3, 4, 5, 6], [9, 2, 3, 4, 5, 6]])
    with torch.no_grad():
        first, other = tiny(tokens).logits[:, -1]
    assert (first - other).abs().max() > 0.1


def test_a_folder_is_a_model_of_its_own_name(tiny: Any, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    tiny.save_pretrained(folder)
    model = models.find(str(folder))
    weights = model.weights
    assert (model.name, weights.origin, model.vocabulary) == ("mine", "pretrained", 512)
    # Tied weights lie in the file once, and are counted once by both.
    assert weights.parameters == models.SHAPES["tiny"].parameters
    built = models.build(model, "fp32", "cpu")
    tokens = torch.tensor([[5, 7, 11]])
    assert torch.equal(built(tokens).logits, tiny(tokens).logits)
    assert built.generation_config.eos_token_id is None


def test_a_model_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError) as refused:
        models.find("qwen3-8")
    assert "qwen3-8b" in str(refused.value.fix)
    (tmp_path / "config.json").write_text('{"vocab_size": 5}', encoding="utf-8")
    with pytest.raises(models.ModelError, match="holds no"):
        _ = models.find(str(tmp_path)).weights
