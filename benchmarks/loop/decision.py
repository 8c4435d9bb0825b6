"""Owns what a loop comes to: whether its best is promotable, and whether giving up is a conclusion; reasons for both.

Nobody is asked. What is missing is named, each thing with a code of its own; everything else is unfinished.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.loop import journal, reading
from benchmarks.loop.contract import Contract
from benchmarks.loop.journal import Row
from benchmarks.loop.options import Bound
from benchmarks.loop.reasons import LoopError, Objection, Reason
from evidence import roofline, units
from evidence.evaluation import value_of
from evidence.readings import Quantity, device_of
from evidence.schema import OpWorkload, Profile, Record
from evidence.statistics import Verdict
from evidence.store import Loaded, Store

_RATES = {"bandwidth": "bytes", "flop_rate": "flop"}
_METRICS: dict[Bound, tuple[str, ...]] = {
    "bandwidth": ("dram_share", "memory_share"),
    "compute": ("compute_share",),
    "launch": ("busy_share", "waves"),
    "register": ("registers", "occupancy"),
}
"""Counters that show a bound: of memory the larger share, of others the first that a profile has."""
_BOTTLENECKS: dict[Bound, tuple[str, ...]] = {
    "bandwidth": ("memory",),
    "compute": ("compute",),
    "launch": ("launch", "dispatch"),
    "register": ("register",),
}
"""What a profile says of work with such a bound."""
_LEAST_DIFFERENCE = 1e-9


@dataclass(frozen=True, slots=True)
class Limit:
    """What is in the way, with the number that shows it and the log it is read from."""

    bound: Bound
    text: str
    log: str
    metric: str


def promotion(contract: Contract, rows: Sequence[Row], store: Store) -> tuple[Objection, ...]:
    """Return everything that speaks against promoting the best so far; nothing means that it is promotable."""
    best = journal.best_of(rows)
    if best is None or best.status == "base":
        said = "no iteration was kept" if best is not None else "there is no base"
        return (*_last_red(contract, rows, store), Objection(Reason.NOT_DECIDED, said))
    base = _base(rows, store)
    sessions = sessions_of(rows, best, store)
    found: list[Objection] = []
    faster = 0
    for loaded in sessions:
        own = list(reading.objections(contract, loaded.record, base.record))
        own += _of_times(contract, loaded.record)
        faster += not own
        found += own
    if faster < contract.criteria.sessions:
        text = f"faster in {faster} of the {contract.criteria.sessions} sessions of one source that are asked for"
        found.append(Objection(Reason.ONE_SESSION, text))
    found += _of_target(contract, sessions)
    found += _of_guards(contract, sessions)
    found += _of_mechanism(contract, sessions, base)
    return tuple(dict.fromkeys(found))


def _last_red(contract: Contract, rows: Sequence[Row], store: Store) -> Iterator[Objection]:
    """Why the newest attempt is no base or was not kept, in its own words."""
    newest = next((row for row in reversed(rows) if row.record is not None), None)
    loaded = journal.load(store, newest) if newest is not None and newest.status in ("drop", "revert") else None
    if loaded is not None:
        yield from reading.objections(contract, loaded.record, None)


def sessions_of(rows: Sequence[Row], best: Row, store: Store) -> tuple[Loaded, ...]:
    """Return the best's record and those of further sessions of the same source, in order."""
    start = rows.index(best)
    found = [journal.load(store, best)]
    for row in rows[start + 1 :]:
        if row.status in journal.KEPT:
            break
        if row.status == "note":
            found.append(journal.load(store, row))
    return tuple(loaded for loaded in found if loaded is not None)


def _base(rows: Sequence[Row], store: Store) -> Loaded:
    row = next((row for row in rows if row.status == "base"), None)
    loaded = journal.load(store, row) if row is not None else None
    if loaded is None:
        raise LoopError(Reason.UNFINISHED, "there is no base", fix="python -m benchmarks.loop iterate")
    return loaded


def _of_times(contract: Contract, record: Record) -> Iterator[Objection]:
    for one in reading.comparisons(contract, record, contract.workloads):
        where = f"{record.log}: {one.workload}"
        if one.verdict is Verdict.WORSE:
            yield Objection(Reason.SLOWER, f"{where} is {one.word}")
        elif one.verdict is not Verdict.BETTER:
            yield Objection(Reason.NOT_DECIDED, f"{where} is {one.word}{f': {one.reason}' if one.reason else ''}")


