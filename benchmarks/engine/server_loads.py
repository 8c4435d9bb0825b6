"""Owns the loads that servers are put under, as data: lengths by scale, and how many clients or which rate."""

from __future__ import annotations

import math

from benchmarks.engine.study import Asked
from benchmarks.engine.workloads import Lengths, Load, Scale
from benchmarks.options import UsageError
from evidence.schema.workloads import Closed, Poisson

_ARRIVAL_SEED = 5
_SIZES: dict[Scale, tuple[Lengths, Lengths, int, int]] = {
    "small": (Lengths(16, 48), Lengths(16, 32), 256, 32),
    "full": (Lengths(64, 512), Lengths(32, 128), 2048, 256),
}
"""Prompts, outputs, tokens a step, tokens a block: of a size that engines on a processor take too."""


def of_clients(clients: int, requests: int, scale: Scale, *, at_once: int) -> Load:
    """Return a closed load of so many clients, of whose requests at most `at_once` are in one batch."""
    about = "so many clients, each asking again when it is answered"
    return _load(f"clients-{clients}", about, Closed(concurrency=clients), requests, scale, at_once)


def of_rate(rate_per_s: float, requests: int, scale: Scale, *, at_once: int) -> Load:
    """Return an open load at a mean rate."""
    about = "independent arrivals at a mean rate, however many are waiting"
    arrival = Poisson(rate_per_s=rate_per_s, seed=_ARRIVAL_SEED, concurrency=None)
    return _load(f"rate-{rate_per_s:g}", about, arrival, requests, scale, at_once)


def _load(name: str, about: str, arrival: Closed | Poisson, requests: int, scale: Scale, at_once: int) -> Load:
    prompts, outputs, batch_tokens, block_tokens = _SIZES[scale]
    return Load(
        name,
        about,
        requests=requests,
        prompts=prompts,
        outputs=outputs,
        arrival=arrival,
        concurrency=at_once,
        batch_tokens=batch_tokens,
        block_tokens=block_tokens,
    )


def counts(asked: Asked, name: str) -> tuple[int, ...]:
    """Return the values of an option that counts clients or requests.

    Raises:
        UsageError: one is no whole number, or is below two: what nothing runs beside joins nothing.
    """
    found = amounts(asked, name)
    if any(value != int(value) or value < 2 for value in found):
        raise UsageError(f"--{name} takes whole numbers of at least 2")
    return tuple(int(value) for value in found)


def amounts(asked: Asked, name: str) -> tuple[float, ...]:
    """Return the values of an option of numbers above zero.

    Raises:
        UsageError: one is none.
    """
    try:
        found = tuple(float(text) for text in asked.more[name])
    except ValueError:
        raise UsageError(f"--{name} takes numbers") from None
    if not all(0 < value < math.inf for value in found):
        raise UsageError(f"--{name} takes numbers above zero")
    return found
