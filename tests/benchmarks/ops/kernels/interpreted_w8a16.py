"""Runs the kernel in Triton's interpreter and prints its errors as JSON; test_w8a16.py starts it."""

from __future__ import annotations

import json
import sys

CASES = {
    "one row": (1, 32, 256, "contiguous"),
    "one row, deeper than a tile": (1, 40, 4099, "contiguous"),
    "few rows, deeper than a tile": (7, 40, 4099, "contiguous"),
    "no tile is full": (5, 19, 77, "contiguous"),
    "several tiles and tails": (70, 131, 300, "contiguous"),
    "weight by columns": (17, 40, 96, "weight by columns"),
    "rows strided": (33, 40, 96, "rows strided"),
    "depth strided": (8, 40, 96, "depth strided"),
}


def error(rows: int, columns: int, depth: int, layout: str, dtype: str) -> float:
    """Return the root mean square error relative to that of the fp64 result."""
    import torch

    from benchmarks.ops.kernels.w8a16 import w8a16_matmul
    from benchmarks.ops.poison import poisoned

    generator = torch.Generator().manual_seed(rows + columns)
    x = torch.randn(rows, depth, generator=generator).to(getattr(torch, dtype))
    weight = torch.randint(-127, 128, (depth, columns), generator=generator, dtype=torch.int8)
    scale = 0.01 + torch.rand(columns, generator=generator) / 100
    if layout == "weight by columns":
        weight = weight.t().contiguous().t()
    elif layout == "rows strided":
        x = torch.cat((x, x), dim=1)[:, :depth]
    elif layout == "depth strided":
        x = torch.stack((x, x), dim=-1)[..., 0]
    with poisoned():
        actual = w8a16_matmul(x, weight, scale).double()
    expected = x.double() @ (weight.double() * scale.double())
    return float((actual - expected).norm() / expected.norm())


def main() -> None:
    """Print errors by case and dtype."""
    found = {
        f"{name}, {dtype}": error(*sizes, dtype) for name, sizes in CASES.items() for dtype in ("float32", "float16")
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
