"""A gate is never believed: its verdict is recomputed from its counts and the tolerances that were asked for."""

from __future__ import annotations

from typing import Any

import pytest

from evidence.schema import AccuracyDetail, Gate, NumericDetail, Passed, Tolerance, gate_holds, gates
from tests.factories import gate, passed, tensor, tokens_passed


def of_tests(**changes: Any) -> Passed:
    counts = {"collected": 3, "passed": 3, "failed": 0, "skipped": 0, "allowed_skips": ()}
    return passed(gate="frozen", detail=gates.TestsDetail(**{**counts, **changes}))


def accuracy_outcome(numerator: float, reference: float = 70.0) -> Passed:
    detail = AccuracyDetail(
        task="toy-questions",
        measure="exact_match",
        numerator=numerator,
        denominator=100,
        reference_numerator=reference,
        reference_denominator=100,
    )
    return passed(gate="accuracy", detail=detail)


def limited(kind: str, of: str, limit: float) -> Gate:
    return gate(kind=kind, tolerances=(Tolerance(of=of, limit=limit),))


def rms(value: float | None) -> Passed:
    return passed(detail=NumericDetail(tensors=(tensor(), tensor(name="dk", rms_to_fp64=value))))


@pytest.mark.parametrize(
    ("asked", "outcome", "words"),
    [
        (gate(), passed(), ""),
        (gate(), rms(0.5), ""),
        (limited("numeric", "rms", 0.01), rms(0.01), ""),
        (limited("numeric", "rms", 0.01), rms(None), ""),
        (limited("numeric", "rms", 0.01), rms(0.02), "dk: rms error to fp64 is 0.02, the limit 0.01"),
        (gate(kind="tests"), of_tests(), ""),
        (gate(kind="tests"), of_tests(passed=2, skipped=1, allowed_skips=("slow",)), ""),
        (gate(kind="tests"), passed(), "gate 'numeric' is of kind tests, its outcome of kind numeric"),
        (limited("tokens", "agreement", 0.95), tokens_passed(), ""),
        (limited("tokens", "agreement", 0.98), tokens_passed(), "token agreement is 0.9766, the gate asks for 0.98"),
        (gate(kind="tokens", tolerances=()), tokens_passed(), "token agreement is 0.9766, the gate asks for 1"),
        (limited("accuracy", "accuracy", 0.02), accuracy_outcome(68.0), ""),
        (limited("accuracy", "accuracy", 0.01), accuracy_outcome(68.0), "exact_match is 0.68, the reference has 0.7"),
        (gate(kind="accuracy", tolerances=()), accuracy_outcome(70.5), "exact_match is 0.705, the reference has 0.7"),
        (gate(kind="accuracy", tolerances=()), accuracy_outcome(70.0), ""),
    ],
)
def test_a_gate_holds_by_its_counts(asked: Gate, outcome: Passed, words: str) -> None:
    assert gate_holds(asked, outcome) == words


def test_what_was_compared_is_counted_by_kind() -> None:
    assert passed().compared == 1024
    assert tokens_passed().compared == 256
    assert accuracy_outcome(70.0).compared == 100
    assert of_tests().compared == 3
