"""Owns the numeric gate of an op: on exactly the timed inputs, shape and dtype, every element, against fp64.

`definition` is what is asked, `verify` what comes out before timing, `recheck` what comes out of timed calls, and
`mutation` whether the gate can fail at all. An implementation that raises has no outcome: that is a `CallError`, from
which a runner makes a Crashed cell.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from benchmarks.ops.calls import bind
from benchmarks.ops.comparison import compare, merge
from benchmarks.ops.inputs import InputSet, draw, torch_dtype
from benchmarks.ops.mutants import MUTANTS
from benchmarks.ops.poison import poisoned
from benchmarks.ops.registry import Case, Implementation
from benchmarks.ops.slices import evaluate_reference
from evidence.errors import EvidenceError
from evidence.schema.base import Setting
from evidence.schema.gates import (
    Failed,
    FailureReason,
    FrozenPath,
    Gate,
    NumericDetail,
    Passed,
    Reference,
    TensorErrors,
    Tolerance,
    gate_holds,
)

if TYPE_CHECKING:
    import torch

    from benchmarks.ops.calls import Call

Phase = Literal["before", "timed-outputs"]

_REPOSITORY = Path(__file__).resolve().parents[2]
_GATE_MODULES = (
    "adapters",
    "attention",
    "calls",
    "comparison",
    "gates",
    "inputs",
    "interpreter",
    "mutants",
    "poison",
    "references",
    "references_fla",
    "references_torch",
    "registry",
    "residuals",
    "slices",
    "tolerances",
    "trials",
)
WEAKENING_VARIABLES = (
    "FLA_CI_ENV",
    "FLA_TRIL_PRECISION",
    "FLA_USE_FAST_OPS",
    "NVIDIA_TF32_OVERRIDE",
    "PYTHONOPTIMIZE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "TRITON_INTERPRET",
)
"""Deny list: set, each lets a wrong result pass somewhere, or gates other arithmetic than is timed. Recorded if set."""


class CallError(EvidenceError):
    """The implementation itself raised, or could not be imported: there is nothing to compare."""

    def __init__(self, case: Case, implementation: str, error: BaseException) -> None:
        """Keep the cause as a Crashed cell wants it, and the first line of what was raised."""
        import torch

        self.cause: Literal["oom", "error"] = (
            "oom" if isinstance(error, torch.OutOfMemoryError | MemoryError) else "error"
        )
        text = str(error).strip().splitlines() or ["no message"]
        super().__init__(f"{case.op.name} {case.name}: {implementation} raised {type(error).__name__}: {text[0]}")


class _UnusableError(EvidenceError):
    """Outputs or a reference that cannot be compared; becomes a Failed outcome of reason error."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """Faulty variants tried, and the names of those the gate let pass."""

    tried: tuple[str, ...]
    survivors: tuple[str, ...]


def gate_name(case: Case) -> str:
    """Return the name of the gate of a case's op, dtype and direction."""
    return f"{case.op.name}-{case.dtype}-{case.direction}"


