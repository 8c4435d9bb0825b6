"""Owns goodput: how many requests a second were served as well as was promised, from the times of each one.

A request is served well if its first token and the time of each further one are within the objective; one that failed
is not, so a server that drops what it cannot serve in time gains nothing by it.
"""

from __future__ import annotations

from dataclasses import dataclass

from evidence.schema.cells import Requests


@dataclass(frozen=True, slots=True)
class Objective:
    """The service level that a request is held to, in seconds."""

    ttft_s: float
    tpot_s: float

    def holds(self, ttft_s: float, latency_s: float, tokens: int) -> bool:
        """Whether a request met it; one of a single token has no time of further ones."""
        return ttft_s <= self.ttft_s and (tokens < 2 or (latency_s - ttft_s) / (tokens - 1) <= self.tpot_s)


def served_well(requests: Requests, objective: Objective) -> int:
    """Return how many requests met an objective."""
    rows = zip(requests.ttft_s, requests.latency_s, requests.output_tokens, strict=True)
    return sum(
        objective.holds(ttft, latency, tokens)
        for ttft, latency, tokens in rows
        if ttft is not None and latency is not None
    )


def goodput(requests: Requests, objective: Objective) -> float:
    """Return requests served well a second, from the first that was sent to the last token of any.

    Raises:
        ValueError: nothing says when requests were sent, or none was answered.
    """
    if requests.enqueued_s is None:
        raise ValueError("nothing says when requests were sent")
    ends = [
        start + latency
        for start, latency in zip(requests.enqueued_s, requests.latency_s, strict=True)
        if latency is not None
    ]
    if not ends:
        raise ValueError("no request was answered")
    return served_well(requests, objective) / (max(ends) - min(requests.enqueued_s))
