"""Owns the numerical references of Flash Linear Attention's ops beyond the plain recurrences of `references`.

Plain torch again, in the dtype of their inputs, which the gate makes fp64. None of it is fla's: a naive form that ships
with the kernels may share their mistake.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchmarks.ops.references import gated_delta_rule, gated_linear_attention, linear_attention, recurrence, unit
from benchmarks.ops.references_torch import attention_block, in_blocks

if TYPE_CHECKING:
    import torch

_CHUNK = 32
_SELECTED_BLOCK = 64
PRECONDITIONER_BASE = 1.5
_PRECONDITIONER_EPSILON = 1e-6


def normalised_linear_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Linear attention divided by q's product with the sum of the keys so far (Katharopoulos et al., 2020)."""
    scale = q.shape[-1] ** -0.5
    # fla adds 1e-10 to the normaliser.
    normaliser = (q * scale * k.cumsum(1)).sum(-1, keepdim=True) + 1e-10
    return linear_attention(q, k, v) / normaliser


def _constant_decay(k: torch.Tensor, by_head: torch.Tensor) -> torch.Tensor:
    return by_head[None, None, :].expand(k.shape[:3])


def retention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Decay head h by 1 - 2^(-5 - h) a token (Sun et al., Retentive Network, 2023)."""
    import torch

    heads = torch.arange(k.shape[2], dtype=k.dtype, device=k.device)
    return gated_linear_attention(q, k, v, _constant_decay(k, (1 - 2.0 ** (-5 - heads)).log()))


def lightning_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, layer: int = 0, layers: int = 12
) -> torch.Tensor:
    """Decay head h of H by exp(-8 h / H (1 - layer / layers)) a token (Qin et al., Lightning Attention-2, 2024)."""
    import torch

    heads = torch.arange(k.shape[2], dtype=k.dtype, device=k.device)
    return gated_linear_attention(q, k, v, _constant_decay(k, -8 / k.shape[2] * (1 - layer / layers) * heads))


def delta_rule(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    """Delta rule without decay (Yang et al., 2024); beta is [B, T, H]."""
    return gated_delta_rule(q, k, v, beta.new_zeros(beta.shape), beta)


def rwkv6(r: torch.Tensor, k: torch.Tensor, v: torch.Tensor, w: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """Read the state before the token's write, and the write itself through the bonus u [H, K] (Peng et al., 2024).

    o_t = scale * r_t^T (S_{t-1} + diag(u) k_t v_t^T), S_t = exp(w_t) S_{t-1} + k_t v_t^T.
    """
    import torch

    scale = r.shape[-1] ** -0.5
    bonus = (r * u * k).sum(-1, keepdim=True) * v
    r, k, v, w = (tensor.transpose(1, 2) for tensor in (r, k, v, w))
    state = k.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1])
    outputs = []
    for start in range(0, k.shape[2], _CHUNK):
        chunk = slice(start, start + _CHUNK)
        total = w[:, :, chunk].cumsum(2)
        queries, keys = r[:, :, chunk] * (total - w[:, :, chunk]).exp(), k[:, :, chunk] * (-total).exp()
        written = v[:, :, chunk]
        outputs.append(queries @ state + (queries @ keys.mT).tril(-1) @ written)
        state = total[:, :, -1, :, None].exp() * (state + keys.mT @ written)
    return scale * (torch.cat(outputs, dim=2).transpose(1, 2) + bonus)


def _low_rank(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    decay: torch.Tensor,
) -> torch.Tensor:
    """S_t = exp(decay_t) S_{t-1} + k_t v_t^T + b_t (a_t^T S_{t-1}), o_t = q_t^T S_t; chunked as `references` is.

    The reads w_t = a_t^T S_{t-1} of one chunk solve a unit triangular system.
    """
    import torch

    q, k, v, a, b, decay = (tensor.transpose(1, 2) for tensor in (q, k, v, a, b, decay))
    state = k.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1])
    outputs = []
    for start in range(0, k.shape[2], _CHUNK):
        chunk = slice(start, start + _CHUNK)
        total, written = decay[:, :, chunk].cumsum(2), v[:, :, chunk]
        queries, readers = q[:, :, chunk] * total.exp(), a[:, :, chunk] * (total - decay[:, :, chunk]).exp()
        keys, further = k[:, :, chunk] * (-total).exp(), b[:, :, chunk] * (-total).exp()
        wanted = readers @ state + (readers @ keys.mT).tril(-1) @ written
        system = -(readers @ further.mT).tril(-1)
        reads = torch.linalg.solve_triangular(system, wanted, upper=False, unitriangular=True)
        within = (queries @ keys.mT).tril() @ written + (queries @ further.mT).tril() @ reads
        outputs.append(queries @ state + within)
        state = total[:, :, -1, :, None].exp() * (state + keys.mT @ written + further.mT @ reads)
    return torch.cat(outputs, dim=2).transpose(1, 2)


def dplr_delta_rule(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, a: torch.Tensor, b: torch.Tensor, gk: torch.Tensor
) -> torch.Tensor:
    """Diagonal plus low rank: the state decays by exp(gk) a channel and b writes what a reads of it, undecayed."""
    return _low_rank(q * q.shape[-1] ** -0.5, k, v, a, b, gk)


def rwkv7(
    r: torch.Tensor, w: torch.Tensor, k: torch.Tensor, v: torch.Tensor, a: torch.Tensor, b: torch.Tensor
) -> torch.Tensor:
    """The same with RWKV-7's names and without a scale (Peng et al., RWKV-7 "Goose", 2025)."""
    return _low_rank(r, k, v, a, b, w)


