"""Owns the record: one file, one run of one command. Its validator resolves every name and refuses a lost row."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Annotated, Literal, Never, Self

from pydantic import Field, StringConstraints, model_validator

from evidence.schema.arms import Arm
from evidence.schema.artifacts import Artifact, Profile, Superseded, Unavailable
from evidence.schema.base import Model, Name, Text, UtcTime, require_unique
from evidence.schema.cells import Cell, Imported, Process, Rejected, Timed
from evidence.schema.conditions import Conditions, DeviceConditions
from evidence.schema.environment import Host, Stack
from evidence.schema.gates import Failed, Gate, Passed
from evidence.schema.methods import Method
from evidence.schema.metrics import Metric
from evidence.schema.sources import Origin, Provenance, Source
from evidence.schema.workloads import Workload

SCHEMA_VERSION = 1
BUILT_IN_AXES = ("implementation", "source", "stack", "host", "ranks")
"""Differences between arms that `axes` may declare beside the names of switches."""

LogName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z][a-z0-9_]*/[a-z0-9][a-z0-9._+-]*_[0-9]{8}(-[1-9][0-9]*)?$", max_length=200),
]
"""`<domain>/<name>_<YYYYMMDD>`, with `-2`, `-3` for further runs of one day: the path below benchmark_logs."""

_KEPT_NAME = re.compile(r"(^|/)(\.|record\.json$|SHA256SUMS$)")
"""Names a store reads as its own or passes over: an artifact of that name would hide or replace something."""
_DATE = re.compile(r"_([0-9]{8})(-[0-9]+)?$")


@functools.lru_cache(maxsize=2**16)
def series(log: str) -> str:
    """Return the log's name without date and run number: what stays the same when it is rerun."""
    return _DATE.sub("", log)


@functools.lru_cache(maxsize=2**16)
def log_date(log: str) -> str:
    """Return the `YYYYMMDD` in a log's name, or an empty text."""
    match = _DATE.search(log)
    return match[1] if match else ""


class Record(Model):
    """One run: what it ran on, what was compared on what, under which gates, and every sample."""

    schema_version: Literal[1]
    log: LogName
    started_at: UtcTime
    ended_at: UtcTime
    provenance: Provenance | None
    """How a measured run was started; null for an import."""
    origin: Origin | None
    """What file an import was read from; null for a measured run."""
    sources: tuple[Source, ...]
    hosts: tuple[Host, ...]
    stacks: tuple[Stack, ...]
    conditions: tuple[Conditions, ...]
    axes: tuple[Name, ...]
    """Switches, and built-in axes, in which arms may differ."""
    arms: Annotated[tuple[Arm, ...], Field(min_length=1)]
    workloads: Annotated[tuple[Workload, ...], Field(min_length=1)]
    metrics: Annotated[tuple[Metric, ...], Field(min_length=1)]
    methods: tuple[Method, ...]
    gates: tuple[Gate, ...]
    cells: tuple[Cell, ...]
    profiles: tuple[Profile, ...]
    artifacts: tuple[Artifact, ...]
    unavailable: tuple[Unavailable, ...]
    limitations: tuple[Text, ...]
    supersedes: tuple[Superseded, ...]

    def arm(self, name: str) -> Arm:
        """Return the arm of that name.

        Raises:
            KeyError: there is none.
        """
        return next((arm for arm in self.arms if arm.name == name), None) or _absent("arm", name)

    def workload(self, name: str) -> Workload:
        """Return the workload of that name.

        Raises:
            KeyError: there is none.
        """
        return next((load for load in self.workloads if load.name == name), None) or _absent("workload", name)

    def metric(self, name: str) -> Metric | None:
        """Return the declared metric of that name, if there is one."""
        return next((metric for metric in self.metrics if metric.name == name), None)

    def cell(self, arm: str, workload: str) -> Cell:
        """Return the one cell of an arm on a workload.

        Raises:
            KeyError: there is none.
        """
        found = next((cell for cell in self.cells if cell.arm == arm and cell.workload == workload), None)
        return found or _absent("cell", f"{arm} on {workload}")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for problem in _problems(self):
            raise ValueError(problem)
        return self


