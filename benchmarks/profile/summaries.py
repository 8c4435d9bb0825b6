"""Owns what a profiler said, as data: kernels with their counters, what bounds them, and the text that is kept of it.

Profiled times are not timings: a profiler slows what it watches. They say where time goes, and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from evidence.errors import EvidenceError
from evidence.schema import Artifact, Profile, ProfileMetric

Bottleneck = Literal["memory", "compute", "register", "launch", "dispatch", "unknown"]

MAXIMUM_BYTES = 256 * 2**20
"""Larger output is refused: a profile is of a few calls."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_NAME_LENGTH = 200
_TOP = 10


class ProfileError(EvidenceError):
    """Output that is not what the profiler writes."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """All launches of one kernel; `metrics` are of one launch, weighted by duration where launches differ."""

    name: str
    launches: int
    duration_s: float
    metrics: tuple[ProfileMetric, ...] = ()

    def metric(self, name: str) -> float | None:
        """Return a counter; None if the profiler did not give it."""
        return next((one.value for one in self.metrics if one.name == name), None)


@dataclass(frozen=True, slots=True)
class Raw:
    """A file that was read and is not kept."""

    name: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Summary:
    """What is kept of a profile."""

    tool: str
    kernels: tuple[Kernel, ...]
    """Those with the most time first."""
    metrics: tuple[ProfileMetric, ...]
    """Of the whole call."""
    bottleneck: Bottleneck
    why: str
    raw: tuple[Raw, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """A profile as a record holds it, with the bytes of its artifact."""

    profile: Profile
    artifact: Artifact
    content: bytes


def name_of(text: str) -> str:
    """Return a kernel's name as a record may hold it: one line, cut in its middle if it is long."""
    line = " ".join(_CONTROL.sub(" ", text).split()) or "unnamed"
    if len(line) <= _NAME_LENGTH:
        return line
    head = _NAME_LENGTH // 2
    return f"{line[:head]}…{line[-(_NAME_LENGTH - head - 1) :]}"


def raw_of(name: str, data: bytes) -> Raw:
    """Return the digest of what was read.

    Raises:
        ProfileError: it is larger than any profile of a few calls.
    """
    if len(data) > MAXIMUM_BYTES:
        raise ProfileError(f"{name} has {len(data):,} bytes", fix="profile fewer calls")
    return Raw(name, hashlib.sha256(data).hexdigest(), len(data))


def metric(name: str, unit: str, value: float) -> ProfileMetric:
    """Return one counter.

    Raises:
        ProfileError: its value is not finite.
    """
    if not math.isfinite(value):
        raise ProfileError(f"{name} is {value}")
    return ProfileMetric(name=name, unit=unit, value=value)


def merged(kernels: Iterable[Kernel]) -> tuple[Kernel, ...]:
    """Return one entry a name, those with the most time first; counters are means weighted by duration.

    `moved_bytes` is added up over launches, so that of a whole call is a sum over kernels.
    """
    groups: dict[str, list[Kernel]] = {}
    for kernel in kernels:
        groups.setdefault(kernel.name, []).append(kernel)
    made = [_merge(name, group) for name, group in groups.items()]
    return tuple(sorted(made, key=lambda kernel: (-kernel.duration_s, kernel.name)))


def _merge(name: str, group: Sequence[Kernel]) -> Kernel:
    duration = math.fsum(kernel.duration_s for kernel in group)
    counters = {(one.name, one.unit): None for kernel in group for one in kernel.metrics}
    found: list[ProfileMetric] = []
    for counter, unit in counters:
        held = [(kernel, value) for kernel in group if (value := kernel.metric(counter)) is not None]
        if counter == "moved_bytes":
            value = math.fsum(value for _, value in held)
        else:
            value = _mean([(kernel.duration_s, value) for kernel, value in held])
        found.append(metric(counter, unit, value))
    return Kernel(name, sum(kernel.launches for kernel in group), duration, tuple(found))


def _mean(weighted: Sequence[tuple[float, float]]) -> float:
    """The mean by weight; equal values keep their digits."""
    values = [value for _, value in weighted]
    weight = math.fsum(one for one, _ in weighted)
    if len(set(values)) == 1:
        return values[0]
    return math.fsum(one * value for one, value in weighted) / weight if weight else math.fsum(values) / len(values)


def whole(kernels: Sequence[Kernel], *more: ProfileMetric) -> tuple[ProfileMetric, ...]:
    """Return the counters of the whole call: time in kernels, launches, bytes moved if all kernels say."""
    metrics = [
        metric("kernel_time", "s", math.fsum(kernel.duration_s for kernel in kernels)),
        metric("launches", "1", float(sum(kernel.launches for kernel in kernels))),
    ]
    moved = [kernel.metric("moved_bytes") for kernel in kernels]
    if moved and None not in moved:
        metrics.append(metric("moved_bytes", "B", math.fsum(value for value in moved if value is not None)))
    top = kernels[0] if kernels else None
    if top is not None:
        metrics += [one for one in top.metrics if one.name != "moved_bytes"]
    return (*metrics, *more)


def text_of(summary: Summary, arm: str, workload: str, command: Sequence[str]) -> bytes:
    """Return the file that stays in the log: everything parsed, and digests of what is not kept."""
    content = {
        "format": "profile-summary-1",
        "note": "profiled times are not timings",
        "tool": summary.tool,
        "arm": arm,
        "workload": workload,
        "command": list(command),
        "bottleneck": summary.bottleneck,
        "why": summary.why,
        "metrics": [_plain(one) for one in summary.metrics],
        "kernels": [
            {
                "name": kernel.name,
                "launches": kernel.launches,
                "duration_s": kernel.duration_s,
                "metrics": [_plain(one) for one in kernel.metrics],
            }
            for kernel in summary.kernels[:_TOP]
        ],
        "further_kernels": max(0, len(summary.kernels) - _TOP),
        "raw": [{"name": one.name, "sha256": one.sha256, "bytes": one.bytes} for one in summary.raw],
    }
    return (json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def taken(summary: Summary, arm: str, workload: str, command: Sequence[str]) -> Taken:
    """Return a summary as a record's profile, with its artifact."""
    content = text_of(summary, arm, workload, command)
    path = f"profiles/{_file(summary.tool)}-{_file(arm)}-{_file(workload)}.json"
    return Taken(
        Profile(
            arm=arm,
            workload=workload,
            tool=summary.tool,
            bottleneck=summary.bottleneck,
            top_kernels=tuple(kernel.name for kernel in summary.kernels[:_TOP]),
            metrics=summary.metrics,
            artifact=path,
        ),
        Artifact(
            path=path,
            role="profile",
            sha256=hashlib.sha256(content).hexdigest(),
            bytes=len(content),
            arms=(arm,),
            workloads=(workload,),
        ),
        content,
    )


def _plain(one: ProfileMetric) -> dict[str, object]:
    return {"name": one.name, "unit": one.unit, "value": one.value}


def _file(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip(".-") or "x"
