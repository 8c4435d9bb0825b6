"""Owns `quant`: schemes of quantisation on one engine, as it is and compiled, each with how wrong it is."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.engine import quantization
from benchmarks.engine.features import COMPILE, CUDA_GRAPHS, SCHEME
from benchmarks.engine.study import ASSESSED, METRICS, Arrangement, Asked, Option, Side, Study, continuous
from benchmarks.engine.workloads import Lengths, Load
from evidence.errors import UnknownNameError
from evidence.schema.arms import Role

_MODES: Mapping[str, Mapping[str, str]] = {
    "eager": {},
    "graphs": {CUDA_GRAPHS.switch: "on"},
    "compiled": {COMPILE.switch: "1"},
    "compiled-graphs": {COMPILE.switch: "1", CUDA_GRAPHS.switch: "on"},
}
"""How steps are run: what a scheme saves shows only where launching kernels is not what takes the time."""
_UNQUANTIZED = "unquantized"
_LOADS = {
    "small": (
        Load(
            name="decode",
            about="all at once, short prompts and long outputs: each step reads all weights for a few tokens",
            requests=12,
            prompts=Lengths(8, 16),
            outputs=Lengths(12, 24),
            concurrency=6,
            batch_tokens=128,
        ),
        Load(
            name="prefill",
            about="all at once, long prompts and short outputs: each step computes with many tokens",
            requests=8,
            prompts=Lengths(128, 160),
            outputs=Lengths(2, 6),
            concurrency=4,
            batch_tokens=512,
        ),
    ),
    "full": (
        Load(
            name="decode",
            about="all at once, short prompts and long outputs: each step reads all weights for a few tokens",
            requests=48,
            prompts=Lengths(32, 64),
            outputs=Lengths(24, 48),
            concurrency=32,
            batch_tokens=1024,
            block_tokens=256,
        ),
        Load(
            name="prefill",
            about="all at once, long prompts and short outputs: each step computes with many tokens",
            requests=16,
            prompts=Lengths(1024, 1536),
            outputs=Lengths(2, 6),
            concurrency=8,
            batch_tokens=8192,
            block_tokens=256,
        ),
    ),
}


def _arrange(asked: Asked) -> Arrangement:
    schemes, modes = asked.more["schemes"], asked.more["modes"]
    for kind, names, known in (("scheme", schemes, [*quantization.SCHEMES]), ("mode", modes, [*_MODES])):
        for name in names:
            if name not in known:
                raise UnknownNameError(kind, name, known)
    first = _MODES[modes[0]]
    pairs = [(scheme, mode) for mode in modes for scheme in (quantization.NONE, *schemes)]
    return Arrangement(
        sides=tuple(
            _side(scheme, mode, first, "candidate" if at else "baseline") for at, (scheme, mode) in enumerate(pairs)
        ),
        loads=_LOADS[asked.scale],
        axes=(SCHEME.switch, COMPILE.switch, CUDA_GRAPHS.switch),
    )


def _side(scheme: str, mode: str, first: Mapping[str, str], role: Role) -> Side:
    """Return the arm of a scheme in a mode, which differs in one or both from the baseline in the first mode."""
    on = _MODES[mode]
    varies = [name for name in on.keys() | first.keys() if on.get(name) != first.get(name)]
    if scheme == quantization.NONE:
        what = _UNQUANTIZED
    else:
        what = scheme
        varies.append(SCHEME.switch)
    return continuous(f"{what}-{mode}", role, {**on, SCHEME.switch: scheme}, tuple(varies))


STUDY = Study(
    command=("quant",),
    about="schemes of quantisation, each with its speed, its memory and how wrong it is",
    arrange=_arrange,
    metrics=(*METRICS, *ASSESSED),
    options=(
        Option("schemes", tuple(quantization.SCHEMES), "which schemes beside none", "NAME"),
        Option("modes", ("eager",), f"how steps run, the baseline's first: {', '.join(_MODES)}", "NAME"),
    ),
    is_assessed=True,
    sharing="cell",
)
