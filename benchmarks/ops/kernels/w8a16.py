"""W8A16 matmul: activations of 16 bits times an int8 weight with a scale a column, without a widened copy of it.

Decoding reads the whole weight for a few rows of activations, so bytes decide. The kernel reads one byte an element,
widens it in registers (every int8 is exact in fp16, bf16 and fp32), and scales each column once, after the sum.
"""

# mypy: disable-error-code="untyped-decorator, misc"

from __future__ import annotations

import torch
import triton
import triton.language as tl

FLOATING = (torch.bfloat16, torch.float16, torch.float32)
_PROGRAMS = 1024
"""As many keep every multiprocessor of a large GPU busy, several on each."""
_SUM_SIZE = 512
_ROW_TILE = (128, 64)
"""Columns and depth of a tile where there is one row."""
_ROW_STAGES = 4


# The number of rows is not specialised: a server would compile anew for a batch of 1 and for every multiple of 16.
@triton.jit(do_not_specialize=["rows"])
def _product_kernel(
    x_pointer: tl.tensor,
    weight_pointer: tl.tensor,
    scale_pointer: tl.tensor,
    y_pointer: tl.tensor,
    rows: tl.tensor,
    columns: tl.tensor,
    depth: tl.tensor,
    part: tl.tensor,
    x_stride_row: tl.tensor,
    x_stride_depth: tl.tensor,
    weight_stride_depth: tl.tensor,
    weight_stride_column: tl.tensor,
    PRECISION: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    PARTS: tl.constexpr,
) -> None:
    # Programs that follow each other share a column block of the weight, which then stays in L2.
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    step = tl.arange(0, DEPTH)
    begin = tl.program_id(2) * part
    x_start = x_pointer + row.to(tl.int64)[:, None] * x_stride_row
    weight_start = weight_pointer + column.to(tl.int64)[None, :] * weight_stride_column
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for first in range(begin, tl.minimum(begin + part, depth), DEPTH):
        at = (first + step).to(tl.int64)
        x_mask = (row < rows)[:, None] & (at < depth)[None, :]
        weight_mask = (at < depth)[:, None] & (column < columns)[None, :]
        x = tl.load(x_start + at[None, :] * x_stride_depth, mask=x_mask, other=0.0)
        weight = tl.load(weight_start + at[:, None] * weight_stride_depth, mask=weight_mask, other=0)
        total = tl.dot(x, weight.to(x.dtype), total, input_precision=PRECISION)
    if PARTS == 1:
        scale = tl.load(scale_pointer + column, mask=column < columns, other=0.0).to(tl.float32)
        total *= scale[None, :]
    target_row = tl.program_id(2).to(tl.int64) * rows + row
    target = y_pointer + target_row[:, None] * columns + column[None, :]
    mask = (row < rows)[:, None] & (column < columns)[None, :]
    tl.store(target, total.to(y_pointer.dtype.element_ty), mask=mask)


@triton.jit
def _row_product_kernel(
    x_pointer: tl.tensor,
    weight_pointer: tl.tensor,
    scale_pointer: tl.tensor,
    y_pointer: tl.tensor,
    columns: tl.tensor,
    depth: tl.tensor,
    part: tl.tensor,
    x_stride_depth: tl.tensor,
    weight_stride_depth: tl.tensor,
    weight_stride_column: tl.tensor,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    PARTS: tl.constexpr,
    STAGES: tl.constexpr,
) -> None:
    # One row fills a sixteenth of a tensor core's tile, so it is multiplied without one.
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    step = tl.arange(0, DEPTH)
    begin = tl.program_id(1) * part
    x_start = x_pointer
    weight_start = weight_pointer + column.to(tl.int64)[None, :] * weight_stride_column
    products = tl.zeros((DEPTH, COLUMNS), tl.float32)
    for first in tl.range(begin, tl.minimum(begin + part, depth), DEPTH, num_stages=STAGES):
        at = (first + step).to(tl.int64)
        weight_mask = (at < depth)[:, None] & (column < columns)[None, :]
        x = tl.load(x_start + at * x_stride_depth, mask=at < depth, other=0.0)
        weight = tl.load(weight_start + at[:, None] * weight_stride_depth, mask=weight_mask, other=0)
        products += x.to(tl.float32)[:, None] * weight.to(tl.float32)
    total = tl.sum(products, axis=0)
    if PARTS == 1:
        total *= tl.load(scale_pointer + column, mask=column < columns, other=0.0).to(tl.float32)
    target = y_pointer + tl.program_id(1).to(tl.int64) * columns + column
    tl.store(target, total.to(y_pointer.dtype.element_ty), mask=column < columns)


