"""Owns `scheduler serving`: servers under closed and open loads, beside the same engines without a server."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.engine.features import SERVING
from benchmarks.engine.goodput import Objective, goodput
from benchmarks.engine.server_loads import amounts, counts, of_clients, of_rate
from benchmarks.engine.study import BY_SCALE, METRICS, Arrangement, Asked, Option, Side, Study, continuous, served, vllm
from benchmarks.engine.workloads import Load, Scale
from benchmarks.options import UsageError
from evidence.schema import Metric
from evidence.schema.cells import Requests

ENGINES = ("transformers", "vllm")
_SERVED = (SERVING.switch, "implementation")
_OTHER = ("implementation", "stack")
_CLIENTS: Mapping[Scale, tuple[str, ...]] = {"small": ("4", "16"), "full": ("8", "32")}
_TTFT: Mapping[Scale, tuple[str, ...]] = {"small": ("0.05",), "full": ("0.5",)}
_TPOT: Mapping[Scale, tuple[str, ...]] = {"small": ("0.005",), "full": ("0.05",)}
_RATES: Mapping[Scale, tuple[str, ...]] = {"small": ("50", "120"), "full": ("4", "16")}
"""The lower rate is one that a server can keep up with, the higher one is not."""
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
        Option("clients", (BY_SCALE,), "closed loads of so many clients (default by the scale)", "COUNT", _CLIENTS),
        Option("rates", (BY_SCALE,), "open loads at so many requests a second (by the scale)", "RATE", _RATES),
        Option("requests", ("36",), "of each load: p90 needs these, p99 needs 368 (default 36)", "COUNT"),
        Option("slo-ttft", (BY_SCALE,), "the longest that a first token may take (by the scale)", "SECONDS", _TTFT),
        Option("slo-tpot", (BY_SCALE,), "the longest that others may take (by the scale)", "SECONDS", _TPOT),
    ),
)
