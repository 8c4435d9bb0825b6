"""Owns the synthetic series that tests of the lock move: three batches by three lengths, of which three ran alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evidence.schema import Dimension, Record, Setting, Timed
from tests import factories

SERIES = "kernels/splitkv_l4"
FIRST, SECOND = f"{SERIES}_20261105", f"{SERIES}_20261128"
CLAIMS = """\
tables:
  splitkv-l4:
    title: Attention over a long cache, split and whole
    series: kernels/splitkv_l4
    rows: [B, T]
    across: arm
    columns: [time, {ratio: time}]
    baseline: whole
claims:
  splitkv:
    statement: "Splitting the cache gives {ratio.geomean} on {device} ({tally})."
    series: kernels/splitkv_l4
    metric: time
    baseline: whole
    candidate: split
    expect: {better: 5, worse: 1}
    mechanism: {unknown: nothing was profiled}
"""
PAGE = '# Split\n\n{{ ev.claim("splitkv") }}\n\n{{ ev.table("splitkv-l4") }}\n'
BATCHES, LENGTHS = (1, 8, 64), (512, 2048, 8192)
GAINS = {(1, 512): 1.3, (1, 2048): 1.2, (1, 8192): 1.09, (8, 512): 1.25, (8, 2048): 1.15, (8, 8192): 0.9}
"""How many times faster splitting is; cells that are not here resolved to one configuration."""


def cell(arm: str, batch: int, length: int, gains: dict[tuple[int, int], float], seed: int) -> Timed:
    """One timed cell: the whole cache takes 118.4 us at one batch of 8,192."""
    gain = gains.get((batch, length)) if arm == "split" else 1.0
    median = 118.4e-6 * batch * length / 8192 / (gain or 1.0)
    ran = (Setting(name="splits", value="1" if gain in (None, 1.0) else "8"),)
    slot = ("whole", "split").index(arm) * 9 + BATCHES.index(batch) * 3 + LENGTHS.index(length)
    return factories.timed(arm, f"b{batch}-t{length}", median_s=median, slot=slot, seed=seed, ran=ran)


def splitkv(log: str = FIRST, gains: dict[tuple[int, int], float] | None = None, **changes: Any) -> Record:
    """One session of the series."""
    day = f"{log.rpartition('_')[2]}"[:8]
    started = factories.STARTED.replace(year=int(day[:4]), month=int(day[4:6]), day=int(day[6:]))
    arms = tuple(
        factories.arm(name, role, implementation="toy.ops:attend", switches=(Setting(name="split", value=on),))
        for name, role, on in (("whole", "baseline", "off"), ("split", "candidate", "on"))
    )
    loads = tuple(
        factories.workload(f"b{batch}-t{length}").model_copy(
            update={"shape": (Dimension(name="B", size=batch), Dimension(name="T", size=length))}
        )
        for batch in BATCHES
        for length in LENGTHS
    )
    seed = int(day)
    cells = tuple(
        cell(arm, batch, length, {**GAINS, **(gains or {})}, seed)
        for arm in ("whole", "split")
        for batch in BATCHES
        for length in LENGTHS
    )
    values: dict[str, Any] = {
        "started_at": started,
        "ended_at": started + (factories.record().ended_at - factories.STARTED),
        "hosts": factories.on_device("NVIDIA L4"),
        "axes": ("split",),
        "arms": arms,
        "workloads": loads,
        "cells": cells,
    }
    return factories.record(log, **{**values, **changes})


SLOWER = {(1, 8192): 0.97}
"""What the second session finds."""


def write(root: Path, *records: Record) -> Path:
    """Write claims, page and logs; the lock is the test's to make."""
    made = factories.project(root)
    (made.claims / "features.yml").write_text(CLAIMS, encoding="utf-8")
    (root / "mkdocs.yml").write_text("site_name: Synthetic\n", encoding="utf-8")
    (made.docs / "index.md").write_text(PAGE, encoding="utf-8")
    for one in records:
        factories.loaded(one, made.logs)
    return root
