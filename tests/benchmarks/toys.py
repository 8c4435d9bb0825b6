"""Owns plans of sessions over the toy worker."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.plan import Plan
from benchmarks.timing import Rules
from evidence.importers.session_stream import Header
from tests import factories

ROOT = Path(__file__).resolve().parents[2]
PINNED = {**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")}
"""The environment workers get from a plan: a thread pool that a library starts at import would forbid a fork."""


def header(workloads: Sequence[str] = ("n1", "n2"), processes: int = 2, **changes: Any) -> Header:
    """What a session over the toy worker knows before it starts: eager, fused and eager's control, on a processor."""
    ranks = ({"host": "h0", "device": None, "stack": "main"},)
    started_at = datetime.now(UTC)
    return Header(
        **{
            "log": f"kernels/toy_cpu_{started_at:%Y%m%d}",
            "started_at": started_at,
            "provenance": factories.record().provenance,
            "sources": (factories.git_source(), factories.package_source()),
            "hosts": (factories.host(accelerators=()),),
            "stacks": (factories.stack(),),
            "axes": ("implementation",),
            "arms": (
                factories.arm("eager", ranks=ranks),
                factories.arm("fused", "candidate", ranks=ranks),
                factories.arm(
                    "eager-again", "control", control_of="eager", implementation="toy.ops:eager", ranks=ranks
                ),
            ),
            "workloads": tuple(factories.workload(name, 2**index) for index, name in enumerate(workloads, 10)),
            "metrics": (factories.metric(),),
            "method": factories.method(processes=processes, timer_overhead_s=None),
            "gates": (factories.gate(),),
            "unavailable": (),
            "limitations": ("invented numbers of a test",),
            "supersedes": (),
            **changes,
        }
    )


def plan(
    folder: Path,
    made: Header | None = None,
    *,
    fused: Mapping[str, str] | None = None,
    seconds: float = 0.0,
    **changes: Any,
) -> Plan:
    """A plan whose workers leave marks in `folder`; `fused` is that arm's behaviour by workload."""
    made = made or header()
    worker = (sys.executable, "-m", "tests.benchmarks.toy_worker", str(folder), str(seconds))
    behaviour = tuple(f"{name}={what}" for name, what in (fused or {}).items())
    return Plan(
        **{
            "header": made,
            "commands": {"eager": worker, "fused": (*worker, *behaviour), "eager-again": worker},
            "environment": dict(os.environ),
            "root": ROOT,
            "rules": Rules(minimum_samples=1, maximum_samples=3, warm_up_s=0.0),
            "is_progress_shown": False,
            **changes,
        }
    )
