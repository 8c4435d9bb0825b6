"""Owns synthetic records by number: every value is drawn from a seed, none was measured, and none is ever published.

Records come in series of `RUNS` logs. Two series in three are of a kernel: two arms and a control on some sizes. The
third is of an engine: the same arms on a workload of requests. Both weigh about 30 KB, readings of a device included.
"""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from evidence.schema import Record
from evidence.schema.base import Setting

RUNS = 20
"""Logs of one series, a day apart."""
GATE_LOG = "gate.log"
ARMS = ("plain", "fused", "plain-again")
SIZES = (1024, 4096)

_FIRST_DAY = datetime(2026, 1, 1, 10, tzinfo=UTC)
PROCESSES, _SAMPLES, _REQUESTS = 6, 10, 16
WINDOW_S, STEP_S = 1.5, 2.0
_SPREAD = 0.002
_GAIN = 0.8
"""Seconds of the candidate for one of the baseline."""
_DIGEST = hashlib.sha256(b"synthetic").hexdigest()
_PROMPT_TOKENS, _OUTPUT_TOKENS = 256, 64

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tree:
    """The source that the records say they measured: a commit of the repository that holds them."""

    commit: str
    tree_sha256: str
    path: str
    path_sha256: str


def log_of(index: int) -> str:
    """Return the name of a record's log."""
    number, run = divmod(index, RUNS)
    domain, name = ("engine", "serve") if _is_engine(number) else ("kernels", "op")
    return f"{domain}/{name}-{number:05d}_synthetic_{_FIRST_DAY + timedelta(days=run):%Y%m%d}"


def gate_log_of(index: int) -> bytes | None:
    """Return the output of a record's gate: a quarter of the records keep one."""
    if index % 4:
        return None
    return "".join(f"test {number} of record {index}: passed\n" for number in range(64)).encode()


def record(index: int, tree: Tree, seed: int) -> Record:
    """Return one record; the same numbers give the same record."""
    number, run = divmod(index, RUNS)
    rng = random.Random(f"{seed}/{index}")
    scale = random.Random(f"{seed}/series {number}").uniform(1.0, 4.0)
    drawn = _engine(rng, scale) if _is_engine(number) else _kernel(rng, scale, SIZES, f"synthetic-{number:05d}")
    return _record(log_of(index), run, tree, seed, drawn, gate_log_of(index))


def kernel_record(log: str, sizes: Sequence[int], tree: Tree, seed: int) -> Record:
    """Return a record of a kernel on these sizes, under a name of the first day; each log is of an op of its own."""
    rng = random.Random(f"{seed}/{log}")
    drawn = _kernel(rng, rng.uniform(1.0, 4.0), sizes, log.rpartition("/")[2])
    return _record(f"{log}_{_FIRST_DAY:%Y%m%d}", 0, tree, seed, drawn, None)


def _is_engine(number: int) -> bool:
    return number % 3 == 2


def _record(log: str, run: int, tree: Tree, seed: int, drawn: Document, gate_log: bytes | None) -> Record:
    """Put what was drawn into everything that all records have alike."""
    started_at = _FIRST_DAY + timedelta(days=run)
    windows = sum(len(cell["processes"]) for cell in drawn["cells"])
    gate = {**drawn.pop("gate"), "log": None if gate_log is None else GATE_LOG}
    return Record.model_validate(
        {
            "schema_version": 1,
            "log": log,
            "started_at": started_at,
            "ended_at": started_at + timedelta(seconds=STEP_S * (windows + 1)),
            "provenance": {
                "argv": ("python", "-m", "benchmarks.ops.run", "--op", "synthetic", "--log"),
                "directory": ".",
                "variables": (Setting(name="OMP_NUM_THREADS", value="1"),),
                "runner": "benchmarks.ops.run",
                "runner_version": "0",
                "seed": seed,
                "source": "repository",
            },
            "origin": None,
            "sources": (source(tree),),
            "hosts": (HOST,),
            "stacks": (STACK,),
            "conditions": (conditions(windows),),
            "methods": (METHOD,),
            "gates": (gate,),
            "profiles": (),
            "artifacts": () if gate_log is None else (_artifact(gate_log),),
            "unavailable": ({"what": "profile", "reason": "synthetic"},),
            "limitations": ("synthetic: drawn from a seed, measured nowhere",),
            "supersedes": (),
            **drawn,
        }
    )


