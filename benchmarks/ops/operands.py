"""Owns the operands, and the gaps of kernels, that several ops share."""

from __future__ import annotations

from benchmarks.ops.registry import Operand, Unsupported
from benchmarks.ops.shapes import BTH, BTHD

QKV = (Operand("q", BTHD), Operand("k", BTHD), Operand("v", BTHD))

PRECONDITIONER = (
    Operand("g_atk", BTH, "logsigmoid(normal)"),
    Operand("beta_atk", BTH, "sigmoid(normal)"),
    Operand("log_atk_scale", ("H",), dtype="fp32"),
)
"""What the preconditioned delta rules take beside the plain ones."""

KEEPS_NO_STATES = Unsupported("forward-backward", "the kernel has no backward pass: it would have to keep every state")
"""Of recurrent kernels."""
