"""Tests of schemes: what is quantised, how wrong it is, and how little memory it takes, with torchao itself."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.engine import models, quantization
from benchmarks.engine.engines import Limits
from benchmarks.engine.preparation import Prepared, prepare_model
from benchmarks.engine.quantization import Coverage
from evidence.errors import UnknownNameError

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("torchao")

ON_CPU = [name for name, scheme in quantization.SCHEMES.items() if not scheme.obstacle_on_cpu]


@pytest.fixture(scope="module")
def prepared() -> dict[str, Prepared]:
    """The tiny model under each scheme that a processor can run."""
    return {
        scheme: prepare_model(models.find("tiny"), "fp32", "cpu", scheme, is_assessed=True)
        for scheme in (quantization.NONE, *ON_CPU)
    }


@pytest.mark.parametrize("scheme", ON_CPU)
def test_every_linear_layer_is_quantised_but_the_head(scheme: str, prepared: dict[str, Prepared]) -> None:
    found = prepared[scheme]
    assert found.coverage == Coverage(14, 14)
    assert found.model.lm_head.weight is found.model.model.embed_tokens.weight
    assert type(found.model.lm_head.weight) is torch.nn.Parameter
    assert prepared[quantization.NONE].coverage == Coverage(0, 14)


def test_fewer_bits_are_more_wrong(prepared: dict[str, Prepared]) -> None:
    errors = {name: one.compared.after.logit_error for name, one in prepared.items() if one.compared is not None}
    assert errors[quantization.NONE] == 0
    assert 0.005 < errors["int8-weight-only"] < errors["int8-dynamic"] < errors["int4-weight-only"] < 1
    for one in prepared.values():
        assert one.compared is not None
        assert one.compared.before.logit_error == 0
        assert one.weights == prepared[quantization.NONE].weights


def test_memory_is_that_of_what_is_held(prepared: dict[str, Prepared]) -> None:
    plain = prepared[quantization.NONE]
    buffers = sum(buffer.nbytes for buffer in plain.model.buffers())
    assert plain.memory_bytes == 4 * models.SHAPES["tiny"].parameters + buffers
    layers = 2 * (128 * 128 * 2 + 128 * 64 * 2 + 3 * 128 * 256)
    saved = {name: plain.memory_bytes - one.memory_bytes for name, one in prepared.items()}
    # A scale for each output channel of int8; one and a zero for each group of int4, of half a row or a whole one.
    assert 0.95 * 3 * layers < saved["int8-weight-only"] < 3 * layers
    assert 0.9 * 3.5 * layers < saved["int4-weight-only"] < 3.5 * layers
    assert saved["int8-weight-only"] == saved["int8-dynamic"]


def test_int8_weights_are_off_by_half_a_step_at_most(prepared: dict[str, Prepared]) -> None:
    plain = prepared[quantization.NONE].model.model.layers[0].mlp.up_proj.weight
    held = prepared["int8-weight-only"].model.model.layers[0].mlp.up_proj.weight.dequantize()
    steps = plain.abs().amax(dim=1, keepdim=True) / 127
    assert bool(((plain - held).abs() <= 0.51 * steps).all())
    assert not torch.equal(plain, held)


def test_layers_that_a_scheme_does_not_take_are_told_of() -> None:
    config = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 1, "head_dim": 32}
    small = models.Shape("small", "qwen3", {**models.SHAPES["tiny"].values, **config})
    found = prepare_model(small, "fp32", "cpu", "int4-weight-only", is_assessed=False)
    # Rows of 64 are no whole groups of 128; those of 128 are.
    assert str(found.coverage) == "2 of 7"
    assert found.compared is None


def test_a_scheme_that_is_none_is_refused(tiny: Any) -> None:
    with pytest.raises(UnknownNameError, match="int8-weight-onyl"):
        quantization.quantize(tiny, "int8-weight-onyl", "cpu")


def test_room_for_a_cache_is_what_a_trial_left(prepared: dict[str, Prepared]) -> None:
    one = prepared[quantization.NONE]
    limits = Limits(concurrency=4, batch_tokens=64, block_tokens=16, cache_blocks=10, longest=64)
    # Two layers of keys and values, two heads of 32 each, four bytes a number.
    assert one.cache_bytes_a_token == 2 * 2 * 2 * 32 * 4
    used, cache = 50_000_000, 10 * 16 * one.cache_bytes_a_token
    free = 100_000_000 - (used - cache)
    assert one.cache_capacity(used, limits, 100_000_000) == free // one.cache_bytes_a_token
    assert one.cache_capacity(200_000_000, limits, 100_000_000) == 0
