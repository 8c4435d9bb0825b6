"""Owns the seam to engines: one small protocol, what all arms of a workload are given equally, and how engines fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from benchmarks.engine.requests import Answer, Request
from evidence.errors import EvidenceError


class EngineError(EvidenceError):
    """An engine that cannot serve, or serves no more."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What every arm of a workload may use, so that none wins by having more."""

    concurrency: int
    """Requests in one batch at most."""
    batch_tokens: int
    """Tokens in one step at most, where an engine plans by tokens: longer prompts are read in pieces."""
    block_tokens: int
    cache_blocks: int
    """Size of the cache, in blocks, where an engine keeps one in blocks."""
    longest: int
    """Tokens of the longest request, prompt and output."""


class Engine(Protocol):
    """Serves requests, in this process or through a server that it starts and stops."""

    def open(self, limits: Limits) -> None:
        """Become ready: memory, compilation, graphs, a server that answers.

        Raises:
            EngineError: it cannot.
        """

    def submit(self, requests: Sequence[Request]) -> None:
        """Hand over requests; none of them begins before all are there."""

    def answer(self, timeout_s: float) -> Answer | None:
        """Return the next request that ended, however it ended; None if none does in time.

        Raises:
            EngineError: none will end any more.
        """

    def counters(self) -> Mapping[str, int]:
        """Return how often each mechanism fired since opening."""

    def settings(self) -> Mapping[str, str]:
        """Return the settings in effect, as the engine resolved them."""

    def close(self) -> None:
        """Leave nothing behind: no thread, no server, no memory."""
