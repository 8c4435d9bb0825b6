"""Owns which tiers of the gate an op has, and which of them can run on this machine; nothing heavy is imported."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Mapping

from benchmarks.nvml import Nvml
from benchmarks.ops import interpreter
from benchmarks.ops.registry import Implementation, Op
from benchmarks.ops.trials import TIERS, Tier, obstacle
from benchmarks.reading import UnreadableError


@functools.cache
def missing() -> Mapping[Tier, str]:
    """Return why a tier cannot run on this machine; empty: it can."""
    torch = "" if importlib.util.find_spec("torch") is not None else "torch is not installed"
    return {"A": torch, "B": interpreter.missing() or "", "C": torch or _no_gpu()}


def _no_gpu() -> str:
    try:
        return "" if Nvml().count else "there is no GPU"
    except UnreadableError as error:
        return f"no GPU is seen: {error}"


def is_installed(implementation: Implementation) -> bool:
    """Whether the package of a target is here."""
    return importlib.util.find_spec(implementation.target.partition(":")[0].partition(".")[0]) is not None


def obstacles(op: Op) -> Mapping[Tier, str]:
    """Return why no implementation of an op can be gated in a tier on this machine; empty: one can."""
    return {tier: _obstacle(op, tier) for tier in TIERS}


def _obstacle(op: Op, tier: Tier) -> str:
    reasons = {entry.name: obstacle(op, entry, tier) for entry in op.implementations}
    fitting = [entry for entry in op.implementations if reasons[entry.name] is None]
    if not fitting:
        return "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
    if missing()[tier]:
        return missing()[tier]
    if not any(is_installed(entry) for entry in fitting):
        return f"{fitting[0].package} is not installed"
    return ""


def tiers(op: Op) -> tuple[Tier, ...]:
    """Return the tiers that can gate some implementation of an op here."""
    return tuple(tier for tier, reason in obstacles(op).items() if not reason)