def comba_undecayed(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, p: torch.Tensor, g: torch.Tensor, beta: torch.Tensor
) -> torch.Tensor:
    """Comba of normalised q, k and p, where p reads the state as it was before the token's decay.

    S_t = exp(g_t) S_{t-1} + beta_t k_t (v_t - p_t^T S_{t-1})^T: the closed-loop form of Hu et al., Comba, 2025.
    """
    decay = g[..., None].expand_as(k)
    scale = q.shape[-1] ** -0.5
    weighted = beta[..., None]
    return _low_rank(unit(q) * scale, unit(k), weighted * v, unit(p), -weighted * unit(k), decay)


def _preconditioned(
    k: torch.Tensor, g_atk: torch.Tensor, beta_atk: torch.Tensor, log_atk_scale: torch.Tensor
) -> torch.Tensor:
    """Scale k a channel by base^(-s), s = r / (1 + |r|) for r = log(A + epsilon) - center.

    A is the decayed sum of beta_atk k^2; center is [H].
    """
    import torch

    squares, decay = (beta_atk[..., None] * k.square()).transpose(1, 2), g_atk.transpose(1, 2)
    state, sums = squares.new_zeros(squares.shape[:2] + squares.shape[3:]), []
    for start in range(0, squares.shape[2], _CHUNK):
        chunk = slice(start, start + _CHUNK)
        total = decay[:, :, chunk].cumsum(2)[..., None]
        summed = total.exp() * (state[:, :, None] + (squares[:, :, chunk] * (-total).exp()).cumsum(2))
        state = summed[:, :, -1]
        sums.append(summed)
    distance = (torch.cat(sums, dim=2).transpose(1, 2) + _PRECONDITIONER_EPSILON).log() - log_atk_scale[:, None]
    return k * (-math.log(PRECONDITIONER_BASE) * distance / (1 + distance.abs())).exp()


def preconditioned_gated_delta_rule(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    g: torch.Tensor,
    beta: torch.Tensor,
    g_atk: torch.Tensor,
    beta_atk: torch.Tensor,
    log_atk_scale: torch.Tensor,
) -> torch.Tensor:
    """Gated delta rule of normalised q and k that writes with a preconditioned key; g is [B, T, H] or [B, T, H, K]."""
    q, k = unit(q), unit(k)
    decay = g if g.dim() == k.dim() else g[..., None].expand_as(k)
    written = _preconditioned(k, g_atk, beta_atk, log_atk_scale)
    return recurrence(q, written, v * beta[..., None], decay, k * beta[..., None])


def attention_residuals(query: torch.Tensor, residuals: torch.Tensor, rms_weight: torch.Tensor) -> torch.Tensor:
    """Mix L residual streams [L, B, T, D] by a softmax over L of query times each stream's RMS norm (epsilon 1e-6)."""
    import torch

    sources, batch, tokens, width = residuals.shape

    def mixed(block: torch.Tensor, query: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        keys = block * (block.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * weight
        shares = torch.softmax(keys @ query, dim=0)
        return (shares[..., None] * block).sum(0)

    flat = residuals.reshape(sources, batch * tokens, width)
    size = max(1, (1 << 26) // (sources * width))
    pieces = in_blocks(
        mixed, [(flat[:, start : start + size], query, rms_weight) for start in range(0, flat.shape[1], size)]
    )
    return torch.cat(pieces, dim=0).reshape(batch, tokens, width)


def selected_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, block_indices: torch.Tensor) -> torch.Tensor:
    """Causal attention of each query to the blocks of 64 keys it selects; -1 selects none (Yuan et al., NSA, 2025).

    q is [B, T, HQ, D], k and v [B, T, H, D] with HQ / H query heads a key head, block_indices [B, T, H, S].
    """
    import torch

    tokens, group = q.shape[1], q.shape[2] // k.shape[2]
    blocks = -(-tokens // _SELECTED_BLOCK)
    kept = torch.arange(blocks, device=q.device)
    q, k, v = (tensor.transpose(1, 2) for tensor in (q, k, v))
    k, v = (tensor.repeat_interleave(group, dim=1) for tensor in (k, v))

    def attended(
        part: torch.Tensor, k: torch.Tensor, v: torch.Tensor, indices: torch.Tensor, start: int
    ) -> torch.Tensor:
        chosen = (indices[..., None] == kept).any(-2).transpose(1, 2)
        mask = chosen.repeat_interleave(_SELECTED_BLOCK, dim=-1)[..., : k.shape[2]].repeat_interleave(group, dim=1)
        return attention_block(part, k, v, start, mask)

    size = _SELECTED_BLOCK
    pieces = in_blocks(
        attended,
        [
            (q[:, :, start : start + size], k, v, block_indices[:, start : start + size], start)
            for start in range(0, tokens, size)
        ],
    )
    return torch.cat(pieces, dim=2).transpose(1, 2)
