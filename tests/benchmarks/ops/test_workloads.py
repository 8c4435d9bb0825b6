"""Every registered case can be stored, and says what it is."""

from __future__ import annotations

import pytest

from benchmarks.ops.registry import find, ops
from benchmarks.ops.workloads import case_of, named, workload
from evidence.errors import UnknownNameError


@pytest.mark.parametrize("name", sorted(ops()))
def test_every_case_is_a_workload(name: str) -> None:
    for case in find(name).cases():
        stored = workload(case, name=case.name, role="target", cache="cold")
        assert (stored.name, stored.op, stored.direction) == (case.name, name, case.direction)
        assert [(dimension.name, dimension.size) for dimension in stored.shape] == list(case.shape.sizes)
        assert stored.inputs.sets >= 2


def test_parameters_and_digest_are_kept() -> None:
    case = find("chunk_kda").case("b1-t8192-h96-d128", "bf16", "forward-backward")
    stored = workload(case, name=case.name, role="guard", cache="hot", sha256="0" * 64)
    assert {setting.name: setting.value for setting in stored.parameters}["safe_gate"] == "true"
    assert (stored.role, stored.cache, stored.inputs.sha256) == ("guard", "hot", "0" * 64)
    assert stored.inputs.distribution.endswith("do: normal")


@pytest.mark.parametrize("several", [["kda"], ["kda", "linear_attn", "hgrn"]])
def test_a_name_stands_for_one_case_alone_and_beside_other_ops(several: list[str]) -> None:
    together = [find(name) for name in several]
    for op in together:
        for case in op.cases():
            assert case_of(named(case, together), together, case.dtype) == case
    for wrong in ("kda", "gdn2-b1-t512-h4-d64-fwd", "b1-t512-h4-d64-sideways", "kda-b1-t512-h4-d64"):
        with pytest.raises(UnknownNameError):
            case_of(wrong, together, "fp32")


def test_a_workload_names_its_op_only_beside_others() -> None:
    case = find("kda").case("b1-t512-h4-d64", "fp32", "forward")
    assert named(case, [find("kda")]) == "b1-t512-h4-d64-fwd"
    assert named(case, [find("kda"), find("hgrn")]) == "kda-b1-t512-h4-d64-fwd"
