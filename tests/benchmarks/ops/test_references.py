"""The references: the chunked fp64 recurrence is the step-by-step one, and both are what fla-core means by each op."""

from __future__ import annotations

import pytest

from benchmarks.ops import references
from benchmarks.ops.calls import bind
from benchmarks.ops.inputs import InputSet, draw
from benchmarks.ops.registry import Case, find

FAMILIES = ("linear_attn", "gated_delta_rule", "simple_gla", "kda", "gdn2", "comba", "hgrn")


def case_of(name: str, tokens: int, direction: str = "forward") -> Case:
    found = find(name)
    return found.case(f"b2-t{tokens}-d12" if name == "hgrn" else f"b2-t{tokens}-h3-d12", "fp32", direction)


@pytest.mark.parametrize("tokens", [1, 31, 65])
@pytest.mark.parametrize("name", FAMILIES)
def test_equals_fla_naive_recurrence(fla, torch, name: str, tokens: int) -> None:
    case = case_of(name, tokens)
    given = draw(case, 5, "cpu")
    theirs = bind(case.op.implementation("recurrent"), case)(given)[0].double()
    wide = InputSet(5, {key: tensor.double() for key, tensor in given.tensors.items()}, ())
    ours = bind(case.op.reference, case)(wide)[0]
    assert ours.dtype == torch.float64
    assert float((ours - theirs).norm() / theirs.norm()) < 1e-6


def stepwise(torch, q, k, write, decay=None, erase=None):
    """The recurrence as its definition reads, one token at a time."""
    state = q.new_zeros(q.shape[0], q.shape[2], k.shape[-1], write.shape[-1])
    outputs = []
    for t in range(q.shape[1]):
        if decay is not None:
            state = state * decay[:, t].exp()[..., None]
        update = write[:, t]
        if erase is not None:
            update = update - (erase[:, t][..., None] * state).sum(-2)
        state = state + k[:, t][..., None] * update[..., None, :]
        outputs.append((q[:, t][..., None] * state).sum(-2) * q.shape[-1] ** -0.5)
    return torch.stack(outputs, dim=1)


@pytest.mark.parametrize("tokens", [1, 32, 33, 100])
@pytest.mark.parametrize("with_erase", [False, True])
def test_chunks_equal_steps_forward_and_backward(torch, tokens: int, with_erase: bool) -> None:
    generator = torch.Generator().manual_seed(tokens)

    def normal(width):
        return torch.randn(1, tokens, 2, width, dtype=torch.float64, generator=generator)

    # Decays of -5 a token are the strongest any op here draws: over a chunk exp(160), far beyond fp32.
    q, k, write, upstream = normal(6), torch.nn.functional.normalize(normal(6), dim=-1), normal(5), normal(5)
    decay = (5 * normal(6)).clamp(-5, 0)
    leaves = [tensor.requires_grad_() for tensor in (q, k, write, decay)]
    if with_erase:
        leaves.append((k.detach() * torch.sigmoid(normal(1))).requires_grad_())
    erase = leaves[4] if with_erase else None
    expected = stepwise(torch, q, k, write, decay, erase)
    actual = references.recurrence(q, k, write, decay, erase)
    torch.testing.assert_close(actual, expected, rtol=1e-11, atol=1e-12)
    for mine, theirs in zip(
        torch.autograd.grad(actual, leaves, upstream), torch.autograd.grad(expected, leaves, upstream), strict=True
    ):
        torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-10)


def test_rms_norm_pair_is_two_rms_norms(torch) -> None:
    q, k = torch.randn(5, 4, 16, dtype=torch.float64), torch.randn(5, 2, 16, dtype=torch.float64)
    weights = torch.randn(2, 16, dtype=torch.float64)
    for actual, x, weight in zip(references.rms_norm_pair(q, k, *weights, 1e-3), (q, k), weights, strict=True):
        torch.testing.assert_close(actual, torch.nn.functional.rms_norm(x, (16,), weight, 1e-3))


def test_references_of_the_gpu_ops_equal_fla_naive_recurrences(fla, torch) -> None:
    from fla.ops.gated_delta_rule.naive import naive_recurrent_gated_delta_rule
    from fla.ops.gla.naive import naive_recurrent_gla
    from fla.ops.kda.naive import naive_recurrent_kda

    def unit(x):
        return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)

    naive = {
        "chunk_gla": lambda q, k, v, g: naive_recurrent_gla(q, k, v, g)[0],
        "chunk_gdn": lambda q, k, v, g, beta: naive_recurrent_gated_delta_rule(unit(q), unit(k), v, beta, g)[0],
        "chunk_kda": lambda q, k, v, g, beta: naive_recurrent_kda(unit(q), unit(k), v, g, beta)[0],
    }
    for name, theirs in naive.items():
        case = find(name).case("b1-t70-h2-d16", "bf16", "forward")
        given = draw(case, 2, "cpu").tensors
        expected = theirs(**{key: tensor.float() for key, tensor in given.items()}).double()
        wide = InputSet(2, {key: tensor.double() for key, tensor in given.items()}, ())
        actual = bind(case.op.reference, case)(wide)[0]
        assert float((actual - expected).norm() / expected.norm()) < 1e-6, name
