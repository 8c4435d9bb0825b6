"""Owns why a claim holds: whether what it names as evidence is there, and what that evidence says."""

from __future__ import annotations

from collections.abc import Mapping

from evidence import roofline, sentences, units
from evidence.compare import word_of
from evidence.errors import ItemError, nearest
from evidence.evaluation import Reading, value_of
from evidence.readings import Quantity, device_of
from evidence.roofline import Bound
from evidence.schema import OpWorkload
from evidence.schema.claims import Mechanism
from evidence.statistics import Verdict

MISSING_MECHANISM, MECHANISM_NOT_FIRED = "EV613", "EV310"
ROOFLINE = "roofline"

_TIME = Quantity("time")
_OTHER = "name other evidence"


def require_mechanism(mechanism: Mechanism | None, main: Reading, readings: Mapping[str, Reading]) -> None:
    """Hold a claim's cause to its evidence: a roofline that can be computed, a file of the log, a reading above zero.

    Raises:
        ItemError: a decided claim without a cause, or a cause without its evidence.
    """
    if mechanism is None:
        counts = main.counts if main.is_comparison else {}
        if decided := [verdict for verdict in (Verdict.BETTER, Verdict.WORSE) if verdict in counts]:
            words = " and ".join(word_of(verdict, main.unit) for verdict in decided)
            fix = "write mechanism: {text: why, evidence: what shows it}, or mechanism: {unknown: what was tried}"
            raise ItemError(MISSING_MECHANISM, f"{words} without a mechanism", "mechanism", fix=fix)
        return
    if mechanism.evidence is None:
        return
    if mechanism.evidence == ROOFLINE:
        _bounds(main)
        return
    if mechanism.evidence in readings:
        reading = readings[mechanism.evidence]
        if not reading.is_comparison and not any(v.interval.value for v in reading.values(reading.candidate)):
            message = f"{mechanism.evidence} is zero"
            raise ItemError(MECHANISM_NOT_FIRED, message, "mechanism", "evidence", fix="the mechanism did not fire")
        return
    record = main.loaded.record
    roles = {artifact.role for artifact in record.artifacts} | ({"profile"} if record.profiles else set())
    if mechanism.evidence not in roles:
        known = [ROOFLINE, *sorted(roles), *(name for name in readings if name)]
        hint = nearest(mechanism.evidence, known)
        message = f"no evidence {mechanism.evidence!r} in {main.loaded.entry.log}"
        fix = f"{f'did you mean {hint!r}? ' if hint else ''}name one of: {', '.join(known)}"
        raise ItemError(MISSING_MECHANISM, message, "mechanism", "evidence", fix=fix)


def mechanism_text(mechanism: Mechanism | None, readings: Mapping[str, Reading]) -> str:
    """Return why, with what shows it; empty where nothing has to be explained."""
    if mechanism is None:
        return ""
    if mechanism.unknown is not None:
        return f"Mechanism not established: {sentences.plain(mechanism.unknown, readings, 'mechanism', 'unknown')}"
    shown = roofline_text(readings[""]) if mechanism.evidence == ROOFLINE else mechanism.evidence
    return f"{sentences.plain(mechanism.text or '', readings, 'mechanism', 'text')} ({shown})"


def roofline_text(main: Reading) -> str:
    """Return what bounds the work of a reading, and how much of what is attainable each arm reaches."""
    bounds = _bounds(main)
    limits = [bound.limit for bound in bounds.values()]
    counted = {limit: limits.count(limit) for limit in dict.fromkeys(limits)}
    several = len(counted) > 1
    what = " and ".join(f"{limit}-bound{f' in {count} cells' if several else ''}" for limit, count in counted.items())
    arms = filter(None, (main.candidate, main.baseline))
    reached = [f"{arm} reaches {share} of it" for arm in arms if (share := _share(main, arm, bounds))]
    source = next(iter(bounds.values())).peak.source
    return f"roofline: {', '.join([what, *reached])}; {source}"


def _bounds(main: Reading) -> dict[str, Bound]:
    """Return the least time of each selected workload on the reading's device."""
    record = main.loaded.record
    device = device_of(record)
    bounds: dict[str, Bound] = {}
    for workload in main.workloads:
        amounts = {amount.of: amount.count for amount in workload.work}
        if not isinstance(workload, OpWorkload) or not {"flop", "bytes"} & amounts.keys():
            raise _refused("the log states no work for a roofline reading")
        peak = roofline.peak(device, workload.dtype)
        if peak is None:
            raise _refused(f"no peak of {device} in {workload.dtype} is known for a roofline reading")
        bounds[workload.name] = roofline.bound(amounts.get("flop", 0), amounts.get("bytes", 0), peak)
    if record.metric("time") is None:
        raise _refused("the log holds no time for a roofline reading")
    return bounds


def _refused(message: str) -> ItemError:
    return ItemError(MISSING_MECHANISM, message, "mechanism", "evidence", fix=_OTHER)


def _share(main: Reading, arm: str, bounds: Mapping[str, Bound]) -> str:
    """The least and most of what is attainable that an arm reaches, in whole per cent; empty if it was not timed."""
    shares = []
    for name, bound in bounds.items():
        value = value_of(main.loaded, main.loaded.cell(arm, name), _TIME)
        if value is not None and value.interval.value > 0:
            shares.append(100 * bound.share(value.interval.value))
    if not shares:
        return ""
    low, high = (units.format_number(end, 0) for end in (min(shares), max(shares)))
    return f"{low} %" if low == high else f"{low} to {high} %"
