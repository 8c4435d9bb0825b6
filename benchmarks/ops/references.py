"""Owns the numerical references of the gates: plain torch, in the dtype of their inputs, which the gate makes fp64.

Every linear-attention op here is one recurrence over a head's K x V state S:

    S' = exp(decay_t) * S_{t-1}        rowwise over K
    u  = write_t - erase_t^T S'
    S_t = S' + k_t u^T
    o_t = scale * q_t^T S_t

with `erase` absent for ops without a delta rule. It is evaluated in chunks, where the u of one chunk solve a unit
triangular system (the WY form: Yang et al., Parallelizing Linear Transformers with the Delta Rule, 2024). Within a
chunk the decay between two tokens is factored into exp(G_i) exp(-G_j), which overflows fp32 but not fp64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

_CHUNK = 32


def recurrence(
    q: torch.Tensor,
    k: torch.Tensor,
    write: torch.Tensor,
    decay: torch.Tensor | None = None,
    erase: torch.Tensor | None = None,
) -> torch.Tensor:
    """Evaluate the recurrence; q, k, decay and erase are [B, T, H, K], write is [B, T, H, V], as is the result."""
    import torch

    q, k, write = ((tensor.transpose(1, 2)) for tensor in (q * q.shape[-1] ** -0.5, k, write))
    decay = torch.zeros_like(k) if decay is None else decay.transpose(1, 2)
    erase = None if erase is None else erase.transpose(1, 2)
    state = k.new_zeros(*k.shape[:2], k.shape[-1], write.shape[-1])
    outputs = []
    for start in range(0, k.shape[2], _CHUNK):
        chunk = slice(start, start + _CHUNK)
        total = decay[:, :, chunk].cumsum(2)
        # exp(-total) reaches exp(160) where every decay is -5; the triangle drops the products that this makes large.
        queries, keys = q[:, :, chunk] * total.exp(), k[:, :, chunk] * (-total).exp()
        updates = write[:, :, chunk]
        if erase is not None:
            erasers = erase[:, :, chunk] * total.exp()
            system = (erasers @ keys.mT).tril(-1)
            updates = torch.linalg.solve_triangular(system, updates - erasers @ state, upper=False, unitriangular=True)
        outputs.append(queries @ state + (queries @ keys.mT).tril() @ updates)
        state = total[:, :, -1, :, None].exp() * (state + keys.mT @ updates)
    return torch.cat(outputs, dim=2).transpose(1, 2)


def unit(tensor: torch.Tensor) -> torch.Tensor:
    """Divide by the norm over the last dimension, epsilon 1e-6 under the root."""
    return tensor / (tensor.square().sum(-1, keepdim=True) + 1e-6).sqrt()


def linear_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Linear attention without normaliser (Katharopoulos et al., 2020): all [B, T, H, D]."""
    return recurrence(q, k, v)


def gated_linear_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    """Decay by exp(g), g of [B, T, H] for the whole head or [B, T, H, K] a channel (Yang et al., 2023)."""
    return recurrence(q, k, v, _by_channel(g, k))


def gated_delta_rule(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, beta: torch.Tensor
) -> torch.Tensor:
    """Gated delta rule (Yang et al., Gated Delta Networks, 2024), or KDA where g is [B, T, H, K]; beta is [B, T, H]."""
    return recurrence(q, k, v * beta[..., None], _by_channel(g, k), k * beta[..., None])


def normalised_gated_delta_rule(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, beta: torch.Tensor
) -> torch.Tensor:
    """`gated_delta_rule` of q and k divided by their norms over the head dimension (epsilon 1e-6 under the root)."""
    return gated_delta_rule(unit(q), unit(k), v, g, beta)


def gated_delta_rule_2(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, b: torch.Tensor, w: torch.Tensor
) -> torch.Tensor:
    """Gated delta rule with an erase gate b [B, T, H, K] and a write gate w [B, T, H, V] a channel."""
    return recurrence(q, k, w * v, g, b * k)


def comba(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, p: torch.Tensor, g: torch.Tensor, beta: torch.Tensor
) -> torch.Tensor:
    """Gated delta rule that reads the decayed state with p, not k (Hu et al., Comba, 2025)."""
    return recurrence(q, k, v * beta[..., None], _by_channel(g, k), p * beta[..., None])


def hgrn(x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    """Elementwise recurrence h_t = exp(g_t) h_{t-1} + x_t over [B, T, D] (Qin et al., HGRN, 2023)."""
    import torch

    state, outputs = torch.zeros_like(x[:, 0]), []
    for step in range(x.shape[1]):
        state = g[:, step].exp() * state + x[:, step]
        outputs.append(state)
    return torch.stack(outputs, dim=1)


def rms_norm_pair(
    q: torch.Tensor, k: torch.Tensor, q_weight: torch.Tensor, k_weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Root-mean-square normalise the last dimension of q and of k, each scaled by its own weight."""
    pairs = ((q, q_weight), (k, k_weight))
    normed = [x * (x.square().mean(-1, keepdim=True) + eps).rsqrt() * weight for x, weight in pairs]
    return normed[0], normed[1]


def _by_channel(g: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    return g if g.dim() == k.dim() else g[..., None].expand_as(k)
