"""Synthetic sessions with a control and an arm slowed on purpose; no number in them was measured."""

from __future__ import annotations

from evidence.schema import Record, Setting
from tests import factories

SIZES = (1024, 2048)


def session(
    log: str = "kernels/trials_20260901",
    *,
    again: float = 1.0,
    slowed: float = 1.02,
    processes: int = 9,
    spread: float = 0.001,
) -> Record:
    """Return a session of a baseline, its slowed self and its control, by how many times as long they take."""
    planted = (Setting(name="slowed", value="2 %"),)
    arms = (
        factories.arm("eager"),
        factories.arm("eager-slowed", "alternative", implementation="toy.ops:eager", switches=planted),
        factories.arm("eager-again", "control", control_of="eager", implementation="toy.ops:eager"),
    )
    ran = (
        Setting(name="own_ns", value="1000000 | 1000200 | 999800"),
        Setting(name="planted_ns", value="20000 | 20100 | 19800"),
        *planted,
    )
    cells = tuple(
        factories.timed(
            arm,
            f"n{size}",
            median_s=1e-3 * times,
            spread=spread,
            processes=processes,
            slot=slot,
            ran=ran if arm == "eager-slowed" else (),
        )
        for size in SIZES
        for slot, (arm, times) in enumerate((("eager", 1.0), ("eager-slowed", slowed), ("eager-again", again)))
    )
    return factories.record(
        log,
        arms=arms,
        axes=("implementation", "slowed"),
        workloads=tuple(factories.workload(f"n{size}", size) for size in SIZES),
        cells=cells,
    )
