"""Owns `cpu`: reading prompts and making tokens on a processor, with several numbers of threads."""

from __future__ import annotations

from benchmarks.engine import features
from benchmarks.engine.features import THREADS
from benchmarks.engine.study import METRICS, Arrangement, Asked, Option, Side, Study
from benchmarks.engine.workloads import Lengths, Load
from benchmarks.options import UsageError
from evidence.schema import Metric
from evidence.schema.arms import Role

_LOADS = {
    "small": (
        Load(
            name="prefill",
            about="a batch of long prompts, of which the first token is made",
            requests=8,
            prompts=Lengths(256, 256),
            outputs=Lengths(1, 1),
            concurrency=8,
            batch_tokens=2048,
        ),
        Load(
            name="decode",
            about="a batch of short prompts and long outputs",
            requests=4,
            prompts=Lengths(8, 8),
            outputs=Lengths(64, 64),
            concurrency=4,
        ),
    ),
    "full": (
        Load(
            name="prefill",
            about="a batch of long prompts, of which the first token is made",
            requests=4,
            prompts=Lengths(512, 512),
            outputs=Lengths(1, 1),
            concurrency=4,
            batch_tokens=2048,
        ),
        Load(
            name="decode",
            about="a batch of short prompts and long outputs",
            requests=4,
            prompts=Lengths(32, 32),
            outputs=Lengths(32, 32),
            concurrency=4,
        ),
    ),
}


def _side(count: int, role: Role) -> Side:
    switches = (*features.switches({}), (THREADS, str(count)))
    varies = () if role == "baseline" else (THREADS,)
    return Side(f"threads-{count}", role, "static", switches, varies)


def _arrange(asked: Asked) -> Arrangement:
    try:
        first, *others = dict.fromkeys(int(text) for text in asked.more["counts"])
    except ValueError as error:
        raise UsageError("--counts are numbers of threads") from error
    if min(first, *others, 1) < 1:
        raise UsageError("--counts are at least 1")
    return Arrangement(
        sides=(_side(first, "baseline"), *(_side(count, "candidate") for count in others)),
        loads=_LOADS[asked.scale],
        axes=(THREADS,),
    )


STUDY = Study(
    command=("cpu",),
    about="prefill and decode on a processor, with several numbers of threads",
    arrange=_arrange,
    metrics=(*METRICS, Metric(name="cpu_time", unit="s", better="lower", of="process", role="context")),
    options=(Option("counts", ("1", "2"), "numbers of threads, the baseline's first", "THREADS"),),
)
