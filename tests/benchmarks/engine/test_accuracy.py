"""Tests of accuracy: known errors come out as they are, models are left as they were, what is too wrong is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.engine import accuracy, models
from benchmarks.engine.accuracy import Assessment, Compared, Passages
from evidence.schema import AccuracyDetail, Failed, Passed

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

THESE = accuracy.passages(models.find("tiny"))


@pytest.fixture
def model() -> Any:
    return models.build(models.find("tiny"), "fp32", "cpu")


@pytest.fixture(scope="module")
def in_fp32(tiny: Any) -> Any:
    return accuracy.read_in_fp32(tiny, THESE)


def test_a_model_agrees_with_itself(tiny: Any, in_fp32: Any) -> None:
    found = accuracy.assess(tiny, in_fp32, THESE)
    assert (found.logit_error, found.largest_logit_error, found.divergence_bits) == (0, 0, 0)
    assert found.agreed == found.positions == THESE.positions == sum(len(row) - 1 for row in THESE.rows)


def test_logits_twice_as_large_are_as_wrong_as_they_are_large(model: Any, in_fp32: Any) -> None:
    with torch.no_grad():
        model.model.norm.weight *= 2
    found = accuracy.assess(model, in_fp32, THESE)
    assert found.logit_error == pytest.approx(1, rel=1e-5)
    assert found.agreed == found.positions
    both = torch.cat(in_fp32)
    assert found.largest_logit_error == pytest.approx(float(both.abs().max() / both.square().mean().sqrt()), rel=1e-5)
    apart = torch.nn.functional.kl_div(
        (2 * both).log_softmax(1), both.log_softmax(1), log_target=True, reduction="batchmean"
    )
    assert found.divergence_bits == pytest.approx(float(apart) / math.log(2), rel=1e-4)


def test_a_model_that_knows_nothing_needs_all_bits_of_its_vocabulary(model: Any, in_fp32: Any) -> None:
    with torch.no_grad():
        model.model.norm.weight.zero_()
    found = accuracy.assess(model, in_fp32, THESE)
    assert found.bits / found.positions == pytest.approx(math.log2(512), rel=1e-6)
    assert accuracy.bits_per_byte(model, THESE.rows) == pytest.approx(9, rel=1e-6)
    assert found.logit_error == pytest.approx(1, rel=1e-6)


def test_reading_in_fp32_leaves_a_model_as_it_was() -> None:
    made = models.build(models.find("tiny"), "bf16", "cpu")
    before, buffers = models.fingerprint(made), [(id(one), one.dtype) for one in made.buffers()]
    read = accuracy.read_in_fp32(made, THESE)
    assert models.fingerprint(made) == before
    assert [(id(one), one.dtype) for one in made.buffers()] == buffers
    assert made.lm_head.weight is made.model.embed_tokens.weight
    rounded = accuracy.assess(made, read, THESE)
    assert 0.001 < rounded.logit_error < 0.05


def test_logits_that_are_no_numbers_are_no_accuracy(model: Any, in_fp32: Any) -> None:
    with torch.no_grad():
        model.model.norm.weight[0] = float("nan")
    with pytest.raises(accuracy.NotFiniteError):
        accuracy.assess(model, in_fp32, THESE)


FOUND = Assessment(
    positions=1000, bits=2000.0, agreed=980, logit_error=0.1, largest_logit_error=0.5, divergence_bits=0.01
)
TEXT = Passages("held-out-text", "bits_per_byte", ((1, 2),), 0)


@pytest.mark.parametrize(
    ("these", "changes", "is_passed"),
    [
        (TEXT, {"bits": 2099.0}, True),
        (TEXT, {"bits": 2101.0}, False),
        # A model that says the text in fewer bits than it could before is another model.
        (TEXT, {"bits": 1890.0}, False),
        (THESE, {"agreed": 40}, True),
        (THESE, {"agreed": 20}, False),
    ],
)
def test_what_is_too_far_from_the_reference_is_refused(these: Passages, changes: Any, is_passed: bool) -> None:
    gate = accuracy.definition(these.measure, "bf16", source="repository")
    compared = Compared(before=FOUND, after=replace(FOUND, **changes))
    found = accuracy.outcome(compared, these, gate, source="transformers", phase="before")
    assert isinstance(found, Passed if is_passed else Failed)
    assert isinstance(found.detail, AccuracyDetail)
    assert found.detail.measure == these.measure
    value = found.detail.numerator / found.detail.denominator
    assert value == pytest.approx((changes.get("bits") or changes["agreed"]) / 1000)


def test_passages_are_the_same_everywhere() -> None:
    again = accuracy.passages(models.find("tiny"))
    assert again == THESE
    assert {len(row) for row in again.rows} == {128}
    assert accuracy.passages(models.find("qwen3-0.6b")).rows != again.rows
