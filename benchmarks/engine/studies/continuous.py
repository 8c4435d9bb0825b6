"""Owns `scheduler continuous`: continuous against static batching, lengths equal or skewed, at once or as they come.

The last scenario is the best case of a padded batch: long prompts of one length, so that nothing is padded or wasted.
"""

from __future__ import annotations

from benchmarks.engine.features import BATCHING
from benchmarks.engine.study import METRICS, Arrangement, Asked, Study, continuous, static
from benchmarks.engine.workloads import load
from evidence.schema import Metric

_AXES = (BATCHING.switch, "implementation")
_SCENARIOS = ("uniform", "skewed", "staggered", "poisson", "equal-long")
_METRICS = (
    Metric(name="steps", unit="1", better="neither", of="process", role="context"),
    Metric(name="attended_pairs", unit="1", better="neither", of="process", role="context"),
)
"""Steps of the model, and pairs of a query and a key that its attention computed, hidden by a mask or not."""


def _arrange(asked: Asked) -> Arrangement:
    return Arrangement(
        sides=(static("static", "baseline"), continuous("continuous", "candidate", varies=_AXES)),
        loads=tuple(load(name, asked.scale) for name in _SCENARIOS),
        axes=_AXES,
    )


STUDY = Study(
    command=("scheduler", "continuous"),
    about="continuous against static batching in five scenarios",
    arrange=_arrange,
    metrics=(*METRICS, *_METRICS),
)
