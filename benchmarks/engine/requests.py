"""Owns what is asked of an engine and what comes back: requests by token ids, answers with a time for each token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

FailureReason = Literal["timeout", "refused", "disconnected", "malformed", "server-error", "wrong-length", "engine"]


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt; exactly `output_tokens` are to be generated, whatever ends a sequence otherwise."""

    index: int
    prompt: tuple[int, ...]
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request has no answer."""

    reason: FailureReason
    message: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one request. Times are of `time.perf_counter`, one a token; a failed request keeps what it got."""

    index: int
    tokens: tuple[int, ...]
    times_s: tuple[float, ...]
    cached_tokens: int | None = None
    """Prompt tokens found in a prefix cache; None: the engine does not say."""
    failure: Failure | None = None


def completed(request: Request, answer: Answer) -> Answer:
    """Return the answer, as a failure if it has not exactly the tokens that were asked for, each with its time."""
    wanted, got, timed = request.output_tokens, len(answer.tokens), len(answer.times_s)
    if answer.failure is not None or wanted == got == timed:
        return answer
    message = f"{wanted} tokens were asked for, {got} came, {timed} of them with a time"
    return Answer(answer.index, answer.tokens, answer.times_s, answer.cached_tokens, Failure("wrong-length", message))


def joined(times_s: Sequence[Sequence[float]]) -> int:
    """Count the requests that joined others that were running, from the times of each one's tokens.

    One that joined has its first token after another's second and before its last: those that begin together get
    theirs in one step, and one that waits for a whole batch gets it after the last of each.
    """
    spans = [(times[1], times[-1]) for times in times_s if len(times) > 1]
    return sum(any(second < times[0] < last for second, last in spans) for times in times_s)