def _absent(kind: str, name: str) -> Never:
    raise KeyError(f"no {kind} {name!r}")


def _problems(record: Record) -> Iterator[str]:
    """Yield what keeps the parts from making one record, causes first."""
    yield from _kind_problems(record)
    yield from _name_problems(record)
    yield from _arm_problems(record)
    yield from _sweep_problems(record)
    yield from _cell_problems(record)
    yield from _side_problems(record)


def _kind_problems(record: Record) -> Iterator[str]:
    if record.ended_at < record.started_at:
        yield "ended_at: the run ends before it starts"
    if (record.provenance is None) == (record.origin is None):
        yield "provenance: a measured record has provenance, an imported one has origin: exactly one of the two"
    imported = record.origin is not None
    for field in ("hosts", "stacks", "sources"):
        if not imported and not getattr(record, field):
            yield f"{field}: empty, but a measured record has at least one; only an import may lack them"
    for index, cell in enumerate(record.cells):
        if isinstance(cell, Imported) and not imported:
            yield f"cells/{index}: an imported cell in a measured record"
        if isinstance(cell, Timed) and imported:
            yield f"cells/{index}: a timed cell in an import; a record is measured or imported, never a mixture"


def _name_problems(record: Record) -> Iterator[str]:
    for field in ("sources", "hosts", "stacks", "arms", "workloads", "metrics", "methods", "gates"):
        try:
            require_unique(field, (item.name for item in getattr(record, field)))
        except ValueError as error:
            yield f"{field}: {error}"
    switches = {switch.name for arm in record.arms for switch in arm.switches}
    for index, axis in enumerate(record.axes):
        if axis not in BUILT_IN_AXES and axis not in switches:
            yield f"axes/{index}: {axis!r} is neither a switch of an arm nor one of {', '.join(BUILT_IN_AXES)}"


def _arm_problems(record: Record) -> Iterator[str]:
    hosts = {host.name: len(host.accelerators) for host in record.hosts}
    stacks = {stack.name for stack in record.stacks}
    sources = {source.name for source in record.sources}
    arms = {arm.name: arm for arm in record.arms}
    if record.provenance is not None and record.provenance.source not in sources:
        yield f"provenance/source: no source {record.provenance.source!r}"
    for index, arm in enumerate(record.arms):
        at = f"arms/{index}"
        if record.origin is None and not arm.ranks:
            yield f"{at}/ranks: arm {arm.name!r} says nowhere that it ran; only an import may leave that out"
        if (record.origin is None or sources) and arm.source not in sources:
            yield f"{at}/source: no source {arm.source!r}"
        for rank in arm.ranks:
            if rank.host not in hosts:
                yield f"{at}/ranks: no host {rank.host!r}"
            elif rank.device is not None and rank.device >= hosts[rank.host]:
                yield f"{at}/ranks: host {rank.host!r} has {hosts[rank.host]} accelerators, not a device {rank.device}"
            if rank.stack not in stacks:
                yield f"{at}/ranks: no stack {rank.stack!r}"
        if arm.control_of is None:
            continue
        twin = arms.get(arm.control_of)
        if twin is None or twin is arm:
            yield f"{at}/control_of: no other arm {arm.control_of!r}"
            continue
        for field in ("implementation", "source", "ranks", "command", "switches"):
            if getattr(arm, field) != getattr(twin, field):
                yield f"{at}/{field}: control {arm.name!r} differs from {twin.name!r} in {field}, so it is no control"


def _sweep_problems(record: Record) -> Iterator[str]:
    declared = {(arm.name, workload.name) for workload in record.workloads for arm in record.arms}
    seen: set[tuple[str, str]] = set()
    for index, cell in enumerate(record.cells):
        pair = (cell.arm, cell.workload)
        if pair not in declared:
            yield f"cells/{index}: no arm {cell.arm!r} or no workload {cell.workload!r}"
        if pair in seen:
            yield f"cells/{index}: a second cell of {cell.arm!r} on {cell.workload!r}"
        seen.add(pair)
    for arm, workload in sorted(declared - seen):
        yield f"cells: no cell of {arm!r} on {workload!r}; a lost row would look like a win"


