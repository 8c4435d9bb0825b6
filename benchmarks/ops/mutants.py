"""Owns the faults a numeric gate must catch: each wraps a right call into one that is wrong in a known way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.ops.inputs import InputSet
from benchmarks.ops.registry import Case

if TYPE_CHECKING:
    import torch

    from benchmarks.ops.calls import Call

GATE_INPUT = "g"
TOKENS = frozenset({"T"})
HEADS = frozenset({"H", "Hq", "Hkv"})


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: whether a case can have it, and how to put it into a call."""

    name: str
    applies: Callable[[Case], bool]
    wrap: Callable[[Call, Case], Call]


def _scaled(factor: float) -> Callable[[Call, Case], Call]:
    return lambda call, case: lambda given: tuple(tensor * factor for tensor in call(given))


def _axes(case: Case, dimensions: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield the position of each output that has one of `dimensions`, of more than one element, and its axis there.

    Of the backward pass alone, gradients are the outputs.
    """
    for position, spec in enumerate(case.returned if case.direction == "backward" else case.op.outputs):
        for axis, dimension in enumerate(spec.dimensions):
            if dimension in dimensions and case.shape.size(dimension) > 1:
                yield position, axis


def _last_token_filled(value: float) -> Callable[[Call, Case], Call]:
    def wrap(call: Call, case: Case) -> Call:
        def mutated(given: InputSet) -> tuple[torch.Tensor, ...]:
            produced = [tensor.detach().clone() for tensor in call(given)]
            for position, axis in _axes(case, TOKENS):
                produced[position].narrow(axis, -1, 1).fill_(value)
            return tuple(produced)

        return mutated

    return wrap


def _heads_transposed(call: Call, case: Case) -> Call:
    def mutated(given: InputSet) -> tuple[torch.Tensor, ...]:
        produced = list(call(given))
        for position, axis in _axes(case, HEADS):
            produced[position] = produced[position].roll(1, axis)
        return tuple(produced)

    return mutated


def _gate_dropped(call: Call, case: Case) -> Call:
    def mutated(given: InputSet) -> tuple[torch.Tensor, ...]:
        gate = given.tensors[GATE_INPUT]
        opened = gate.detach().clone().zero_().requires_grad_(gate.requires_grad)
        return call(InputSet(given.seed, {**given.tensors, GATE_INPUT: opened}, given.upstream))

    return mutated


def _stale(call: Call, case: Case) -> Call:
    kept: list[tuple[torch.Tensor, ...]] = []

    def mutated(given: InputSet) -> tuple[torch.Tensor, ...]:
        if not kept:
            kept.append(call(given))
        return kept[0]

    return mutated


def _always(case: Case) -> bool:
    return True


MUTANTS: tuple[Mutant, ...] = (
    Mutant("scaled by 1.008", _always, _scaled(1.008)),
    Mutant("scaled by 1.02", _always, _scaled(1.02)),
    Mutant("last token zero", lambda case: any(_axes(case, TOKENS)), _last_token_filled(0.0)),
    Mutant("last token never written", lambda case: any(_axes(case, TOKENS)), _last_token_filled(float("nan"))),
    Mutant("heads transposed", lambda case: any(_axes(case, HEADS)), _heads_transposed),
    Mutant("gate dropped", lambda case: any(spec.name == GATE_INPUT for spec in case.op.inputs), _gate_dropped),
    Mutant("stale output", _always, _stale),
)
