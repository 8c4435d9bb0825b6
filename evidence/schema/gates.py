"""Owns gates: what correctness was asked for (Gate), and what came out (Passed or Failed).

`Passed` is the licence to time: a Timed cell cannot be built without one, and one whose own counts show a failure,
or that compared nothing, does not load. Whether counts keep the gate's *tolerances* is recomputed by `gate_holds`.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from evidence.schema.base import (
    Amount,
    Argument,
    Count,
    Model,
    Name,
    PositiveCount,
    RelativePath,
    Setting,
    Sha256,
    Text,
    require_unique,
)


class Reference(Model):
    """The numerical oracle. Never a speed."""

    implementation: Name
    source: Name
    stack: Name | None
    """Null: the stack of the arm under test."""
    dtype: Name


class Tolerance(Model):
    """One limit: `relative` and `absolute` errors, `rms` against fp64, `agreement` share of tokens, `accuracy` loss."""

    of: Literal["relative", "absolute", "rms", "agreement", "accuracy"]
    limit: Amount


class FrozenPath(Model):
    """One file of the gate that must not change between baseline and candidate."""

    path: RelativePath
    sha256: Sha256


class Gate(Model):
    """What was asked."""

    name: Name
    kind: Literal["tests", "numeric", "tokens", "accuracy"]
    command: tuple[Argument, ...]
    """argv of the gate, or empty if the runner applied it itself."""
    scope: Literal["full", "partial"]
    selection: Text | None
    """What a partial gate selected; null: nothing was left out."""
    reference: Reference | None
    """Null: the tests hold their own."""
    tolerances: tuple[Tolerance, ...]
    frozen: tuple[FrozenPath, ...]
    variables: tuple[Setting, ...]
    """Environment variables that can weaken a gate and were set."""
    log: RelativePath | None
    """Artifact with the gate's output; null: it writes none."""
    mutants: Count | None
    mutants_killed: Count | None
    """Faulty variants tried and refused; null: not tried."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.scope == "partial") != (self.selection is not None):
            raise ValueError("a partial gate names its selection, and a full one has none")
        if (self.mutants is None) != (self.mutants_killed is None):
            raise ValueError("mutants and mutants_killed are known together")
        if self.mutants is not None and self.mutants_killed is not None and self.mutants_killed > self.mutants:
            raise ValueError("more mutants killed than tried")
        require_unique(f"tolerances of gate {self.name}", (tolerance.of for tolerance in self.tolerances))
        return self


class TestsDetail(Model):
    """Counts of a test run."""

    kind: Literal["tests"] = "tests"
    collected: Count
    passed: Count
    failed: Count
    skipped: Count
    allowed_skips: tuple[Name, ...]

    @property
    def compared(self) -> int:
        """Tests that ran to an outcome."""
        return self.passed + self.failed

    @property
    def faults(self) -> str:
        """What in the counts forbids the word passed; empty if nothing."""
        if self.failed:
            return f"{self.failed} of {self.collected} tests failed"
        if self.skipped > len(self.allowed_skips):
            return f"{self.skipped} tests were skipped and {len(self.allowed_skips)} skips are allowed"
        return ""

    @model_validator(mode="after")
    def _counts_add_up(self) -> Self:
        if self.collected != self.passed + self.failed + self.skipped:
            raise ValueError("collected is not passed + failed + skipped")
        return self


class TensorErrors(Model):
    """Errors of one output or gradient against the reference."""

    name: Name
    elements: PositiveCount
    mismatched: Count
    """Elements beyond the tolerance."""
    non_finite: Count
    maximum_absolute: Amount | None
    maximum_relative: Amount | None
    """Null where no finite element could be compared."""
    rms_to_fp64: Amount | None
    """Root mean square error against an fp64 reference, relative to its root mean square; null: not computed."""

    @model_validator(mode="after")
    def _counts_within(self) -> Self:
        if max(self.mismatched, self.non_finite) > self.elements:
            raise ValueError("more elements than the tensor has are at fault")
        return self


class NumericDetail(Model):
    """Elementwise comparison of every output."""

    kind: Literal["numeric"] = "numeric"
    tensors: tuple[TensorErrors, ...]

    @property
    def compared(self) -> int:
        """Elements compared."""
        return sum(tensor.elements for tensor in self.tensors)

    @property
    def faults(self) -> str:
        """What in the counts forbids the word passed; empty if nothing."""
        for tensor in self.tensors:
            if tensor.non_finite:
                return f"{tensor.name}: {tensor.non_finite} of {tensor.elements} elements are not finite"
            if tensor.mismatched:
                return f"{tensor.name}: {tensor.mismatched} of {tensor.elements} elements are beyond the tolerance"
        return ""


class TokenControl(Model):
    """A row that must agree wholly, or the column cannot be attributed to the arm."""

    kind: Literal["same-arm", "copies-in-batch", "control-arm"]
    compared: PositiveCount
    agreed: Count


class Divergence(Model):
    """Where one request's tokens first leave the reference."""

    request: Count
    position: Count
    margin: Amount | None
    """Top-2 logit margin there; null: not kept."""
    is_tie: bool


