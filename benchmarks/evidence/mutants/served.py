"""Owns the logs of engines and of foreign files on the site that mutants are made of."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from benchmarks.evidence.mutants.logs import (
    DIGEST,
    GATE_LOG,
    PROCESSES,
    WALL,
    Device,
    Log,
    Setting,
    arm,
    metric,
)
from benchmarks.evidence.records import GATE, REFERENCE, Document, column, timed
from evidence.schema import Record

_ROWS = 16
_PROMPT = 256


@dataclass(frozen=True, slots=True)
class Served:
    """How an arm serves one workload."""

    prefill_s: float
    tpot_s: float
    peak_bytes: float
    tokens: tuple[int, ...]
    agreed: float = 1.0
    """Share of tokens that agree with the reference."""
    cached: int = 0
    """Prompt tokens of every request that the prefix cache held."""
    counters: Mapping[str, int] | None = None
    extra: Mapping[str, float] | None = None
    """Further process metrics."""
    correct: int | None = None
    """Of `QUESTIONS`, where an accuracy was measured."""
    lanes: int = 1
    """Replicas that share the requests."""


QUESTIONS = 1000
REFERENCE_CORRECT = 800


def engine_workload(name: str, tokens: Sequence[int], **changes: Any) -> Document:
    """Return a workload of requests that are all there at the start."""
    return {
        "kind": "engine",
        "name": name,
        "role": "target",
        "weights": {"origin": "random", "model": "toy-0.6b", "parameters": 6 * 10**8, "seed": 7},
        "dtype": "bf16",
        "requests": len(tokens),
        "arrival": {"kind": "at-once"},
        "prompt_tokens": {"minimum": _PROMPT, "maximum": _PROMPT, "total": _PROMPT * len(tokens)},
        "output_tokens": {"minimum": min(tokens), "maximum": max(tokens), "total": sum(tokens)},
        "ignore_eos": True,
        "sampling": (),
        "prefix_cache": "off",
        "warm_up_requests": 2,
        "inputs": {"distribution": "uniform over tokens", "seed": 7, "sets": 1, "sha256": DIGEST},
        "work": ({"of": "output-tokens", "count": sum(tokens)},),
        **changes,
    }


def lengths(rng: random.Random, low: int, high: int) -> tuple[int, ...]:
    """Return output lengths of the requests of one workload."""
    return tuple(rng.randint(low, high) for _ in range(_ROWS))


def engine(
    setting: Setting,
    log: str,
    day: datetime,
    device: Device,
    arms: Sequence[Document],
    workloads: Sequence[Document],
    served: Mapping[tuple[str, str], Served],
    *,
    axes: Sequence[str],
    metrics: Sequence[Document],
    agreement: float = 1.0,
    files: Mapping[str, tuple[str, bytes]] | None = None,
) -> Log:
    """Return an engine's log."""
    pairs = [(one["name"], load["name"]) for load in workloads for one in arms]
    has_accuracy = any(one.correct is not None for one in served.values())
    given = files or {}
    cells = []
    for slot, (name, load) in enumerate(pairs):
        how = served[name.removesuffix("-again"), load]
        drawn = [_process(setting, how) for _ in range(PROCESSES)]
        cell = timed(name, load, _agreement(how), drawn, slot=slot, slots=len(pairs))
        if how.correct is not None:
            cell = {**cell, "further": (_accuracy(how.correct),)}
        cells.append(cell)
    gates = [
        {
            **GATE,
            "name": "parity",
            "kind": "tokens",
            "reference": {**REFERENCE, "implementation": "synthetic.engine:greedy"},
            "tolerances": ({"of": "agreement", "limit": agreement},),
            "log": GATE_LOG if GATE_LOG in given else None,
        }
    ]
    if has_accuracy:
        gates.append(
            {
                **GATE,
                "name": "accuracy",
                "kind": "accuracy",
                "reference": {**REFERENCE, "implementation": "synthetic.engine:greedy"},
                "tolerances": ({"of": "accuracy", "limit": 0.1},),
                "log": None,
            }
        )
    return setting.assemble(
        log,
        day,
        device,
        {
            "axes": tuple(axes),
            "arms": tuple(arms),
            "workloads": tuple(workloads),
            "metrics": tuple(metrics),
            "methods": (WALL,),
            "gates": tuple(gates),
            "cells": tuple(cells),
        },
        given,
    )