def source(tree: Tree) -> Document:
    """Return the source of a run of that tree."""
    return {
        "kind": "git",
        "name": "repository",
        "repository": None,
        "commit": tree.commit,
        "commit_tree_sha256": tree.tree_sha256,
        "tree_sha256": tree.tree_sha256,
        "paths": ({"path": tree.path, "sha256": tree.path_sha256},),
        "missing": ({"field": "repository", "reason": "no remote"},),
    }


def _artifact(content: bytes) -> Document:
    digest = hashlib.sha256(content).hexdigest()
    return {
        "path": GATE_LOG,
        "role": "gate-log",
        "sha256": digest,
        "bytes": len(content),
        "arms": (),
        "workloads": (),
    }


ACCELERATOR: Document = {
    "model": "Synthetic accelerator",
    "uuid_sha256": _DIGEST,
    "memory_bytes": 80 * 10**9,
    "l2_bytes": 50 * 2**20,
    "compute_capability": "9.0",
    "vbios": "0.0",
    "ecc_enabled": True,
    "mig_enabled": False,
    "persistence_enabled": True,
    "power_limit_w": 700.0,
    "max_sm_clock_hz": 1.98e9,
    "max_memory_clock_hz": 3.2e9,
    "missing": (),
}
HOST: Document = {
    "name": "h0",
    "accelerators": (ACCELERATOR,),
    "interconnect": None,
    "driver": "580.0",
    "cpu_model": "Synthetic processor",
    "cpu_cores": 16,
    "cpu_affinity": tuple(range(16)),
    "cpu_governor": "performance",
    "memory_bytes": 128 * 10**9,
    "os": "Synthetic 1",
    "kernel": "6.0",
    "missing": ({"field": "interconnect", "reason": "one accelerator"},),
}
STACK: Document = {
    "name": "main",
    "executable": "python3",
    "python": "3.12.3",
    "runtime": "CUDA 13.0",
    "container": None,
    "packages": ("torch==2.11.0", "triton==3.6.0", *(f"synthetic-{number:02d}==1.{number}" for number in range(40))),
    "missing": ({"field": "container", "reason": "not in a container"},),
}
METHOD: Document = {
    "name": "do-bench",
    "timer_requested": "triton.testing.do_bench",
    "timer_used": "triton.testing.do_bench",
    "fallback_reason": None,
    "timer_overhead_s": 2e-6,
    "warm_up_s": 1.0,
    "warm_up_calls": 10,
    "flush_bytes": 256 * 10**6,
    "allocates_outputs": True,
    "minimum_samples": _SAMPLES,
    "maximum_samples": _SAMPLES,
    "target_spread": None,
    "budget_s": None,
    "processes": PROCESSES,
    "order": "interleaved",
}
GATE: Document = {
    "command": (),
    "scope": "full",
    "selection": None,
    "frozen": (),
    "variables": (),
    "mutants": None,
    "mutants_killed": None,
}
REFERENCE: Document = {"source": "repository", "stack": None, "dtype": "fp64"}


def conditions(windows: int) -> Document:
    """Return a reading at both ends of every window, of a device that nothing happens to."""
    readings = 2 * windows
    ends = itertools.product(range(windows), (0.0, WINDOW_S))
    return {
        "kind": "device",
        "host": "h0",
        "device": 0,
        "at_s": tuple(STEP_S * window + end for window, end in ends),
        "sm_clock_hz": (1.9e9,) * readings,
        "memory_clock_hz": (3.2e9,) * readings,
        "temperature_c": tuple(50.0 + number % 7 for number in range(readings)),
        "power_w": tuple(300.0 + number % 11 for number in range(readings)),
        "energy_j": tuple(300.0 * number for number in range(readings)),
        "thermal_violation_ns": (0,) * readings,
        "power_violation_ns": (0,) * readings,
        "event_reasons": (0,) * readings,
        "ecc_uncorrected": (0,) * readings,
        "foreign_processes": (0,) * readings,
        "missing": (),
    }


