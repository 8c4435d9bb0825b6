"""Owns the logs of the site that mutants are made of: kernels and engines on two devices, every number from a seed."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from benchmarks.evidence.records import (
    ACCELERATOR,
    GATE,
    HOST,
    METHOD,
    REFERENCE,
    STACK,
    STEP_S,
    Document,
    Tree,
    column,
    conditions,
    source,
    tensor,
    timed,
)
from evidence.schema import Record

PROCESSES = 6
TIMELINE = "timeline.jsonl"
GATE_LOG = "gate.log"

_SAMPLES = 10
_SPREAD = 0.002
DIGEST = hashlib.sha256(b"synthetic").hexdigest()


@dataclass(frozen=True, slots=True)
class Device:
    """A device that a synthetic run says it was on."""

    model: str
    slug: str
    clock_hz: float


@dataclass(frozen=True, slots=True)
class Log:
    """One log before it is written: its record and its other files."""

    record: Record
    files: Mapping[str, bytes]


DEVICES = (
    Device("NVIDIA L4", "l4", 2.04e9),
    Device("NVIDIA A10", "a10", 1.695e9),
    Device("NVIDIA H200", "h200", 1.83e9),
    Device("NVIDIA H100 80GB HBM3", "h100", 1.83e9),
)


@dataclass(frozen=True, slots=True)
class Setting:
    """What all logs of one site share: where they ran, of which code, and the dice."""

    tree: Tree
    seed: int
    rng: random.Random

    def assemble(
        self, log: str, day: datetime, device: Device, drawn: Document, files: Mapping[str, tuple[str, bytes]]
    ) -> Log:
        """Put what was drawn into everything that all records have alike; files come with their role."""
        windows = sum(len(cell.get("processes", ())) for cell in drawn["cells"])
        used = {rank["device"] for arm in drawn["arms"] for rank in arm["ranks"]}
        accelerator = {**ACCELERATOR, "model": device.model, "max_sm_clock_hz": device.clock_hz}
        readings = {**conditions(windows), "sm_clock_hz": (device.clock_hz - 5e7,) * (2 * windows)}
        record = Record.model_validate(
            {
                "schema_version": 1,
                "log": log,
                "started_at": day,
                "ended_at": day + timedelta(seconds=STEP_S * (windows + 1)),
                "provenance": {
                    "argv": ("python", "-m", "synthetic.run", "--op", log.split("/")[1].split("_")[0], "--log"),
                    "directory": ".",
                    "variables": ({"name": "OMP_NUM_THREADS", "value": "1"},),
                    "runner": "synthetic.run",
                    "runner_version": "0",
                    "seed": self.seed,
                    "source": "repository",
                },
                "origin": None,
                "sources": (source(self.tree),),
                "hosts": ({**HOST, "accelerators": (accelerator,) * len(used)},),
                "stacks": (STACK,),
                "conditions": tuple({**readings, "device": number} for number in sorted(used)),
                "profiles": (),
                "artifacts": tuple(
                    {
                        "path": path,
                        "role": role,
                        "sha256": hashlib.sha256(content).hexdigest(),
                        "bytes": len(content),
                        "arms": (),
                        "workloads": (),
                    }
                    for path, (role, content) in files.items()
                ),
                "unavailable": ({"what": "profile", "reason": "synthetic"},),
                "limitations": ("synthetic: drawn from a seed, measured nowhere",),
                "supersedes": (),
                **drawn,
            }
        )
        return Log(record, {path: content for path, (_, content) in files.items()})

    def near(self, centre: float) -> float:
        """Return a number near another, as runs of one thing are near each other."""
        return float(f"{centre * (1 + self.rng.gauss(0, _SPREAD)):.9g}")


def arm(name: str, role: str, target: str, **changes: Any) -> Document:
    """Return one arm on the first device."""
    return {
        "name": name,
        "role": role,
        "control_of": name.removesuffix("-again") if role == "control" else None,
        "implementation": f"synthetic.ops:{target}",
        "source": "repository",
        "ranks": ({"host": "h0", "device": 0, "stack": "main"},),
        "command": ("python", "-m", "synthetic.worker", "--implementation", target),
        "switches": (),
        "mechanism": (),
        "outputs": "same",
        **changes,
    }


def metric(name: str, unit: str, of: str, better: str = "lower", role: str = "target") -> Document:
    """Return one metric."""
    return {"name": name, "unit": unit, "better": better, "of": of, "role": role}


_METHOD = {**METHOD, "processes": PROCESSES, "minimum_samples": _SAMPLES, "maximum_samples": _SAMPLES}
WALL = {**_METHOD, "minimum_samples": 1, "maximum_samples": 1, "flush_bytes": 0}


def kernel_gate(**changes: Any) -> Document:
    """Return a full numeric gate with a frozen file."""
    return {
        **GATE,
        "name": "numeric",
        "kind": "numeric",
        "reference": {**REFERENCE, "implementation": "synthetic.ops:reference"},
        "tolerances": ({"of": "relative", "limit": 0.01},),
        "frozen": ({"path": "synthetic/gate.py", "sha256": DIGEST},),
        "log": None,
        **changes,
    }


def op_workload(op: str, size: int, **shape: int) -> Document:
    """Return an op on so many elements."""
    dimensions = shape or {"N": size}
    return {
        "kind": "op",
        "name": "-".join(f"{name.lower()}{value}" for name, value in dimensions.items()),
        "role": "target",
        "op": op,
        "shape": tuple({"name": name, "size": value} for name, value in dimensions.items()),
        "dtype": "bf16",
        "direction": "forward",
        "cache": "cold",
        "parameters": (),
        "inputs": {"distribution": "normal", "seed": 7, "sets": 2, "sha256": None},
        "work": ({"of": "flop", "count": 10 * size}, {"of": "bytes", "count": 4 * size}),
    }


def kernel(
    setting: Setting,
    log: str,
    day: datetime,
    device: Device,
    arms: Sequence[Document],
    workloads: Sequence[Document],
    times: Mapping[tuple[str, str], float | Document],
    *,
    axes: Sequence[str] = ("implementation",),
    ran: Mapping[tuple[str, str], Sequence[Document]] | None = None,
) -> Log:
    """Return a kernel's log: seconds by arm and workload, or the cell itself where nothing was timed."""
    cells = []
    pairs = [(one["name"], load["name"]) for load in workloads for one in arms]
    for slot, (name, load) in enumerate(pairs):
        taken = times[name.removesuffix("-again"), load]
        if not isinstance(taken, float):
            cells.append({**taken, "arm": name, "workload": load})
            continue
        drawn: list[Document] = []
        for _ in range(PROCESSES):
            centre = setting.near(taken)
            drawn.append({"samples": (column("time", tuple(setting.near(centre) for _ in range(_SAMPLES))),)})
        cell = timed(name, load, {"kind": "numeric", "tensors": (tensor(1024),)}, drawn, slot=slot, slots=len(pairs))
        cells.append({**cell, "ran": tuple((ran or {}).get((name.removesuffix("-again"), load), ()))})
    return setting.assemble(
        log,
        day,
        device,
        {
            "axes": tuple(axes),
            "arms": tuple(arms),
            "workloads": tuple(workloads),
            "metrics": (metric("time", "s", "iteration"),),
            "methods": (_METHOD,),
            "gates": (kernel_gate(),),
            "cells": tuple(cells),
        },
        {},
    )


def switch(name: str, value: str) -> tuple[Document, ...]:
    """Return one switch of an arm."""
    return ({"name": name, "value": value},)


def day(number: int) -> datetime:
    """Return the start of a run of the site, by day."""
    return datetime(2026, 2, 1, 10, tzinfo=UTC) + timedelta(days=number)


def named(name: str, device: Device, number: int) -> str:
    """Return the name of a log of that day."""
    return f"{name}_{device.slug}_{day(number):%Y%m%d}"


def arms_of(baseline: str, candidate: str, target: Iterable[str] = (), **changes: Any) -> tuple[Document, ...]:
    """Return a baseline, a candidate and the baseline's twin; both of one implementation if `target` is one."""
    one, other = (*target, *target)[:2] if target else (baseline, candidate)
    return (
        arm(baseline, "baseline", one, **changes),
        arm(candidate, "candidate", other, **changes),
        arm(f"{baseline}-again", "control", one, **changes),
    )
