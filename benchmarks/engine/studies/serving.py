"""Owns `scheduler serving`: servers under closed and open loads, beside the same engines without a server."""

from __future__ import annotations

from benchmarks.engine.features import SERVING
from benchmarks.engine.goodput import Objective, goodput
from benchmarks.engine.server_loads import amounts, counts, of_clients, of_rate
from benchmarks.engine.study import METRICS, Arrangement, Asked, Option, Side, Study, continuous, served, vllm
from benchmarks.engine.workloads import Load
from benchmarks.options import UsageError
from evidence.schema import Metric
from evidence.schema.cells import Requests

ENGINES = ("transformers", "vllm")
_SERVED = (SERVING.switch, "implementation")
_OTHER = ("implementation", "stack")
_UNSEEN = ("wasted_tokens", "peak_memory")
"""What the client of a server cannot see."""


def _arrange(asked: Asked) -> Arrangement:
    engines = asked.more["engines"]
    for name in engines:
        if name not in ENGINES:
            raise UsageError(f"--engines: no engine {name!r}; there are {', '.join(ENGINES)}")
    sides = _sides(engines)
    return Arrangement(sides, _loads(asked), tuple(dict.fromkeys(axis for one in sides for axis in one.varies)))


def _sides(engines: tuple[str, ...]) -> tuple[Side, ...]:
    """Return each engine in the worker's process and behind its server; the first of them is the baseline."""
    ours = (
        continuous("in-process", "baseline"),
        served("server", "candidate", _SERVED, "transformers-server"),
    )
    if "vllm" not in engines:
        return ours
    if "transformers" not in engines:
        return (vllm("vllm", "baseline"), served("vllm-server", "candidate", _SERVED, "vllm-server"))
    both = (SERVING.switch, *_OTHER)
    return (*ours, vllm("vllm", "alternative", _OTHER), served("vllm-server", "alternative", both, "vllm-server"))


def _loads(asked: Asked) -> tuple[Load, ...]:
    """Return the loads, all under the same limits: nothing waits but where a step is full."""
    requests = counts(asked, "requests")[0]
    closed = (of_clients(count, requests, asked.scale, at_once=requests) for count in counts(asked, "clients"))
    opened = (of_rate(rate, requests, asked.scale, at_once=requests) for rate in amounts(asked, "rates"))
    return (*closed, *opened)


def _derived(asked: Asked, requests: Requests) -> dict[str, float]:
    objective = Objective(ttft_s=amounts(asked, "slo-ttft")[0], tpot_s=amounts(asked, "slo-tpot")[0])
    return {"goodput": goodput(requests, objective)}


STUDY = Study(
    command=("scheduler", "serving"),
    about="servers under closed and open loads, and the same engines in this process",
    arrange=_arrange,
    metrics=(
        *(metric for metric in METRICS if metric.name not in _UNSEEN),
        Metric(name="request_throughput", unit="1/s", better="higher", of="request", role="target"),
        Metric(name="goodput", unit="1/s", better="higher", of="process", role="target"),
    ),
    derived=_derived,
    options=(
        Option("engines", ("transformers",), "which are served: transformers, vllm (default transformers)", "NAME"),
        Option("clients", ("8",), "closed loads of so many clients (default 8)", "COUNT"),
        Option("rates", ("20", "60"), "open loads at so many requests a second (default 20 and 60)", "RATE"),
        Option("requests", ("40",), "of each load: far percentiles need more, p99 needs 368 (default 40)", "COUNT"),
        Option("slo-ttft", ("0.2",), "the longest a first token may take, for goodput (default 0.2 s)", "SECONDS"),
        Option("slo-tpot", ("0.02",), "the longest each further token may take (default 0.02 s)", "SECONDS"),
    ),
)
