"""Owns how Triton's autotuners measure before anything is timed: not at all while kernels compile, briefly when tuned.

An autotuner times every configuration for an eighth of a second, however short its kernel. Of a session with dozens of
ops that is most of the time of an accelerator: several processes that compile at once wait for each other's kernels.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

WARM_UP_MS, REPETITIONS_MS = 5, 25
"""How long a configuration is warmed up and timed by `brief`; triton.testing.do_bench's own are 25 and 100."""

Benchmarker = Callable[..., Any]
"""What a driver gives autotuners: a kernel's call and quantiles to milliseconds, one a quantile."""


def launched_once(call: Callable[[], object], quantiles: Sequence[float] = (0.5,), **_: object) -> list[float]:
    """Launch a kernel, which compiles it, and time nothing: every configuration that compiles is as good as another."""
    call()
    return [1.0 for _ in quantiles]


def brief() -> Benchmarker:
    """Return Triton's own measurement with fewer repetitions."""
    from triton.testing import do_bench

    return functools.partial(do_bench, warmup=WARM_UP_MS, rep=REPETITIONS_MS)


@contextlib.contextmanager
def measured_by(benchmarker: Benchmarker) -> Iterator[None]:
    """Let autotuners that run for the first time measure like this; one that brought a measurement keeps it.

    An autotuner keeps what it is given here for as long as its process lives.
    """
    from triton.runtime import driver

    active = driver.active
    before = active.get_benchmarker
    active.get_benchmarker = lambda: benchmarker
    try:
        yield
    finally:
        active.get_benchmarker = before
