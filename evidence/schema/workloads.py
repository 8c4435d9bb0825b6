"""Owns workloads: what every arm is given equally. What differs between arms is a switch instead."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from evidence.schema.base import (
    Count,
    Model,
    Name,
    PositiveAmount,
    PositiveCount,
    Setting,
    Sha256,
    Text,
    require_unique,
)

WorkKind = Literal["flop", "bytes", "prompt-tokens", "output-tokens", "requests", "steps"]
WorkloadRole = Literal["target", "guard"]


class Work(Model):
    """An amount of work: what one sample must do, or what a process counted."""

    of: WorkKind
    count: PositiveCount


class Dimension(Model):
    """One named size of a shape."""

    name: Name
    size: PositiveCount


class Inputs(Model):
    """How the inputs were made."""

    distribution: Text
    seed: int
    sets: PositiveCount
    """Distinct input sets rotated over the repeats."""
    sha256: Sha256 | None
    """Digest of the generated inputs; null if they were not digested."""


class _Workload(Model):
    name: Name
    role: WorkloadRole
    work: tuple[Work, ...]
    """What one sample must do: analytic FLOP, compulsory bytes, tokens."""

    @model_validator(mode="after")
    def _work_once(self) -> Self:
        require_unique(f"amounts of workload {self.name}", (amount.of for amount in self.work))
        return self


class OpWorkload(_Workload):
    """One op on one shape."""

    kind: Literal["op"] = "op"
    op: Name
    shape: Annotated[tuple[Dimension, ...], Field(min_length=1)]
    dtype: Name
    direction: Literal["forward", "backward", "forward-backward"]
    cache: Literal["hot", "cold"]
    """Whether the device's last-level cache may hold the inputs when the clock starts."""
    parameters: tuple[Setting, ...]
    inputs: Inputs


class PretrainedWeights(Model):
    """Weights from a published checkpoint."""

    origin: Literal["pretrained"] = "pretrained"
    model: Name
    parameters: PositiveCount
    revision: Name
    sha256: Sha256 | None


class RandomWeights(Model):
    """Weights drawn from a seed."""

    origin: Literal["random"] = "random"
    model: Name
    parameters: PositiveCount
    seed: int


class AtOnce(Model):
    """Every request is there at the start."""

    kind: Literal["at-once"] = "at-once"


class Closed(Model):
    """A fixed number of clients, each waiting for its answer."""

    kind: Literal["closed"] = "closed"
    concurrency: PositiveCount


class Poisson(Model):
    """Independent arrivals at a mean rate."""

    kind: Literal["poisson"] = "poisson"
    rate_per_s: PositiveAmount
    seed: int
    concurrency: PositiveCount | None
    """Cap on requests in flight; null: none."""


class Paced(Model):
    """Arrivals at equal intervals, the first at the start."""

    kind: Literal["paced"] = "paced"
    interval_s: PositiveAmount


class TokenLengths(Model):
    """Lengths over the requests of a workload."""

    minimum: Count
    maximum: Count
    total: Count

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.minimum <= self.maximum <= self.total:
            raise ValueError("lengths need minimum <= maximum <= total")
        return self


class EngineWorkload(_Workload):
    """Requests to an inference engine."""

    kind: Literal["engine"] = "engine"
    weights: Annotated[PretrainedWeights | RandomWeights, Field(discriminator="origin")]
    dtype: Name
    requests: PositiveCount
    arrival: Annotated[AtOnce | Closed | Poisson | Paced, Field(discriminator="kind")]
    prompt_tokens: TokenLengths
    output_tokens: TokenLengths
    ignore_eos: bool
    sampling: tuple[Setting, ...]
    prefix_cache: Literal["off", "reset", "warm"]
    warm_up_requests: Count
    inputs: Inputs
    parameters: tuple[Setting, ...] = ()
    """What else is given to every arm. Left out where there is none, as in records from before there was any."""

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        if not self.parameters:
            del written["parameters"]
        return written


class ForeignWorkload(_Workload):
    """A workload as a foreign tool reported it, or one that is neither an op nor an engine's."""

    kind: Literal["foreign"] = "foreign"
    settings: tuple[Setting, ...]

    @model_validator(mode="after")
    def _settings_once(self) -> Self:
        require_unique(f"settings of workload {self.name}", (setting.name for setting in self.settings))
        return self


Workload = Annotated[OpWorkload | EngineWorkload | ForeignWorkload, Field(discriminator="kind")]


def identity(workload: Workload) -> tuple[object, ...]:
    """Return all of a workload but the digest of its inputs, which one log can hold and another lack."""
    if isinstance(workload, ForeignWorkload):
        return tuple(value for _, value in workload)
    inputs = workload.inputs
    rest = (value for name, value in workload if name != "inputs")
    return (*rest, inputs.distribution, inputs.seed, inputs.sets)


def is_same_workload(one: Workload, other: Workload) -> bool:
    """Whether two logs measured the same; a digest that only one of them took says nothing."""
    digests = {_digest(one), _digest(other)} - {None}
    return len(digests) < 2 and identity(one) == identity(other)


def _digest(workload: Workload) -> str | None:
    return None if isinstance(workload, ForeignWorkload) else workload.inputs.sha256
