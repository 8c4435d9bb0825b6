"""Owns the shapes that several ops share."""

from __future__ import annotations

from benchmarks.ops.registry import Shape

CPU = (Shape.of(B=1, T=512, H=4, D=64),)
"""Small enough that a step-by-step form in plain torch takes tens of milliseconds on a core."""

FLASH_LINEAR_ATTENTION = (
    Shape.keyed("B1_T8192_H96_D128", B=1, T=8192, H=96, D=128),
    Shape.keyed("B2_T16384_H16_D128", B=2, T=16384, H=16, D=128),
    Shape.keyed("B4_T2048_H16_D128", B=4, T=2048, H=16, D=128),
    Shape.keyed("B4_T4096_H64_D128", B=4, T=4096, H=64, D=128),
    Shape.keyed("B8_T2048_H32_D256", B=8, T=2048, H=32, D=256),
    Shape.keyed("B8_T1024_H8_D64", B=8, T=1024, H=8, D=64),
)
"""The global shapes of Flash Linear Attention's own benchmark registry, under its keys."""

BTHD = ("B", "T", "H", "D")
BTH = ("B", "T", "H")

ROWS = (Shape.of(M=1024, D=4096), Shape.of(M=8192, D=4096), Shape.of(M=16384, D=8192))
"""Tokens by model width."""

VOCABULARY = (Shape.of(M=1024, V=32768), Shape.of(M=4096, V=32768), Shape.of(M=4096, V=131072))
"""Tokens by vocabulary."""

PRODUCTS = (Shape.of(M=16, N=4096, K=4096), Shape.of(M=4096, N=4096, K=4096), Shape.of(M=8192, N=8192, K=8192))
"""A decoding step of 16 sequences, and two sizes that keep every multiprocessor busy."""

WEIGHTS = (
    Shape.of(M=1, N=4096, K=4096),
    Shape.of(M=16, N=14336, K=4096),
    Shape.of(M=64, N=4096, K=14336),
    Shape.of(M=2048, N=4096, K=4096),
    Shape.of(M=1, N=28672, K=8192),
    Shape.of(M=16, N=28672, K=8192),
)
"""Decoding, where reading the weight is all there is, up to a prefill; then decoding with a weight beyond any cache."""