def _of_target(contract: Contract, sessions: Sequence[Loaded]) -> Iterator[Objection]:
    wanted = contract.criteria.target_speedup
    for loaded in sessions:
        found = reading.speedup(contract, loaded.record)
        if found is not None and found.value < wanted:
            decimals = units.sentence_ratio_decimals(found)
            text = f"{units.format_ratio(found.value, decimals)} of the {wanted:g}× that the contract asks for"
            yield Objection(Reason.BELOW_TARGET, f"{loaded.entry.log}: {text}")


def _of_guards(contract: Contract, sessions: Sequence[Loaded]) -> Iterator[Objection]:
    accepted = {one.guard for one in contract.criteria.accepted}
    for loaded in sessions:
        record = loaded.record
        for one in reading.comparisons(contract, record, contract.guards):
            if reading.is_slower(one) and one.workload not in accepted:
                yield Objection(Reason.GUARD_SLOWER, f"{record.log}: the guard {one.workload} is {one.word}")
        for metric in record.metrics:
            if metric.role == "guard" and metric.name not in accepted and metric.better != "neither":
                for one in reading.by(contract, record, Quantity(metric.name)):
                    if reading.is_slower(one):
                        yield Objection(
                            Reason.GUARD_SLOWER, f"{record.log}: {metric.name} of {one.workload} is {one.word}"
                        )


def _of_mechanism(contract: Contract, sessions: Sequence[Loaded], base: Loaded) -> Iterator[Objection]:
    """Ask for one artifact that shows the change at work: its kernel on top, its metric moved as it was said to."""
    claim = contract.criteria.mechanism
    if claim.metric in _RATES:
        before, after = _share_of_peak(contract, base, claim.metric), None
        for loaded in sessions:
            after = _share_of_peak(contract, loaded, claim.metric)
            if before is not None and after is not None and _moved(before, after, claim.moves):
                return
        said = "no share of a peak is known" if None in (before, after) else f"{claim.metric} did not go {claim.moves}"
        yield Objection(Reason.NO_MECHANISM, said)
        return
    profiles = [one for loaded in sessions for one in _profiles(contract, loaded.record, contract.candidate)]
    if not profiles:
        yield Objection(Reason.NO_MECHANISM, f"no session holds a profile of {contract.candidate}")
        return
    named = [one for one in profiles if one.top_kernels and claim.kernel in one.top_kernels[0]]
    if not named:
        top = profiles[0].top_kernels[0] if profiles[0].top_kernels else "no kernel"
        yield Objection(Reason.NO_MECHANISM, f"the kernel with the most time is {top}, not {claim.kernel}")
        return
    earlier = [
        *_profiles(contract, base.record, contract.candidate),
        *(one for loaded in sessions for one in _profiles(contract, loaded.record, contract.baseline)),
    ]
    for one in named:
        for other in (other for other in earlier if other.workload == one.workload and other.tool == one.tool):
            before, after = _metric(other, claim.metric), _metric(one, claim.metric)
            if before is not None and after is not None and _moved(before, after, claim.moves):
                return
    yield Objection(Reason.NO_MECHANISM, f"no pair of profiles shows {claim.metric} going {claim.moves}")


def _profiles(contract: Contract, record: Record, arm: str) -> list[Profile]:
    return [one for one in record.profiles if one.arm == arm and one.workload in contract.workloads]


def _metric(profile: Profile, name: str) -> float | None:
    return next((one.value for one in profile.metrics if one.name == name), None)


def _moved(before: float, after: float, moves: str) -> bool:
    apart = after - before if moves == "up" else before - after
    return apart > _LEAST_DIFFERENCE * max(abs(before), abs(after))


def _share_of_peak(contract: Contract, loaded: Loaded, metric: str) -> float | None:
    """The least share of the device's peak over the targets, by the candidate's time and the work that is declared."""
    shares = []
    for name in contract.workloads:
        workload = loaded.record.workload(name)
        peak = roofline.peak(device_of(loaded.record), workload.dtype) if isinstance(workload, OpWorkload) else None
        has_work = any(amount.of == _RATES[metric] for amount in workload.work)
        value = value_of(loaded, loaded.cell(contract.candidate, name), Quantity(metric)) if has_work else None
        if peak is None or value is None:
            return None
        shares.append(value.interval.value / (peak.bytes_per_s if metric == "bandwidth" else peak.flop_per_s))
    return min(shares)


