"""Owns the tokens gate: what an arm answers against a plain forward of each request alone, before and after timing.

The reference reads each request by itself, without padding, batch or cache, and follows the arm's own tokens; so one
tie between two tokens does not spoil what comes after it, and the tokens before the first that is not the reference's
are the leading run of greedy decoding. A token agrees if it is the reference's choice or ties with it: its logit lies
within `TIES` of the best one, in units of the root mean square of the logits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.engine.engines import Engine
from benchmarks.engine.load import Trial, drive
from benchmarks.engine.requests import Answer, Request
from benchmarks.engine.workloads import AT_ONCE
from evidence.errors import EvidenceError
from evidence.schema.gates import (
    Divergence,
    Failed,
    FailureReason,
    Gate,
    Passed,
    Reference,
    TokenControl,
    TokensDetail,
    Tolerance,
)

if TYPE_CHECKING:
    import torch

GATE = "parity"
TIES: Mapping[str, float] = {"fp32": 1e-3, "fp16": 0.03, "bf16": 0.1}
"""Rounding moves logits by about 1e-5, 0.003 and 0.02 of their root mean square in models of some thirty layers."""
REFERENCE = "benchmarks.engine.parity:reference_logits"
_COPIES = 4


class NotFiniteError(EvidenceError):
    """The reference's logits are not numbers that can be compared."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One request's tokens against the reference."""

    tokens: int
    leading: int
    """Tokens before the first that does not agree."""
    departure: Divergence | None
    """The first token that does not agree; if there is none, the first that ties with the reference's choice."""


def definition(dtype: str, *, agreement: float, source: str) -> Gate:
    """Return what is asked of arms of this precision of which that share of leading tokens must agree."""
    return Gate(
        name=GATE if agreement == 1 else f"{GATE}-{agreement:g}",
        kind="tokens",
        command=(),
        scope="full",
        selection=None,
        reference=Reference(implementation=REFERENCE, source=source, stack=None, dtype=dtype),
        tolerances=(Tolerance(of="agreement", limit=agreement), Tolerance(of="relative", limit=TIES[dtype])),
        frozen=(),
        variables=(),
        log=None,
        mutants=None,
        mutants_killed=None,
    )


def ties_of(gate: Gate) -> float:
    """Return within how much of the best logit a token ties with it."""
    return next(one.limit for one in gate.tolerances if one.of == "relative")


@dataclass(frozen=True, slots=True)
class Answers:
    """What an arm said before the clock: to the workload's requests, to them once more, and to copies of one."""

    first: Trial
    again: Trial
    copies: Trial


def ask(engine: Engine, requests: Sequence[Request], *, concurrency: int, timeout_s: float) -> Answers:
    """Have an open engine answer what the gate judges, all of each together."""
    one = max(requests, key=lambda request: (request.output_tokens, -len(request.prompt)))
    count = max(2, min(_COPIES, concurrency))
    copies = tuple(Request(index, one.prompt, one.output_tokens) for index in range(count))

    def served(these: Sequence[Request]) -> Trial:
        return drive(engine, these, AT_ONCE, timeout_s=timeout_s)

    return Answers(served(requests), served(requests), served(copies))


def reference_logits(model: Any, request: Request, answer: Answer) -> torch.Tensor:
    """Return the logits before each token of an answer, [tokens, vocabulary], in fp32.

    Raises:
        NotFiniteError: some are not finite.
    """
    import torch

    sequence = torch.tensor([[*request.prompt, *answer.tokens[:-1]]], device=model.device)
    with torch.no_grad():
        logits = model(sequence, use_cache=False, logits_to_keep=len(answer.tokens)).logits[0].float()
    if not bool(logits.isfinite().all()):
        raise NotFiniteError(f"the reference's logits of request {request.index} are not finite")
    return logits


def judged(logits: torch.Tensor, request: Request, answer: Answer, ties: float) -> Judged:
    """Hold one answer's tokens to the reference's logits."""
    import torch

    tokens = torch.tensor(answer.tokens, device=logits.device)
    said = logits.gather(1, tokens[:, None])[:, 0]
    gaps = logits.max(dim=1).values - said
    allowed = ties * logits.square().mean(dim=1).sqrt()
    faults, departures = (gaps > allowed).tolist(), (gaps > 0).tolist()
    fault = next((at for at, is_fault in enumerate(faults) if is_fault), None)
    at = fault if fault is not None else next((at for at, departs in enumerate(departures) if departs), None)
    departure = None
    if at is not None:
        departure = Divergence(request=request.index, position=at, margin=_stored(gaps[at]), is_tie=fault is None)
    return Judged(len(answer.tokens), len(answer.tokens) if fault is None else fault, departure)


def _stored(value: Any) -> float:
    return float(f"{float(value):.6g}")


