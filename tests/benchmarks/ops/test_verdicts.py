"""What a record says against its candidate; all numbers are invented."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.ops import verdicts
from benchmarks.ops.exits import Exit, first
from evidence.schema import Crashed, Record, Setting, Skipped
from tests import factories


def crashed(arm: str, **changes: Any) -> Crashed:
    values = {"arm": arm, "workload": "n1024", "cause": "error", "phase": "gate", "message": "no kernel", **changes}
    return Crashed(**values)


def record(eager: Any = None, fused: Any = None, again: Any = None, **changes: Any) -> Record:
    cells = (
        eager or factories.timed("eager", slot=0),
        fused or factories.timed("fused", median_s=0.8e-3, slot=1),
        again or factories.timed("eager-again", slot=2),
    )
    return factories.record(cells=cells, **changes)


def codes(found: Record) -> set[Exit]:
    return {blocker.code for blocker in verdicts.blockers(found)}


def test_nothing_speaks_against_a_faster_candidate():
    assert verdicts.blockers(record()) == ()


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ({"fused": factories.timed("fused", median_s=1e-2, slot=1)}, Exit.REGRESSION),
        ({"fused": factories.timed("fused", median_s=1.03e-3, slot=1)}, Exit.REGRESSION),
        ({"fused": factories.rejected("fused")}, Exit.RED_GATE),
        ({"fused": crashed("fused")}, Exit.LOST_ROW),
        ({"fused": Skipped(arm="fused", workload="n1024", reason="no backward")}, Exit.LOST_ROW),
        ({"eager": crashed("eager")}, Exit.BASELINE_UNAVAILABLE),
        ({"eager": factories.rejected("eager")}, Exit.BASELINE_UNAVAILABLE),
        ({"fused": factories.timed("fused", median_s=1.011e-3, spread=0.01, slot=1)}, Exit.INCONCLUSIVE),
        ({"fused": factories.timed("fused", processes=3, slot=1)}, Exit.INCONCLUSIVE),
        ({"again": factories.timed("eager-again", median_s=1.1e-3, slot=2)}, Exit.INCONCLUSIVE),
    ],
)
def test_each_thing_that_speaks_against_it_has_its_code(cells, code):
    assert first(verdicts.blockers(record(**cells))) is code


def test_nothing_timed_is_a_benchmark_that_failed():
    found = record(*(crashed(arm) for arm in ("eager", "fused", "eager-again")))
    assert Exit.BENCHMARK_FAILED in codes(found)


def test_a_control_op_that_moves_makes_the_session_inconclusive():
    load = factories.workload()
    beside = load.model_copy(update={"name": "copy", "op": "control", "role": "guard"})
    slots = {"eager": 3, "fused": 4, "eager-again": 5}

    def found(fused_s: float) -> Record:
        more = [
            factories.timed(arm, "copy", median_s=fused_s if arm == "fused" else 1e-3, slot=slot)
            for arm, slot in slots.items()
        ]
        sound = record()
        return factories.record(workloads=(load, beside), cells=(*sound.cells, *more))

    assert verdicts.blockers(found(1e-3)) == ()
    for other in (0.9e-3, 1.1e-3):
        (blocker,) = verdicts.blockers(found(other))
        assert blocker.code is Exit.INCONCLUSIVE
        assert "the same code on both sides" in blocker.reason


def test_processes_that_loaded_different_code_are_no_side():
    torn = (Setting(name="code", value="fla: 3 files, sha256 1 | fla: 3 files, sha256 2"),)
    found = record(fused=factories.timed("fused", median_s=0.8e-3, slot=1, ran=torn))
    (blocker,) = verdicts.blockers(found)
    assert blocker.code is Exit.BASELINE_UNAVAILABLE
    assert "processes of fused loaded different code" in blocker.reason
