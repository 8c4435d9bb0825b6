"""Owns what a study is: the arms it compares on which workloads, as data that a command and its workers read alike."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from benchmarks.engine import features
from benchmarks.engine.workloads import Load, Scale
from evidence import discovery
from evidence.errors import EvidenceError, UnknownNameError
from evidence.schema import Metric
from evidence.schema.arms import Role
from evidence.schema.cells import Requests

TRANSFORMERS = "transformers"
VLLM = "vllm"
MAIN = "main"
"""The stack of this interpreter, as `benchmarks.capture` names it."""
EngineName = Literal["static", "continuous", "transformers-server", "vllm", "vllm-server"]
IMPLEMENTATIONS: Mapping[EngineName, str] = {
    "static": "transformers.generation:GenerationMixin.generate",
    "continuous": "transformers.generation.continuous_batching:ContinuousBatchingManager",
    "transformers-server": "transformers.cli.serve:Serve",
    "vllm": "vllm.v1.engine.llm_engine:LLMEngine",
    "vllm-server": "vllm.entrypoints.openai.api_server:run_server",
}

METRICS = (
    Metric(name="throughput", unit="token/s", better="higher", of="request", role="target"),
    Metric(name="ttft", unit="s", better="lower", of="request", role="target"),
    Metric(name="tpot", unit="s", better="lower", of="request", role="target"),
    Metric(name="latency", unit="s", better="lower", of="request", role="target"),
    Metric(name="wall_time", unit="s", better="lower", of="process", role="target"),
    Metric(name="wasted_tokens", unit="1", better="neither", of="process", role="context"),
    Metric(name="client_lateness", unit="s", better="neither", of="process", role="context"),
    Metric(name="peak_memory", unit="B", better="lower", of="process", role="guard"),
    Metric(name="token_agreement", unit="1", better="higher", of="gate", role="guard"),
)
"""What every study of an engine in this process measures."""
ASSESSED = (
    Metric(name="model_memory", unit="B", better="lower", of="process", role="target"),
    Metric(name="cache_capacity", unit="1", better="higher", of="process", role="target"),
    Metric(name="logit_error", unit="1", better="lower", of="process", role="guard"),
    Metric(name="largest_logit_error", unit="1", better="lower", of="process", role="guard"),
    Metric(name="divergence_bits", unit="1", better="lower", of="process", role="guard"),
    Metric(name="argmax_agreement", unit="1", better="higher", of="process", role="guard"),
    Metric(name="bits_per_byte", unit="bit/B", better="lower", of="gate", role="guard"),
)
"""What studies measure besides that hold an arm to the model before anything was done to it. `cache_capacity` counts
the tokens whose keys and values fit into the device's memory beside the model and what it computes with."""


class AxisError(EvidenceError):
    """Arms that differ in more, or in less, than they declare."""


@dataclass(frozen=True, slots=True)
class Side:
    """One arm before anything is captured."""

    name: str
    role: Role
    engine: EngineName
    switches: tuple[tuple[str, str], ...]
    """Every switch with its value, so that what an arm differs in shows."""
    varies: tuple[str, ...] = ()
    """The axes in which it differs from the baseline, and in no other."""
    source: str = TRANSFORMERS
    stack: str = MAIN
    """The environment that serves: this interpreter's, or one of `benchmarks.engine.environments`."""

    @property
    def implementation(self) -> str:
        """What runs, as `module:name`."""
        return IMPLEMENTATIONS[self.engine]

    @property
    def is_elsewhere(self) -> bool:
        """Whether its workers run under another interpreter than this one."""
        return self.stack != MAIN and not self.is_served

    @property
    def is_served(self) -> bool:
        """Whether it is a process beside the worker, of which the worker sees answers only."""
        return features.SERVING in self.features

    @property
    def features(self) -> tuple[features.Feature, ...]:
        """What is switched on."""
        return features.switched_on(self.switches)

    @property
    def mechanism(self) -> tuple[str, ...]:
        """Counters that must be positive."""
        return tuple(feature.mechanism for feature in self.features)

    @property
    def outputs(self) -> Literal["same", "may-differ"]:
        """Whether its tokens may be other ones than the reference's."""
        return "may-differ" if any(one.outputs == "may-differ" for one in self.features) else "same"

    def obstacle(self, load: Load, device: str) -> str | None:
        """Return why it is not tried on a workload; None if it is."""
        values = dict(self.switches)
        reasons = (features.obstacle(one, values[one.switch], device, load.tags) for one in self.features)
        return next((reason for reason in reasons if reason is not None), None)

    def again(self) -> Side:
        """Return its control: the same in all but its name."""
        return replace(self, name=f"{self.name}-again", role="control")


def static(name: str, role: Role) -> Side:
    """Return an arm of static batching, which has none of the switches on."""
    return Side(name, role, "static", features.switches({}))


def continuous(
    name: str, role: Role, on: Mapping[str, str] = MappingProxyType({}), varies: tuple[str, ...] = ()
) -> Side:
    """Return an arm of continuous batching with these switches beside it."""
    return Side(name, role, "continuous", features.switches({features.BATCHING.switch: "continuous", **on}), varies)


