"""An op is data that cannot contradict itself."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.ops.registry import (
    Implementation,
    Op,
    Operand,
    OpError,
    Shape,
    Tolerance,
    Unsupported,
    collect,
    find,
    ops,
)
from evidence.errors import DuplicateNameError, UnknownNameError

TIER_A = {"linear_attn", "gated_delta_rule", "simple_gla", "kda", "gdn2", "comba", "hgrn"}
FLA = {
    *("chunk_comba", "chunk_delta_rule", "chunk_dplr_delta_rule", "chunk_gdn", "chunk_gla", "chunk_kda"),
    *("chunk_lightning_attn", "chunk_linear_attn", "chunk_precond_gdn", "chunk_precond_kda", "chunk_retention"),
    *("chunk_rwkv6", "chunk_rwkv7", "chunk_simple_gla", "flash_attn", "fused_attnres", "fused_recurrent_hgrn"),
    *("naive_attnres", "parallel_attn", "parallel_nsa"),
}
"""What Flash Linear Attention's own registry benchmarks."""
TORCH = {"scaled_dot_product_attention", "rms_norm", "layer_norm", "softmax", "cross_entropy", "matmul", "matmul_fp8"}
OWN = {"qk_norm", "w8a16_matmul"}
EVERY = TIER_A | FLA | TORCH | OWN


def op(**changes: object) -> Op:
    whole = Op(
        name="double",
        module=__name__,
        category="test",
        device="cpu",
        inputs=(Operand("x", ("T", "D")),),
        outputs=(Operand("y", ("T", "D")),),
        reference=Implementation("reference", "operator:add", None),
        implementations=(Implementation("neg", "operator:neg", None),),
        shapes=(Shape.of(T=8, D=4),),
        dtypes=("fp32",),
        directions=("forward",),
        tolerances=(Tolerance("fp32", "forward", 1e-5, 1e-5, 1e-5),),
        flop=lambda shape, direction: None,
    )
    return replace(whole, **changes)  # type: ignore[arg-type]


def test_every_op_is_found() -> None:
    assert set(ops()) == EVERY
    assert len(FLA) == 20


