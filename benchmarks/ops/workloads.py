"""Owns the names of workloads, and how a case is stored: the workload that a record names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from benchmarks.ops.cost import work
from benchmarks.ops.inputs import distribution
from benchmarks.ops.registry import DIRECTION_SUFFIXES, Case, Op
from evidence.errors import UnknownNameError
from evidence.schema.base import Setting
from evidence.schema.workloads import Dimension, Inputs, OpWorkload, WorkloadRole


def named(case: Case, ops: Sequence[Op]) -> str:
    """Return the name of a case's workload: `b1-t512-h4-d64-fwd`, beside other ops `kda-b1-t512-h4-d64-fwd`."""
    return case.name if len(ops) == 1 else f"{case.op.name}-{case.name}"


def case_of(workload: str, ops: Sequence[Op], dtype: str) -> Case:
    """Return the case of one of these ops that a workload's name stands for.

    Raises:
        UnknownNameError: the name is none of these ops'.
    """
    known = [named(case, ops) for op in ops for case in op.cases()]
    if len(ops) == 1:
        op, rest = ops[0], workload
    else:
        name, _, rest = workload.partition("-")
        found = [op for op in ops if op.name == name]
        if not found:
            raise UnknownNameError("workload", workload, known)
        op = found[0]
    shape, _, suffix = rest.rpartition("-")
    for direction, known_suffix in DIRECTION_SUFFIXES.items():
        if known_suffix == suffix:
            return op.case(shape, dtype, direction)
    raise UnknownNameError("workload", workload, known)


def workload(
    case: Case,
    *,
    name: str,
    role: WorkloadRole,
    cache: Literal["hot", "cold"],
    settings: Sequence[Setting] = (),
    sha256: str | None = None,
) -> OpWorkload:
    """Return the workload of `case`, with settings of the run beside its op's.

    `sha256` is the `inputs.fingerprint` of its timed sets, or None.
    """
    return OpWorkload(
        name=name,
        role=role,
        work=work(case),
        op=case.op.name,
        shape=tuple(Dimension(name=name, size=size) for name, size in case.shape.sizes),
        dtype=case.dtype,
        direction=case.direction,
        cache=cache,
        parameters=(*(Setting(name=name, value=value) for name, value in case.op.parameters), *settings),
        inputs=Inputs(distribution=distribution(case), seed=case.op.seed, sets=case.op.sets, sha256=sha256),
    )