@triton.jit
def _sum_kernel(
    parts_pointer: tl.tensor,
    scale_pointer: tl.tensor,
    y_pointer: tl.tensor,
    columns: tl.tensor,
    size: tl.tensor,
    PARTS: tl.constexpr,
    SIZE: tl.constexpr,
) -> None:
    # Parts are added in order, so that the same inputs give the same bits.
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    total = tl.zeros((SIZE,), tl.float32)
    for part in tl.static_range(PARTS):
        total += tl.load(parts_pointer + part * size + at, mask=at < size, other=0.0)
    scale = tl.load(scale_pointer + at % columns, mask=at < size, other=0.0).to(tl.float32)
    tl.store(y_pointer + at, (total * scale).to(y_pointer.dtype.element_ty), mask=at < size)


def tiling(rows: int) -> tuple[int, int, int, int]:
    """Return rows, columns and depth of a tile, and its warps: few rows take the tile of 64, see below."""
    # From 64 rows on Hopper multiplies out of shared memory; a smaller tile gathers the weight from it byte by byte.
    if rows <= 64:
        return 64, 64, 128, 4
    return 128, 128, 64, 8


def depth_parts(tiles: int, depth: int, tile_depth: int) -> int:
    """Return into how many parts the depth is split: few tiles leave multiprocessors idle, short parts cost sums."""
    return max(1, min(triton.cdiv(_PROGRAMS, tiles), depth // (4 * tile_depth), 16))


def _check(x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor) -> None:
    if x.dim() != 2 or weight.dim() != 2 or x.shape[1] != weight.shape[0]:
        raise ValueError(f"x is [rows, depth] and weight [depth, columns], not {tuple(x.shape)}, {tuple(weight.shape)}")
    if scale.shape != weight.shape[1:] or not scale.is_contiguous() or not scale.is_floating_point():
        raise ValueError(f"scale is a contiguous floating vector of {weight.shape[1]}, not {tuple(scale.shape)}")
    if weight.dtype != torch.int8 or x.dtype not in FLOATING:
        raise ValueError(f"weight is int8 and x bf16, fp16 or fp32, not {weight.dtype} and {x.dtype}")


def w8a16_matmul(x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Return x times the int8 weight, each column scaled: [rows, depth] by [depth, columns].

    x and weight may have any strides. Sums are fp32, the result is contiguous and rounded once to the dtype of x. There
    is no backward pass: quantised weights are not trained.

    Raises:
        ValueError: shapes or dtypes that do not belong together, or a scale that is not contiguous.
    """
    _check(x, weight, scale)
    (rows, depth), columns = x.shape, weight.shape[1]
    y = torch.empty((rows, columns), dtype=x.dtype, device=x.device)
    tile_rows, tile_columns, tile_depth, warps = tiling(rows)
    if rows == 1:
        tile_columns, tile_depth = _ROW_TILE
    tiles = triton.cdiv(rows, tile_rows) * triton.cdiv(columns, tile_columns)
    parts = depth_parts(tiles, depth, tile_depth) if 0 < rows <= 16 and columns else 1
    part = triton.cdiv(triton.cdiv(depth, parts), tile_depth) * tile_depth
    target = y if parts == 1 else torch.empty((parts, rows, columns), dtype=torch.float32, device=x.device)
    # Only fp32 has a choice, and tf32 would be another precision than the dtype promises.
    precision = "ieee" if x.dtype == torch.float32 else None
    if rows == 1 and columns:
        _row_product_kernel[(triton.cdiv(columns, tile_columns), parts)](
            x, weight, scale, target, columns, depth, part, x.stride(1), weight.stride(0), weight.stride(1),
            tile_columns, tile_depth, parts, _ROW_STAGES, num_warps=4,
        )  # fmt: skip
    elif rows and columns:
        _product_kernel[(triton.cdiv(rows, tile_rows), triton.cdiv(columns, tile_columns), parts)](
            x, weight, scale, target, rows, columns, depth, part,
            x.stride(0), x.stride(1), weight.stride(0), weight.stride(1),
            precision, tile_rows, tile_columns, tile_depth, parts, num_warps=warps,
        )  # fmt: skip
    if parts > 1:
        size = rows * columns
        _sum_kernel[(triton.cdiv(size, _SUM_SIZE),)](target, scale, y, columns, size, parts, _SUM_SIZE, num_warps=4)
    return y
