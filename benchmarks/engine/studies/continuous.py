"""Owns `scheduler continuous`: continuous against static batching, lengths equal or skewed, at once or as they come."""

from __future__ import annotations

from benchmarks.engine.features import BATCHING
from benchmarks.engine.study import Arrangement, Asked, Study, continuous, static
from benchmarks.engine.workloads import load

_AXES = (BATCHING.switch, "implementation")
_SCENARIOS = ("uniform", "skewed", "staggered", "poisson")


def _arrange(asked: Asked) -> Arrangement:
    return Arrangement(
        sides=(static("static", "baseline"), continuous("continuous", "candidate", varies=_AXES)),
        loads=tuple(load(name, asked.scale) for name in _SCENARIOS),
        axes=_AXES,
    )


STUDY = Study(
    command=("scheduler", "continuous"),
    about="continuous against static batching in four scenarios",
    arrange=_arrange,
)
