"""Owns `scheduler serving`: servers under load, closed and open, beside the same engine without a server before it."""

from __future__ import annotations

from benchmarks.engine.features import SERVING
from benchmarks.engine.goodput import Objective, goodput
from benchmarks.engine.study import (
    METRICS,
    Arrangement,
    Asked,
    Option,
    Study,
    continuous,
    served,
    vllm,
)
from benchmarks.engine.workloads import Lengths, Load, Scale
from benchmarks.options import UsageError
from evidence.schema import Metric
from evidence.schema.cells import Requests
from evidence.schema.workloads import Closed, Poisson

ENGINES = ("transformers", "vllm")
_SERVED = (SERVING.switch, "implementation")
_OTHER = ("implementation", "stack")
_LESS = ("wasted_tokens", "peak_memory")
"""What the client of a server cannot see."""
_LENGTHS: dict[Scale, tuple[Lengths, Lengths, int, int]] = {
    "small": (Lengths(16, 48), Lengths(16, 32), 256, 32),
    "full": (Lengths(64, 512), Lengths(32, 128), 2048, 256),
}
"""Prompts, outputs, tokens a step, tokens a block."""
_ARRIVAL_SEED = 5


def _arrange(asked: Asked) -> Arrangement:
    engines = asked.more["engines"]
    for name in engines:
        if name not in ENGINES:
            raise UsageError(f"--engines: no engine {name!r}; there are {', '.join(ENGINES)}")
    sides = []
    if "transformers" in engines:
        sides += [continuous("in-process", "baseline"), served("server", "candidate", _SERVED, "transformers-server")]
    if "vllm" in engines:
        is_first = not sides
        extra = () if is_first else _OTHER
        sides.append(vllm("vllm", "baseline" if is_first else "alternative", varies=extra))
        both = tuple(dict.fromkeys((*_SERVED, *extra)))
        sides.append(served("vllm-server", "candidate" if is_first else "alternative", both, "vllm-server"))
    return Arrangement(tuple(sides), _loads(asked), tuple(dict.fromkeys(axis for one in sides for axis in one.varies)))


def _loads(asked: Asked) -> tuple[Load, ...]:
    """Return the loads, all under the same limits: nothing waits but where a step is full."""
    requests = _whole("requests", asked)[0]
    prompts, outputs, batch_tokens, block_tokens = _LENGTHS[asked.scale]

    def load(name: str, about: str, arrival: Closed | Poisson) -> Load:
        return Load(
            name,
            about,
            requests=requests,
            prompts=prompts,
            outputs=outputs,
            arrival=arrival,
            concurrency=requests,
            batch_tokens=batch_tokens,
            block_tokens=block_tokens,
        )

    closed = [
        load(f"clients-{count}", "so many clients, each asking again when it is answered", Closed(concurrency=count))
        for count in _whole("clients", asked)
    ]
    opened = [
        load(
            f"rate-{rate:g}",
            "independent arrivals at a mean rate, however many are waiting",
            Poisson(rate_per_s=rate, seed=_ARRIVAL_SEED, concurrency=None),
        )
        for rate in _positive("rates", asked)
    ]
    return (*closed, *opened)


def _whole(name: str, asked: Asked) -> tuple[int, ...]:
    found = _positive(name, asked)
    if any(value != int(value) or value < 2 for value in found):
        raise UsageError(f"--{name} takes whole numbers of at least 2")
    return tuple(int(value) for value in found)


def _positive(name: str, asked: Asked) -> tuple[float, ...]:
    try:
        found = tuple(float(text) for text in asked.more[name])
    except ValueError:
        raise UsageError(f"--{name} takes numbers") from None
    if not all(0 < value < float("inf") for value in found):
        raise UsageError(f"--{name} takes numbers above zero")
    return found


def _derived(asked: Asked, requests: Requests) -> dict[str, float]:
    objective = Objective(ttft_s=_positive("slo-ttft", asked)[0], tpot_s=_positive("slo-tpot", asked)[0])
    return {"goodput": goodput(requests, objective)}


STUDY = Study(
    command=("scheduler", "serving"),
    about="servers under closed and open loads, and the same engines in this process",
    arrange=_arrange,
    metrics=(
        *(metric for metric in METRICS if metric.name not in _LESS),
        Metric(name="request_throughput", unit="1/s", better="higher", of="request", role="target"),
        Metric(name="goodput", unit="1/s", better="higher", of="process", role="target"),
    ),
    derived=_derived,
    options=(
        Option("engines", ("transformers",), "which are served: transformers, vllm (default transformers)", "NAME"),
        Option("clients", ("8",), "closed loads of so many clients (default 8)", "COUNT"),
        Option("rates", ("20", "60"), "open loads at so many requests a second (default 20 and 60)", "RATE"),
        Option(
            "requests", ("40",), "of each load; percentiles need more the further out they lie (default 40)", "COUNT"
        ),
        Option("slo-ttft", ("0.2",), "the longest a first token may take, for goodput (default 0.2 s)", "SECONDS"),
        Option("slo-tpot", ("0.02",), "the longest each further token may take (default 0.02 s)", "SECONDS"),
    ),
)
