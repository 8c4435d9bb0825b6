"""Owns `optimizations`: what an engine's switches do one by one and together, those that change outputs among them.

The baseline is the engine with every switch off. Batching itself is not switched here: `scheduler continuous` asks what
it does, and a feature of continuous batching could be had from nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.engine.features import (
    ASYNC_BATCHING,
    CHUNK_TOKENS,
    COMPILE,
    CUDA_GRAPHS,
    FUSED_QK_NORM,
    PREFIX_SHARING,
    SCHEME,
)
from benchmarks.engine.study import ASSESSED, METRICS, Arrangement, Asked, Side, Study, continuous
from benchmarks.engine.workloads import Lengths, Load, Scale

_INT8 = {SCHEME.switch: "int8-weight-only"}
_LOADS: Mapping[Scale, Load] = {
    "small": Load(
        name="mixed",
        about="all at once, one prompt in four is long, behind one prefix",
        requests=12,
        prompts=Lengths(16, 160, 0.25),
        outputs=Lengths(8, 16),
        tags=frozenset({"shared-prefix", "long-prompts"}),
        shared_prefix=96,
        concurrency=4,
        batch_tokens=512,
        prefix_cache="reset",
    ),
    "full": Load(
        name="mixed",
        about="all at once, one prompt in four is long, behind one prefix",
        requests=32,
        prompts=Lengths(64, 1024, 0.25),
        outputs=Lengths(16, 32),
        tags=frozenset({"shared-prefix", "long-prompts"}),
        shared_prefix=512,
        concurrency=16,
        batch_tokens=4096,
        block_tokens=256,
        prefix_cache="reset",
    ),
}
"""One workload that engages every feature, so that all arms are comparable."""


def _arms(asked: Asked) -> Mapping[str, Mapping[str, str]]:
    """Return what each arm switches on. Compiling takes a processor minutes: at the small scale it is left out."""
    prefix = {PREFIX_SHARING.switch: "on"}
    chunks = {CHUNK_TOKENS.switch: "128" if asked.scale == "small" else "512"}
    graphs, overlap = {CUDA_GRAPHS.switch: "on"}, {ASYNC_BATCHING.switch: "on"}
    norms = {FUSED_QK_NORM.switch: "on"}
    found: dict[str, Mapping[str, str]] = {
        "cuda-graphs": graphs,
        "async-batching": overlap,
        "prefix-sharing": prefix,
        "chunk-tokens": chunks,
        "fused-qk-norm": norms,
        "int8-weight-only": _INT8,
        "graphs-and-qk-norm": {**graphs, **norms},
        "prefix-and-chunks": {**prefix, **chunks},
        "prefix-and-int8": {**prefix, **_INT8},
        "all-exact": {**graphs, **overlap, **prefix},
    }
    if asked.scale == "full":
        compiled = {COMPILE.switch: "1"}
        found["compile"] = compiled
        found["all"] = {**graphs, **overlap, **prefix, **compiled, **_INT8}
    return found


def _arrange(asked: Asked) -> Arrangement:
    def side(name: str, on: Mapping[str, str]) -> Side:
        return continuous(name, "candidate", on, tuple(on))

    arms = _arms(asked)
    return Arrangement(
        sides=(continuous("off", "baseline"), *(side(name, on) for name, on in arms.items())),
        loads=(_LOADS[asked.scale],),
        axes=tuple(dict.fromkeys(name for on in arms.values() for name in on)),
    )


STUDY = Study(
    command=("optimizations",),
    about="an engine's switches one by one and together, against all of them off",
    arrange=_arrange,
    metrics=(*METRICS, *ASSESSED),
    is_assessed=True,
)
