"""Owns what every table and statement carries, read from the record: the stance above, the evidence folded below."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Iterable, Sequence

from evidence.readings import Condition, conditions_of_cells, device_of
from evidence.schema import (
    Accelerator,
    AccuracyDetail,
    Captured,
    Cell,
    EngineWorkload,
    Failed,
    ForeignWorkload,
    Gate,
    GitSource,
    Host,
    Imported,
    Model,
    NumericDetail,
    OpWorkload,
    Outcome,
    PackageSource,
    Record,
    Rejected,
    Stack,
    TestsDetail,
    Timed,
    TokensDetail,
    Workload,
)
from evidence.store import Loaded
from evidence.views import Evidence, GateLine

FACTS = ("date", "device", "model", "precision", "lengths", "concurrency", "switches", "software", "instrument")
_FRAMEWORKS = ("torch", "triton")
"""Named wherever they are installed; other packages are named where an arm's code comes from them."""
_PER_LINE = "per line"
_UNIT = re.compile(r"_(w|hz|bytes)$")


def stance_of(
    loaded: Sequence[Loaded], cells: Sequence[tuple[Loaded, Cell]], varying: Iterable[str] = ()
) -> tuple[tuple[str, str], ...]:
    """Return the nine facts of what is shown. A fact that differs between lines reads "per line".

    Args:
        loaded: The records shown.
        cells: The cells shown, each with its record.
        varying: Axes that stand in rows or columns.
    """
    records = [one.record for one in loaded]
    axes = set(varying)
    shown = {(one.entry.log, cell.workload): one.record for one, cell in cells}
    workloads = [record.workload(name) for (_, name), record in shown.items()]
    facts = {
        "date": _joined(record.started_at.date().isoformat() for record in records),
        "device": _PER_LINE if "device" in axes else _joined(device_of(record) for record in records),
        "model": _joined(map(_model, workloads)),
        "precision": _PER_LINE if "dtype" in axes else _joined(map(_precision, workloads)),
        "lengths": _joined(map(_lengths, workloads), several=_PER_LINE),
        "concurrency": _joined((_concurrency(one.record, cell) for one, cell in cells), several=_PER_LINE),
        "switches": _joined(one.once("switches", functools.partial(_switches, one.record)) for one in loaded),
        "software": _joined(one.once("software", functools.partial(software_of, one.record)) for one in loaded),
        "instrument": _joined(_instrument(one.record, cell) for one, cell in cells if isinstance(cell, Timed)),
    }
    found = [(fact, facts[fact] or "not recorded") for fact in FACTS]
    if capped := _conditions(cells):
        found.append(("conditions", capped))
    return tuple(found)


def short_stance(loaded: Loaded, cells: Sequence[tuple[Loaded, Cell]]) -> tuple[tuple[str, str], ...]:
    """Return date, device and precision: what a claim shows before its fold is opened."""
    return stance_of((loaded,), cells)[:2] + stance_of((loaded,), cells)[3:4]


def _joined(texts: Iterable[str], several: str = "") -> str:
    found = list(dict.fromkeys(text for text in texts if text))
    return several if several and len(found) > 1 else ", ".join(found)


def _model(workload: Workload) -> str:
    if isinstance(workload, EngineWorkload):
        weights = workload.weights
        origin = (
            f"random weights, seed {weights.seed}" if weights.origin == "random" else f"revision {weights.revision}"
        )
        return f"{weights.model} ({origin})"
    return f"none (op: {workload.op})" if isinstance(workload, OpWorkload) else "none"


def _precision(workload: Workload) -> str:
    return "" if isinstance(workload, ForeignWorkload) else workload.dtype


def _lengths(workload: Workload) -> str:
    if isinstance(workload, OpWorkload):
        return " ".join(f"{dimension.name}{dimension.size}" for dimension in workload.shape)
    if isinstance(workload, EngineWorkload):
        prompt, output = workload.prompt_tokens, workload.output_tokens
        return f"{prompt.minimum}–{prompt.maximum} tokens in, {output.minimum}–{output.maximum} out"
    return ", ".join(f"{setting.name} {setting.value}" for setting in workload.settings)


def _concurrency(record: Record, cell: Cell) -> str:
    workload = record.workload(cell.workload)
    if isinstance(workload, EngineWorkload):
        arrival = workload.arrival
        if arrival.kind == "at-once":
            return f"{workload.requests} requests at once"
        if arrival.kind == "paced":
            return f"{workload.requests} requests, one every {arrival.interval_s:g} s"
        return f"{workload.requests} requests, {arrival.kind}, {arrival.concurrency or 'unbounded'} in flight"
    ranks = max(1, len(record.arm(cell.arm).ranks))
    return "1 stream" if ranks == 1 else f"{ranks} ranks"


