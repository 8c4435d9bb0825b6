"""Owns Nsight Compute: the command that profiles a program, and its output read into kernels.

Three layouts are read: `--csv` with a row a metric (the usual page), `--csv --page raw` with a row a kernel, and the
sections that it prints without `--csv`. Names of processes and hosts in them are passed over.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

from benchmarks.profile.bottleneck import judge
from benchmarks.profile.summaries import Kernel, ProfileError, Summary, merged, metric, name_of, raw_of, whole
from evidence.schema import ProfileMetric

TOOL = "ncu"
_KEPT = {
    "gpu__time_duration.sum": "duration",
    "dram__bytes_read.sum": "read",
    "dram__bytes_write.sum": "written",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "dram_share",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": "memory_share",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "compute_share",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy",
    "launch__registers_per_thread": "registers",
    "launch__waves_per_multiprocessor": "waves",
    "launch__occupancy_limit_registers": "blocks_by_registers",
    "launch__occupancy_limit_shared_mem": "blocks_by_shared_memory",
    "launch__occupancy_limit_warps": "blocks_by_warps",
    "launch__occupancy_limit_blocks": "blocks_by_multiprocessor",
}
METRICS = tuple(_KEPT)
"""What is asked of the profiler."""
_PRINTED = {
    "Duration": "duration",
    "DRAM Throughput": "dram_share",
    "Memory Throughput": "memory_share",
    "Compute (SM) Throughput": "compute_share",
    "Achieved Occupancy": "occupancy",
    "Registers Per Thread": "registers",
    "Waves Per SM": "waves",
    "Block Limit Registers": "blocks_by_registers",
    "Block Limit Shared Mem": "blocks_by_shared_memory",
    "Block Limit Warps": "blocks_by_warps",
    "Block Limit SM": "blocks_by_multiprocessor",
}
_UNITS = {
    "duration": "s",
    "read": "B",
    "written": "B",
    "dram_share": "%",
    "memory_share": "%",
    "compute_share": "%",
    "occupancy": "%",
}
_SCALES = {
    "s": {
        **dict.fromkeys(("second", "s"), 1.0),
        **dict.fromkeys(("msecond", "ms"), 1e-3),
        **dict.fromkeys(("usecond", "us"), 1e-6),
        **dict.fromkeys(("nsecond", "ns"), 1e-9),
    },
    "B": {"byte": 1.0, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12},
    "%": {"%": 1.0},
}
_NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")
_ABSENT = frozenset({"", "n/a", "nan", "no data"})
_LAUNCH = re.compile(r"^  (\S.*) \(\d+, \d+, \d+\)x\(\d+, \d+, \d+\), Context \d+, Stream \d+")
_LINE = re.compile(r"^    (\S.*?)(?: {2,}(\S+))? {2,}(\S+) *$")
_NAME, _METRIC, _UNIT, _VALUE = "Kernel Name", "Metric Name", "Metric Unit", "Metric Value"


def command(target: Sequence[str], *, launches: int | None = None) -> tuple[str, ...]:
    """Return the command that profiles a program between the calls with which it starts and stops profilers.

    Clocks stay as they are: `--clock-control none` measures what is timed, and needs no right to set them.
    """
    count = () if launches is None else ("--launch-count", str(launches))
    return (
        TOOL,
        "--csv",
        "--page",
        "raw",
        "--print-units",
        "base",
        "--clock-control",
        "none",
        "--profile-from-start",
        "off",
        "--target-processes",
        "all",
        *count,
        "--metrics",
        ",".join(METRICS),
        *target,
    )


VARIABLES = {"LC_ALL": "C"}
"""Set for the profiler: other locales write numbers that cannot be told from others."""


def read(data: bytes, name: str = "ncu.csv") -> Summary:
    """Return what the profiler said.

    Raises:
        ProfileError: it is none of the layouts, holds no kernel, or a number that cannot be read.
    """
    raw = raw_of(name, data)
    text = data.decode("utf-8", errors="replace")
    lines = text.splitlines()
    start = next((index for index, line in enumerate(lines) if line.startswith('"') and f'"{_NAME}"' in line), None)
    found = list(_table(lines[start:]) if start is not None else _sections(lines))
    if not found:
        raise ProfileError(f"{name} holds no profiled kernel", fix="see what ncu printed; it may lack permissions")
    kernels = merged(found)
    bottleneck, why = judge(kernels)
    return Summary(TOOL, kernels, whole(kernels), bottleneck, why, (raw,))


def _table(lines: Sequence[str]) -> Iterator[Kernel]:
    """The two CSV layouts; what a program prints between rows has other columns and is passed over."""
    rows = csv.reader(io.StringIO("\n".join(line for line in lines if line.startswith('"'))))
    head = next(rows)
    if len(set(head)) != len(head):
        raise ProfileError("a column of the profiler's table has the name of another")
    body = [dict(zip(head, row, strict=True)) for row in rows if len(row) == len(head)]
    if _METRIC in head:
        if not {_VALUE, _UNIT, "ID"} <= set(head):
            raise ProfileError("the profiler's table has no column of values, units or launches")
        launches: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
        for row in body:
            launches.setdefault((row["ID"], row[_NAME]), []).append((row[_METRIC], row[_UNIT], row[_VALUE]))
        for (_, kernel), counters in launches.items():
            yield _kernel(kernel, counters)
        return
    if body and not body[0][_NAME]:
        units = body[0]
        for row in body[1:]:
            yield _kernel(row[_NAME], [(name, units[name], row[name]) for name in head if name in _KEPT])
        return
    raise ProfileError("the profiler's table has no row of units")


def _sections(lines: Sequence[str]) -> Iterator[Kernel]:
    """The layout for people: a line a launch, and below it a line a metric."""
    kernel, counters = "", list[tuple[str, str, str]]()
    for line in lines:
        if match := _LAUNCH.match(line):
            if kernel:
                yield _kernel(kernel, counters)
            kernel, counters = match[1], []
        elif kernel and (match := _LINE.match(line)) and match[1] in _PRINTED:
            counters.append((match[1], match[2] or "", match[3]))
    if kernel:
        yield _kernel(kernel, counters)


def _kernel(name: str, counters: Sequence[tuple[str, str, str]]) -> Kernel:
    values: dict[str, float] = {}
    for counter, unit, text in counters:
        kept = _KEPT.get(counter) or _PRINTED.get(counter)
        if kept is None or text.strip().lower() in _ABSENT:
            continue
        value = _value(counter, kept, unit, text)
        if values.setdefault(kept, value) != value:
            raise ProfileError(f"{counter} of {name_of(name)} is given twice, with two values")
    duration = values.pop("duration", None)
    if duration is None or duration <= 0:
        raise ProfileError(f"no duration of {name_of(name)}", fix="profile gpu__time_duration.sum")
    metrics: list[ProfileMetric] = []
    read, written = values.pop("read", None), values.pop("written", None)
    if read is not None and written is not None:
        metrics.append(metric("moved_bytes", "B", read + written))
    metrics += [metric(kept, _UNITS.get(kept, "1"), value) for kept, value in values.items()]
    return Kernel(name_of(name), 1, duration, tuple(metrics))


def _value(counter: str, kept: str, unit: str, text: str) -> float:
    if not _NUMBER.fullmatch(text.strip()):
        raise ProfileError(f"{counter} is {text[:40]!r}, not a number", fix="run the profiler with LC_ALL=C")
    value = float(text.replace(",", ""))
    if kept not in _UNITS:
        return value
    scales = _SCALES[_UNITS[kept]]
    if unit not in scales:
        raise ProfileError(f"{counter} has the unit {unit[:40]!r}", fix=f"known: {', '.join(scales)}")
    return value * scales[unit]