def definition(
    case: Case,
    *,
    mutation: Mutation | None = None,
    log: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Gate:
    """Return what is asked of every implementation of `case`; equal for all shapes of one op, dtype and direction."""
    tolerance, reference = case.tolerance, case.op.reference
    return Gate(
        name=gate_name(case),
        kind="numeric",
        command=(),
        scope="full",
        selection=None,
        reference=Reference(implementation=reference.target, source=reference.source, stack=None, dtype="fp64"),
        tolerances=(
            Tolerance(of="relative", limit=tolerance.relative),
            Tolerance(of="absolute", limit=tolerance.absolute),
            Tolerance(of="rms", limit=tolerance.rms),
        ),
        frozen=_frozen(case),
        variables=tuple(Setting(name=name, value=environ[name]) for name in WEAKENING_VARIABLES if name in environ),
        log=log,
        mutants=None if mutation is None else len(mutation.tried),
        mutants_killed=None if mutation is None else len(mutation.tried) - len(mutation.survivors),
    )


def _frozen(case: Case) -> tuple[FrozenPath, ...]:
    modules = [f"benchmarks/ops/{name}.py" for name in _GATE_MODULES]
    paths = sorted([*modules, case.op.module.replace(".", "/") + ".py"])
    return tuple(
        FrozenPath(path=path, sha256=hashlib.sha256((_REPOSITORY / path).read_bytes()).hexdigest())
        for path in paths
        if (_REPOSITORY / path).is_file()
    )


def verify(case: Case, implementation: Implementation, device: str | None = None) -> Passed | Failed:
    """Run `implementation` on every gate seed, the timed sets among them, with poisoned allocations, and judge it.

    Raises:
        CallError: the implementation raised, or is not installed.
        OpError: the implementation does not support the case's direction.
    """
    calls = {implementation.name: _bind(case, implementation)}
    judged = _judge_calls(case, calls, device or case.op.device)
    return _outcome(case, implementation.source, "before", case.gate_seeds, judged[implementation.name])


def recheck(
    case: Case, implementation: Implementation, outputs: Mapping[int, Sequence[torch.Tensor]], device: str | None = None
) -> Passed | Failed:
    """Judge outputs that timed calls returned, by the seed of the input set each was computed from."""
    where = device or case.op.device
    comparisons: _Comparisons = []
    for seed, produced in outputs.items():
        try:
            reference = _finite_reference(case, draw(case, seed, where))
            comparisons.append(_compare(case, tuple(produced), reference))
        except _UnusableError as error:
            comparisons.append(str(error))
    return _outcome(case, implementation.source, "timed-outputs", tuple(outputs), comparisons)


def mutation(case: Case, implementation: Implementation, device: str | None = None) -> Mutation:
    """Try every mutant that applies to `case` on top of a right implementation and report which the gate lets pass.

    Raises:
        CallError: the implementation raised.
    """
    call = _bind(case, implementation)
    calls = {mutant.name: mutant.wrap(call, case) for mutant in MUTANTS if mutant.applies(case)}
    judged = _judge_calls(case, calls, device or case.op.device)
    outcomes = {
        name: _outcome(case, implementation.source, "before", case.gate_seeds, comparisons)
        for name, comparisons in judged.items()
    }
    survivors = tuple(name for name, outcome in outcomes.items() if isinstance(outcome, Passed))
    return Mutation(tuple(calls), survivors)


_Comparisons = list["tuple[TensorErrors, ...] | str"]
"""One entry a seed: the errors of each tensor, or why they could not be compared."""


def _bind(case: Case, implementation: Implementation) -> Call:
    try:
        return bind(implementation, case)
    except ImportError as error:
        raise CallError(case, implementation.name, error) from error


def _judge_calls(case: Case, calls: Mapping[str, Call], device: str) -> Mapping[str, _Comparisons]:
    """Compare every call with one reference a seed; inputs are drawn anew for each, so that none sees another's."""
    judged: dict[str, _Comparisons] = {name: [] for name in calls}
    for seed in case.gate_seeds:
        pristine = draw(case, seed, device)
        try:
            reference = _finite_reference(case, pristine)
        except _UnusableError as error:
            for comparisons in judged.values():
                comparisons.append(str(error))
            continue
        for name, call in calls.items():
            given = draw(case, seed, device)
            produced = _run(case, name, call, given)
            try:
                _refuse_modified(pristine, given)
                judged[name].append(_compare(case, produced, reference))
            except _UnusableError as error:
                judged[name].append(str(error))
    return judged


def _run(case: Case, name: str, call: Call, given: InputSet) -> tuple[torch.Tensor, ...]:
    import torch

    try:
        with poisoned():
            produced = call(given)
        if next(iter(given.tensors.values())).is_cuda:
            torch.cuda.synchronize()
    except Exception as error:
        # Whatever third-party code raises is the finding, so nothing narrower would do.
        raise CallError(case, name, error) from error
    return produced


def _finite_reference(case: Case, given: InputSet) -> tuple[torch.Tensor, ...]:
    reference = evaluate_reference(case, given)
    for name, tensor in zip(case.produced, reference, strict=True):
        if not bool(tensor.isfinite().all()):
            raise _UnusableError(f"the reference's {name} is not finite for seed {given.seed}")
    return reference


def _refuse_modified(pristine: InputSet, given: InputSet) -> None:
    before, after = ((*one.tensors.values(), *one.upstream) for one in (pristine, given))
    for first, second in zip(before, after, strict=True):
        if not bool(first.detach().equal(second.detach())):
            raise _UnusableError("the call modifies its inputs, so a repeat would not do the same work")


def _compare(
    case: Case, produced: tuple[torch.Tensor, ...], reference: tuple[torch.Tensor, ...]
) -> tuple[TensorErrors, ...]:
    if len(produced) != len(reference):
        raise _UnusableError(f"{len(produced)} tensors came out, not {', '.join(case.produced)}")
    for name, operand, actual, expected in zip(case.produced, case.returned, produced, reference, strict=True):
        dtype = case.dtype_of(operand)
        if actual.shape != expected.shape or actual.dtype != torch_dtype(dtype):
            wanted = f"{tuple(expected.shape)} of {dtype}"
            raise _UnusableError(f"{name} is {tuple(actual.shape)} of {actual.dtype}, not {wanted}")
    return tuple(
        compare(name, actual, expected, case.tolerance)
        for name, actual, expected in zip(case.produced, produced, reference, strict=True)
    )


def _outcome(
    case: Case, source: str, phase: Phase, seeds: tuple[int, ...], comparisons: _Comparisons
) -> Passed | Failed:
    unusable = [entry for entry in comparisons if isinstance(entry, str)]
    by_tensor = list(zip(*(entry for entry in comparisons if not isinstance(entry, str)), strict=True))
    detail = NumericDetail(tensors=tuple(merge(one) for one in by_tensor)) if by_tensor else None

    def failed(reason: FailureReason, message: str) -> Failed:
        return Failed(gate=gate_name(case), source=source, reason=reason, message=message, seeds=seeds, detail=detail)

    if unusable or detail is None:
        return failed("error", unusable[0] if unusable else "nothing was compared")
    if detail.faults:
        return failed("non-finite" if any(t.non_finite for t in detail.tensors) else "mismatch", detail.faults)
    passed = Passed(gate=gate_name(case), source=source, phase=phase, seeds=seeds, detail=detail)
    fault = gate_holds(definition(case), passed)
    return failed("mismatch", fault) if fault else passed