def _switches(record: Record) -> str:
    switches: dict[str, dict[str, None]] = {}
    for arm in record.arms:
        for switch in arm.switches:
            switches.setdefault(switch.name, {})[switch.value] = None
    words = [f"{name} {'/'.join(values)}" for name, values in switches.items()]
    if "implementation" in record.axes:
        words.insert(0, f"implementation {'/'.join(arm.name for arm in record.arms if arm.role != 'control')}")
    caches = {w.cache for w in record.workloads if isinstance(w, OpWorkload)}
    words += [f"{cache} cache" for cache in sorted(caches)]
    return ", ".join(words)


def software_of(record: Record) -> str:
    """Return the versions that matter most: frameworks, measured packages, driver, Python; of an import its tool."""
    if not record.stacks:
        return f"{record.origin.tool} {record.origin.tool_version or ''}".strip() if record.origin else ""
    versions: dict[str, dict[str, None]] = {}
    for stack in record.stacks:
        for package in stack.packages:
            name, version = package.split("==", 1)
            versions.setdefault(name, {})[version] = None
    measured = {source.package.split("==", 1)[0] for source in record.sources if isinstance(source, PackageSource)}
    named = dict.fromkeys((*_FRAMEWORKS, *sorted(measured)))
    words = [f"{name} {'/'.join(versions[name])}" for name in named if name in versions]
    words += [f"driver {host.driver}" for host in record.hosts if host.driver]
    words += [f"Python {'/'.join(dict.fromkeys(stack.python for stack in record.stacks))}"]
    return ", ".join(dict.fromkeys(words))


def _instrument(record: Record, cell: Timed) -> str:
    method = next(method for method in record.methods if method.name == cell.method)
    return f"{method.timer_used}, {method.processes} processes an arm, {method.order}"


def _conditions(cells: Sequence[tuple[Loaded, Cell]]) -> str:
    """Return what the devices suffered; power-capping is no fault, but a reader must see it."""
    return ", ".join(sorted(set().union(*(_conditions_of(loaded, cell) for loaded, cell in cells))))


def _conditions_of(loaded: Loaded, cell: Cell) -> frozenset[Condition]:
    key = ("conditions", cell.arm, cell.workload)
    return loaded.once(key, lambda: conditions_of_cells(loaded.record, [cell]))


def evidence_of(loaded: Loaded, limitations: Sequence[str] = ()) -> Evidence:
    """Return the fold of one log: command, environment, gates, raw file and limitations."""
    return loaded.once(("evidence", *limitations), lambda: _evidence_of(loaded, limitations))


def _evidence_of(loaded: Loaded, limitations: Sequence[str]) -> Evidence:
    record = loaded.record
    told = dict.fromkeys([*record.limitations, *limitations, *computed_limitations(record)])
    return Evidence(
        log=record.log,
        sha256=loaded.sha256,
        bytes=loaded.size,
        raw=f"benchmark_logs/{loaded.entry.log}/record.json",
        command=command_of(record),
        environment=environment_of(record),
        gates=tuple(_gate_line(record, gate, loaded.entry.log) for gate in record.gates),
        limitations=tuple(told),
    )


def computed_limitations(record: Record) -> tuple[str, ...]:
    """Return what the record itself limits: how many devices, sessions and which inputs its numbers stand on."""
    found = []
    devices = {(rank.host, rank.device) for arm in record.arms for rank in arm.ranks}
    if len(devices) == 1:
        found.append("one device, one session: another device or day may differ by more than the interval")
    distributions = dict.fromkeys(w.inputs.distribution for w in record.workloads if not isinstance(w, ForeignWorkload))
    if distributions:
        found.append(f"synthetic inputs: {'; '.join(distributions)}")
    found += [f"no {one.what}: {one.reason}" for one in record.unavailable]
    return tuple(found)


def command_of(record: Record) -> str:
    """Return the command as run, quoted for a shell at the repository's root; for an import, what it was read from."""
    if record.provenance is None:
        return f"# imported from {record.origin.file} ({record.origin.format})" if record.origin else ""
    provenance = record.provenance
    words = [*(f"{variable.name}={shlex.quote(variable.value)}" for variable in provenance.variables)]
    prefix = f"cd {shlex.quote(provenance.directory)} && " if provenance.directory != "." else ""
    return prefix + " ".join([*words, shlex.join(provenance.argv)])


def environment_of(record: Record) -> tuple[tuple[str, str], ...]:
    """Return hosts, stacks and sources as labelled lines; what is unknown is printed with its reason."""
    lines: list[tuple[str, str]] = []
    for host in record.hosts:
        for accelerator in host.accelerators:
            lines.append(("Accelerator", _accelerator(accelerator)))
            lines.append(("Power and clocks", _clocks(accelerator)))
        lines.append(("Driver", _known(host, "driver")))
        lines.append(("Host", _host(host)))
        lines.append(("System", f"{_known(host, 'os')}, {_known(host, 'kernel', 'kernel {}')}"))
    for stack in record.stacks:
        lines.append(("Stack", _stack(stack)))
    for source in record.sources:
        lines.append(("Source", _source(source)))
    return tuple(dict.fromkeys(lines))


