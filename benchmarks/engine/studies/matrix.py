"""Owns `scheduler matrix`: what each feature of the scheduler does alone, and what those do that are used together.

One workload for each feature, on which the others are not tried, and one that engages all, on which all are.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, islice

from benchmarks.engine.features import (
    ASYNC_BATCHING,
    CHUNK_TOKENS,
    COMPILE,
    CPU_OFFLOAD,
    CUDA_GRAPHS,
    PREFIX_SHARING,
)
from benchmarks.engine.study import BY_SCALE, Arrangement, Asked, Option, Side, Study, continuous
from benchmarks.engine.workloads import Lengths, Load, Scale, load

_CHUNKS: Mapping[Scale, tuple[str, ...]] = {"small": ("32", "128"), "full": ("512", "2048")}
_LEVELS: Mapping[Scale, tuple[str, ...]] = {"small": (), "full": ("1", "2")}
"""Levels of compilation. A processor takes half a minute for each process and level: there they are asked for."""
_OFFLOAD_GIB = "4"
_NAMED = ("skewed", "shared-prefix", "long-prompts", "oversubscribed")
_CROWDED: Mapping[Scale, Load] = {
    "small": Load(
        name="crowded",
        about="all at once, one prompt in four is long, behind one prefix, in a third of the cache that they fill",
        requests=12,
        prompts=Lengths(16, 96, 0.25),
        outputs=Lengths(48, 64),
        tags=frozenset({"shared-prefix", "long-prompts", "oversubscribed"}),
        shared_prefix=64,
        concurrency=4,
        batch_tokens=512,
        cache_share=0.35,
        prefix_cache="reset",
    ),
    "full": Load(
        name="crowded",
        about="all at once, one prompt in four is long, behind one prefix, in a fifth of the cache that they fill",
        requests=16,
        prompts=Lengths(16, 384, 0.25),
        outputs=Lengths(64, 80),
        tags=frozenset({"shared-prefix", "long-prompts", "oversubscribed"}),
        shared_prefix=128,
        concurrency=16,
        batch_tokens=4096,
        block_tokens=16,
        cache_share=0.22,
        prefix_cache="reset",
    ),
}


def _arms(asked: Asked) -> Mapping[str, Mapping[str, str]]:
    """Return what each arm switches on."""
    graphs, overlap = {CUDA_GRAPHS.switch: "on"}, {ASYNC_BATCHING.switch: "on"}
    prefix, offload = {PREFIX_SHARING.switch: "on"}, {CPU_OFFLOAD.switch: _OFFLOAD_GIB}
    chunks = {size: {CHUNK_TOKENS.switch: size} for size in asked.more["chunks"]}
    compiled = {level: {COMPILE.switch: level} for level in asked.more["levels"]}
    smallest = next(iter(chunks.values()))
    every = {**graphs, **overlap, **prefix, **smallest, **offload}
    return {
        "cuda-graphs": graphs,
        "async-batching": overlap,
        "graphs-and-async": {**graphs, **overlap},
        "prefix-sharing": prefix,
        **{f"chunks-of-{size}": on for size, on in chunks.items()},
        "prefix-and-chunks": {**prefix, **smallest},
        "cpu-offload": offload,
        "prefix-and-offload": {**prefix, **offload},
        **{f"compile-{level}": on for level, on in compiled.items()},
        "all": every,
        **{f"all-and-compile-{level}": {**every, **on} for level, on in islice(compiled.items(), 1)},
    }


def _arrange(asked: Asked) -> Arrangement:
    def side(name: str, on: Mapping[str, str]) -> Side:
        return continuous(name, "candidate", on, tuple(on))

    arms = _arms(asked)
    loads = (*(load(name, asked.scale) for name in _NAMED), _CROWDED[asked.scale])
    return Arrangement(
        sides=(continuous("plain", "baseline"), *(side(name, on) for name, on in arms.items())),
        loads=loads,
        axes=tuple(dict.fromkeys(chain.from_iterable(arms.values()))),
    )


STUDY = Study(
    command=("scheduler", "matrix"),
    about="features of the scheduler alone and together, against all of them off",
    arrange=_arrange,
    options=(
        Option(
            "chunks",
            (BY_SCALE,),
            "the most tokens in a step, an arm for each (by the scale)",
            "TOKENS",
            _CHUNKS,
        ),
        Option("levels", (BY_SCALE,), "levels of compilation, an arm for each (by the scale)", "LEVEL", _LEVELS),
    ),
)