def served(
    name: str,
    role: Role,
    varies: tuple[str, ...],
    engine: Literal["transformers-server", "vllm-server"],
    more: Mapping[str, str] = MappingProxyType({}),
) -> Side:
    """Return an arm of a server with continuous batching, with these switches beside it."""
    on = {features.BATCHING.switch: "continuous", features.SERVING.switch: "http", **more}
    kept = (VLLM, VLLM) if engine == "vllm-server" else (TRANSFORMERS, MAIN)
    return Side(name, role, engine, features.switches(on), varies, *kept)


def vllm(name: str, role: Role, varies: tuple[str, ...] = ()) -> Side:
    """Return an arm of vLLM in the worker's own process."""
    on = {features.BATCHING.switch: "continuous"}
    return Side(name, role, "vllm", features.switches(on), varies, VLLM, VLLM)


BY_SCALE = "by-scale"
"""The default of an option whose values the scale decides."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a command asks of a study."""

    device: Literal["cpu", "cuda"]
    scale: Scale
    more: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Values of the study's own options, by name."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Arms on workloads; the first arm is the baseline."""

    sides: tuple[Side, ...]
    loads: tuple[Load, ...]
    axes: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse arms that differ from the baseline in other axes than they declare.

        Raises:
            AxisError: naming the arm and the axes.
        """
        baseline = self.sides[0]
        for side in self.sides[1:]:
            found = _apart(baseline, side)
            if found != frozenset(side.varies):
                message = f"{side.name} differs from {baseline.name} in {_listed(found)}, and declares "
                fix = "change one thing, or declare what is changed together"
                raise AxisError(message + _listed(side.varies), fix=fix)
            if undeclared := found - set(self.axes):
                raise AxisError(f"{side.name} differs in {_listed(undeclared)}, which is no axis of the study")


def _apart(one: Side, other: Side) -> frozenset[str]:
    """Return the axes in which two arms differ, as `evidence.readings.differing` names them."""
    mine, theirs = dict(one.switches), dict(other.switches)
    axes = {name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name)}
    if one.implementation != other.implementation:
        axes.add("implementation")
    elif one.source != other.source:
        axes.add("source")
    if one.stack != other.stack:
        axes.add("stack")
    return frozenset(axes)


def _listed(names: Collection[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a study's own; it takes one value or more, as text."""

    name: str
    default: tuple[str, ...]
    about: str
    metavar: str
    by_scale: Mapping[Scale, tuple[str, ...]] = field(default_factory=dict)
    """What `BY_SCALE` stands for."""

    def values(self, given: tuple[str, ...], scale: Scale) -> tuple[str, ...]:
        """Return its values as they are recorded: those that were given, or those of the scale."""
        return self.by_scale[scale] if given == (BY_SCALE,) else given


def nothing(asked: Asked, requests: Requests) -> Mapping[str, float]:
    """Return no further metric."""
    del asked, requests
    return {}


@dataclass(frozen=True, slots=True)
class Study:
    """One command of the runner."""

    command: tuple[str, ...]
    """The words that name it: `scheduler continuous`."""
    about: str
    arrange: Callable[[Asked], Arrangement]
    metrics: tuple[Metric, ...] = METRICS
    options: tuple[Option, ...] = ()
    processes: int = 6
    derived: Callable[[Asked, Requests], Mapping[str, float]] = nothing
    """Further metrics of a process, from what it asked for and what came of it."""
    is_assessed: bool = False
    """Whether logits are held to those of the model before anything was done to it, beside the tokens."""
    sharing: Literal["arm", "cell"] = "arm"
    """What one process is used for, see `benchmarks.plan.Plan`."""

    def arranged(self, asked: Asked) -> Arrangement:
        """Return the arms on the workloads of the scale that was asked for.

        At full scale every warm-up takes all steps of its trial: a device loads kernels and grows its memory at the
        first step of each size, which must not be in the window.
        """
        made = self.arrange(asked)
        return made if asked.scale == "small" else replace(made, loads=tuple(one.warmed_whole for one in made.loads))

    def asked(self, device: Literal["cpu", "cuda"], scale: Scale, given: Mapping[str, tuple[str, ...]]) -> Asked:
        """Return what is asked of it, with all values of its own options."""
        return Asked(device, scale, {one.name: one.values(given[one.name], scale) for one in self.options})

    @property
    def name(self) -> str:
        """What a log is named after, and how a worker is told of it."""
        return "_".join(self.command[1:] or self.command)


def studies() -> Mapping[str, Study]:
    """Return every study by its name."""
    return {study.name: study for study in discovery.instances("benchmarks.engine.studies", Study)}


def find(name: str) -> Study:
    """Return a study.

    Raises:
        UnknownNameError: there is none of that name.
    """
    known = studies()
    if name not in known:
        raise UnknownNameError("study", name, list(known))
    return known[name]
