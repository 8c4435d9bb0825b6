"""What one call must do, counted by hand at small sizes and checked for the laws a count obeys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.ops.cost import compulsory_bytes, work
from benchmarks.ops.registry import Shape, find, ops


def test_bytes_by_hand() -> None:
    gdn = find("chunk_gdn")
    elements = 2 * 3 * 4 * 8
    gates = 2 * 3 * 4
    forward = gdn.case(Shape.of(B=2, T=3, H=4, D=8), "bf16", "forward")
    assert compulsory_bytes(forward) == 2 * (3 * elements + 2 * gates + elements)
    both = gdn.case(forward.shape, "bf16", "forward-backward")
    assert compulsory_bytes(both) == 2 * compulsory_bytes(forward)


def test_flop_by_hand() -> None:
    gla = find("chunk_gla")
    case = gla.case(Shape.of(B=1, T=8192, H=96, D=128), "bf16", "forward")
    assert {amount.of: amount.count for amount in work(case)}["flop"] == 5 * 8192 * 96 * 128 * 128
    norm = find("qk_norm")
    one = norm.case(Shape.of(T=1, Hq=16, Hkv=8, D=128), "bf16", "forward")
    assert [amount.count for amount in work(one)] == [4 * 24 * 128, 2 * 2 * (24 * 128 + 128)]


def test_flop_is_left_out_where_it_is_not_known() -> None:
    from tests.benchmarks.ops.test_registry import op

    assert [amount.of for amount in work(op().cases()[0])] == ["bytes"]


@pytest.mark.parametrize("name", sorted(ops()))
def test_every_case_has_positive_work_and_backward_costs_more(name: str) -> None:
    found = find(name)
    for case in found.cases():
        amounts = {amount.of: amount.count for amount in work(case)}
        # Of what sparse attention visits, its own block's share depends on what is drawn.
        assert set(amounts) == ({"bytes"} if name == "parallel_nsa" else {"flop", "bytes"})
        if case.direction == "forward-backward":
            forward = {a.of: a.count for a in work(found.case(case.shape, case.dtype, "forward"))}
            assert all(amounts[of] >= 1.7 * forward[of] for of in forward)


@given(st.integers(1, 64), st.integers(1, 4096), st.integers(1, 64), st.integers(1, 256), st.integers(2, 5))
def test_work_is_linear_in_batch_and_tokens(batch: int, tokens: int, heads: int, width: int, factor: int) -> None:
    kda = find("chunk_kda")
    base = work(kda.case(Shape.of(B=batch, T=tokens, H=heads, D=width), "bf16", "forward"))
    for sizes in ({"B": batch * factor, "T": tokens}, {"B": batch, "T": tokens * factor}):
        larger = work(kda.case(Shape.of(**sizes, H=heads, D=width), "bf16", "forward"))
        assert [a.count for a in larger] == [factor * a.count for a in base]
