"""Owns `scheduler clients`: this suite's client beside `vllm bench serve`, asking the same server for the same."""

from __future__ import annotations

from benchmarks.engine.features import CLIENT
from benchmarks.engine.study import METRICS, Arrangement, Asked, Option, Study, served
from benchmarks.engine.workloads import Lengths, Load, Scale
from benchmarks.options import UsageError
from evidence.schema.workloads import Closed

_SIZES: dict[Scale, tuple[Lengths, Lengths, int, int]] = {
    "small": (Lengths(16, 48), Lengths(16, 32), 256, 32),
    "full": (Lengths(64, 512), Lengths(32, 128), 2048, 256),
}
"""Prompts, outputs, tokens a step, tokens a block."""
_UNSEEN = ("wasted_tokens", "peak_memory", "client_lateness")


def _arrange(asked: Asked) -> Arrangement:
    prompts, outputs, batch_tokens, block_tokens = _SIZES[asked.scale]
    requests, *more = (_count(name, asked) for name in ("requests", "clients"))
    loads = tuple(
        Load(
            f"clients-{clients}",
            "so many clients, each asking again when it is answered",
            requests=requests[0],
            prompts=prompts,
            outputs=outputs,
            arrival=Closed(concurrency=clients),
            concurrency=clients,
            batch_tokens=batch_tokens,
            block_tokens=block_tokens,
        )
        for clients in more[0]
    )
    sides = (
        served("own", "baseline", (), "vllm-server"),
        served("vllm-bench", "candidate", (CLIENT.switch,), "vllm-server", {CLIENT.switch: "vllm-bench"}),
    )
    return Arrangement(sides, loads, (CLIENT.switch,))


def _count(name: str, asked: Asked) -> tuple[int, ...]:
    found = asked.more[name]
    if not all(text.isdigit() and int(text) > 1 for text in found):
        raise UsageError(f"--{name} takes whole numbers of at least 2")
    return tuple(int(text) for text in found)


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
