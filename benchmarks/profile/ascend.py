"""Owns Ascend's profilers: the commands that collect, and their CSV files read into what bounds a kernel.

Commands and parsers follow the files' published layouts and are tested on synthetic ones: no such device has run them
here, so everything this module returns says `unverified on hardware`.
"""

from __future__ import annotations

import csv
import io
import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.profile.summaries import (
    Bottleneck,
    Kernel,
    ProfileError,
    Summary,
    merged,
    metric,
    name_of,
    raw_of,
    whole,
)
from evidence.schema import ProfileMetric

Bound = Literal["Cube", "Vector", "MTE", "UB", "scalar", "fallback", "grid", "unknown"]

TOOL = "msprof"
UNVERIFIED = "unverified on hardware"
GROUPS = ("PipeUtilization", "MemoryUB")
"""One group of counters a run: the hardware holds no more at once. Pipes say which unit; UB then says what feeds it."""
FALLBACK_SHARE = 50.0
"""Per cent of the time in kernels from which work on the AI CPU is what bounds a call."""
BUSY_RATIO = 0.6
"""Share of a kernel's cycles from which a pipe counts as its bound."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_ABSENT = frozenset({"", "n/a"})
_NAMES = {"Op Name": "Name", "OP Type": "Type", "Task Type": "Accelerator Core", "Task Duration(us)": "Duration(us)"}
"""Columns of msprof's op_summary by the names that torch_npu's kernel_details gives them."""
_FALLBACK = frozenset({"AI_CPU", "AICPU"})
_PIPES: Mapping[str, Bound] = {
    "aic_mac_ratio": "Cube",
    "aiv_vec_ratio": "Vector",
    "aic_mte1_ratio": "MTE",
    "aic_mte2_ratio": "MTE",
    "aic_fixpipe_ratio": "MTE",
    "aiv_mte2_ratio": "MTE",
    "aiv_mte3_ratio": "MTE",
    "aic_scalar_ratio": "scalar",
    "aiv_scalar_ratio": "scalar",
}
_UB = re.compile(r"ai[cv]_ub_(?:read|write)_bw_(?:vector|scalar|mte)\(GB/s\)")
_RECORDED: Mapping[Bound, Bottleneck] = {
    "Cube": "compute",
    "Vector": "compute",
    "MTE": "memory",
    "UB": "memory",
    "scalar": "unknown",
    "fallback": "dispatch",
    "grid": "launch",
    "unknown": "unknown",
}


@dataclass(frozen=True, slots=True)
class OpStatistic:
    """One kind of operator over a whole run."""

    kind: str
    core: str
    count: int
    total_s: float


@dataclass(frozen=True, slots=True)
class Launch:
    """One task: where it ran, for how long, on how many blocks, with its counters."""

    name: str
    kind: str
    core: str
    duration_s: float
    blocks: int | None
    ratios: Mapping[str, float]
    ub_gb_per_s: float | None


def commands(target: Sequence[str], output: str) -> tuple[tuple[str, ...], ...]:
    """Return the commands that collect, one group of counters a run, below a folder for each."""
    program = shlex.join(target)
    return tuple(
        (
            TOOL,
            f"--output={output}/{group}",
            f"--application={program}",
            "--ai-core=on",
            "--aic-mode=task-based",
            f"--aic-metrics={group}",
        )
        for group in GROUPS
    )


def op_statistics(data: bytes, name: str = "op_statistic.csv") -> tuple[OpStatistic, ...]:
    """Read time by kind of operator, the most first.

    Raises:
        ProfileError: it is not that file.
    """
    raw_of(name, data)
    rows = _rows(data, name, ("OP Type", "Core Type", "Count", "Total Time(us)"))
    found = [
        OpStatistic(
            name_of(row["OP Type"]),
            name_of(row["Core Type"]),
            int(_required(row, "Count", name)),
            _required(row, "Total Time(us)", name) * 1e-6,
        )
        for row in rows
    ]
    return tuple(sorted(found, key=lambda one: (-one.total_s, one.kind)))


def kernel_details(data: bytes, name: str = "kernel_details.csv") -> tuple[Launch, ...]:
    """Read every task, from torch_npu's kernel_details or msprof's op_summary.

    Raises:
        ProfileError: it is neither.
    """
    raw_of(name, data)
    rows = _rows(data, name, ("Name", "Type", "Accelerator Core", "Duration(us)"))
    return tuple(_launch(row, name) for row in rows)


def judge(
    launches: Sequence[Launch], *, cores: int | None = None, ub_peak_gb_per_s: float | None = None
) -> tuple[Bound, str]:
    """Return what bounds a call: the kind of kernel with the most time decides.

    Args:
        launches: Every task of the call.
        cores: Cores of the device; a kernel on fewer blocks leaves some idle. None: not judged.
        ub_peak_gb_per_s: What the unified buffer reaches at most. None: not judged.
    """
    total = math.fsum(one.duration_s for one in launches)
    if not launches or total <= 0:
        return "unknown", "no task took any time"
    fallback = math.fsum(one.duration_s for one in launches if one.core in _FALLBACK)
    if 100 * fallback / total >= FALLBACK_SHARE:
        return "fallback", f"{100 * fallback / total:.1f} % of the time is spent on the AI CPU"
    top = _longest([one for one in launches if one.core not in _FALLBACK])
    blocks = [one.blocks for one in top if one.blocks is not None]
    if cores is not None and blocks and max(blocks) < cores:
        return "grid", f"{top[0].name} runs on {max(blocks)} of {cores} cores"
    ub = _weighted(top, {id(one): one.ub_gb_per_s for one in top})
    if ub is not None and ub_peak_gb_per_s is not None and ub >= BUSY_RATIO * ub_peak_gb_per_s:
        return "UB", f"{top[0].name} moves {ub:.1f} GB/s through the unified buffer"
    ratios = {
        pipe: value
        for pipe in _PIPES
        if (value := _weighted(top, {id(one): one.ratios.get(pipe) for one in top})) is not None
    }
    pipe = max(ratios, key=lambda one: ratios[one], default=None)
    if pipe is None or ratios[pipe] < BUSY_RATIO:
        return "unknown", f"no pipe of {top[0].name} is busy in {100 * BUSY_RATIO:.0f} % of its cycles"
    return _PIPES[pipe], f"{pipe} of {top[0].name} is {ratios[pipe]:.3f}"


def summary(
    files: Mapping[str, bytes], *, cores: int | None = None, ub_peak_gb_per_s: float | None = None
) -> tuple[Summary, Bound]:
    """Return what the files of one or more runs of a call say, for a record, with Ascend's own word for the bound.

    Raises:
        ProfileError: one of them is not of that layout.
    """
    launches = [one for name, data in files.items() for one in kernel_details(data, name)]
    bound, why = judge(launches, cores=cores, ub_peak_gb_per_s=ub_peak_gb_per_s)
    kernels = merged(Kernel(one.name, 1, one.duration_s, tuple(_metrics(one))) for one in launches)
    raw = tuple(raw_of(name, data) for name, data in files.items())
    return Summary(TOOL, kernels, whole(kernels), _RECORDED[bound], f"{bound}: {why} ({UNVERIFIED})", raw), bound


def _metrics(one: Launch) -> Iterator[ProfileMetric]:
    for pipe, value in one.ratios.items():
        yield metric(pipe, "1", value)
    if one.ub_gb_per_s is not None:
        yield metric("ub_bandwidth", "B/s", one.ub_gb_per_s * 1e9)


def _longest(launches: Sequence[Launch]) -> list[Launch]:
    by_name: dict[str, list[Launch]] = {}
    for one in launches:
        by_name.setdefault(one.name, []).append(one)
    return max(by_name.values(), key=lambda group: math.fsum(one.duration_s for one in group))


def _weighted(group: Sequence[Launch], values: Mapping[int, float | None]) -> float | None:
    """The mean by duration over those launches that have the counter: each run holds one group of them."""
    held = [(one.duration_s, value) for one in group if (value := values[id(one)]) is not None]
    weight = math.fsum(duration for duration, _ in held)
    return math.fsum(duration * value for duration, value in held) / weight if weight else None


def _launch(row: Mapping[str, str], name: str) -> Launch:
    ub = [value for column in row if _UB.fullmatch(column) and (value := _number(row, column, name)) is not None]
    blocks = _number(row, "Block Dim", name) if "Block Dim" in row else None
    ratios = {pipe: value for pipe in _PIPES if pipe in row and (value := _number(row, pipe, name)) is not None}
    return Launch(
        name_of(row["Name"]),
        name_of(row["Type"]),
        row["Accelerator Core"].strip(),
        _required(row, "Duration(us)", name) * 1e-6,
        None if blocks is None or not 0 < blocks < 2**20 else int(blocks),
        ratios,
        math.fsum(ub) if ub else None,
    )


def _rows(data: bytes, name: str, needed: Iterable[str]) -> Iterator[dict[str, str]]:
    reader = csv.reader(io.StringIO(data.decode("utf-8-sig", errors="replace")))
    head = [_NAMES.get(column.strip(), column.strip()) for column in next(reader, [])]
    is_statistic = "Total Time(us)" in head
    head = ["OP Type" if is_statistic and column == "Type" else column for column in head]
    if missing := [column for column in needed if column not in head]:
        raise ProfileError(f"{name} has no column {missing[0]!r}", fix="give a file that the profiler exported")
    if len(set(head)) != len(head):
        raise ProfileError(f"{name} has two columns of one name")
    for number, row in enumerate(reader, 2):
        if not row:
            continue
        if len(row) != len(head):
            raise ProfileError(f"{name}:{number} has {len(row)} columns of {len(head)}")
        yield dict(zip(head, row, strict=True))


def _required(row: Mapping[str, str], column: str, name: str) -> float:
    value = _number(row, column, name)
    if value is None or value < 0:
        raise ProfileError(f"{name}: {column} is {row[column][:40]!r}")
    return value


def _number(row: Mapping[str, str], column: str, name: str) -> float | None:
    text = row[column].strip()
    if text.lower() in _ABSENT:
        return None
    if not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise ProfileError(f"{name}: {column} is {text[:40]!r}, not a number")
    return float(text)