def no_go(contract: Contract, rows: Sequence[Row], store: Store) -> tuple[Objection, ...]:
    """Return what a no-go lacks to be a conclusion: a base, a reasoned candidate, an outcome of every attempt."""
    found = []
    if all(row.status != "base" for row in rows):
        found.append(Objection(Reason.UNFINISHED, "there is no baseline number"))
    if not journal.directions(rows):
        found.append(Objection(Reason.UNFINISHED, "no candidate was tried"))
    for row in rows:
        if row.record is not None and row.gate == "green" and row.change is None and row.status != "base":
            found.append(Objection(Reason.UNFINISHED, f"row {row.iteration} passed its gate and has no timing"))
    if not found and not promotion(contract, rows, store):
        found.append(Objection(Reason.USAGE, "the best is promotable: python -m benchmarks.loop promote"))
    return tuple(found)


def limit(
    contract: Contract,
    rows: Sequence[Row],
    store: Store,
    bound: Bound,
    log: str | None = None,
    metric: str | None = None,
) -> Limit:
    """Return what bounds the work, with its number: of a profile, the noise of the timer, or the shapes themselves.

    Raises:
        LoopError: the record named has no such number.
    """
    best = journal.best_of(rows)
    name = log or (best.record if best is not None else None)
    if name is None:
        raise LoopError(Reason.UNFINISHED, "there is no record to read a bound from")
    loaded = store.load(name)
    if bound == "timer":
        return _of_timer(contract, loaded)
    if bound == "shape":
        return _of_shapes(contract, loaded)
    if (
        bound in ("bandwidth", "compute")
        and metric is None
        and not _profiles(contract, loaded.record, contract.candidate)
    ):
        return _of_roofline(contract, loaded, bound)
    return _of_profiles(contract, loaded, bound, metric)


def _of_profiles(contract: Contract, loaded: Loaded, bound: Bound, metric: str | None) -> Limit:
    """Return the number of a profile that shows a bound; the profile must name that bound unless a counter is given."""
    name, told = loaded.entry.log, []
    wanted = (metric,) if metric is not None else _METRICS.get(bound, ())
    for profile in _profiles(contract, loaded.record, contract.candidate):
        held = [one for counter in wanted for one in profile.metrics if one.name == counter]
        if not held:
            continue
        if metric is None and profile.bottleneck not in _BOTTLENECKS[bound]:
            told.append(f"{profile.tool} says that {profile.workload} is bound by {profile.bottleneck}")
            continue
        one = max(held, key=lambda counter: counter.value) if bound == "bandwidth" else held[0]
        unit = "" if one.unit == "1" else f" {one.unit}"
        text = f"{one.name} of {profile.arm} on {profile.workload} is {one.value:.4g}{unit} by {profile.tool}"
        return Limit(bound, text, name, one.name)
    asked = ", ".join(wanted) or "a counter: give --metric"
    said = "; ".join(told) or f"it holds no profile of {contract.candidate} with {asked}"
    raise LoopError(Reason.UNFINISHED, f"{name} does not show that {bound} is in the way: {said}")


def _of_timer(contract: Contract, loaded: Loaded) -> Limit:
    found = reading.comparisons(contract, loaded.record, contract.workloads)
    noise = [one for one in found if one.noise is not None]
    if not noise:
        raise LoopError(Reason.UNFINISHED, f"{loaded.entry.log} has no A/A arm that would show its noise")
    widest = max(noise, key=lambda one: one.effect)
    text = f"the baseline against itself on {widest.workload} allows no effect below {100 * widest.effect:.1f} %"
    return Limit("timer", text, loaded.entry.log, "")


def _of_shapes(contract: Contract, loaded: Loaded) -> Limit:
    found = [one for one in reading.comparisons(contract, loaded.record, contract.workloads) if one.ratio is not None]
    if not found:
        raise LoopError(Reason.UNFINISHED, f"{loaded.entry.log} has no ratio on any target")
    worst = min(found, key=lambda one: one.ratio.value if one.ratio is not None else 0.0)
    assert worst.ratio is not None
    decimals = units.sentence_ratio_decimals(worst.ratio)
    ends = units.format_interval(worst.ratio, decimals)
    text = (
        f"{worst.workload} gains least: {units.format_ratio(worst.ratio.value, decimals)} (95 % {ends}), {worst.word}"
    )
    return Limit("shape", text, loaded.entry.log, "")


def _of_roofline(contract: Contract, loaded: Loaded, bound: Bound) -> Limit:
    share = reading.attained(contract, loaded)
    limits = {one.limit for one in reading.bounds(contract, loaded.record)}
    wanted = roofline.Limit.MEMORY if bound == "bandwidth" else roofline.Limit.COMPUTE
    if share is None or limits != {wanted}:
        raise LoopError(Reason.UNFINISHED, f"the roofline does not say that {bound} bounds {loaded.entry.log}")
    return Limit(bound, f"{100 * share:.0f} % of the roofline is reached, which {bound} sets", loaded.entry.log, "")
