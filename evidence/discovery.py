"""Owns how closed sets (rules, ops, suites) are found: module-level instances of one class in one package."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import TypeVar

T = TypeVar("T")


def instances(package: str, kind: type[T]) -> Iterator[T]:
    """Yield every module-level `kind` in the modules of `package`, each once, modules in name order.

    Raises:
        ImportError: from the module at fault; a set with a hole in it must not look whole.
    """
    root = importlib.import_module(package)
    seen: set[int] = set()
    for info in sorted(pkgutil.walk_packages(root.__path__, f"{package}."), key=lambda info: info.name):
        for value in vars(importlib.import_module(info.name)).values():
            if isinstance(value, kind) and id(value) not in seen:
                seen.add(id(value))
                yield value
