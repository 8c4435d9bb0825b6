"""Comparing tensors: laws that hold for any numbers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.ops import comparison
from benchmarks.ops.comparison import compare, merge
from benchmarks.ops.registry import Tolerance

LOOSE = Tolerance("fp32", "forward", relative=0.01, absolute=0.0, rms=1.0)


@pytest.fixture
def reference(torch):
    return torch.randn(3, 50, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def test_equal_tensors_have_no_error(reference) -> None:
    errors = compare("o", reference.clone(), reference, LOOSE)
    assert (errors.elements, errors.mismatched, errors.non_finite) == (150, 0, 0)
    assert (errors.maximum_absolute, errors.maximum_relative, errors.rms_to_fp64) == (0.0, 0.0, 0.0)


@settings(deadline=None, max_examples=30)
@given(factor=st.floats(0.5, 2.0))
def test_scaling_is_read_back_as_relative_error(factor: float) -> None:
    torch = pytest.importorskip("torch")
    expected = torch.linspace(1, 2, 64, dtype=torch.float64)
    errors = compare("o", expected * factor, expected, LOOSE)
    assert errors.rms_to_fp64 == pytest.approx(abs(factor - 1), abs=1e-12)
    assert errors.maximum_relative == pytest.approx(abs(factor - 1), abs=1e-12)
    if abs(abs(factor - 1) - 0.01) > 1e-9:
        assert errors.mismatched == (64 if abs(factor - 1) > 0.01 else 0)


def test_non_finite_elements_are_mismatches_and_do_not_hide_the_rest(reference) -> None:
    produced = reference.clone()
    produced[0, 0], produced[0, 1], produced[1, 1] = float("nan"), float("inf"), produced[1, 1] + 1
    errors = compare("o", produced, reference, LOOSE)
    assert (errors.mismatched, errors.non_finite, errors.rms_to_fp64) == (3, 2, None)
    assert errors.maximum_absolute == pytest.approx(1.0)


def test_nothing_finite_has_no_maximum(reference) -> None:
    errors = compare("o", reference * float("nan"), reference, LOOSE)
    assert (errors.maximum_absolute, errors.maximum_relative, errors.non_finite) == (None, None, 150)


def test_absolute_tolerance_is_in_units_of_the_reference(torch, reference) -> None:
    shifted = Tolerance("fp32", "forward", relative=0.0, absolute=0.1, rms=1.0)
    for scale in (1e-6, 1.0, 1e6):
        size = float((reference * scale).square().mean().sqrt())
        assert compare("o", reference * scale + 0.09 * size, reference * scale, shifted).mismatched == 0
        assert compare("o", reference * scale + 0.11 * size, reference * scale, shifted).mismatched == 150


def test_pieces_do_not_change_the_result(monkeypatch, torch, reference) -> None:
    produced = reference + 0.001 * torch.sin(torch.arange(150.0, dtype=torch.float64)).reshape(3, 50)
    whole = compare("o", produced, reference, LOOSE)
    monkeypatch.setattr(comparison, "_ELEMENTS_AT_ONCE", 7)
    pieces = compare("o", produced, reference, LOOSE)
    assert pieces.model_dump(exclude={"rms_to_fp64"}) == whole.model_dump(exclude={"rms_to_fp64"})
    assert pieces.rms_to_fp64 == pytest.approx(whole.rms_to_fp64)


def test_merging_adds_counts_and_keeps_the_worst(reference) -> None:
    good, bad = compare("o", reference, reference, LOOSE), compare("o", reference * 1.1, reference, LOOSE)
    merged = merge([good, bad])
    assert merged == merge([bad, good])
    assert (merged.elements, merged.mismatched) == (300, 150)
    assert merged.rms_to_fp64 == bad.rms_to_fp64
    broken = compare("o", reference * float("nan"), reference, LOOSE)
    assert merge([good, broken]).rms_to_fp64 is None
    assert merge([good, broken]).maximum_absolute == 0.0


def test_a_zero_reference_is_compared(torch) -> None:
    zeros = torch.zeros(4, dtype=torch.float64)
    assert compare("o", zeros, zeros, LOOSE).rms_to_fp64 == 0.0
    wrong = compare("o", zeros + 1, zeros, LOOSE)
    assert (wrong.mismatched, wrong.maximum_relative, wrong.rms_to_fp64) == (4, None, 1.0)
