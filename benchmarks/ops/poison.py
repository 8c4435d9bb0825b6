"""Owns poisoned allocation: every tensor a call allocates without initialising it is filled with NaN first.

A kernel that leaves part of its output unwritten then shows, where a recycled allocation would hold the right answer of
an earlier call. `torch.utils.deterministic.fill_uninitialized_memory` does the same, but only under deterministic
algorithms, and those are not the ones that are timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Poisoned:
    """How many allocations were filled so far."""

    allocations: int = 0


@contextmanager
def poisoned() -> Iterator[Poisoned]:
    """Fill with NaN what torch allocates uninitialised and floating inside the block, in backward passes too.

    Allocations inside torch's own C++ kernels do not pass the dispatcher and are not seen.
    """
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    aten = torch.ops.aten
    uninitialised = {
        aten.empty.memory_format,
        aten.empty_like.default,
        aten.empty_strided.default,
        aten.empty_permuted.default,
        aten.new_empty.default,
        aten.new_empty_strided.default,
    }
    seen = Poisoned()

    class FillWithNaN(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(
            self, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            result = function(*args, **(kwargs or {}))
            if function in uninitialised and result.is_floating_point():
                result.fill_(float("nan"))
                seen.allocations += 1
            return result

    with FillWithNaN():
        yield seen