def test_listing_imports_no_framework() -> None:
    program = (
        "import sys; from benchmarks.ops.registry import ops; names = list(ops())\n"
        "loaded = {name.split('.')[0] for name in sys.modules} & {'torch', 'triton', 'fla', 'liger_kernel'}\n"
        "sys.exit(f'{loaded}' if loaded or not names else 0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_unknown_op_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as caught:
        find("chunk_gld")
    assert caught.value.nearest in {"chunk_gla", "chunk_gdn"}


def test_unknown_implementation_dtype_direction_and_shape() -> None:
    gla = find("chunk_gla")
    with pytest.raises(UnknownNameError, match="fused"):
        gla.implementation("fused")
    with pytest.raises(UnknownNameError, match="fp8"):
        gla.case(gla.shapes[0], "fp8", "forward")
    with pytest.raises(UnknownNameError, match="sideways"):
        gla.case(gla.shapes[0], "bf16", "sideways")
    with pytest.raises(UnknownNameError, match="backward"):
        find("w8a16_matmul").case("m1-n16-k16", "bf16", "backward")
    for text in ("b1-t8192-h96", "t8192-b1-h96-d128", "b1-t8k-h96-d128", "", "b1-t8192-h96-d128-e1"):
        with pytest.raises(UnknownNameError):
            gla.shape(text)


def test_two_ops_of_one_name_are_an_error() -> None:
    with pytest.raises(DuplicateNameError, match="double"):
        collect((op(), op(category="another")))


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"implementations": (Implementation("a", "m:f", None), Implementation("a", "m:g", None))}, DuplicateNameError),
        ({"shapes": (Shape.of(T=8, D=4), Shape.of(T=8, D=4))}, DuplicateNameError),
        ({"outputs": (Operand("x", ("T", "D")),)}, DuplicateNameError),
        ({"implementations": (Implementation("itself", "operator:add", None),)}, OpError),
        ({"shapes": (Shape.of(T=8),)}, OpError),
        ({"shapes": (Shape.of(T=8, D=4, H=1),)}, OpError),
        ({"dtypes": ("fp32", "bf16")}, OpError),
        ({"directions": ("forward", "forward-backward")}, OpError),
        ({"sets": 1}, OpError),
        ({"gate_seeds": 2}, OpError),
        ({"sets": 4, "gate_seeds": 3}, OpError),
        ({"inputs": (Operand("x", ("T", "D")), Operand("w", ("D",))), "independent": ("T",)}, OpError),
    ],
)
def test_contradictions_are_refused(changes: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        op(**changes)


def test_integers_have_no_gradient_and_every_dtype_a_size() -> None:
    with pytest.raises(OpError, match="no gradient"):
        Operand("target", ("M",), dtype="int64")
    with pytest.raises(UnknownNameError, match="int32"):
        Operand("target", ("M",), dtype="int32", differentiable=False)
    case = find("cross_entropy").case("m4-v8", "bf16", "forward-backward")
    assert case.produced == ("loss", "dlogits")
    assert [case.dtype_of(tensor) for tensor in case.returned] == ["fp32", "bf16"]


def test_target_is_module_and_attribute() -> None:
    with pytest.raises(OpError, match="module:attribute"):
        Implementation("a", "operator.neg", None)


def test_key_must_say_its_dimensions() -> None:
    assert Shape.keyed("B1_T8192_H96_D128", B=1, T=8192, H=96, D=128).name == "b1-t8192-h96-d128"
    assert Shape.keyed("L8_B1_T32K_D2K", L=8, B=1, T=32768, D=2048).name == "l8-b1-t32768-d2048"
    with pytest.raises(OpError, match="does not say"):
        Shape.keyed("B1_T8192_H32_D2048", B=1, T=8192, H=64, D=8192)
    # Under this key Flash Linear Attention's own registry measures 64 streams of width 8192.
    with pytest.raises(OpError, match="does not say"):
        Shape.keyed("L32_B1_T8K_D2K", L=64, B=1, T=8192, D=8192)


@pytest.mark.parametrize("sizes", [{}, {"B": 0}, {"B": 1, "b": 2}, {"B1": 1}])
def test_impossible_shapes(sizes: dict[str, int]) -> None:
    with pytest.raises(OpError):
        Shape.of(**sizes)


@given(st.lists(st.integers(1, 10**9), min_size=4, max_size=4))
def test_a_shape_is_read_back_from_its_name(sizes: list[int]) -> None:
    shape = Shape(tuple(zip("BTHD", sizes, strict=True)))
    gla = find("chunk_gla")
    assert gla.shape(shape.name) == shape
    assert gla.shape(shape.name.upper().replace("-", "_")) == shape


def test_dimensions_may_be_sums() -> None:
    shape = Shape.of(T=3, Hq=4, Hkv=2, D=8)
    assert shape.extents(("T", "Hq+Hkv", "D")) == (3, 6, 8)
    with pytest.raises(UnknownNameError, match="dimension 'H'"):
        shape.size("H")


@pytest.mark.parametrize("name", sorted(EVERY))
def test_cases_cover_the_sweep_and_gate_the_timed_inputs(name: str) -> None:
    found = find(name)
    cases = found.cases()
    assert len(cases) == len(found.shapes) * len(found.dtypes) * len(found.directions)
    assert len({case.name for case in cases}) == len(cases)
    for case in cases:
        assert set(case.seeds) <= set(case.gate_seeds)
        assert len(case.gate_seeds) >= 3
        assert case.produced[: len(found.outputs)] == tuple(operand.name for operand in found.outputs)
        assert (len(case.produced) > len(found.outputs)) == (case.direction == "forward-backward")


def test_recurrent_kernels_without_a_backward_say_why() -> None:
    for name in ("chunk_gdn", "chunk_kda"):
        recurrent = find(name).implementation("recurrent")
        assert recurrent.obstacle("forward") is None
        assert "backward" in (recurrent.obstacle("forward-backward") or "") or recurrent.obstacle("forward-backward")


def test_unsupported_is_per_direction() -> None:
    one = Implementation("a", "m:f", "p", unsupported=(Unsupported("forward", "why"),))
    assert (one.obstacle("forward"), one.obstacle("forward-backward")) == ("why", None)
    assert (one.source, Implementation("a", "m:f", None).source) == ("p", "repository")


def test_the_shapes_of_flash_linear_attention() -> None:
    names = [shape.name for shape in find("chunk_gla").shapes]
    assert len(names) == 6
    assert names[0] == "b1-t8192-h96-d128"
    assert find("chunk_gdn").shapes == find("chunk_kda").shapes == find("chunk_gla").shapes
