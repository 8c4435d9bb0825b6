"""Owns the adapters that several ops share, beside `registry.by_keyword`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.ops.registry import Adapter, by_keyword


def fixed(**settings: object) -> Adapter:
    """Return an adapter that passes every input under its name, and these settings."""

    def adapter(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
        return by_keyword(functools.partial(target, **settings), given)

    return adapter


def by_position(target: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Pass every input in the op's order, whatever the target calls it."""
    returned = target(*given.values())
    return (returned[0],) if isinstance(returned, tuple) else (returned,)
