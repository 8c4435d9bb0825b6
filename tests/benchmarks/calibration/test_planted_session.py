from __future__ import annotations

import pytest

from benchmarks.calibration.trials import trials
from benchmarks.ops.run import main
from evidence.schema import Timed
from evidence.store import Store

pytest.importorskip("torch")

WORDS = ("--op", "simple_gla", "--implementations", "chunk", "--shapes", "b1-t64-h2-d16", "--directions", "forward")
BRIEFLY = ("--processes", "1", "--minimum-samples", "3", "--maximum-samples", "3", "--warm-up", "0.02")


def test_a_real_session_tells_what_was_planted_and_a_trial_reads_it(tmp_path):
    assert main([*WORDS, *BRIEFLY, "--slowed", "50", "--log", "--logs", str(tmp_path)]) == 0
    store = Store(tmp_path)
    (entry,) = store.entries
    record = store.load(entry.log).record

    planted, same = trials(entry.log, record)
    assert (planted.kind, planted.arm) == ("planted", "chunk-slowed")
    assert (same.kind, same.arm) == ("a-a", "chunk-again")
    assert planted.asked == 0.5
    assert planted.planted == pytest.approx(0.5, rel=0.06)
    # One process a side is no trial yet.
    assert not planted.is_judged(9)
    assert planted.said == "REFUSED: chunk has 1 of 6 processes"
    cell = record.cell("chunk-slowed", "b1-t64-h2-d16-fwd")
    assert isinstance(cell, Timed)
    assert [outcome.phase for outcome in (cell.gate, *cell.further)] == ["before", "timed-outputs"]
