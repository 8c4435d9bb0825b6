"""Inputs are random, seeded, and the same for the gate and the clock."""

from __future__ import annotations

import hashlib

import pytest

from benchmarks.ops.inputs import DISTRIBUTIONS, distribution, draw, draw_timed, drawn_bytes, fingerprint
from benchmarks.ops.registry import Operand, find, ops
from evidence.errors import UnknownNameError
from tests.benchmarks.ops.test_registry import op

SMALL = "b1-t32-h2-d16"


@pytest.mark.parametrize("name", sorted(ops()))
def test_distributions_are_known(name: str) -> None:
    found = find(name)
    assert {operand.distribution for operand in (*found.inputs, *found.outputs)} <= set(DISTRIBUTIONS)


def test_a_seed_fixes_the_bits(torch) -> None:
    case = find("chunk_gdn").case(SMALL, "bf16", "forward-backward")
    first, again, other = draw(case, 0, "cpu"), draw(case, 0, "cpu"), draw(case, 1, "cpu")
    assert fingerprint([first]) == fingerprint([again]) != fingerprint([other])
    assert len({fingerprint([one]) for one in draw_timed(case, "cpu")}) == case.op.sets


@pytest.mark.parametrize("direction", ["forward", "forward-backward"])
def test_drawn_bytes_are_those_of_all_timed_sets(torch, direction: str) -> None:
    case = find("chunk_gdn").case(SMALL, "bf16", direction)
    drawn = [tensor for one in draw_timed(case, "cpu") for tensor in (*one.tensors.values(), *one.upstream)]
    assert drawn_bytes(case) == sum(tensor.nbytes for tensor in drawn)


def test_fingerprint_is_of_every_bit(torch) -> None:
    case = find("linear_attn").case(SMALL, "fp32", "forward")
    given = draw(case, 0, "cpu")
    before = fingerprint([given])
    expected = hashlib.sha256()
    for tensor in given.tensors.values():
        expected.update(f"{tuple(tensor.shape)} {tensor.dtype} ".encode() + tensor.numpy().tobytes())
    assert before == expected.hexdigest()
    given.tensors["v"][0, -1, -1, -1] += 1
    assert fingerprint([given]) != before


def test_forward_saves_nothing_and_backward_has_leaves(torch) -> None:
    gdn = find("chunk_gdn")
    forward, both = (draw(gdn.case(SMALL, "bf16", way), 0, "cpu") for way in gdn.directions)
    assert not any(tensor.requires_grad for tensor in forward.tensors.values())
    assert forward.upstream == ()
    assert all(tensor.is_leaf and tensor.requires_grad for tensor in both.tensors.values())
    assert [tensor.shape for tensor in both.upstream] == [both.tensors["v"].shape]


def test_values_follow_their_distribution(torch) -> None:
    tensors = draw(find("chunk_kda").case("b4-t512-h2-d16", "bf16", "forward"), 3, "cpu").tensors
    assert all(tensor.dtype == torch.bfloat16 for tensor in tensors.values())
    assert -5 <= float(tensors["g"].min()) < float(tensors["g"].max()) <= 0
    assert 0 <= float(tensors["beta"].min()) < float(tensors["beta"].max()) <= 1
    assert abs(float(tensors["q"].float().std()) - 1) < 0.05
    keys = draw(find("kda").case(SMALL, "fp32", "forward"), 0, "cpu").tensors["k"]
    assert torch.allclose(keys.norm(dim=-1), torch.ones(1))


def test_unknown_distribution_names_the_nearest(torch) -> None:
    odd = op(inputs=(Operand("x", ("T", "D"), "normale"),))
    with pytest.raises(UnknownNameError) as caught:
        draw(odd.cases()[0], 0, "cpu")
    assert caught.value.nearest == "normal"


def test_the_workload_text_names_every_tensor() -> None:
    gla = find("chunk_gla")
    text = distribution(gla.case(SMALL, "bf16", "forward-backward"))
    assert text == "q: normal; k: normal; v: normal; g: max(logsigmoid(normal), -5); do: normal"
    assert "do:" not in distribution(gla.case(SMALL, "bf16", "forward"))


def test_blocks_are_causal_ascending_distinct_and_padded(torch) -> None:
    case = find("parallel_nsa").case("b2-t1500-h2-hq32-d16-s4", "bf16", "forward")
    chosen = draw(case, 1, "cpu").tensors["block_indices"]
    visible = (torch.arange(1500) // 64 + 1)[None, :, None]
    assert chosen.dtype == torch.int64
    assert bool(((chosen >= 0).sum(-1) == visible.clamp(max=4)).all())
    assert bool((chosen < visible[..., None]).all())
    used = torch.where(chosen < 0, 10**6 + torch.arange(4), chosen)
    assert bool((used.diff(dim=-1) > 0).all())
    assert len(set(chosen[:, -1].reshape(-1).tolist())) > 4


def test_classes_are_uniform_and_weights_fill_their_byte(torch) -> None:
    given = draw(find("cross_entropy").case("m20000-v10", "bf16", "forward-backward"), 0, "cpu")
    shares = torch.bincount(given.tensors["target"], minlength=10) / 20000
    assert shares.shape == (10,)
    assert float((shares - 0.1).abs().max()) < 0.01
    assert not given.tensors["target"].requires_grad
    assert [tensor.dtype for tensor in given.upstream] == [torch.float32]
    weight = draw(find("w8a16_matmul").case("m1-n64-k512", "bf16", "forward"), 0, "cpu").tensors["weight"]
    assert weight.dtype == torch.int8
    assert (int(weight.min()), int(weight.max())) == (-127, 127)


def test_the_workload_text_says_what_has_a_dtype_of_its_own() -> None:
    text = distribution(find("matmul_fp8").case("m16-n16-k16", "bf16", "forward"))
    assert text.startswith("a: normal (fp8); b: normal (fp8); a_scale: (1 + sigmoid(normal)) / 100 (fp32)")
