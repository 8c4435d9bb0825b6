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
_ROW_TILE = (64, 64)
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
    x_stride_row: tl.tensor,
    x_stride_depth: tl.tensor,
    weight_stride_depth: tl.tensor,
    weight_stride_column: tl.tensor,
    PRECISION: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
) -> None:
    # Programs that follow each other share a column block of the weight, which then stays in L2.
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    step = tl.arange(0, DEPTH)
    x_start = x_pointer + row.to(tl.int64)[:, None] * x_stride_row
    weight_start = weight_pointer + column.to(tl.int64)[None, :] * weight_stride_column
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for first in range(0, depth, DEPTH):
        at = (first + step).to(tl.int64)
        x_mask = (row < rows)[:, None] & (at < depth)[None, :]
        weight_mask = (at < depth)[:, None] & (column < columns)[None, :]
        x = tl.load(x_start + at[None, :] * x_stride_depth, mask=x_mask, other=0.0)
        weight = tl.load(weight_start + at[:, None] * weight_stride_depth, mask=weight_mask, other=0)
        total = tl.dot(x, weight.to(x.dtype), total, input_precision=PRECISION)
    scale = tl.load(scale_pointer + column, mask=column < columns, other=0.0).to(tl.float32)
    target = y_pointer + row.to(tl.int64)[:, None] * columns + column[None, :]
    mask = (row < rows)[:, None] & (column < columns)[None, :]
    tl.store(target, (total * scale[None, :]).to(y_pointer.dtype.element_ty), mask=mask)


@triton.jit
def _row_product_kernel(
    x_pointer: tl.tensor,
    weight_pointer: tl.tensor,
    scale_pointer: tl.tensor,
    y_pointer: tl.tensor,
    columns: tl.tensor,
    depth: tl.tensor,
    x_stride_depth: tl.tensor,
    weight_stride_depth: tl.tensor,
    weight_stride_column: tl.tensor,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    STAGES: tl.constexpr,
) -> None:
    # One row fills a sixteenth of a tensor core's tile, so it is multiplied without one.
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    step = tl.arange(0, DEPTH)
    x_start = x_pointer
    weight_start = weight_pointer + column.to(tl.int64)[None, :] * weight_stride_column
    products = tl.zeros((DEPTH, COLUMNS), tl.float32)
    for first in tl.range(0, depth, DEPTH, num_stages=STAGES):
        at = (first + step).to(tl.int64)
        weight_mask = (at < depth)[:, None] & (column < columns)[None, :]
        x = tl.load(x_start + at * x_stride_depth, mask=at < depth, other=0.0)
        weight = tl.load(weight_start + at[:, None] * weight_stride_depth, mask=weight_mask, other=0)
        products += x.to(tl.float32)[:, None] * weight.to(tl.float32)
    total = tl.sum(products, axis=0)
    scale = tl.load(scale_pointer + column, mask=column < columns, other=0.0).to(tl.float32)
    tl.store(y_pointer + column, (total * scale).to(y_pointer.dtype.element_ty), mask=column < columns)


def tiling(rows: int) -> tuple[int, int, int, int]:
    """Return rows, columns and depth of a tile, and its warps: few rows take the tile of 64, see below."""
    # From 64 rows on Hopper multiplies out of shared memory; a smaller tile gathers the weight from it byte by byte.
    if rows <= 64:
        return 64, 64, 128, 4
    return 128, 128, 64, 8


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
    # Only fp32 has a choice, and tf32 would be another precision than the dtype promises.
    precision = "ieee" if x.dtype == torch.float32 else None
    if rows == 1 and columns:
        _row_product_kernel[(triton.cdiv(columns, _ROW_TILE[0]),)](
            x, weight, scale, y, columns, depth, x.stride(1), weight.stride(0), weight.stride(1),
            *_ROW_TILE, _ROW_STAGES, num_warps=4,
        )  # fmt: skip
    elif rows and columns:
        _product_kernel[(triton.cdiv(rows, tile_rows), triton.cdiv(columns, tile_columns))](
            x, weight, scale, y, rows, columns, depth,
            x.stride(0), x.stride(1), weight.stride(0), weight.stride(1),
            precision, tile_rows, tile_columns, tile_depth, num_warps=warps,
        )  # fmt: skip
    return y
