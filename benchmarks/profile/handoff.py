"""Owns handoff blocks: what one who continues needs to know of a comparison and its profile, from the record alone.

Where no record is there yet, a block has the commands to run and the word unverified; never a number.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Literal

from benchmarks.profile import ascend, ncu
from evidence import units
from evidence.compare import compare
from evidence.evaluation import value_of
from evidence.readings import Quantity, device_of
from evidence.schema import OpWorkload, Profile
from evidence.store import Loaded

Vendor = Literal["nvidia", "ascend"]
_TIME = Quantity("time")
_ASCEND_FILES = ("op_statistic*.csv", "op_summary*.csv or kernel_details.csv")


def of_record(loaded: Loaded, baseline: str, candidate: str, workload: str) -> str:
    """Return the block of one comparison: every number is the record's.

    Raises:
        KeyError: no such arm or workload.
        EvidenceError: the arms cannot be compared by time.
    """
    record, load = loaded.record, loaded.record.workload(workload)
    (one,) = compare(record, baseline, candidate, _TIME, [workload])
    lines = [f"log         {loaded.entry.log} (sha256 {loaded.sha256[:12]})", f"device      {device_of(record)}"]
    if isinstance(load, OpWorkload):
        shape = " × ".join(f"{dimension.name}{dimension.size}" for dimension in load.shape)
        lines += [f"op          {load.op}", f"mode        {load.direction}", f"shape       {shape}, {load.dtype}"]
    lines += [
        f"baseline    {baseline}: {_median(loaded, baseline, workload)}",
        f"candidate   {candidate}: {_median(loaded, candidate, workload)}",
        f"verdict     {one.word}{f': {one.reason}' if one.reason else ''}",
        f"backend     {record.arm(candidate).implementation}",
    ]
    profiles = [profile for profile in record.profiles if (profile.arm, profile.workload) == (candidate, workload)]
    lines += [line for profile in profiles for line in _profiled(loaded, profile)]
    if not profiles:
        said = [entry.reason for entry in record.unavailable if "profile" in entry.what]
        lines.append(f"bottleneck  unavailable: {said[0] if said else 'no profile of this cell'}")
    return "\n".join(lines)


def to_do(vendor: Vendor, target: Sequence[str], output: str = "profile") -> str:
    """Return the block of a profile that is still to be taken: commands, what they write, and that it is unverified."""
    if vendor == "nvidia":
        variables = " ".join(f"{name}={value}" for name, value in ncu.VARIABLES.items())
        runs = [f"{variables} {shlex.join(ncu.command(target))} > {output}/ncu.csv"]
        runs.append(f"{shlex.join(target)} --trace {output}/trace.json")
        files = ["ncu.csv", "trace.json"]
    else:
        runs = [shlex.join(command) for command in ascend.commands(target, output)]
        files = [f"{group}/…/{name}" for group in ascend.GROUPS for name in _ASCEND_FILES]
    lines = [f"run         {run}" for run in runs]
    lines += [f"writes      {output}/{name}" for name in files]
    lines.append("read        python -m benchmarks.profile read FILE")
    status = (
        "unverified: nothing was run" if vendor == "nvidia" else f"unverified: nothing was run; {ascend.UNVERIFIED}"
    )
    return "\n".join([*lines, f"status      {status}"])


def _median(loaded: Loaded, arm: str, workload: str) -> str:
    cell = loaded.cell(arm, workload)
    value = value_of(loaded, cell, _TIME)
    if value is None:
        return f"no time, {cell.kind}"
    scale = units.scale_for(value.interval.value, "s")
    decimals = units.table_decimals(value.interval, scale)
    shown = units.format_value(value.interval.value, scale, decimals)
    return shown if value.is_exact else f"{shown} (95 % {units.format_interval(value.interval, decimals)})"


def _profiled(loaded: Loaded, profile: Profile) -> list[str]:
    artifact = next(one for one in loaded.record.artifacts if one.path == profile.artifact)
    top = f", top kernel {profile.top_kernels[0]}" if profile.top_kernels else ""
    return [
        f"bottleneck  {profile.bottleneck} by {profile.tool}{top}",
        f"artifact    {artifact.path} (sha256 {artifact.sha256})",
    ]
