"""Owns the tolerances that several ops share, a dtype each; an op with other needs states its own."""

from __future__ import annotations

from benchmarks.ops.registry import Tolerance

FP32 = (
    Tolerance("fp32", "forward", relative=1e-4, absolute=1e-4, rms=2e-5),
    Tolerance("fp32", "forward-backward", relative=1e-4, absolute=1e-3, rms=2e-5),
)
"""Sums of a few hundred fp32 products lose two or three digits of the seven; a wrong factor of 1.0001 does not pass."""

BF16 = (
    Tolerance("bf16", "forward", relative=0.02, absolute=0.1, rms=0.006),
    Tolerance("bf16", "forward-backward", relative=0.05, absolute=0.15, rms=0.0075),
)
"""Rounding to bf16 is 0.17 % rms; a kernel that also rounds between its stages reaches two or three times that.

The rms limits stay below 0.8 %, so that an output scaled by 1.008 does not pass.
"""