def same(
    model: Any,
    kind: Literal["same-arm", "copies-in-batch"],
    pairs: Sequence[tuple[Request, Answer, Answer]],
    ties: float,
) -> TokenControl:
    """Count the tokens that two answers to one prompt share.

    Two answers that part at a tie of the reference are compared up to it: rounding chose, and what follows is another
    text.
    """
    compared = agreed = 0
    for request, one, other in pairs:
        until = _leading(one.tokens, other.tokens)
        agreed += until
        if until == len(one.tokens) or _is_tie(model, request, one, other, until, ties):
            compared += until
        else:
            compared += len(one.tokens)
    return TokenControl(kind=kind, compared=max(1, compared), agreed=agreed)


def _leading(one: Sequence[int], other: Sequence[int]) -> int:
    pairs = enumerate(zip(one, other, strict=True))
    return next((at for at, (a, b) in pairs if a != b), len(one))


def _is_tie(model: Any, request: Request, one: Answer, other: Answer, at: int, ties: float) -> bool:
    """Whether the reference chooses neither of two tokens over the other, after the tokens that both answers share."""
    both = [replace(answer, tokens=answer.tokens[: at + 1]) for answer in (one, other)]
    rows = [judged(reference_logits(model, request, answer), request, answer, ties) for answer in both]
    return all(row.leading == at + 1 for row in rows)


def verify(
    model: Any, answers: Answers, gate: Gate, *, source: str, seed: int, own: Any | None = None
) -> Passed | Failed:
    """Judge what an arm said before the clock, its two control rows first.

    `own` is the arm's own model where that is another one than the reference: ties between what an arm says twice are
    its own.
    """
    arbiter = model if own is None else own
    for name, trial in (("", answers.first), ("again ", answers.again), ("copies ", answers.copies)):
        if trial.failures:
            why = trial.failures[0]
            message = (
                f"{name}{len(trial.failures)} of {len(trial.answers)} requests failed, {why.reason}: {why.message}"
            )
            return _failed(gate, "error", message, source, seed, None)
    first, copies = answers.first, answers.copies
    twice = tuple(zip(first.requests, first.answers, answers.again.answers, strict=True))
    alike = tuple((copies.requests[0], copies.answers[0], other) for other in copies.answers[1:])
    try:
        controls = (
            same(arbiter, "same-arm", twice, ties_of(gate)),
            same(arbiter, "copies-in-batch", alike, ties_of(gate)),
        )
    except NotFiniteError as error:
        return _failed(gate, "non-finite", error.message, source, seed, None)
    return _outcome(model, answers.first, controls, gate, source=source, seed=seed, phase="before")


def recheck(model: Any, trial: Trial, gate: Gate, *, source: str, seed: int) -> Passed | Failed:
    """Judge what an arm said while the clock ran."""
    return _outcome(model, trial, (), gate, source=source, seed=seed, phase="timed-outputs")


def _outcome(
    model: Any,
    trial: Trial,
    controls: tuple[TokenControl, ...],
    gate: Gate,
    *,
    source: str,
    seed: int,
    phase: Literal["before", "timed-outputs"],
) -> Passed | Failed:
    ties = ties_of(gate)
    answered = [pair for pair in zip(trial.requests, trial.answers, strict=True) if pair[1].failure is None]
    try:
        rows = [judged(reference_logits(model, *pair), *pair, ties) for pair in answered]
    except NotFiniteError as error:
        return _failed(gate, "non-finite", error.message, source, seed, None)
    detail = TokensDetail(
        compared=sum(row.tokens for row in rows),
        agreed=sum(row.leading for row in rows),
        prompts=len(rows),
        prompts_equal=sum(row.departure is None for row in rows),
        controls=controls,
        divergences=tuple(row.departure for row in rows if row.departure is not None),
    )
    for control in controls:
        if control.agreed < control.compared:
            message = f"{control.kind}: {control.agreed} of {control.compared} tokens agree, and all must"
            return _failed(gate, "control", message, source, seed, detail)
    limit = next(one.limit for one in gate.tolerances if one.of == "agreement")
    share = detail.agreed / detail.compared if detail.compared else math.nan
    if not share >= limit:
        return _failed(gate, "mismatch", _how_apart(detail, limit), source, seed, detail)
    return Passed(gate=gate.name, source=source, phase=phase, seeds=(seed,), detail=detail)


def _how_apart(detail: TokensDetail, limit: float) -> str:
    first = next((one for one in detail.divergences if not one.is_tie), None)
    where = "" if first is None else f"; request {first.request} leaves the reference at token {first.position}"
    return f"{detail.agreed} of {detail.compared} leading tokens agree, the gate asks for {limit:g} of them{where}"


def _failed(
    gate: Gate, reason: FailureReason, message: str, source: str, seed: int, detail: TokensDetail | None
) -> Failed:
    return Failed(gate=gate.name, source=source, reason=reason, message=message, seeds=(seed,), detail=detail)
