"""Our references of FLA's further ops are what fla-core's naive forms, where it has right ones, and torch compute."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from benchmarks.ops import references_fla, references_torch
from benchmarks.ops.calls import bind
from benchmarks.ops.inputs import InputSet, draw
from benchmarks.ops.registry import find

Naive = Callable[[Any, Mapping[str, Any]], Any]


def _module(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(f"fla.ops.{name}")


def _heads_first(target: Any, *tensors: Any, **settings: Any) -> Any:
    return target(*(x.transpose(1, 2) for x in tensors), **settings)[0].transpose(1, 2)


def _units(torch: Any, given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {**given, **{name: references_fla.unit(given[name]) for name in names}}


def _rwkv6(torch: Any, x: Mapping[str, Any]) -> Any:
    naive = _module("rwkv6.recurrent_naive").naive_recurrent_rwkv6
    out, _ = naive(*(x[name].transpose(1, 2) for name in "rkvw"), x["u"])
    return out.transpose(1, 2)


NAIVE: Mapping[str, Naive] = {
    "chunk_retention": lambda torch, x: _heads_first(
        lambda q, k, v: (_module("retention.naive").naive_retention(q, k, v),), *x.values()
    ),
    "chunk_delta_rule": lambda torch, x: _heads_first(
        _module("delta_rule.naive").delta_rule_recurrence, *(x[n] for n in ("q", "k", "v", "beta"))
    ),
    "chunk_dplr_delta_rule": lambda torch, x: _heads_first(
        _module("generalized_delta_rule.dplr.naive").dplr_recurrence, *x.values()
    ),
    "chunk_rwkv6": _rwkv6,
    "chunk_precond_gdn": lambda torch, x: _module(
        "precond_gated_delta_rule.naive"
    ).naive_recurrent_precond_gated_delta_rule(**x)[0],
    "chunk_precond_kda": lambda torch, x: _module("precond_kda.naive").naive_recurrent_precond_kda(
        **_units(torch, x, "q", "k")
    )[0],
    "parallel_attn": lambda torch, x: _module("attn.naive").naive_parallel_attn(**x)[0],
    "naive_attnres": lambda torch, x: _module("attnres").naive_attnres(
        x["query"], tuple(x["residuals"].unbind(0)), x["rms_weight"]
    ),
    "chunk_comba": lambda torch, x: _module("comba.naive").naive_chunk_comba(**_units(torch, x, "q", "k", "p"))[0],
}
SIZES = {"naive_attnres": "l3-b2-t7-d16"}


@pytest.mark.parametrize("name", sorted(NAIVE))
def test_equals_what_fla_calls_naive(fla, torch, name: str) -> None:
    op = find(name)
    case = op.case(SIZES.get(name, "b2-t70-h3-d16"), "bf16", "forward")
    given = {key: tensor.double() for key, tensor in draw(case, 4, "cpu").tensors.items()}
    ours = bind(op.reference, case)(InputSet(4, given, ()))[0]
    theirs = NAIVE[name](torch, {key: tensor.float() for key, tensor in given.items()}).double()
    assert ours.dtype == torch.float64
    assert ours.shape == theirs.shape
    assert float((ours - theirs).norm() / theirs.norm()) < 2e-6


def test_sparse_attention_to_every_block_is_attention(torch) -> None:
    generator = torch.Generator().manual_seed(1)
    q = torch.randn(1, 150, 4, 8, dtype=torch.float64, generator=generator)
    k, v = (torch.randn(1, 150, 2, 8, dtype=torch.float64, generator=generator) for _ in range(2))
    every = torch.arange(3)[None, None, None, :].expand(1, 150, 2, 3)
    sparse = references_fla.selected_attention(q, k, v, every)
    wide = (x.repeat_interleave(2, dim=2) for x in (k, v))
    torch.testing.assert_close(sparse, references_torch.causal_attention(q, *wide))


def test_sparse_attention_reads_no_block_that_is_not_selected(torch) -> None:
    q, k, v = (torch.randn(1, 200, 2, 8, dtype=torch.float64) for _ in range(3))
    own = (torch.arange(200) // 64)[None, :, None, None].expand(1, 200, 2, 1)
    before = references_fla.selected_attention(q, k, v, own)
    v[:, :64] += 1
    after = references_fla.selected_attention(q, k, v, own)
    assert torch.equal(before[:, 64:], after[:, 64:])
    assert not torch.allclose(before[:, :64], after[:, :64])


def test_recurrences_of_a_head_do_not_depend_on_how_many_there_are_but_in_lightning_attention(torch) -> None:
    x = [torch.randn(1, 40, 4, 8, dtype=torch.float64) for _ in range(3)]
    first = [tensor[:, :, :2] for tensor in x]
    for name, depends in (("retention", False), ("lightning_attention", True), ("normalised_linear_attention", False)):
        evaluate = getattr(references_fla, name)
        assert torch.allclose(evaluate(*x)[:, :, :2], evaluate(*first)) is not depends, name
