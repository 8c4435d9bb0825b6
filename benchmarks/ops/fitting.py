"""Owns which of the implementations, shapes and directions that are asked for fit which of several ops.

What fits some op is measured on those it fits. What fits none, and an op that nothing fits, is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from benchmarks.ops.registry import Direction, Implementation, Op, Shape
from benchmarks.options import UsageError
from evidence.errors import UnknownNameError

T = TypeVar("T")


def named(ops: Sequence[Op], name: str) -> Mapping[str, Implementation]:
    """Return the implementation of that name of each op that has one, by op."""
    return {op.name: entry for op in ops for entry in op.implementations if entry.name == name}


def implementations(ops: Sequence[Op], asked: Sequence[str]) -> tuple[str, ...]:
    """Return the names of arms: those asked for, or all that the ops have, in their order.

    Raises:
        UnknownNameError: no op has an implementation of that name; it names the nearest.
        UsageError: an op has none of them, or one name stands for code of several packages.
    """
    known = tuple(dict.fromkeys(entry.name for op in ops for entry in op.implementations))
    for name in asked:
        if name not in known:
            raise UnknownNameError(f"implementation of {_names(ops)}", name, known)
    chosen = tuple(asked) or known
    for op in ops:
        if not {entry.name for entry in op.implementations} & set(chosen):
            fix = f"it has {', '.join(entry.name for entry in op.implementations)}"
            raise UsageError(f"{op.name} has no implementation {' or '.join(chosen)}", fix=fix)
    for name in chosen:
        agreed(f"source of {name}", {op: entry.source for op, entry in named(ops, name).items()})
    return chosen


def agreed(what: str, of_op: Mapping[str, T], fix: str = "measure them in sessions of their own") -> T:
    """Return what all ops have in common.

    Raises:
        UsageError: they have not; it names who has what.
    """
    values = tuple(dict.fromkeys(of_op.values()))
    if len(values) > 1:
        said = ", ".join(f"{op} {value}" for op, value in of_op.items())
        raise UsageError(f"the {what} is not one: {said}", fix=fix)
    return values[0]


def shapes(ops: Sequence[Op], asked: Sequence[str]) -> Mapping[str, tuple[Shape, ...]]:
    """Return the shapes asked for that fit each op, by op; its registered ones where none is asked for.

    Raises:
        UnknownNameError: a shape fits no op.
        UsageError: none fits an op.
    """
    if not asked:
        return {op.name: op.shapes for op in ops}
    fitting = guards(ops, asked)
    for op in ops:
        if not fitting[op.name]:
            fix = f"its shapes are such as {', '.join(shape.name for shape in op.shapes)}"
            raise UsageError(f"no shape that is given fits {op.name}", fix=fix)
    return fitting


def guards(ops: Sequence[Op], asked: Sequence[str]) -> Mapping[str, tuple[Shape, ...]]:
    """Return the shapes that fit each op, by op; an op may have none.

    Raises:
        UnknownNameError: a shape fits no op.
    """
    for text in asked:
        if not any(_read(op, text) for op in ops):
            raise UnknownNameError(f"shape of {_names(ops)}", text, [shape.name for op in ops for shape in op.shapes])
    return {op.name: tuple(shape for text in asked if (shape := _read(op, text)) is not None) for op in ops}


def _read(op: Op, text: str) -> Shape | None:
    try:
        return op.shape(text)
    except UnknownNameError:
        return None


def directions(ops: Sequence[Op], asked: Sequence[str]) -> Mapping[str, tuple[Direction, ...]]:
    """Return the directions asked for that each op has, by op; all of its own where none is asked for.

    Raises:
        UnknownNameError: no op has a direction.
        UsageError: an op has none of them.
    """
    if not asked:
        return {op.name: op.directions for op in ops}
    known = tuple(dict.fromkeys(way for op in ops for way in op.possible))
    for text in asked:
        if text not in known:
            raise UnknownNameError(f"direction of {_names(ops)}", text, known)
    fitting = {op.name: tuple(way for text in asked for way in op.possible if way == text) for op in ops}
    for op in ops:
        if not fitting[op.name]:
            raise UsageError(f"{op.name} has no {' or '.join(asked)}", fix=f"it has {', '.join(op.possible)}")
    return fitting


def _names(ops: Sequence[Op]) -> str:
    return ", ".join(op.name for op in ops)
