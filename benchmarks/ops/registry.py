"""Owns what an op is: data only. Nothing here or in the definitions imports torch, triton or a kernel package.

An `Op` names its inputs and outputs by dimensions, its implementations by `module:attribute`, its numerical reference,
shapes, dtypes and tolerances. A `Case` is one op on one shape, dtype and direction: what inputs, calls and gates take.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Self

from evidence.discovery import instances
from evidence.errors import DuplicateNameError, EvidenceError, UnknownNameError

Direction = Literal["forward", "backward", "forward-backward"]
Device = Literal["cpu", "cuda"]
Adapter = Callable[[Callable[..., Any], Mapping[str, Any]], tuple[Any, ...]]
"""Calls a target with an op's canonical inputs and returns its outputs in the op's order."""
Resolved = Callable[[Mapping[str, Any]], Mapping[str, str]]
"""Tells what a call with an op's canonical inputs comes down to, as settings of a cell: name and value."""

DIRECTION_SUFFIXES: Mapping[Direction, str] = {"forward": "fwd", "backward": "bwd", "forward-backward": "fwdbwd"}
ITEM_BYTES: Mapping[str, int] = {"fp64": 8, "fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "int64": 8}
UNDIFFERENTIABLE = frozenset({"fp8", "int8", "int64"})
_PART = re.compile(r"([A-Za-z]+)(\d+)")
_THOUSANDS = re.compile(r"\d+K(?=_|$)")
_TARGET = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


class OpError(EvidenceError):
    """An op, shape or implementation whose definition contradicts itself."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Named sizes in order, such as B, T, H, D; its name is derived, `b1-t8192-h96-d128`, so that it cannot lie."""

    sizes: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        """Refuse sizes below one and two dimensions that differ only in case."""
        lowered = [dimension.lower() for dimension, _ in self.sizes]
        if len(set(lowered)) != len(lowered) or not lowered:
            raise OpError(f"a shape needs distinct dimensions, not {', '.join(lowered) or 'none'}")
        for dimension, size in self.sizes:
            if size < 1 or not dimension.isalpha():
                raise OpError(f"dimension {dimension!r} of size {size}: names are letters, sizes positive")

    @classmethod
    def of(cls, **sizes: int) -> Self:
        """Build a shape from its sizes, in the order given."""
        return cls(tuple(sizes.items()))

    @classmethod
    def keyed(cls, key: str, **sizes: int) -> Self:
        """Build a shape that others know as `key` (`B1_T8192_H96_D128`, or `B1_T8K_D2K` in units of 1024).

        Raises:
            OpError: `key` says another size than the dimensions do.
        """
        shape = cls.of(**sizes)
        said = _THOUSANDS.sub(lambda match: str(1024 * int(match[0][:-1])), key)
        if said.replace("_", "-").lower() != shape.name:
            raise OpError(f"shape key {key!r} does not say its dimensions", fix=f"call it {shape.name!r}")
        return shape

    @property
    def name(self) -> str:
        """The canonical text form."""
        return "-".join(f"{dimension.lower()}{size}" for dimension, size in self.sizes)

    def size(self, dimension: str) -> int:
        """Return the size of a dimension, or the sum of several joined by `+`."""
        known = dict(self.sizes)
        try:
            return sum(known[part] for part in dimension.split("+"))
        except KeyError as error:
            raise UnknownNameError("dimension", str(error.args[0]), known) from None

    def extents(self, dimensions: tuple[str, ...]) -> tuple[int, ...]:
        """Return the sizes of a tensor with these dimensions."""
        return tuple(self.size(dimension) for dimension in dimensions)


@dataclass(frozen=True, slots=True)
class Operand:
    """One input or output tensor: its dimensions, and what it is drawn from (`inputs.DISTRIBUTIONS`).

    A dimension is a name of the shape, or a sum such as `Hq+Hkv`. For an output the distribution is that of its
    upstream gradient. Gradients are not listed: in forward-backward every differentiable input has one. `dtype` is that
    of a tensor that has its own whatever the case's is: an index, a quantised weight, a scale kept in fp32.
    """

    name: str
    dimensions: tuple[str, ...]
    distribution: str = "normal"
    dtype: str | None = None
    differentiable: bool = True

    def __post_init__(self) -> None:
        """Refuse a dtype of no known size, and a gradient of what cannot have one."""
        if self.dtype is not None and self.dtype not in ITEM_BYTES:
            raise UnknownNameError("dtype", self.dtype, ITEM_BYTES)
        if self.differentiable and self.dtype in UNDIFFERENTIABLE:
            raise OpError(f"{self.name} is {self.dtype}: it has no gradient", fix="say differentiable=False")


def by_keyword(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Pass every input under its canonical name; keep the first element of a returned tuple, which is the output."""
    returned = target(**given)
    return (returned[0],) if isinstance(returned, tuple) else (returned,)


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A direction an implementation does not have, and why: the reason of its Skipped cells."""

    direction: Direction
    reason: str


@dataclass(frozen=True, slots=True)
class Implementation:
    """One way to compute an op: `target` is imported when called, `package` is the distribution it comes from.

    `package` is None for this repository's own code.
    """

    name: str
    target: str
    package: str | None
    adapter: Adapter = by_keyword
    unsupported: tuple[Unsupported, ...] = ()
    resolved: Resolved | None = None
    """None where the name says it all; not None where another library chooses by the inputs."""

    def __post_init__(self) -> None:
        """Refuse a target that is not `module:attribute`."""
        if not _TARGET.fullmatch(self.target):
            raise OpError(f"target {self.target!r} of {self.name!r} is not module:attribute")

    @property
    def source(self) -> str:
        """Name of the source its code comes from, in a record: the package, or `repository`."""
        return self.package or "repository"

    def obstacle(self, direction: Direction) -> str | None:
        """Return why `direction` is not supported, or None if it is."""
        needed = "forward-backward" if direction == "backward" else direction
        return next((entry.reason for entry in self.unsupported if entry.direction == needed), None)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far an output may be from the fp64 reference, for one dtype and direction.

    An element is mismatched if its error exceeds `absolute` times the root mean square of the reference tensor plus
    `relative` times the element; a tensor also fails if the root mean square of its error, relative to that of the
    reference, exceeds `rms`. The first two catch a few wrong elements, the last a small error everywhere.
    """

    dtype: str
    direction: Direction
    relative: float
    absolute: float
    rms: float


FlopFormula = Callable[[Shape, Direction], int | None]
ByteFormula = Callable[["Case"], int | None]


@dataclass(frozen=True, slots=True)
class Op:
    """One op. `module` is the defining module's `__name__`; its file is frozen with the gate.

    `independent` names the dimensions along which the op decomposes, so that the reference can be evaluated in slices
    to bound memory; the whole output is compared either way. Input set i is drawn from seed `seed + i`.
    """

    name: str
    module: str
    category: str
    device: Device
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    reference: Implementation
    implementations: tuple[Implementation, ...]
    shapes: tuple[Shape, ...]
    dtypes: tuple[str, ...]
    directions: tuple[Direction, ...]
    tolerances: tuple[Tolerance, ...]
    flop: FlopFormula
    independent: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = ()
    seed: int = 0
    sets: int = 2
    gate_seeds: int = 3

    def __post_init__(self) -> None:
        """Refuse repeated names, a self-reference, a shape of other dimensions, a missing tolerance."""
        self._check_names()
        self._check_dimensions()
        if self.sets < 2 or self.gate_seeds < max(3, self.sets):
            raise OpError(
                f"{self.name}: two input sets at least are rotated, three at least, those included, are gated"
            )
        given = [(tolerance.dtype, tolerance.direction) for tolerance in self.tolerances]
        wanted = {(dtype, direction) for dtype in self.dtypes for direction in self.directions}
        if set(given) != wanted or len(given) != len(wanted):
            raise OpError(f"{self.name}: one tolerance for each dtype and direction, not {sorted(given)}")

    def _check_names(self) -> None:
        for kind, names in (
            ("implementation", [entry.name for entry in self.implementations]),
            ("shape", [shape.name for shape in self.shapes]),
            ("tensor", [operand.name for operand in (*self.inputs, *self.outputs)]),
        ):
            for first, second in pairwise(sorted(names)):
                if first == second:
                    raise DuplicateNameError(kind, first, (self.module, self.module))
        for entry in self.implementations:
            if entry.target == self.reference.target:
                raise OpError(
                    f"{self.name}: implementation {entry.name!r} is its own reference", fix="name another oracle"
                )

    def _check_dimensions(self) -> None:
        operands = (*self.inputs, *self.outputs)
        dimensions = {part for operand in operands for name in operand.dimensions for part in name.split("+")}
        for shape in self.shapes:
            if {dimension for dimension, _ in shape.sizes} != dimensions:
                raise OpError(f"{self.name}: shape {shape.name} does not give just {', '.join(sorted(dimensions))}")
        for operand in operands:
            if not set(self.independent) <= set(operand.dimensions):
                raise OpError(f"{self.name}: {operand.name} lacks an independent dimension, so slices would overlap")

    @property
    def differentiable(self) -> tuple[Operand, ...]:
        """The inputs that have a gradient in forward-backward, in order."""
        return tuple(operand for operand in self.inputs if operand.differentiable)

    @property
    def possible(self) -> tuple[Direction, ...]:
        """The directions that can be asked for: those of the op, and its backward pass alone where it has one."""
        return (*self.directions, *(("backward",) if "forward-backward" in self.directions else ()))

    def implementation(self, name: str) -> Implementation:
        """Return the implementation of that name.

        Raises:
            UnknownNameError: there is none; it names the nearest.
        """
        for entry in self.implementations:
            if entry.name == name:
                return entry
        raise UnknownNameError(f"implementation of {self.name}", name, [entry.name for entry in self.implementations])

    def shape(self, text: str) -> Shape:
        """Return the shape that `text` names: a registered one, or any with this op's dimensions in this op's order.

        Raises:
            UnknownNameError: `text` is no such shape.
        """
        dimensions = [dimension for dimension, _ in self.shapes[0].sizes]
        parts = [_PART.fullmatch(part) for part in re.split(r"[-_]", text)]
        named = [(part[1].lower(), int(part[2])) for part in parts if part]
        if len(named) != len(parts) or [name for name, _ in named] != [dimension.lower() for dimension in dimensions]:
            raise UnknownNameError(f"shape of {self.name}", text, [shape.name for shape in self.shapes])
        return Shape(tuple(zip(dimensions, (size for _, size in named), strict=True)))

    def case(self, shape: Shape | str, dtype: str, direction: str) -> Case:
        """Return one case of this op; shapes other than the registered ones are allowed, for tests and explorations.

        Raises:
            UnknownNameError: the op has no such dtype or direction, or `shape` is none.
        """
        if dtype not in self.dtypes:
            raise UnknownNameError(f"dtype of {self.name}", dtype, self.dtypes)
        for known in self.possible:
            if known == direction:
                return Case(self, self.shape(shape) if isinstance(shape, str) else shape, dtype, known)
        raise UnknownNameError(f"direction of {self.name}", direction, self.possible)

    def cases(self) -> tuple[Case, ...]:
        """Return every registered case."""
        return tuple(
            Case(self, shape, dtype, direction)
            for shape in self.shapes
            for dtype in self.dtypes
            for direction in self.directions
        )


@dataclass(frozen=True, slots=True)
class Case:
    """One op on one shape, dtype and direction."""

    op: Op
    shape: Shape
    dtype: str
    direction: Direction

    @property
    def name(self) -> str:
        """Name of the workload, `b1-t512-h4-d64-fwd`; unique within one op and dtype."""
        return f"{self.shape.name}-{DIRECTION_SUFFIXES[self.direction]}"

    @property
    def produced(self) -> tuple[str, ...]:
        """Names of what a call returns, in order: outputs, then gradients of the inputs, by direction."""
        outputs = 0 if self.direction == "backward" else len(self.op.outputs)
        named = [tensor.name if at < outputs else f"d{tensor.name}" for at, tensor in enumerate(self.returned)]
        return tuple(named)

    @property
    def returned(self) -> tuple[Operand, ...]:
        """What a call returns, in the order of `produced`; a gradient stands as the input it has the shape of."""
        outputs = () if self.direction == "backward" else self.op.outputs
        return (*outputs, *(self.op.differentiable if self.direction != "forward" else ()))

    def dtype_of(self, tensor: Operand) -> str:
        """Return the dtype of one of the op's tensors."""
        return tensor.dtype or self.dtype

    @property
    def tolerance(self) -> Tolerance:
        """The op's tolerance for this dtype and direction."""
        direction = "forward-backward" if self.direction == "backward" else self.direction
        return next(t for t in self.op.tolerances if (t.dtype, t.direction) == (self.dtype, direction))

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of the timed input sets."""
        return tuple(range(self.op.seed, self.op.seed + self.op.sets))

    @property
    def gate_seeds(self) -> tuple[int, ...]:
        """Seeds the gate runs on: those of the timed sets first, then further ones."""
        return tuple(range(self.op.seed, self.op.seed + self.op.gate_seeds))

    def elements(self, tensor: Operand) -> int:
        """Return the number of elements of one of the op's tensors."""
        return math.prod(self.shape.extents(tensor.dimensions))


def collect(found: tuple[Op, ...]) -> Mapping[str, Op]:
    """Index ops by name.

    Raises:
        DuplicateNameError: two ops have one name.
    """
    by_name: dict[str, Op] = {}
    for op in found:
        if op.name in by_name:
            raise DuplicateNameError("op", op.name, (by_name[op.name].module, op.module))
        by_name[op.name] = op
    return by_name


@functools.cache
def ops() -> Mapping[str, Op]:
    """Return every op by name, without importing torch."""
    return collect(tuple(instances("benchmarks.ops.definitions", Op)))


def find(name: str) -> Op:
    """Return the op of that name.

    Raises:
        UnknownNameError: there is none; it names the nearest.
    """
    known = ops()
    if name not in known:
        raise UnknownNameError("op", name, known)
    return known[name]
