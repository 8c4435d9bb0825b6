"""Owns what a process knows of Triton's compiler: its autotuners, what each chose, and what is read before it is used.

What is found before a fork is not looked for again in each child: a nursery freezes its objects, see `gc.freeze`.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import Any

from evidence.schema import Setting

_RUNTIME = "triton.runtime.autotuner"
_HASHED_BY = ("triton.runtime.cache", "triton.compiler.compiler")
"""Where versions of Triton keep the function that hashes Triton itself."""
_REMEMBERED: list[Any] = []
"""The autotuners that stood when this process was prepared."""


def prepare() -> None:
    """Do what every process would do before it finds its first compiled kernel; no device is touched.

    Triton reads and hashes all of itself once a process: its digest is part of the key of each kernel on disk.
    """
    for name in _HASHED_BY:
        digest = getattr(sys.modules.get(name), "triton_key", None)
        if digest is not None:
            digest()
            break
    _REMEMBERED[:] = _standing()


def autotuners() -> list[Any]:
    """Return every autotuner of Triton that lives in this process, each once."""
    return list({id(tuner): tuner for tuner in (*_REMEMBERED, *_standing())}.values())


def keep_choices_off_disk() -> None:
    """Let no autotuner store what it chooses from now on in this process, where nothing is measured."""
    knobs = getattr(getattr(sys.modules.get("triton"), "knobs", None), "autotuning", None)
    if knobs is not None:
        knobs.cache = False
    for tuner in autotuners():
        tuner.cache_results = False


def _standing() -> list[Any]:
    """Return the autotuners among the objects that the garbage collector looks at."""
    runtime = sys.modules.get(_RUNTIME)
    if runtime is None:
        return []
    # Not isinstance: it asks lazy stand-ins of modules for their class, and importing them is their answer.
    return [thing for thing in gc.get_objects() if issubclass(type(thing), runtime.Autotuner)]


def configurations(tuners: Sequence[Any]) -> tuple[Setting, ...]:
    """Return the configuration that each autotuner used since its last one was cleared."""
    used = {
        tuner.base_fn.__name__: str(tuner.best_config)
        for tuner in tuners
        if getattr(tuner, "best_config", None) is not None
    }
    return tuple(Setting(name=name, value=value) for name, value in sorted(used.items()))
