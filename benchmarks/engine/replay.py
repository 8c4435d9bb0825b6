"""Owns one process of a record as it ran: when each request came, and when each of its tokens was there.

It is read from a record and the timeline beside it, and nothing in it is drawn, smoothed or made up.
"""

from __future__ import annotations

import gzip
import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from benchmarks.engine.features import BATCHING
from evidence.errors import EvidenceError
from evidence.schema import Process, Record, Timed

_SAME_STEP_S = 5e-6
"""Tokens of one step have one time; it is written in microseconds, from two starts."""


class ReplayError(EvidenceError):
    """A record that cannot be shown as it ran."""


@dataclass(frozen=True, slots=True)
class Course:
    """One request. Seconds are from the first request of its process."""

    enqueued_s: float
    tokens_s: tuple[float, ...]
    """When each token was there; empty: the request failed."""
    cached_tokens: int | None
    """Prompt tokens found in the cache."""
    held_until_s: float
    """When its place was free for another: later than its last token where a batch is served to its end."""

    @property
    def ended_s(self) -> float:
        """When its last token was there."""
        return self.tokens_s[-1] if self.tokens_s else self.enqueued_s

    def made(self, moment_s: float) -> int:
        """Count the tokens that were there by a moment."""
        return sum(at <= moment_s for at in self.tokens_s)


@dataclass(frozen=True, slots=True)
class Run:
    """One process of one arm: of all its processes the one whose time is in the middle."""

    arm: str
    process: int
    processes: int
    courses: tuple[Course, ...]

    @property
    def ended_s(self) -> float:
        """When the last token of all was there."""
        return max(course.ended_s for course in self.courses)


def replayed(record: Record, timeline: bytes, arm: str, workload: str) -> Run:
    """Return the process in the middle of an arm's processes on a workload.

    Raises:
        ReplayError: the arm has no times there, or the timeline does not hold them.
    """
    cell = next((one for one in record.cells if (one.arm, one.workload) == (arm, workload)), None)
    if not isinstance(cell, Timed):
        raise ReplayError(f"{record.log} has no times of {arm} on {workload}")
    middle = _middle(cell.processes, record.log)
    gaps = _gaps(timeline, arm, workload, middle.index)
    if len(gaps) != len(middle.enqueued_s):
        message = f"holds {len(gaps)} of {len(middle.enqueued_s)} requests of {arm} on {workload}"
        fix = "measure again: a timeline that grows too large is kept in part"
        raise ReplayError(f"the timeline of {record.log} {message}", fix=fix)
    cached = middle.cached_tokens or (None,) * len(gaps)
    courses = tuple(map(_course, middle.enqueued_s, gaps, cached))
    is_padded = any(
        setting.name == BATCHING.switch and setting.value == BATCHING.off
        for one in record.arms
        if one.name == arm
        for setting in one.switches
    )
    return Run(arm, middle.index, len(cell.processes), held_to_batches(courses) if is_padded else courses)


def held_to_batches(courses: Sequence[Course]) -> tuple[Course, ...]:
    """Return requests whose places stay taken until the longest of their batch ends: those that began in one step."""
    return tuple(
        replace(
            course,
            held_until_s=max(
                other.ended_s
                for other in courses
                if other.tokens_s and abs(other.tokens_s[0] - course.tokens_s[0]) < _SAME_STEP_S
            ),
        )
        if course.tokens_s
        else course
        for course in courses
    )


def _course(enqueued_s: float, gaps_us: Sequence[int], cached: int | None) -> Course:
    tokens_s = tuple(enqueued_s + at / 1e6 for at in accumulate(gaps_us))
    return Course(enqueued_s, tokens_s, cached, tokens_s[-1] if tokens_s else enqueued_s)


@dataclass(frozen=True, slots=True)
class _Told:
    """What a record tells of a process."""

    index: int
    ended_s: float
    enqueued_s: tuple[float, ...]
    cached_tokens: tuple[int, ...] | None


def _middle(processes: Sequence[Process], log: str) -> _Told:
    """Return the process whose last answer came nearest to the median of all."""
    told = [found for one in processes if (found := _told(one)) is not None]
    if not told:
        raise ReplayError(f"{log} does not say when its requests came")
    median = statistics.median(one.ended_s for one in told)
    return min(told, key=lambda one: abs(one.ended_s - median))


def _told(process: Process) -> _Told | None:
    rows = process.requests
    if rows is None or rows.enqueued_s is None:
        return None
    pairs = zip(rows.enqueued_s, rows.latency_s, strict=True)
    ends = (start_s + latency_s for start_s, latency_s in pairs if latency_s is not None)
    return _Told(process.index, max(ends, default=0.0), rows.enqueued_s, rows.cached_tokens)


def _gaps(timeline: bytes, arm: str, workload: str, process: int) -> tuple[tuple[int, ...], ...]:
    lines = (json.loads(line) for line in gzip.decompress(timeline).splitlines())
    wanted = (arm, workload, process)
    found = {
        line["request"]: tuple(line["gaps_us"])
        for line in lines
        if (line["arm"], line["workload"], line["process"]) == wanted
    }
    return tuple(found[request] for request in sorted(found))
