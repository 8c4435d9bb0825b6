"""Owns the switches of engines as data: what each does, what is counted when it fires, and where it can fire."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from benchmarks.engine import quantization
from evidence.errors import UnknownNameError

Device = Literal["cpu", "cuda"]
OFF = "off"


@dataclass(frozen=True, slots=True)
class Feature:
    """One switch. An arm that has it on must count its mechanism, on a workload that engages it."""

    switch: str
    about: str
    mechanism: str
    """Counter that is positive exactly if the feature did something."""
    engaged_by: str | None
    """Tag of workloads on which it can do something; None: on all."""
    devices: tuple[Device, ...] = ("cpu", "cuda")
    off: str = OFF
    obstacle: str = ""
    """Why it is not to be had on the other devices."""
    obstacles_on_cpu: Mapping[str, str] = field(default_factory=dict, hash=False)
    """By value: why a processor cannot do this one."""
    outputs: Literal["same", "may-differ"] = "same"


BATCHING = Feature(
    switch="batching",
    about="requests join and leave a running batch between steps, instead of waiting for all of a padded batch",
    mechanism="joined_running_batch",
    engaged_by=None,
    off="static",
)
CUDA_GRAPHS = Feature(
    switch="cuda-graphs",
    about="a step's kernels are recorded once for each padded size and replayed, instead of launched one by one",
    mechanism="graph_replays",
    engaged_by=None,
    devices=("cuda",),
    obstacle="graphs are recorded on an accelerator",
)
ASYNC_BATCHING = Feature(
    switch="async-batching",
    about="the next step is prepared on the host while the device computes this one",
    mechanism="overlapped_steps",
    engaged_by=None,
    devices=("cuda",),
    obstacle="there is no device beside the host to overlap with",
)
PREFIX_SHARING = Feature(
    switch="prefix-sharing",
    about="blocks of the cache that hold a prefix already read are shared by later requests that begin with it",
    mechanism="prefix_tokens",
    engaged_by="shared-prefix",
)
CHUNK_TOKENS = Feature(
    switch="chunk-tokens",
    about="tokens in one step at most: longer prompts are read in pieces, between the tokens of running requests",
    mechanism="prefill_chunks",
    engaged_by="long-prompts",
    off="workload",
)
COMPILE = Feature(
    switch="compile",
    about="the step is compiled by torch.compile, at one of the engine's levels",
    mechanism="compiled_steps",
    engaged_by=None,
)
CPU_OFFLOAD = Feature(
    switch="cpu-offload",
    about="blocks of requests that have to give way are kept in host memory (GiB), instead of computed again",
    mechanism="offloaded_requests",
    engaged_by="oversubscribed",
    devices=("cuda",),
    obstacle="blocks are moved from a device's memory to the host's",
)
CACHE_SHARE = Feature(
    switch="cache-share",
    about="a share of the workload's cache: running requests outgrow it, and give way to others",
    mechanism="preemptions",
    engaged_by="oversubscribed",
    off="1",
)
SERVING = Feature(
    switch="serving",
    about="requests go to a server over HTTP, and every token comes back when it is made",
    mechanism="streamed_chunks",
    engaged_by=None,
    off="in-process",
)
SCHEME = Feature(
    switch="scheme",
    about="weights, and with some schemes what they are multiplied by, are held in fewer bits",
    mechanism="quantized_products",
    engaged_by=None,
    off=quantization.NONE,
    obstacles_on_cpu=quantization.OBSTACLES_ON_CPU,
    outputs="may-differ",
)
FUSED_QK_NORM = Feature(
    switch="fused-qk-norm",
    about="an attention layer's queries and keys are normalised by one launch of this project's kernel",
    mechanism="fused_qk_norms",
    engaged_by=None,
    devices=("cuda",),
    obstacle="the kernel is compiled for an accelerator; what interprets it on a processor is not to be timed",
    outputs="may-differ",
)
_IN_PROCESS = (
    BATCHING,
    CUDA_GRAPHS,
    ASYNC_BATCHING,
    PREFIX_SHARING,
    CHUNK_TOKENS,
    COMPILE,
    CPU_OFFLOAD,
    CACHE_SHARE,
    SCHEME,
    FUSED_QK_NORM,
)
CLIENT = Feature(
    switch="client",
    about="another client sends the requests and reads the answers: vllm bench serve",
    mechanism="bench_requests",
    engaged_by=None,
    off="own",
)
FEATURES: Mapping[str, Feature] = {feature.switch: feature for feature in (*_IN_PROCESS, SERVING, CLIENT)}
PROMPTS = "prompts"
"""A setting that is no feature: whether a server is given token ids, as is usual here, or text."""
THREADS = "threads"
"""A setting that is no feature: threads inside torch, where an arm has a number of its own."""


def switches(on: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return every switch with its value, off where `on` does not name it.

    Raises:
        UnknownNameError: `on` names what is no switch.
    """
    for name in on:
        if name not in FEATURES:
            raise UnknownNameError("switch", name, list(FEATURES))
    return tuple((name, on.get(name, feature.off)) for name, feature in FEATURES.items())


def switched_on(values: Iterable[tuple[str, str]]) -> tuple[Feature, ...]:
    """Return the features that are not off; settings that are no features are passed over."""
    return tuple(FEATURES[name] for name, value in values if name in FEATURES and value != FEATURES[name].off)


def obstacle(feature: Feature, value: str, device: str, tags: frozenset[str]) -> str | None:
    """Return why a feature of this value cannot fire on a device or a workload of these tags; None if it can."""
    if device not in feature.devices:
        return f"{feature.switch}: {feature.obstacle}"
    if device == "cpu" and value in feature.obstacles_on_cpu:
        return f"{feature.switch} {value}: {feature.obstacles_on_cpu[value]}"
    if feature.engaged_by is not None and feature.engaged_by not in tags:
        return f"{feature.switch}: the workload does not engage it, being no {feature.engaged_by} one"
    return None
