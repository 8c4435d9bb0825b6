"""Owns the numerical references of attention, norms, losses and products: formulas, not torch's own functions of them.

In the dtype of their inputs, which the gate makes fp64. What would be quadratic in tokens is evaluated in blocks, whose
intermediates are computed again in the backward pass instead of kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_QUERIES_AT_ONCE = 256


def in_blocks(evaluate: Callable[..., torch.Tensor], arguments: Sequence[tuple[Any, ...]]) -> list[torch.Tensor]:
    """Evaluate each block, keeping nothing but its arguments for the backward pass."""
    from torch.utils.checkpoint import checkpoint

    return [checkpoint(evaluate, *block, use_reentrant=False) for block in arguments]


def attention_block(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, start: int, allowed: torch.Tensor | None = None
) -> torch.Tensor:
    """Attend from queries at positions from `start` on to the keys before and at each, scaled by D^-1/2.

    All are [B, H, tokens, D]; `allowed` restricts further. Softmax as its formula, shifted by the row's maximum.
    """
    import torch

    scores = q @ k.mT * q.shape[-1] ** -0.5
    rows = torch.arange(start, start + q.shape[2], device=q.device)[:, None]
    seen = torch.arange(k.shape[2], device=q.device)[None, :] <= rows
    scores = scores.masked_fill(~(seen if allowed is None else seen & allowed), float("-inf"))
    weights = (scores - scores.amax(-1, keepdim=True).detach()).exp()
    return weights @ v / weights.sum(-1, keepdim=True)


def causal_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Causal softmax attention; all are [B, T, H, D]."""
    import torch

    q, k, v = (tensor.transpose(1, 2) for tensor in (q, k, v))
    size = _QUERIES_AT_ONCE
    starts = range(0, q.shape[2], size)
    pieces = in_blocks(attention_block, [(q[:, :, start : start + size], k, v, start) for start in starts])
    return torch.cat(pieces, dim=2).transpose(1, 2)


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """Divide each row by its root mean square and scale it by weight."""
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weight


def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
    """Shift each row to mean 0, scale it to variance 1, then by weight and shift by bias."""
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() * weight + bias


def softmax(x: torch.Tensor) -> torch.Tensor:
    """Exponentials of each row over their sum."""
    shifted = (x - x.amax(-1, keepdim=True).detach()).exp()
    return shifted / shifted.sum(-1, keepdim=True)


def cross_entropy(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Negative log probability of the target class of each row."""
    shifted = logits - logits.amax(-1, keepdim=True).detach()
    return shifted.exp().sum(-1).log() - shifted.gather(-1, target[:, None])[:, 0]


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Product of [M, K] and [K, N]."""
    import torch

    return torch.einsum("mk,kn->mn", a, b)


def scaled_product(a: torch.Tensor, b: torch.Tensor, a_scale: torch.Tensor, b_scale: torch.Tensor) -> torch.Tensor:
    """Product of a [M, K] and the transpose of b [N, K], each row of either scaled by its own factor."""
    return product(a * a_scale[:, None], (b * b_scale[:, None]).mT)


def quantised_product(x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Product of x [M, K] and an integer weight [K, N] whose columns are scaled."""
    return product(x, weight * scale)
