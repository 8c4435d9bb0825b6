"""Owns the dispatch table: which entry point serves which shapes, each row backed by records of those shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.loop import journal, reading
from benchmarks.loop.contract import Bucket, Contract
from benchmarks.loop.journal import Row
from evidence import statistics, units
from evidence.compare import Comparison
from evidence.statistics import Interval, Verdict
from evidence.store import Loaded, Store


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: when `condition` holds, call `entry_point`."""

    condition: str
    entry_point: str
    baseline: str
    candidate: str
    ratio: Interval | None
    """How many times faster the candidate is over the bucket; None: a shape of it has no ratio."""
    reason: str
    logs: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The ratio as it is printed."""
        if self.ratio is None:
            return "no ratio"
        decimals = units.table_ratio_decimals(self.ratio)
        ends = units.format_interval(self.ratio, decimals)
        return f"{units.format_ratio(self.ratio.value, decimals)} (95 % {ends})"


def table(contract: Contract, rows: Sequence[Row], store: Store) -> tuple[Entry, ...]:
    """Return a row a bucket, from the best's record; without a best, everything stays with the baseline.

    The candidate serves a bucket only if it is faster on every shape of it: a mean would hide one that is slower.
    """
    best = journal.best_of(rows)
    loaded = journal.load(store, best) if best is not None else None
    return tuple(_entry(contract, bucket, loaded) for bucket in contract.buckets)


def _entry(contract: Contract, bucket: Bucket, loaded: Loaded | None) -> Entry:
    found = reading.comparisons(contract, loaded.record, bucket.workloads) if loaded is not None else ()
    is_faster = len(found) == len(bucket.workloads) and all(one.verdict is Verdict.BETTER for one in found)
    ratios = [one.ratio for one in found if one.ratio is not None]
    is_whole = len(ratios) == len(bucket.workloads) and all(ratio.low > 0 for ratio in ratios)
    return Entry(
        condition=bucket.condition,
        entry_point=contract.entry_point if is_faster else contract.baseline_entry_point,
        baseline=contract.baseline,
        candidate=contract.candidate,
        ratio=statistics.geometric_mean(ratios).interval if is_whole else None,
        reason=_reason(bucket, found, is_faster=is_faster),
        logs=(loaded.entry.log,) if loaded is not None else (),
    )


def _reason(bucket: Bucket, found: Sequence[Comparison], *, is_faster: bool) -> str:
    if is_faster:
        return f"faster on all of {len(found)}"
    measured = {one.workload for one in found}
    if lacking := [name for name in bucket.workloads if name not in measured]:
        return f"{lacking[0]} was not measured"
    worst = next(one for one in found if one.verdict is not Verdict.BETTER)
    return f"{worst.workload} is {worst.word}{f': {worst.reason}' if worst.reason else ''}"
