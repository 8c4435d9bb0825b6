"""Owns `scheduler clients`: this suite's client beside `vllm bench serve`, asking the same server for the same."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.engine.features import CLIENT, PROMPTS
from benchmarks.engine.server_loads import counts, of_clients
from benchmarks.engine.study import METRICS, Arrangement, Asked, Option, Side, Study, served

_UNSEEN = ("wasted_tokens", "peak_memory", "client_lateness")


def _arrange(asked: Asked) -> Arrangement:
    requests = counts(asked, "requests")[0]
    sides = (
        _in_text(served("own", "baseline", (), "vllm-server")),
        _in_text(served("vllm-bench", "candidate", (CLIENT.switch,), "vllm-server", {CLIENT.switch: "vllm-bench"})),
    )
    loads = (of_clients(count, requests, asked.scale, at_once=count) for count in counts(asked, "clients"))
    return Arrangement(sides, tuple(loads), (CLIENT.switch,))


def _in_text(side: Side) -> Side:
    """Return the arm with prompts as text: vllm bench serve knows no other."""
    return replace(side, switches=(*side.switches, (PROMPTS, "text")))


STUDY = Study(
    command=("scheduler", "clients"),
    about="this suite's client beside vllm bench serve, against vLLM's server",
    arrange=_arrange,
    metrics=tuple(metric for metric in METRICS if metric.name not in _UNSEEN),
    options=(
        Option("clients", ("8",), "loads of so many clients (default 8)", "COUNT"),
        Option("requests", ("200",), "of each load (default 200)", "COUNT"),
    ),
)