def _agreement(how: Served) -> Document:
    compared = sum(how.tokens)
    agreed = round(how.agreed * compared)
    return {
        "kind": "tokens",
        "compared": compared,
        "agreed": agreed,
        "prompts": len(how.tokens),
        "prompts_equal": len(how.tokens) if agreed == compared else len(how.tokens) - 3,
        "controls": ({"kind": "same-arm", "compared": compared, "agreed": compared},),
        "divergences": (),
    }


def _accuracy(correct: int) -> Document:
    return {
        "outcome": "passed",
        "gate": "accuracy",
        "source": "repository",
        "phase": "before",
        "seeds": (7,),
        "detail": {
            "kind": "accuracy",
            "task": "synthetic-questions",
            "measure": "exact_match",
            "numerator": correct,
            "denominator": QUESTIONS,
            "reference_numerator": REFERENCE_CORRECT,
            "reference_denominator": QUESTIONS,
        },
    }


def _process(setting: Setting, how: Served) -> Document:
    prefill_s, tpot_s = setting.near(how.prefill_s), setting.near(how.tpot_s)
    free = [0.0] * how.lanes
    first: list[float] = []
    last: list[float] = []
    for row, count in enumerate(how.tokens):
        lane = row % how.lanes
        first.append(round(free[lane] + prefill_s, 9))
        free[lane] += prefill_s + tpot_s * (count - 1)
        last.append(round(free[lane], 9))
    samples = [column("wall_time", (round(max(last) + 0.001, 9),)), column("peak_memory", (how.peak_bytes,))]
    samples += [column(name, (value,)) for name, value in (how.extra or {}).items()]
    return {
        "samples": tuple(samples),
        "client_cpu_s": 0.02,
        "counters": tuple({"name": name, "count": count} for name, count in (how.counters or {}).items()),
        "requests": {
            "enqueued_s": (0.0,) * len(how.tokens),
            "prompt_tokens": (_PROMPT,) * len(how.tokens),
            "cached_tokens": (how.cached,) * len(how.tokens),
            "output_tokens": how.tokens,
            "ttft_s": tuple(first),
            "latency_s": tuple(last),
        },
    }


def imported(setting: Setting, log: str, day: datetime, means: Mapping[str, float], raw: bytes) -> Log:
    """Return the log of a foreign file: aggregates, no environment and no gate."""
    cell = {
        "kind": "imported",
        "arm": "served",
        "workload": "short",
        "reported": tuple(
            {"metric": name, "statistic": "mean", "value": value, "pointer": f"/{name}"}
            for name, value in means.items()
        ),
        "unread": (),
        "processes": (),
        "work": ({"of": "requests", "count": 8}, {"of": "output-tokens", "count": 8 * 64}),
        "outcome": None,
    }
    record = Record.model_validate(
        {
            "schema_version": 1,
            "log": log,
            "started_at": day,
            "ended_at": day + timedelta(seconds=12),
            "provenance": None,
            "origin": {
                "format": "synthetic-json",
                "tool": "synthetic-bench",
                "tool_version": "1",
                "url": None,
                "file": "raw.json",
                "measured_at": None,
                "missing": (
                    {"field": "url", "reason": "the file names none"},
                    {"field": "measured_at", "reason": "the file names none"},
                ),
            },
            "sources": (),
            "hosts": (),
            "stacks": (),
            "conditions": (),
            "axes": (),
            "arms": (arm("served", "baseline", "served", ranks=(), command=()),),
            "workloads": (
                {
                    "kind": "foreign",
                    "name": "short",
                    "role": "target",
                    "work": (),
                    "settings": ({"name": "batch", "value": "4"},),
                },
            ),
            "metrics": tuple(metric(name, "s", "request", role="context") for name in means),
            "methods": (),
            "gates": (),
            "cells": (cell,),
            "profiles": (),
            "artifacts": (
                {
                    "path": "raw.json",
                    "role": "raw",
                    "sha256": hashlib.sha256(raw).hexdigest(),
                    "bytes": len(raw),
                    "arms": (),
                    "workloads": (),
                },
            ),
            "unavailable": (),
            "limitations": ("synthetic: drawn from a seed, measured nowhere",),
            "supersedes": (),
        }
    )
    return Log(record, {"raw.json": raw})
