"""Owns the client of an engine: it hands over a workload's requests as they arrive, and waits for the last answer.

Where arrivals are drawn, a request counts from when it was due, not from when a late client sent it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from benchmarks.engine.engines import Engine, EngineError
from benchmarks.engine.requests import Answer, Failure, Request, completed
from benchmarks.engine.workloads import Arrival
from evidence.schema.cells import Requests
from evidence.schema.workloads import Closed

_POLL_S = 0.5
"""The longest that one look for an answer lasts."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One pass over a workload's requests. Times are of `time.perf_counter`."""

    requests: tuple[Request, ...]
    enqueued_s: tuple[float, ...]
    answers: tuple[Answer, ...]
    """One a request, in their order."""
    client_cpu_s: float | None
    """None: the client was a process that tells no such thing."""
    lateness_s: float | None
    """How long after its time the latest request was sent; None where none was due at a time."""

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Why requests have no answer."""
        return tuple(answer.failure for answer in self.answers if answer.failure is not None)

    def failed(self) -> Mapping[str, int]:
        """Count the requests that have no answer, by reason: `failed_timeout`."""
        return Counter(f"failed_{failure.reason.replace('-', '_')}" for failure in self.failures)

    @property
    def wall_s(self) -> float:
        """Seconds from the first request to the last token of those that were answered."""
        ends = [answer.times_s[-1] for answer in self.answers if answer.failure is None]
        return max(ends) - min(self.enqueued_s)

    def rows(self) -> Requests:
        """Return the columns of a record; a failed request has no times."""
        first = min(self.enqueued_s)
        pairs = [
            (answer.times_s[0] - start, answer.times_s[-1] - start) if answer.failure is None else (None, None)
            for start, answer in zip(self.enqueued_s, self.answers, strict=True)
        ]
        cached = tuple(answer.cached_tokens for answer in self.answers)
        known = tuple(count for count in cached if count is not None)
        return Requests(
            enqueued_s=tuple(_micro(start - first) for start in self.enqueued_s),
            prompt_tokens=tuple(len(request.prompt) for request in self.requests),
            cached_tokens=known if len(known) == len(cached) else None,
            output_tokens=tuple(len(answer.tokens) for answer in self.answers),
            ttft_s=tuple(None if ttft is None else _micro(ttft) for ttft, _ in pairs),
            latency_s=tuple(None if latency is None else _micro(latency) for _, latency in pairs),
        )


def _micro(seconds: float) -> float:
    return round(seconds, 6)


class Drive(Protocol):
    """What has requests answered: `drive` over an engine, or another client of it."""

    def __call__(
        self, requests: Sequence[Request], arrival: Arrival, starts_s: Sequence[float] | None, *, timeout_s: float
    ) -> Trial:
        """Send requests as they arrive and return what came of each."""


@runtime_checkable
class HasClient(Protocol):
    """An engine whose trials are asked by a client of its own."""

    def drive(
        self, requests: Sequence[Request], arrival: Arrival, starts_s: Sequence[float] | None, *, timeout_s: float
    ) -> Trial:
        """Send requests as they arrive and return what came of each."""


def drive(
    engine: Engine,
    requests: Sequence[Request],
    arrival: Arrival,
    starts_s: Sequence[float] | None = None,
    *,
    timeout_s: float,
) -> Trial:
    """Send requests as they arrive and return what came of each; those without an answer after `timeout_s` failed.

    `starts_s` says when each request of an open loop is due, from the first.
    """
    client = _Client(engine, tuple(requests), time.perf_counter() + timeout_s)
    cpu_s = time.thread_time()
    try:
        if starts_s is not None:
            client.keep_time(starts_s)
        else:
            client.keep_busy(arrival.concurrency if isinstance(arrival, Closed) else len(requests))
    except EngineError as error:
        client.give_up(Failure("engine", error.message))
    client.give_up(Failure("timeout", f"no answer within {timeout_s:g} s"))
    return client.trial(time.thread_time() - cpu_s)


class _Client:
    """What was sent and what came back."""

    def __init__(self, engine: Engine, requests: tuple[Request, ...], ends_s: float) -> None:
        self._engine, self._requests, self._ends_s = engine, requests, ends_s
        self._sent_s: list[float] = []
        self._answers: dict[int, Answer] = {}
        self._lateness_s: float | None = None

    def keep_time(self, starts_s: Sequence[float]) -> None:
        """Send each request when it is due."""
        began_s = time.perf_counter()
        for request, start_s in zip(self._requests, starts_s, strict=True):
            due_s = began_s + start_s
            while (left_s := due_s - time.perf_counter()) > 0:
                self._hear(left_s)
            self._engine.submit((request,))
            self._lateness_s = max(self._lateness_s or 0.0, time.perf_counter() - due_s)
            self._sent_s.append(due_s)
        self._hear_the_rest()

    def keep_busy(self, concurrency: int) -> None:
        """Keep so many requests in flight until none is left."""
        while len(self._sent_s) < len(self._requests) and self._is_in_time():
            free = concurrency - (len(self._sent_s) - len(self._answers))
            if free > 0:
                self._send_together(free)
            else:
                self._hear(self._ends_s - time.perf_counter())
        self._hear_the_rest()

    def _send_together(self, count: int) -> None:
        batch = self._requests[len(self._sent_s) : len(self._sent_s) + count]
        self._sent_s += [time.perf_counter()] * len(batch)
        self._engine.submit(batch)

    def _hear_the_rest(self) -> None:
        while len(self._answers) < len(self._requests) and self._is_in_time():
            self._hear(self._ends_s - time.perf_counter())

    def _is_in_time(self) -> bool:
        return time.perf_counter() < self._ends_s

    def _hear(self, at_most_s: float) -> None:
        answer = self._engine.answer(max(0.0, min(at_most_s, _POLL_S)))
        if answer is not None:
            self._answers[answer.index] = answer

    def give_up(self, why: Failure) -> None:
        """Count what has no answer as failed."""
        now_s = time.perf_counter()
        self._sent_s += [now_s] * (len(self._requests) - len(self._sent_s))
        for request in self._requests:
            self._answers.setdefault(request.index, Answer(request.index, (), (), failure=why))

    def trial(self, client_cpu_s: float) -> Trial:
        """Return what came of it."""
        answers = (completed(request, self._answers[request.index]) for request in self._requests)
        return Trial(self._requests, tuple(self._sent_s), tuple(answers), client_cpu_s, self._lateness_s)
