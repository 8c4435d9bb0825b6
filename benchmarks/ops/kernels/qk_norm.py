"""Fused QK norm: the query heads and the key heads of attention, root-mean-square normalised in one launch.

A model with QK norm (Qwen3, OLMo 2, Gemma 3) normalises every head of q by one weight and every head of k by another.
As two calls that is two launches over small rows. Here one grid covers both: the first programs take tiles of q, the
rest tiles of k, and q and k may be strided slices of one fused qkv projection, which a call on each would copy first.
"""

# mypy: disable-error-code="untyped-decorator, misc"

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

_TILE_ELEMENTS = 4096
"""Elements a program holds at once: 32 a thread with four warps, loaded 8 (16 bytes) at a time."""
_PROGRAMS_WANTED = 512
"""Below this many programs tiles shrink, so that a short batch still reaches most of the device."""


@triton.jit
def _tile(
    pointer: tl.tensor,
    first_row: tl.tensor,
    rows: tl.tensor,
    stride_token: tl.tensor,
    stride_head: tl.tensor,
    HEADS: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> tuple[tl.tensor, tl.tensor]:
    """Return pointers to and a mask of ROWS rows of [tokens, HEADS, WIDTH]; a row is one head of one token."""
    row = first_row + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    token = (row // HEADS).to(tl.int64)
    start = token * stride_token + (row % HEADS) * stride_head
    mask = (row < rows)[:, None] & (column < WIDTH)[None, :]
    return pointer + start[:, None] + column[None, :], mask


@triton.jit
def _normalise(
    x_pointer: tl.tensor,
    y_pointer: tl.tensor,
    weight_pointer: tl.tensor,
    tile: tl.tensor,
    tokens: tl.tensor,
    stride_token: tl.tensor,
    stride_head: tl.tensor,
    epsilon: tl.tensor,
    HEADS: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    column = tl.arange(0, BLOCK)
    weight = tl.load(weight_pointer + column, mask=column < WIDTH, other=0.0).to(tl.float32)
    first, rows = tile * ROWS, tokens * HEADS
    source, mask = _tile(x_pointer, first, rows, stride_token, stride_head, HEADS, WIDTH, ROWS, BLOCK)
    target, _ = _tile(y_pointer, first, rows, HEADS * WIDTH, WIDTH, HEADS, WIDTH, ROWS, BLOCK)
    x = tl.load(source, mask=mask, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=1) / WIDTH + epsilon)
    tl.store(target, (x * scale[:, None] * weight[None, :]).to(y_pointer.dtype.element_ty), mask=mask)


# Counts are not specialised: a server would compile anew for a batch of 1 and for every multiple of 16.
@triton.jit(do_not_specialize=["tokens", "q_tiles"])
def _forward_kernel(
    q_pointer: tl.tensor,
    k_pointer: tl.tensor,
    q_out_pointer: tl.tensor,
    k_out_pointer: tl.tensor,
    q_weight_pointer: tl.tensor,
    k_weight_pointer: tl.tensor,
    tokens: tl.tensor,
    q_tiles: tl.tensor,
    q_stride_token: tl.tensor,
    q_stride_head: tl.tensor,
    k_stride_token: tl.tensor,
    k_stride_head: tl.tensor,
    epsilon: tl.tensor,
    Q_HEADS: tl.constexpr,
    K_HEADS: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    program = tl.program_id(0)
    if program < q_tiles:
        _normalise(
            q_pointer, q_out_pointer, q_weight_pointer, program, tokens, q_stride_token, q_stride_head, epsilon,
            Q_HEADS, WIDTH, ROWS, BLOCK,
        )  # fmt: skip
    else:
        _normalise(
            k_pointer, k_out_pointer, k_weight_pointer, program - q_tiles, tokens, k_stride_token, k_stride_head,
            epsilon, K_HEADS, WIDTH, ROWS, BLOCK,
        )  # fmt: skip


@triton.jit
def _differentiate(
    x_pointer: tl.tensor,
    dy_pointer: tl.tensor,
    dx_pointer: tl.tensor,
    weight_pointer: tl.tensor,
    partial_pointer: tl.tensor,
    program: tl.tensor,
    programs: tl.tensor,
    tokens: tl.tensor,
    stride_token: tl.tensor,
    stride_head: tl.tensor,
    epsilon: tl.tensor,
    HEADS: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    column = tl.arange(0, BLOCK)
    weight = tl.load(weight_pointer + column, mask=column < WIDTH, other=0.0).to(tl.float32)
    weight_gradient = tl.zeros((BLOCK,), tl.float32)
    rows = tokens * HEADS
    for tile in range(program, tl.cdiv(rows, ROWS), programs):
        first = tile * ROWS
        source, mask = _tile(x_pointer, first, rows, stride_token, stride_head, HEADS, WIDTH, ROWS, BLOCK)
        upstream, _ = _tile(dy_pointer, first, rows, HEADS * WIDTH, WIDTH, HEADS, WIDTH, ROWS, BLOCK)
        target, _ = _tile(dx_pointer, first, rows, HEADS * WIDTH, WIDTH, HEADS, WIDTH, ROWS, BLOCK)
        x = tl.load(source, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(upstream, mask=mask, other=0.0).to(tl.float32)
        scale = tl.rsqrt(tl.sum(x * x, axis=1) / WIDTH + epsilon)[:, None]
        unit, weighted = x * scale, dy * weight[None, :]
        along = tl.sum(unit * weighted, axis=1)[:, None] / WIDTH
        tl.store(target, ((weighted - unit * along) * scale).to(dx_pointer.dtype.element_ty), mask=mask)
        weight_gradient += tl.sum(dy * unit, axis=0)
    tl.store(partial_pointer + program * WIDTH + column, weight_gradient, mask=column < WIDTH)


@triton.jit(do_not_specialize=["tokens", "q_programs", "k_programs"])
def _backward_kernel(
    q_pointer: tl.tensor,
    k_pointer: tl.tensor,
    q_upstream_pointer: tl.tensor,
    k_upstream_pointer: tl.tensor,
    dq_pointer: tl.tensor,
    dk_pointer: tl.tensor,
    q_weight_pointer: tl.tensor,
    k_weight_pointer: tl.tensor,
    q_partial_pointer: tl.tensor,
    k_partial_pointer: tl.tensor,
    tokens: tl.tensor,
    q_programs: tl.tensor,
    k_programs: tl.tensor,
    q_stride_token: tl.tensor,
    q_stride_head: tl.tensor,
    k_stride_token: tl.tensor,
    k_stride_head: tl.tensor,
    epsilon: tl.tensor,
    Q_HEADS: tl.constexpr,
    K_HEADS: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    program = tl.program_id(0)
    if program < q_programs:
        _differentiate(
            q_pointer, q_upstream_pointer, dq_pointer, q_weight_pointer, q_partial_pointer, program, q_programs, tokens,
            q_stride_token, q_stride_head, epsilon, Q_HEADS, WIDTH, ROWS, BLOCK,
        )  # fmt: skip
    else:
        _differentiate(
            k_pointer, k_upstream_pointer, dk_pointer, k_weight_pointer, k_partial_pointer, program - q_programs,
            k_programs, tokens, k_stride_token, k_stride_head, epsilon, K_HEADS, WIDTH, ROWS, BLOCK,
        )  # fmt: skip


def tiling(rows: int, width: int) -> tuple[int, int, int]:
    """Return rows a program, its padded width and its warps, for `rows` heads of `width` elements in all."""
    block = triton.next_power_of_2(width)
    fitting = max(1, _TILE_ELEMENTS // block)
    spread = triton.next_power_of_2(max(1, rows // _PROGRAMS_WANTED))
    tile_rows = min(fitting, spread)
    return tile_rows, block, max(1, min(8, tile_rows * block // 1024))


def _check(q: torch.Tensor, k: torch.Tensor, q_weight: torch.Tensor, k_weight: torch.Tensor) -> None:
    if q.dim() != 3 or k.dim() != 3 or q.shape[0] != k.shape[0] or q.shape[2] != k.shape[2]:
        raise ValueError(f"q and k are [tokens, heads, width] of equal tokens and width, not {q.shape} and {k.shape}")
    for name, weight in (("q_weight", q_weight), ("k_weight", k_weight)):
        if weight.shape != q.shape[2:] or not weight.is_contiguous():
            raise ValueError(f"{name} is a contiguous vector of {q.shape[2]}, not {tuple(weight.shape)}")


def _rows_contiguous(x: torch.Tensor) -> torch.Tensor:
    return x if x.stride(2) == 1 else x.contiguous()


def _cdiv(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


def _forward(
    q: torch.Tensor, k: torch.Tensor, q_weight: torch.Tensor, k_weight: torch.Tensor, epsilon: float
) -> tuple[torch.Tensor, torch.Tensor]:
    (tokens, q_heads, width), k_heads = q.shape, k.shape[1]
    q_out, k_out = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k))
    rows, block, warps = tiling(tokens * (q_heads + k_heads), width)
    q_tiles, k_tiles = _cdiv(tokens * q_heads, rows), _cdiv(tokens * k_heads, rows)
    if q_tiles + k_tiles:
        _forward_kernel[(q_tiles + k_tiles,)](
            q, k, q_out, k_out, q_weight, k_weight, tokens, q_tiles,
            q.stride(0), q.stride(1), k.stride(0), k.stride(1), epsilon,
            q_heads, k_heads, width, rows, block, num_warps=warps,
        )  # fmt: skip
    return q_out, k_out


class _QKNorm(torch.autograd.Function):
    """Keeps q and k, not their scales: recomputing a row's scale costs less than reading it back."""

    @staticmethod
    def forward(
        ctx: Any,
        q: torch.Tensor,
        k: torch.Tensor,
        q_weight: torch.Tensor,
        k_weight: torch.Tensor,
        epsilon: float,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        ctx.save_for_backward(q, k, q_weight, k_weight)
        ctx.epsilon = epsilon
        return _forward(q, k, q_weight, k_weight, epsilon)

    @staticmethod
    def backward(
        ctx: Any,
        q_upstream: torch.Tensor,
        k_upstream: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, None]:
        q, k, q_weight, k_weight = ctx.saved_tensors
        q_upstream, k_upstream = q_upstream.contiguous(), k_upstream.contiguous()
        (tokens, q_heads, width), k_heads = q.shape, k.shape[1]
        dq, dk = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (q, k))
        rows, block, warps = tiling(tokens * (q_heads + k_heads), width)
        q_programs, k_programs = _backward_programs(tokens, q_heads, k_heads, rows, q.device)
        partial = torch.empty((q_programs + k_programs, width), dtype=torch.float32, device=q.device)
        q_partial, k_partial = partial[:q_programs], partial[q_programs:]
        if q_programs + k_programs:
            _backward_kernel[(q_programs + k_programs,)](
                q, k, q_upstream, k_upstream, dq, dk, q_weight, k_weight, q_partial, k_partial,
                tokens, q_programs, k_programs, q.stride(0), q.stride(1), k.stride(0), k.stride(1), ctx.epsilon,
                q_heads, k_heads, width, rows, block, num_warps=warps,
            )  # fmt: skip
        return dq, dk, q_partial.sum(0).to(q_weight.dtype), k_partial.sum(0).to(k_weight.dtype), None


def _backward_programs(tokens: int, q_heads: int, k_heads: int, rows: int, device: torch.device) -> tuple[int, int]:
    """Split persistent programs, four a multiprocessor, over q and k by heads; never more than tiles."""
    processors = torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1
    shared = 4 * processors
    q_share = max(1, shared * q_heads // (q_heads + k_heads))
    return (
        min(_cdiv(tokens * q_heads, rows), q_share),
        min(_cdiv(tokens * k_heads, rows), max(1, shared - q_share)),
    )


def qk_norm(
    q: torch.Tensor, k: torch.Tensor, q_weight: torch.Tensor, k_weight: torch.Tensor, epsilon: float = 1e-6
) -> tuple[torch.Tensor, torch.Tensor]:
    """Normalise each head of q and k by its root mean square and scale it by the weight of its side, in one launch.

    q is [tokens, query heads, width], k [tokens, key heads, width]; tokens and heads may have any strides. Sums and
    products are fp32, the results contiguous and rounded once to the dtype of q and k. Differentiable in all four.

    Raises:
        ValueError: shapes that do not belong together, or a weight that is not contiguous.
    """
    _check(q, k, q_weight, k_weight)
    q, k = _rows_contiguous(q), _rows_contiguous(k)
    if not (torch.is_grad_enabled() and any(x.requires_grad for x in (q, k, q_weight, k_weight))):
        return _forward(q, k, q_weight, k_weight, epsilon)
    q_normed, k_normed = _QKNorm.apply(q, k, q_weight, k_weight, epsilon)
    return q_normed, k_normed
