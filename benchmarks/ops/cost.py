"""Owns what one call must do at least: floating-point operations and bytes, from an op's definition alone."""

from __future__ import annotations

from benchmarks.ops.registry import ITEM_BYTES, Case, Direction, FlopFormula, Shape
from evidence.schema.workloads import Work


def compulsory_bytes(case: Case) -> int:
    """Count bytes if every input is read once and every output written once, each in the case's dtype.

    Forward-backward also reads the gradient of each output and writes that of each input. Re-reading for the backward
    pass is not counted: the number is a floor for any implementation, not what one of them moves.
    """
    inputs = sum(case.elements(tensor) for tensor in case.op.inputs)
    outputs = sum(case.elements(tensor) for tensor in case.op.outputs)
    passes = 2 if case.direction == "forward-backward" else 1
    return (inputs + outputs) * passes * ITEM_BYTES[case.dtype]


def recurrence_flop(per_state_element: int) -> FlopFormula:
    """Count `per_state_element` FLOP for each of a head's D x D state elements and each token: B T H D^2 of them.

    Source: the op's recurrence itself, multiplications and additions on the state, lower-order terms left out. A
    chunked kernel does more than this, a parallel form much more: a share of peak computed from it is a lower bound.
    Forward-backward counts three forwards, as usual: each product has two gradient products (Kaplan et al., Scaling
    Laws for Neural Language Models, 2020, section 2.1).
    """

    def flop(shape: Shape, direction: Direction) -> int:
        state_elements = shape.size("B") * shape.size("T") * shape.size("H") * shape.size("D") ** 2
        return per_state_element * state_elements * (3 if direction == "forward-backward" else 1)

    return flop


def work(case: Case) -> tuple[Work, ...]:
    """Return what one sample of `case` must do, as a workload stores it; FLOP are left out where no count is known."""
    flop = case.op.flop(case.shape, case.direction)
    moved = Work(of="bytes", count=compulsory_bytes(case))
    return (moved,) if flop is None else (Work(of="flop", count=flop), moved)
