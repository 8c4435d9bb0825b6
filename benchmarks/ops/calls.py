"""Owns how an implementation becomes a call: import its target, adapt its arguments, take its gradients."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from benchmarks.ops.inputs import InputSet
from benchmarks.ops.registry import Case, Implementation, OpError

if TYPE_CHECKING:
    import torch

    Call = Callable[[InputSet], tuple[torch.Tensor, ...]]
    """Returns what `Case.produced` names, in that order."""


def load(target: str) -> Callable[..., Any]:
    """Import `module:attribute`.

    Raises:
        ImportError: the module is not there.
        OpError: the module has no such attribute.
    """
    module, _, attribute = target.partition(":")
    loaded = importlib.import_module(module)
    for part in attribute.split("."):
        try:
            loaded = getattr(loaded, part)
        except AttributeError:
            raise OpError(f"{module} has no {attribute!r}", fix=f"see target {target!r}") from None
    if not callable(loaded):
        raise OpError(f"{target} is not callable")
    return loaded


def bind(implementation: Implementation, case: Case) -> Call:
    """Return the call to gate and to time: one forward, one forward and the gradients of its inputs, or those alone.

    Gradients are returned by `torch.autograd.grad`, never accumulated into leaves, so a repeat does the same work as
    the first call. For the backward pass alone, the forward is run by the first call on a set of inputs, and its graph
    is kept for the others.

    Raises:
        OpError: the implementation does not support the direction.
        ImportError: its package is not installed.
    """
    if (obstacle := implementation.obstacle(case.direction)) is not None:
        raise OpError(f"{case.op.name}: {implementation.name} has no {case.direction}: {obstacle}")
    target, adapter = load(implementation.target), implementation.adapter
    if case.direction == "forward":
        return lambda given: adapter(target, given.tensors)

    import torch

    leaves = [operand.name for operand in case.op.differentiable]

    def forward_backward(given: InputSet) -> tuple[torch.Tensor, ...]:
        outputs = adapter(target, given.tensors)
        return (*outputs, *torch.autograd.grad(outputs, tuple(given.tensors[name] for name in leaves), given.upstream))

    if case.direction == "forward-backward":
        return forward_backward
    kept: dict[int, tuple[InputSet, tuple[torch.Tensor, ...]]] = {}

    def backward(given: InputSet) -> tuple[torch.Tensor, ...]:
        if id(given) not in kept:
            while len(kept) >= case.op.sets:
                kept.pop(next(iter(kept)))
            kept[id(given)] = (given, adapter(target, given.tensors))
        outputs = kept[id(given)][1]
        wanted = tuple(given.tensors[name] for name in leaves)
        gradients: tuple[torch.Tensor, ...] = torch.autograd.grad(outputs, wanted, given.upstream, retain_graph=True)
        return gradients

    return backward
