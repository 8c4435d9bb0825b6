"""What fits several ops at once, on real ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.ops import fitting
from benchmarks.ops.registry import find
from benchmarks.options import UsageError
from evidence.errors import UnknownNameError

GLA, HGRN, NORM = find("chunk_gla"), find("fused_recurrent_hgrn"), find("rms_norm")


def test_a_shape_is_for_the_ops_whose_dimensions_it_has() -> None:
    found = fitting.shapes([GLA, HGRN], ["b4-t2048-h16-d128", "b4-t2048-d2048", "b1-t8-h1-d8"])
    assert [shape.name for shape in found["chunk_gla"]] == ["b4-t2048-h16-d128", "b1-t8-h1-d8"]
    assert [shape.name for shape in found["fused_recurrent_hgrn"]] == ["b4-t2048-d2048"]
    assert fitting.shapes([GLA, NORM], []) == {"chunk_gla": GLA.shapes, "rms_norm": NORM.shapes}


def test_a_shape_without_an_op_and_an_op_without_a_shape_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="no shape of chunk_gla, rms_norm 'b4-t2048-d2048'"):
        fitting.shapes([GLA, NORM], ["b4-t2048-h16-d128", "m1024-d4096", "b4-t2048-d2048"])
    with pytest.raises(UsageError, match="fits rms_norm") as raised:
        fitting.shapes([GLA, NORM], ["b4-t2048-h16-d128"])
    assert "m1024-d4096" in str(raised.value.fix)
    assert fitting.guards([GLA, NORM], ["m1024-d4096"])["chunk_gla"] == ()


def test_a_direction_is_for_the_ops_that_have_it() -> None:
    forward_only = find("kda")
    assert forward_only.possible == ("forward",)
    both = [find("linear_attn"), forward_only]
    found = fitting.directions(both, ["forward-backward", "forward"])
    assert found == {"linear_attn": ("forward-backward", "forward"), "kda": ("forward",)}
    with pytest.raises(UsageError, match="kda has no backward"):
        fitting.directions(both, ["backward"])
    with pytest.raises(UnknownNameError, match="no direction"):
        fitting.directions(both, ["sideways"])


def test_arms_are_the_names_that_ops_have_in_their_order() -> None:
    assert fitting.implementations([GLA, NORM], []) == ("chunk", "recurrent", "torch", "fla")
    assert fitting.implementations([GLA, NORM], ["fla", "chunk"]) == ("fla", "chunk")
    with pytest.raises(UsageError, match="rms_norm has no implementation chunk"):
        fitting.implementations([GLA, NORM], ["chunk"])
    with pytest.raises(UnknownNameError, match="no implementation of chunk_gla, rms_norm 'chunky'"):
        fitting.implementations([GLA, NORM], ["chunky"])


def test_an_arm_is_of_one_source() -> None:
    elsewhere = replace(HGRN, implementations=tuple(replace(entry, package="torch") for entry in HGRN.implementations))
    with pytest.raises(UsageError, match="source of chunk is not one: chunk_gla fla-core, fused_recurrent_hgrn torch"):
        fitting.implementations([GLA, elsewhere], ["chunk"])
