"""Owns `scheduler diag-preempt`: what it costs to serve requests in less cache than they fill.

The plain run has room for all. The others have a share of it: requests give way and are computed again, or their
blocks wait in host memory.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.engine.features import CACHE_SHARE, CPU_OFFLOAD
from benchmarks.engine.study import METRICS, Arrangement, Asked, Side, Study, continuous
from benchmarks.engine.workloads import load
from evidence.schema import Metric

_OFFLOAD = {CPU_OFFLOAD.switch: "4"}
_METRICS = (
    Metric(name="preemptions", unit="1", better="neither", of="process", role="context"),
    Metric(name="offloaded_requests", unit="1", better="neither", of="process", role="context"),
    Metric(name="restored_requests", unit="1", better="neither", of="process", role="context"),
    Metric(name="computed_tokens", unit="1", better="neither", of="process", role="context"),
    Metric(name="steps", unit="1", better="neither", of="process", role="context"),
)


def _arrange(asked: Asked) -> Arrangement:
    arms: list[Side] = []
    for name, share in (("half", "0.5"), ("third", "0.35")):
        less = {CACHE_SHARE.switch: share}
        offloaded = {**less, **_OFFLOAD}
        arms.append(continuous(f"{name}-recomputed", "candidate", less, tuple(less)))
        arms.append(continuous(f"{name}-offloaded", "candidate", offloaded, tuple(offloaded)))
    # The cache that all have is whole; the arms say how much of it they use.
    roomy = replace(
        load("oversubscribed", asked.scale),
        name="growing",
        about="all at once, outputs that outgrow less cache than all of them fill",
        cache_share=1.0,
    )
    return Arrangement(
        sides=(continuous("roomy", "baseline"), *arms), loads=(roomy,), axes=(CACHE_SHARE.switch, CPU_OFFLOAD.switch)
    )


STUDY = Study(
    command=("scheduler", "diag-preempt"),
    about="preemption and offloading in less cache than requests fill, against a run with room for all",
    arrange=_arrange,
    metrics=(*METRICS, *_METRICS),
)
