"""Every registered case can be stored, and says what it is."""

from __future__ import annotations

import pytest

from benchmarks.ops.registry import find, ops
from benchmarks.ops.workloads import workload


@pytest.mark.parametrize("name", sorted(ops()))
def test_every_case_is_a_workload(name: str) -> None:
    for case in find(name).cases():
        stored = workload(case, role="target", cache="cold", sha256=None)
        assert (stored.name, stored.op, stored.direction) == (case.name, name, case.direction)
        assert [(dimension.name, dimension.size) for dimension in stored.shape] == list(case.shape.sizes)
        assert stored.inputs.sets >= 2


def test_parameters_and_digest_are_kept() -> None:
    case = find("chunk_kda").case("b1-t8192-h96-d128", "bf16", "forward-backward")
    stored = workload(case, role="guard", cache="hot", sha256="0" * 64)
    assert {setting.name: setting.value for setting in stored.parameters}["safe_gate"] == "true"
    assert (stored.role, stored.cache, stored.inputs.sha256) == ("guard", "hot", "0" * 64)
    assert stored.inputs.distribution.endswith("do: normal")