def _known(model: Captured, field: str, text: str = "{}") -> str:
    value = getattr(model, field)
    if value is not None:
        return text.format(value)
    reason = next((missing.reason for missing in model.missing if missing.field == field), "unknown")
    return f"{_UNIT.sub('', field).replace('_', ' ')} not recorded ({reason})"


def _accelerator(device: Accelerator) -> str:
    words = [device.model]
    if device.memory_bytes is not None:
        words.append(f"{device.memory_bytes / 2**30:.0f} GiB")
    for field, label in (("ecc_enabled", "ECC"), ("mig_enabled", "MIG"), ("persistence_enabled", "persistence")):
        value = getattr(device, field)
        words.append(f"{label} {'on' if value else 'off'}" if value is not None else _known(device, field))
    words.append(_known(device, "uuid_sha256", "uuid sha256 {:.12}…"))
    return ", ".join(words)


def _clocks(device: Accelerator) -> str:
    words = [_known(device, "power_limit_w", "limit {:.0f} W")]
    for field, label in (("max_sm_clock_hz", "max SM"), ("max_memory_clock_hz", "max memory")):
        value = getattr(device, field)
        words.append(f"{label} {value / 1e6:,.0f} MHz" if value is not None else _known(device, field))
    return ", ".join(words)


def _host(host: Host) -> str:
    words = [
        _known(host, "cpu_model"),
        _known(host, "cpu_cores", "{} cores"),
        _known(host, "cpu_governor", "governor {}"),
    ]
    if host.cpu_affinity is not None:
        words.append(f"{len(host.cpu_affinity)} allowed")
    if host.memory_bytes is not None:
        words.append(f"{host.memory_bytes / 2**30:.0f} GiB")
    return ", ".join(words)


def _stack(stack: Stack) -> str:
    pins = dict(package.split("==", 1) for package in stack.packages)
    named = [f"{name} {pins[name]}" for name in _FRAMEWORKS if name in pins]
    rest = len(pins) - len(named)
    more = [f"{rest} more in the record"] if rest else []
    return ", ".join([f"Python {stack.python}", _known(stack, "runtime"), *named, *more])


def _source(source: Model) -> str:
    if isinstance(source, GitSource):
        state = {True: "with uncommitted changes", False: "clean", None: "state unknown"}[source.is_dirty]
        return f"{source.name}: commit {source.commit or 'unknown'}, {state}"
    return f"{getattr(source, 'name', '')}: {getattr(source, 'package', '')}"


def _gate_line(record: Record, gate: Gate, log: str) -> GateLine:
    """Count a gate's outcomes over the log's cells."""
    outcomes = [outcome for cell in record.cells for outcome in outcomes_of(cell) if outcome.gate == gate.name]
    failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    state: str = (
        "none" if not outcomes else "passed" if not failed else "partly" if len(failed) < len(outcomes) else "failed"
    )
    done, asked, noun = _counts(outcomes)
    counts = f"{done:,} of {asked:,} {noun}" if outcomes else "no cell went through it"
    words = [f"{gate.kind}, {gate.scope} scope" + (f" ({gate.selection})" if gate.selection else "")]
    if gate.reference is not None:
        words.append(f"reference {gate.reference.implementation} in {gate.reference.dtype}")
    words += [f"{tolerance.of} {tolerance.limit:g}" for tolerance in gate.tolerances]
    words.append(f"{len(outcomes) - len(failed)} of {len(outcomes)} outcomes passed")
    link = f"benchmark_logs/{log}/{gate.log}" if gate.log else ""
    return GateLine(gate.name, state, counts, ", ".join(words), link)  # type: ignore[arg-type]


def outcomes_of(cell: Cell) -> tuple[Outcome, ...]:
    """Return every gate outcome of a cell."""
    if isinstance(cell, Timed | Rejected):
        return (cell.gate, *cell.further)
    return (cell.outcome,) if isinstance(cell, Imported) and cell.outcome is not None else ()


def _counts(outcomes: Sequence[Outcome]) -> tuple[int, int, str]:
    done = asked = 0
    noun = "items"
    for outcome in outcomes:
        match outcome.detail:
            case NumericDetail(tensors=tensors):
                noun = "elements"
                asked += sum(tensor.elements for tensor in tensors)
                done += sum(tensor.elements - max(tensor.mismatched, tensor.non_finite) for tensor in tensors)
            case TestsDetail() as tests:
                noun = "tests"
                asked += tests.collected
                done += tests.passed
            case TokensDetail() as tokens:
                noun = "tokens"
                asked += tokens.compared
                done += tokens.agreed
            case AccuracyDetail() as accuracy:
                asked += accuracy.denominator
                done += accuracy.denominator
            case None:
                pass
    return done, asked, noun