def _arms(module: str) -> tuple[Document, ...]:
    plain, fused, again = ARMS
    rows = ((plain, "baseline", None, plain), (fused, "candidate", None, fused), (again, "control", plain, plain))
    return tuple(
        {
            "name": name,
            "role": role,
            "control_of": twin,
            "implementation": f"synthetic.{module}:{target}",
            "source": "repository",
            "ranks": ({"host": "h0", "device": 0, "stack": "main"},),
            "command": ("python", "-m", "benchmarks.ops.worker", "--implementation", target),
            "switches": (),
            "mechanism": (),
            "outputs": "same",
        }
        for name, role, twin, target in rows
    )


def _kernel(rng: random.Random, scale: float, sizes: Sequence[int], op: str) -> Document:
    """Arms, workloads, metrics, gate and cells of a kernel that takes a microsecond an element and scale."""
    workloads = tuple(
        {
            "kind": "op",
            "name": f"n{size}",
            "role": "target",
            "op": op,
            "shape": ({"name": "N", "size": size},),
            "dtype": "bf16",
            "direction": "forward",
            "cache": "cold",
            "parameters": (),
            "inputs": {"distribution": "normal", "seed": 7, "sets": 2, "sha256": None},
            "work": ({"of": "flop", "count": 10 * size}, {"of": "bytes", "count": 4 * size}),
        }
        for size in sizes
    )
    pairs = [(arm, size) for size in sizes for arm in ARMS]
    cells = tuple(
        timed(
            arm,
            f"n{size}",
            {"kind": "numeric", "tensors": (tensor(size),)},
            (
                {"samples": (column("time", _times(rng, 1e-6 * size * scale * _seconds_of(arm))),)}
                for _ in range(PROCESSES)
            ),
            slot=slot,
            slots=len(pairs),
        )
        for slot, (arm, size) in enumerate(pairs)
    )
    return {
        "axes": ("implementation",),
        "arms": _arms("ops"),
        "workloads": workloads,
        "metrics": (_metric("time", "s", "iteration"),),
        "gate": {
            **GATE,
            "name": "numeric",
            "kind": "numeric",
            "reference": {**REFERENCE, "implementation": "synthetic.ops:reference"},
            "tolerances": ({"of": "relative", "limit": 0.01},),
        },
        "cells": cells,
    }


def _engine(rng: random.Random, scale: float) -> Document:
    """Arms, workloads, metrics, gate and cells of an engine that answers requests one after the other."""
    tokens = _REQUESTS * _OUTPUT_TOKENS
    prompts = _REQUESTS * _PROMPT_TOKENS
    workload = {
        "kind": "engine",
        "name": "even",
        "role": "target",
        "weights": {"origin": "random", "model": "synthetic-0.6b", "parameters": 6 * 10**8, "seed": 7},
        "dtype": "bf16",
        "requests": _REQUESTS,
        "arrival": {"kind": "at-once"},
        "prompt_tokens": {"minimum": _PROMPT_TOKENS, "maximum": _PROMPT_TOKENS, "total": prompts},
        "output_tokens": {"minimum": _OUTPUT_TOKENS, "maximum": _OUTPUT_TOKENS, "total": tokens},
        "ignore_eos": True,
        "sampling": (),
        "prefix_cache": "off",
        "warm_up_requests": 2,
        "inputs": {"distribution": "uniform over tokens", "seed": 7, "sets": 1, "sha256": _DIGEST},
        "work": ({"of": "output-tokens", "count": tokens},),
    }
    detail = {
        "kind": "tokens",
        "compared": tokens,
        "agreed": tokens,
        "prompts": _REQUESTS,
        "prompts_equal": _REQUESTS,
        "controls": ({"kind": "same-arm", "compared": tokens, "agreed": tokens},),
        "divergences": (),
    }
    cells = tuple(
        timed(
            arm,
            "even",
            detail,
            (_served(rng, 0.1 * scale * _seconds_of(arm)) for _ in range(PROCESSES)),
            slot=slot,
            slots=len(ARMS),
        )
        for slot, arm in enumerate(ARMS)
    )
    return {
        "axes": ("implementation",),
        "arms": _arms("engine"),
        "workloads": (workload,),
        "metrics": (_metric("wall_time", "s", "process"), _metric("latency", "s", "request")),
        "gate": {
            **GATE,
            "name": "parity",
            "kind": "tokens",
            "reference": {**REFERENCE, "implementation": "synthetic.engine:greedy"},
            "tolerances": ({"of": "agreement", "limit": 1.0},),
        },
        "cells": cells,
    }