def _outcomes(cell: Cell) -> tuple[Passed | Failed, ...]:
    if isinstance(cell, Timed | Rejected):
        return (cell.gate, *cell.further)
    if isinstance(cell, Imported) and cell.outcome is not None:
        return (cell.outcome,)
    return ()


def _cell_problems(record: Record) -> Iterator[str]:
    gates = {gate.name for gate in record.gates}
    sources = {source.name for source in record.sources}
    methods = {method.name for method in record.methods}
    stored = {metric.name: metric for metric in record.metrics if metric.of in ("iteration", "process")}
    ranks = {arm.name: max(1, len(arm.ranks)) for arm in record.arms}
    for index, cell in enumerate(record.cells):
        at = f"cells/{index}"
        for outcome in _outcomes(cell):
            if outcome.gate not in gates:
                yield f"{at}/gate: no gate {outcome.gate!r}"
            if outcome.source not in sources and (record.origin is None or sources):
                yield f"{at}/gate: no source {outcome.source!r}"
        if isinstance(cell, Timed):
            for method in (cell.method, *(check.method for check in cell.cross_checks)):
                if method not in methods:
                    yield f"{at}/method: no method {method!r}"
        for place, process in _processes(cell):
            yield from _process_problems(f"{at}/{place}", process, stored, ranks.get(cell.arm, 1))


def _processes(cell: Cell) -> Iterator[tuple[str, Process]]:
    if isinstance(cell, Timed | Imported):
        for row, process in enumerate(cell.processes):
            yield f"processes/{row}", process
    if isinstance(cell, Timed):
        for index, check in enumerate(cell.cross_checks):
            for row, process in enumerate(check.processes):
                yield f"cross_checks/{index}/processes/{row}", process


def _process_problems(at: str, process: Process, stored: dict[str, Metric], ranks: int) -> Iterator[str]:
    for column in process.samples:
        metric = stored.get(column.metric)
        if metric is None:
            yield f"{at}: no iteration or process metric {column.metric!r} is declared"
            continue
        if column.rank >= ranks:
            yield f"{at}: rank {column.rank} of an arm with {ranks}"
        if metric.of == "process" and len(column.values) != 1:
            yield f"{at}: {column.metric} belongs to the process and has {len(column.values)} values"
        if metric.unit == "s" and min(column.values) <= 0:
            yield f"{at}: {column.metric} holds a duration of zero, which was not measured"


def _side_problems(record: Record) -> Iterator[str]:
    artifacts = {artifact.path for artifact in record.artifacts}
    arms = {arm.name for arm in record.arms}
    workloads = {workload.name for workload in record.workloads}
    hosts = {host.name: len(host.accelerators) for host in record.hosts}
    try:
        require_unique("artifacts", (artifact.path for artifact in record.artifacts))
    except ValueError as error:
        yield f"artifacts: {error}"
    referred = [(f"gates/{index}/log", gate.log) for index, gate in enumerate(record.gates) if gate.log is not None]
    referred += [(f"profiles/{index}/artifact", profile.artifact) for index, profile in enumerate(record.profiles)]
    if record.origin is not None:
        referred.append(("origin/file", record.origin.file))
    for index, artifact in enumerate(record.artifacts):
        if _KEPT_NAME.search(artifact.path):
            yield f"artifacts/{index}: the name of {artifact.path!r} is kept by the store"
    for at, path in referred:
        if path not in artifacts:
            yield f"{at}: {path!r} is not among the artifacts"
    for at, arm, workload in [
        *((f"profiles/{i}", (p.arm,), (p.workload,)) for i, p in enumerate(record.profiles)),
        *((f"artifacts/{i}", a.arms, a.workloads) for i, a in enumerate(record.artifacts)),
    ]:
        if unknown := sorted({*arm} - arms) + sorted({*workload} - workloads):
            yield f"{at}: no arm or workload {unknown[0]!r}"
    for index, columns in enumerate(record.conditions):
        if columns.host not in hosts:
            yield f"conditions/{index}/host: no host {columns.host!r}"
        elif isinstance(columns, DeviceConditions) and columns.device >= hosts[columns.host]:
            yield f"conditions/{index}/device: host {columns.host!r} has no device {columns.device}"
