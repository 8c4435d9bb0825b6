"""Owns what one call must do at least: floating-point operations and bytes, from an op's definition alone."""

from __future__ import annotations

from benchmarks.ops.registry import ITEM_BYTES, Case, Direction, FlopFormula, Shape
from evidence.schema.workloads import Work

_BOTH: tuple[Direction, Direction] = ("forward-backward", "forward")


def compulsory_bytes(case: Case) -> int:
    """Count bytes if every input is read once and every output written once, each in its dtype.

    Forward-backward also reads the gradient of each output and writes that of each differentiable input. Re-reading for
    the backward pass is not counted: the number is a floor for any implementation, not what one of them moves.
    """
    moved = [*case.op.inputs, *(() if case.direction == "backward" else case.op.outputs)]
    if case.direction != "forward":
        moved += [*case.op.outputs, *case.op.differentiable]
    return sum(case.elements(tensor) * ITEM_BYTES[case.dtype_of(tensor)] for tensor in moved)


def matmul_flop(shape: Shape, direction: Direction) -> int:
    """Count a multiplication and an addition for each of M N K products; backward makes two such products more."""
    products = shape.size("M") * shape.size("N") * shape.size("K")
    return 2 * products * (3 if direction == "forward-backward" else 1)


def causal_attention_flop(shape: Shape, direction: Direction) -> int:
    """Count q k^T and the product with v over the causal half: 2 D FLOP each for T (T + 1) / 2 pairs of a head.

    The backward pass makes five such products, of which one recomputes q k^T and is left out: twice the forward's
    (Dao, FlashAttention-2, 2023, section 3.1, counts 2.5 with it).
    """
    pairs = shape.size("B") * shape.size("H") * shape.size("T") * (shape.size("T") + 1) // 2
    return 4 * shape.size("D") * pairs * (3 if direction == "forward-backward" else 1)


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


def _flop(case: Case) -> int | None:
    """Count a case's FLOP by its op's formula, which knows forward, and forward and backward together."""
    if case.direction != "backward":
        return case.op.flop(case.shape, case.direction)
    both, forward = (case.op.flop(case.shape, way) for way in _BOTH)
    return None if both is None or forward is None else both - forward


def work(case: Case) -> tuple[Work, ...]:
    """Return what one sample of `case` must do, as a workload stores it; FLOP are left out where no count is known."""
    flop = _flop(case)
    moved = Work(of="bytes", count=compulsory_bytes(case))
    return (moved,) if flop is None else (Work(of="flop", count=flop), moved)
