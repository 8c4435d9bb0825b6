"""Stands where a measuring command would: adds a record of invented numbers, as `kernel.json` of the tree asks for.

The source is the tree that it runs in, captured like any other.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.capture import git_source
from benchmarks.profile.attachment import attach
from benchmarks.profile.summaries import Kernel, Summary, metric, taken, whole
from evidence.schema import FrozenPath, Record, Setting, Tolerance, Unavailable
from evidence.store import save
from tests.factories import gate, package_source, rejected, sweep

BASE = {"1024": 1e-3, "8192": 8e-3}


def made(asked: dict[str, Any], log: str, sources: tuple[Any, ...]) -> tuple[Record, Mapping[str, bytes]]:
    """The record of one run: `times` of the candidate by size, and what else is asked."""
    times = {int(size): seconds for size, seconds in asked.get("times", BASE).items()}
    eager = {int(size): seconds for size, seconds in BASE.items() if int(size) in times}
    record = sweep({"eager": eager, "fused": times}, log, sources=sources)
    gates = gate(
        frozen=tuple(FrozenPath(path=path, sha256=digest) for path, digest in asked.get("frozen", {}).items()),
        variables=tuple(Setting(name=name, value="1") for name in asked.get("variables", ())),
        tolerances=(Tolerance(of="relative", limit=asked.get("relative", 0.01)), Tolerance(of="absolute", limit=0.001)),
        scope="partial" if asked.get("selection") else "full",
        selection=asked.get("selection"),
    )
    changes: dict[str, Any] = {"gates": (gates,)}
    if name := asked.get("rejected"):
        cells = [rejected("fused", name) if (c.arm, c.workload) == ("fused", name) else c for c in record.cells]
        changes["cells"] = tuple(cells)
    record = record.model_copy(update=changes)
    found: list[Any] = []
    for arm, moved in asked.get("moved", {}).items():
        shares = (metric(name, "%", value) for name, value in asked.get("shares", {}).items())
        kernel = Kernel(f"{arm}_kernel", 1, 1e-3, (metric("moved_bytes", "B", moved), *shares))
        summary = Summary("ncu", (kernel,), whole((kernel,)), asked.get("bottleneck", "memory"), "synthetic", ())
        found.append(taken(summary, arm, "n8192", ("ncu",)))
    if not found and asked.get("no_profile"):
        found.append(Unavailable(what="ncu profile of fused on n8192", reason=asked["no_profile"]))
    return attach(record, found)


def main() -> int:
    """Add the record; `exit` of the kernel ends without one."""
    root = Path.cwd()
    asked = json.loads((root / "kernel.json").read_text())
    if "exit" in asked:
        return int(asked["exit"])
    source = git_source(root, ("kernel.json",))
    record, artifacts = made(asked, "kernels/sweep_20260901", (source, package_source()))
    sys.stdout.write(f"measured {save(root / 'docs/benchmark_logs', record, artifacts)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
