"""A gate of linear attention that passes: the real op against its reference on small inputs, and words to select by."""

from __future__ import annotations

import pytest

from benchmarks.ops import gates
from benchmarks.ops.registry import find
from evidence.schema import Passed

pytestmark = pytest.mark.usefixtures("fla")
OP = find("linear_attn")


@pytest.mark.parametrize("direction", ["forward", "forward-backward"])
@pytest.mark.parametrize("shape", ["b1-t64-h2-d16", "b2-t33-h1-d16"])
def test_recurrent(shape: str, direction: str) -> None:
    case = OP.case(shape, "fp32", direction)
    assert isinstance(gates.verify(case, OP.implementation("recurrent")), Passed)


def test_tail() -> None:
    case = OP.case("b1-t17-h2-d16", "fp32", "forward")
    assert isinstance(gates.verify(case, OP.implementation("recurrent")), Passed)
