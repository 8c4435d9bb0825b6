"""Owns how a case is stored: the workload that a record names."""

from __future__ import annotations

from typing import Literal

from benchmarks.ops.cost import work
from benchmarks.ops.inputs import distribution
from benchmarks.ops.registry import Case
from evidence.schema.base import Setting
from evidence.schema.workloads import Dimension, Inputs, OpWorkload, WorkloadRole


def workload(case: Case, *, role: WorkloadRole, cache: Literal["hot", "cold"], sha256: str | None) -> OpWorkload:
    """Return the workload of `case`; `sha256` is the `inputs.fingerprint` of its timed sets, or None."""
    return OpWorkload(
        name=case.name,
        role=role,
        work=work(case),
        op=case.op.name,
        shape=tuple(Dimension(name=name, size=size) for name, size in case.shape.sizes),
        dtype=case.dtype,
        direction=case.direction,
        cache=cache,
        parameters=tuple(Setting(name=name, value=value) for name, value in case.op.parameters),
        inputs=Inputs(distribution=distribution(case), seed=case.op.seed, sets=case.op.sets, sha256=sha256),
    )
