"""Owns `scheduler diag-prefix`: what a shared prefix saves the requests that are admitted after it was first read.

As many clients as a batch holds ask again when they are answered, so requests come in waves: those of the first wave
read the prefix side by side, and those of later waves can find it in the cache.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from benchmarks.engine.features import PREFIX_SHARING
from benchmarks.engine.study import METRICS, Arrangement, Asked, Study, continuous
from benchmarks.engine.workloads import Lengths, Load, Scale
from evidence.schema import Metric
from evidence.schema.cells import Requests
from evidence.schema.workloads import Closed

_WAVES = 4
_CONCURRENCY: Mapping[Scale, int] = {"small": 4, "full": 16}
_PREFIXES: Mapping[Scale, Mapping[str, int]] = {
    "small": {"short-prefix": 64, "long-prefix": 320},
    "full": {"short-prefix": 512, "long-prefix": 1536},
}
_METRICS = (
    Metric(name="ttft_first_wave", unit="s", better="lower", of="process", role="target"),
    Metric(name="ttft_second_wave", unit="s", better="lower", of="process", role="target"),
    Metric(name="ttft_later_waves", unit="s", better="lower", of="process", role="target"),
    Metric(name="prefix_hits", unit="1", better="neither", of="process", role="context"),
    Metric(name="prefix_tokens", unit="1", better="neither", of="process", role="context"),
    Metric(name="computed_tokens", unit="1", better="neither", of="process", role="context"),
    Metric(name="copied_blocks", unit="1", better="neither", of="process", role="context"),
)
"""The first token's time is the median of its wave. A hit refers to blocks of the cache, or copies them."""


def _waves(name: str, prefix: int, scale: Scale) -> Load:
    concurrency = _CONCURRENCY[scale]
    tail, outputs = (Lengths(8, 16), Lengths(6, 10)) if scale == "small" else (Lengths(32, 64), Lengths(24, 40))
    return Load(
        name=name,
        about=f"{_WAVES} waves of as many clients as a batch holds, behind one prefix",
        requests=_WAVES * concurrency,
        prompts=tail,
        outputs=outputs,
        arrival=Closed(concurrency=concurrency),
        tags=frozenset({"shared-prefix"}),
        shared_prefix=prefix,
        concurrency=concurrency,
        # A whole wave fits one step, so that none of the first has the prefix before the others.
        batch_tokens=concurrency * (prefix + tail.maximum),
        block_tokens=16 if scale == "small" else 256,
        prefix_cache="reset",
    )


def by_wave(asked: Asked, rows: Requests) -> Mapping[str, float]:
    """Return the median time to the first token of the first wave, of the second, and of those after it.

    A wave without an answer has none.
    """
    size = _CONCURRENCY[asked.scale]
    waves = {
        "ttft_first_wave": rows.ttft_s[:size],
        "ttft_second_wave": rows.ttft_s[size : 2 * size],
        "ttft_later_waves": rows.ttft_s[2 * size :],
    }
    known = {name: [value for value in values if value is not None] for name, values in waves.items()}
    return {name: statistics.median(values) for name, values in known.items() if values}


def _arrange(asked: Asked) -> Arrangement:
    on = {PREFIX_SHARING.switch: "on"}
    return Arrangement(
        sides=(continuous("plain", "baseline"), continuous("prefix-sharing", "candidate", on, tuple(on))),
        loads=tuple(_waves(name, prefix, asked.scale) for name, prefix in _PREFIXES[asked.scale].items()),
        axes=tuple(on),
    )


STUDY = Study(
    command=("scheduler", "diag-prefix"),
    about="time to the first token by wave of admission, with a shared prefix read once or by each request",
    arrange=_arrange,
    metrics=(*METRICS, *_METRICS),
    derived=by_wave,
)