class TokensDetail(Model):
    """Leading tokens that agree with a reference decoding."""

    kind: Literal["tokens"] = "tokens"
    compared: Count
    agreed: Count
    prompts: Count
    prompts_equal: Count
    controls: tuple[TokenControl, ...]
    divergences: tuple[Divergence, ...]

    @property
    def faults(self) -> str:
        """Counts alone never forbid the word passed; the agreement tolerance does."""
        return ""

    @model_validator(mode="after")
    def _within(self) -> Self:
        pairs = [(self.agreed, self.compared), (self.prompts_equal, self.prompts)]
        pairs += [(control.agreed, control.compared) for control in self.controls]
        if any(part > whole for part, whole in pairs):
            raise ValueError("more agreed than were compared")
        return self


class AccuracyDetail(Model):
    """A measure as a ratio of counts, beside the reference's."""

    kind: Literal["accuracy"] = "accuracy"
    task: Name
    measure: Name
    numerator: Amount
    denominator: PositiveCount
    reference_numerator: Amount
    reference_denominator: PositiveCount

    @property
    def compared(self) -> int:
        """Items measured."""
        return self.denominator

    @property
    def faults(self) -> str:
        """Counts alone never forbid the word passed; the accuracy tolerance does."""
        return ""


Detail = Annotated[TestsDetail | NumericDetail | TokensDetail | AccuracyDetail, Field(discriminator="kind")]
FailureReason = Literal["mismatch", "non-finite", "no-test-selected", "all-skipped", "gate-missing", "control", "error"]


class Passed(Model):
    """A gate that compared something and found nothing wrong: the licence to time."""

    outcome: Literal["passed"] = "passed"
    gate: Name
    source: Name
    """The source whose code was under test."""
    phase: Literal["before", "timed-outputs"]
    seeds: tuple[int, ...]
    detail: Detail

    @property
    def compared(self) -> int:
        """Tests, elements, tokens or items compared; positive."""
        return self.detail.compared

    @model_validator(mode="after")
    def _really_passed(self) -> Self:
        if self.compared <= 0:
            raise ValueError("a gate that compared nothing has not passed")
        if self.detail.faults:
            raise ValueError(f"labelled passed, but {self.detail.faults}")
        return self


class Failed(Model):
    """A gate that found a fault, or found nothing to compare."""

    outcome: Literal["failed"] = "failed"
    gate: Name
    source: Name
    reason: FailureReason
    message: Text
    seeds: tuple[int, ...]
    detail: Detail | None
    """Null where the gate ended before it had counts."""


Outcome = Annotated[Passed | Failed, Field(discriminator="outcome")]


def gate_holds(gate: Gate, outcome: Passed) -> str:
    """Recompute the verdict of `outcome` from its own counts and the gate's tolerances.

    Returns what does not hold, or an empty text. Elementwise limits were applied where the elements were
    (mismatched counts those beyond them); rms, agreement and accuracy limits are applied here.
    """
    detail = outcome.detail
    if gate.kind != detail.kind:
        return f"gate {gate.name!r} is of kind {gate.kind}, its outcome of kind {detail.kind}"
    limits = {tolerance.of: tolerance.limit for tolerance in gate.tolerances}
    if isinstance(detail, TokensDetail):
        share = detail.agreed / detail.compared
        if share < limits.get("agreement", 1.0):
            return f"token agreement is {share:.4g}, the gate asks for {limits.get('agreement', 1.0):.4g}"
    if isinstance(detail, AccuracyDetail):
        value = detail.numerator / detail.denominator
        reference = detail.reference_numerator / detail.reference_denominator
        if abs(value - reference) > limits.get("accuracy", 0.0):
            return f"{detail.measure} is {value:.4g}, the reference has {reference:.4g}"
    if isinstance(detail, NumericDetail) and "relative" in limits and "absolute" not in limits:
        for tensor in detail.tensors:
            if (tensor.maximum_relative or 0.0) > limits["relative"] and not tensor.mismatched:
                return (
                    f"{tensor.name}: the largest relative error is {tensor.maximum_relative:.3g}, the limit "
                    f"{limits['relative']:.3g}, and no element is counted beyond it"
                )
    if isinstance(detail, NumericDetail) and "rms" in limits:
        for tensor in detail.tensors:
            if tensor.rms_to_fp64 is not None and tensor.rms_to_fp64 > limits["rms"]:
                return f"{tensor.name}: rms error to fp64 is {tensor.rms_to_fp64:.3g}, the limit {limits['rms']:.3g}"
    return detail.faults