def _seconds_of(arm: str) -> float:
    return _GAIN if arm == ARMS[1] else 1.0


def _times(rng: random.Random, centre_s: float) -> tuple[float, ...]:
    centre_s *= 1 + rng.gauss(0, _SPREAD)
    return tuple(float(f"{centre_s * (1 + rng.gauss(0, _SPREAD)):.9g}") for _ in range(_SAMPLES))


def _served(rng: random.Random, each_s: float) -> Document:
    """One process's requests, each of which takes about `each_s` after the one before it."""
    ends = list(itertools.accumulate(each_s * (1 + rng.gauss(0, _SPREAD)) for _ in range(_REQUESTS)))
    return {
        "samples": (column("wall_time", (round(ends[-1] + 0.001, 9),)),),
        "client_cpu_s": 0.02,
        "requests": {
            "enqueued_s": (0.0,) * _REQUESTS,
            "prompt_tokens": (_PROMPT_TOKENS,) * _REQUESTS,
            "cached_tokens": (0,) * _REQUESTS,
            "output_tokens": (_OUTPUT_TOKENS,) * _REQUESTS,
            "ttft_s": tuple(round(end - 0.8 * each_s, 9) for end in ends),
            "latency_s": tuple(round(end, 9) for end in ends),
        },
    }


def timed(
    arm: str, workload: str, detail: Document, processes: Iterable[Document], *, slot: int, slots: int
) -> Document:
    """Return one cell; `slot` of `slots` is its turn in each round of processes."""
    return {
        "kind": "timed",
        "arm": arm,
        "workload": workload,
        "gate": {
            "outcome": "passed",
            "gate": "parity" if detail["kind"] == "tokens" else "numeric",
            "source": "repository",
            "phase": "before",
            "seeds": (7, 8, 9),
            "detail": detail,
        },
        "further": (),
        "method": "do-bench",
        "ran": (),
        "processes": tuple(
            {
                "index": index,
                "started_s": STEP_S * (index * slots + slot),
                "ended_s": STEP_S * (index * slots + slot) + WINDOW_S,
                "stopped": "fixed",
                "compilations": 0,
                "client_cpu_s": None,
                "counters": (),
                "work": (),
                "requests": None,
                **drawn,
            }
            for index, drawn in enumerate(processes)
        ),
        "discards": (),
        "cross_checks": (),
    }


def column(metric: str, values: tuple[float, ...]) -> Document:
    """Return the samples of one metric in one process."""
    return {"metric": metric, "rank": 0, "values": values}


def _metric(name: str, unit: str, of: str) -> Document:
    return {"name": name, "unit": unit, "better": "lower", "of": of, "role": "target"}


def tensor(elements: int) -> Document:
    """Return the errors of one output, well within what a gate allows."""
    return {
        "name": "o",
        "elements": elements,
        "mismatched": 0,
        "non_finite": 0,
        "maximum_absolute": 1e-4,
        "maximum_relative": 1e-3,
        "rms_to_fp64": None,
    }
