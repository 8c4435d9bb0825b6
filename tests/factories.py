"""Owns synthetic parts for tests. Every number made here is invented; none of it was measured."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from evidence.schema import (
    Accelerator,
    Arm,
    DeviceConditions,
    Dimension,
    Failed,
    Gate,
    GitSource,
    Host,
    Inputs,
    Method,
    Metric,
    NumericDetail,
    OpWorkload,
    PackageSource,
    Passed,
    Process,
    Provenance,
    Rank,
    Record,
    Reference,
    Rejected,
    Samples,
    Setting,
    SourcePath,
    Stack,
    TensorErrors,
    Timed,
    Tolerance,
    Work,
)

STARTED = datetime(2026, 9, 1, 10, 0, tzinfo=UTC)
DIGEST = "0123456789abcdef" * 4
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def accelerator(**changes: Any) -> Accelerator:
    """A synthetic GPU."""
    return Accelerator(
        **{
            "model": "Synthetic GPU A",
            "uuid_sha256": DIGEST,
            "memory_bytes": 80 * 10**9,
            "l2_bytes": 50 * 2**20,
            "compute_capability": "9.0",
            "vbios": "00.00.00.00.00",
            "ecc_enabled": True,
            "mig_enabled": False,
            "persistence_enabled": True,
            "power_limit_w": 700.0,
            "max_sm_clock_hz": 1.98e9,
            "max_memory_clock_hz": 3.2e9,
            "missing": (),
            **changes,
        }
    )


def host(**changes: Any) -> Host:
    """A synthetic machine with one GPU."""
    return Host(
        **{
            "name": "h0",
            "accelerators": (accelerator(),),
            "interconnect": None,
            "driver": "580.00",
            "cpu_model": "Synthetic CPU",
            "cpu_cores": 16,
            "cpu_affinity": tuple(range(16)),
            "cpu_governor": "performance",
            "memory_bytes": 128 * 10**9,
            "os": "Linux 12",
            "kernel": "6.1",
            "missing": ({"field": "interconnect", "reason": "one accelerator"},),
            **changes,
        }
    )


def stack(**changes: Any) -> Stack:
    """A synthetic interpreter."""
    return Stack(
        **{
            "name": "main",
            "executable": "python3",
            "python": "3.12.3",
            "runtime": "CUDA 13.0",
            "container": None,
            "packages": ("fla-core==0.6.0", "torch==2.11.0", "triton==3.6.0"),
            "missing": ({"field": "container", "reason": "not in a container"},),
            **changes,
        }
    )


def git_source(**changes: Any) -> GitSource:
    """A clean synthetic checkout."""
    return GitSource(
        **{
            "name": "repository",
            "repository": None,
            "commit": COMMIT,
            "commit_tree_sha256": DIGEST,
            "tree_sha256": DIGEST,
            "paths": (SourcePath(path="benchmarks/ops/kernels/toy.py", sha256=DIGEST),),
            "missing": ({"field": "repository", "reason": "no remote"},),
            **changes,
        }
    )


def package_source(**changes: Any) -> PackageSource:
    """A synthetic installed package."""
    return PackageSource(
        **{
            "name": "toy",
            "package": "toy==1.0",
            "record_sha256": DIGEST,
            "commit": None,
            "missing": ({"field": "commit", "reason": "its metadata does not say"},),
            **changes,
        }
    )


def arm(name: str = "eager", role: str = "baseline", **changes: Any) -> Arm:
    """An arm on the one device."""
    return Arm(
        **{
            "name": name,
            "role": role,
            "control_of": None,
            "implementation": f"toy.ops:{name}",
            "source": "toy",
            "ranks": (Rank(host="h0", device=0, stack="main"),),
            "command": ("python", "-m", "benchmarks.ops.worker"),
            "switches": (),
            "mechanism": (),
            "outputs": "same",
            **changes,
        }
    )


def workload(name: str = "n1024", size: int = 1024, **changes: Any) -> OpWorkload:
    """An op workload of one dimension."""
    return OpWorkload(
        **{
            "name": name,
            "role": "target",
            "op": "toy",
            "shape": (Dimension(name="N", size=size),),
            "dtype": "bf16",
            "direction": "forward",
            "cache": "cold",
            "parameters": (),
            "inputs": Inputs(distribution="normal", seed=7, sets=2, sha256=None),
            "work": (Work(of="flop", count=size * 10), Work(of="bytes", count=size * 4)),
            **changes,
        }
    )


def metric(name: str = "time", **changes: Any) -> Metric:
    """The usual time per call."""
    return Metric(**{"name": name, "unit": "s", "better": "lower", "of": "iteration", "role": "target", **changes})


def method(**changes: Any) -> Method:
    """A do_bench method."""
    return Method(
        **{
            "name": "do-bench",
            "timer_requested": "triton.testing.do_bench",
            "timer_used": "triton.testing.do_bench",
            "fallback_reason": None,
            "timer_overhead_s": 2e-6,
            "warm_up_s": 1.0,
            "warm_up_calls": 10,
            "flush_bytes": 256 * 10**6,
            "allocates_outputs": True,
            "minimum_samples": 10,
            "maximum_samples": 1000,
            "target_spread": None,
            "budget_s": None,
            "processes": 9,
            "order": "interleaved",
            **changes,
        }
    )


def gate(**changes: Any) -> Gate:
    """A full numeric gate."""
    return Gate(
        **{
            "name": "numeric",
            "kind": "numeric",
            "command": (),
            "scope": "full",
            "selection": None,
            "reference": Reference(implementation="toy.naive:reference", source="toy", stack=None, dtype="fp32"),
            "tolerances": (Tolerance(of="relative", limit=0.01), Tolerance(of="absolute", limit=0.001)),
            "frozen": (),
            "variables": (),
            "log": None,
            "mutants": None,
            "mutants_killed": None,
            **changes,
        }
    )


def tensor(**changes: Any) -> TensorErrors:
    """A clean comparison of one output."""
    return TensorErrors(
        **{
            "name": "o",
            "elements": 1024,
            "mismatched": 0,
            "non_finite": 0,
            "maximum_absolute": 1e-4,
            "maximum_relative": 1e-3,
            "rms_to_fp64": None,
            **changes,
        }
    )


def passed(**changes: Any) -> Passed:
    """A passed numeric gate."""
    detail = NumericDetail(tensors=(tensor(),))
    return Passed(
        **{"gate": "numeric", "source": "toy", "phase": "before", "seeds": (0, 1, 2), "detail": detail, **changes}
    )


def failed(**changes: Any) -> Failed:
    """A failed numeric gate."""
    detail = NumericDetail(tensors=(tensor(mismatched=41, maximum_absolute=0.3),))
    message = "o: 41 of 1024 elements are beyond the tolerance"
    return Failed(
        **{
            "gate": "numeric",
            "source": "toy",
            "reason": "mismatch",
            "message": message,
            "seeds": (0, 1, 2),
            "detail": detail,
            **changes,
        }
    )


def process(
    index: int, values: Sequence[float], *, started_s: float, metric_name: str = "time", **changes: Any
) -> Process:
    """One process with samples of one metric."""
    return Process(
        **{
            "index": index,
            "started_s": started_s,
            "ended_s": started_s + 1.5,
            "stopped": "maximum",
            "compilations": 0,
            "client_cpu_s": None,
            "counters": (),
            "work": (),
            "samples": (Samples(metric=metric_name, rank=0, values=tuple(values)),),
            "requests": None,
            **changes,
        }
    )


def timed(
    arm_name: str = "eager",
    workload_name: str = "n1024",
    *,
    median_s: float = 1e-3,
    spread: float = 0.002,
    processes: int = 9,
    samples: int = 20,
    slot: int = 0,
    seed: int = 0,
    **changes: Any,
) -> Timed:
    """A timed cell with invented samples round `median_s`; `slot` interleaves the windows of several cells."""
    rng = random.Random(f"{arm_name}/{workload_name}/{seed}")
    made = []
    for index in range(processes):
        centre = median_s * (1 + rng.gauss(0, spread))
        values = [round(centre * (1 + abs(rng.gauss(0, spread))), 12) for _ in range(samples)]
        made.append(process(index, values, started_s=2.0 * (16 * index + slot)))
    return Timed(
        **{
            "arm": arm_name,
            "workload": workload_name,
            "gate": passed(),
            "further": (),
            "method": "do-bench",
            "ran": (),
            "processes": tuple(made),
            "discards": (),
            "cross_checks": (),
            **changes,
        }
    )


def rejected(arm_name: str = "fused", workload_name: str = "n1024", **changes: Any) -> Rejected:
    """A cell whose gate failed."""
    return Rejected(**{"arm": arm_name, "workload": workload_name, "gate": failed(), "further": (), **changes})


def conditions(boundaries: int = 10, **changes: Any) -> DeviceConditions:
    """A quiet device."""
    return DeviceConditions(
        **{
            "host": "h0",
            "device": 0,
            "at_s": tuple(32.0 * index for index in range(boundaries)),
            "sm_clock_hz": (1.9e9,) * boundaries,
            "memory_clock_hz": (3.2e9,) * boundaries,
            "temperature_c": (50.0,) * boundaries,
            "power_w": (300.0,) * boundaries,
            "energy_j": tuple(100.0 * index for index in range(boundaries)),
            "thermal_violation_ns": (0,) * boundaries,
            "power_violation_ns": (0,) * boundaries,
            "event_reasons": (0,) * boundaries,
            "ecc_uncorrected": (0,) * boundaries,
            "foreign_processes": (0,) * boundaries,
            "missing": (),
            **changes,
        }
    )


def record(log: str = "kernels/toy_20260901", **changes: Any) -> Record:
    """A sound record: eager (baseline), its A/A control, and fused, which is 1.25 times faster, on one workload."""
    values: dict[str, Any] = {
        "schema_version": 1,
        "log": log,
        "started_at": STARTED,
        "ended_at": STARTED + timedelta(minutes=6),
        "provenance": Provenance(
            argv=("python", "-m", "benchmarks.ops.run", "--op", "toy", "--log"),
            directory=".",
            variables=(Setting(name="OMP_NUM_THREADS", value="1"),),
            runner="benchmarks.ops.run",
            runner_version="0.1.0",
            seed=7,
            source="repository",
        ),
        "origin": None,
        "sources": (git_source(), package_source()),
        "hosts": (host(),),
        "stacks": (stack(),),
        "conditions": (conditions(),),
        "axes": ("implementation",),
        "arms": (
            arm("eager"),
            arm("fused", "candidate"),
            arm("eager-again", "control", control_of="eager", implementation="toy.ops:eager"),
        ),
        "workloads": (workload(),),
        "metrics": (metric(),),
        "methods": (method(),),
        "gates": (gate(),),
        "cells": (
            timed("eager", slot=0),
            timed("fused", median_s=0.8e-3, slot=1),
            timed("eager-again", slot=2),
        ),
        "profiles": (),
        "artifacts": (),
        "unavailable": (),
        "limitations": ("synthetic numbers for a test",),
        "supersedes": (),
    }
    return Record(**{**values, **changes})
