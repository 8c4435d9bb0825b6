"""What blocks a promotion, each reason by itself, on synthetic records: every number is invented."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.loop import contract as contracts
from benchmarks.loop import decision, dispatch, journal
from benchmarks.loop.contract import Contract
from benchmarks.loop.iteration import Loop, _row
from benchmarks.loop.reasons import LoopError, Objection, Reason, first
from evidence.repository import Repository
from evidence.schema import Crashed, Metric, Record, Skipped
from evidence.store import Store, save
from tests.benchmarks.loop.loops import draft, times
from tests.benchmarks.loop.measure import made
from tests.factories import COMMIT, git_source, on_device, package_source, process

BASE = {"times": times(8e-3), "moved": {"eager": 9e9, "fused": 9e9}}
GOOD = {"times": times(4e-3), "moved": {"eager": 9e9, "fused": 3e9}}


class Committed(Repository):
    """A repository with one commit, as far as rows ask."""

    def commit(self) -> str:
        return COMMIT


def contract_of(path: Path, **changes: Any) -> Contract:
    (path / "gate.py").write_text("")
    draft_path = path / "draft.json"
    draft_path.write_text(json.dumps(draft(**changes)))
    return contracts.draft(draft_path, path)


def story(path: Path, contract: Contract, *runs: dict[str, Any]) -> tuple[tuple[journal.Row, ...], Store]:
    """Rows over runs; those of one `tree` are sessions of one source, each run has its own unless it says."""
    rows: tuple[journal.Row, ...] = ()
    logs = path / "docs/benchmark_logs"
    for index, asked in enumerate(runs):
        tree = f"{asked.get('tree', index):064x}"
        source = git_source(commit_tree_sha256=tree, tree_sha256=f"{99:064x}" if asked.get("dirty") else tree)
        record, artifacts = made(asked, f"kernels/sweep_2026090{index + 1}", (source, package_source()))
        if "change" in asked:
            record = asked["change"](record)
        name = save(logs, record, artifacts)
        loaded = Store(logs).load(name)
        gate, change, status = journal.judged(contract, rows, loaded, Store(logs))
        row = _row(Loop(Committed(path), contract, rows), f"direction {index}", status, gate=gate)
        update = {"record": name, "record_sha256": loaded.sha256, "change": change}
        rows = (*rows, row.model_copy(update=update))
    return rows, Store(logs)


def objections(path: Path, *runs: dict[str, Any], **changes: Any) -> tuple[Objection, ...]:
    contract = contract_of(path, **changes)
    rows, store = story(path, contract, *runs)
    return decision.promotion(contract, rows, store)


def reasons(found: tuple[Objection, ...]) -> set[Reason]:
    return {one.reason for one in found}


def test_two_green_faster_sessions_with_a_mechanism_are_promotable(tmp_path):
    assert objections(tmp_path, BASE, {**GOOD, "tree": 7}, {**GOOD, "tree": 7}) == ()


def again(**changes: Any) -> tuple[dict[str, Any], ...]:
    """A base, and two sessions of one good source with something about both of them."""
    return BASE, {**GOOD, "tree": 7, **changes}, {**GOOD, "tree": 7, **changes}


def last(**changes: Any) -> tuple[dict[str, Any], ...]:
    """A base and two sessions, with something about the second of them."""
    return BASE, {**GOOD, "tree": 7}, {**GOOD, "tree": 7, **changes}


def skipped(record: Record) -> Record:
    cells = [
        Skipped(arm=c.arm, workload=c.workload, reason="no time left")
        if (c.arm, c.workload) == ("fused", "n1024")
        else c
        for c in record.cells
    ]
    return record.model_copy(update={"cells": tuple(cells)})


def crashed(record: Record) -> Record:
    lost = Crashed(arm="eager", workload="n1024", cause="error", phase="timing", message="it ended")
    cells = [lost if (c.arm, c.workload) == ("eager", "n1024") else c for c in record.cells]
    return record.model_copy(update={"cells": tuple(cells)})


def larger(record: Record) -> Record:
    """The candidate needs more memory, which is a guard metric."""
    metric = Metric(name="peak_memory", unit="B", better="lower", of="process", role="guard")
    cells = []
    for cell in record.cells:
        size = 2e9 if cell.arm == "fused" else 1e9
        processes = tuple(
            one.model_copy(
                update={
                    "samples": (
                        *one.samples,
                        *process(one.index, [size], started_s=one.started_s, metric_name="peak_memory").samples,
                    )
                }
            )
            for one in cell.processes  # type: ignore[union-attr]
        )
        cells.append(cell.model_copy(update={"processes": processes}))
    return record.model_copy(update={"metrics": (*record.metrics, metric), "cells": tuple(cells)})


def elsewhere(record: Record) -> Record:
    return record.model_copy(update={"hosts": on_device("Synthetic GPU B")})


BLOCKED: dict[Reason, tuple[tuple[dict[str, Any], ...], dict[str, Any]]] = {
    Reason.RED_GATE: ((BASE, {**GOOD, "rejected": "n8192"}), {}),
    Reason.GATE_SKIPPED: ((BASE, {**GOOD, "change": skipped}), {}),
    Reason.GATE_MISSING: (again(), {"criteria": {**draft()["criteria"], "frozen_tests": True}}),
    Reason.SUBSET_GATE: ((BASE, {**GOOD, "selection": "T8192"}), {}),
    Reason.LOST_ROW: (last(change=crashed), {}),
    Reason.UNMATCHED_SHAPE: (again(), {"modes": ["forward", "forward-backward"]}),
    Reason.TOLERANCE_CHANGED: (again(relative=0.5), {}),
    Reason.GATE_CHANGED: (again(frozen={"gate.py": "0" * 64}), {}),
    Reason.ENVIRONMENT: (again(variables=["FLA_CI_ENV"]), {}),
    Reason.ONE_SESSION: ((BASE, GOOD), {}),
    Reason.GUARD_SLOWER: (again(change=larger), {}),
    Reason.NO_MECHANISM: (again(moved={}), {}),
    Reason.DIRTY_SOURCE: (again(dirty=True), {}),
    Reason.OTHER_BASELINE: (again(), {"baseline_source": "toy==2.0"}),
    Reason.OTHER_HARDWARE: (last(change=elsewhere), {}),
    Reason.BELOW_TARGET: (again(times=times(7.2e-3)), {}),
    Reason.WEAK_GATE: (again(), {"criteria": {**draft()["criteria"], "mutants_killed": 0.9}}),
    Reason.NOT_DECIDED: ((BASE,), {}),
}


@pytest.mark.parametrize("reason", BLOCKED, ids=lambda reason: reason.name)
def test_each_reason_blocks_by_its_own_name(tmp_path, reason):
    runs, changes = BLOCKED[reason]
    found = objections(tmp_path, *runs, **changes)
    assert reason in reasons(found), found


@pytest.mark.parametrize("reason", BLOCKED, ids=lambda reason: reason.name)
def test_each_reason_has_an_exit_code_of_its_own(reason):
    assert first([Objection(reason, "x")]) is reason
    assert len({one.value for one in BLOCKED}) == len(BLOCKED)
    assert reason.value > 2


@pytest.mark.parametrize("agreed", ["repository", "nowhere", "toy==1"])
def test_a_baseline_of_another_source_is_another_baseline(tmp_path, agreed):
    assert Reason.OTHER_BASELINE in reasons(objections(tmp_path, *again(), baseline_source=agreed))


def test_a_baseline_that_is_a_commit_is_held_to_it(tmp_path):
    def of_commit(record: Record) -> Record:
        other = git_source(name="base", commit="f" * 40)
        arms = tuple(one.model_copy(update={"source": "base"}) if one.name != "fused" else one for one in record.arms)
        return record.model_copy(
            update={"sources": (*record.sources, other), "arms": arms, "axes": ("implementation", "source")}
        )

    runs = [{**one, "change": of_commit} for one in again()]
    agreed = {"baseline_source": "v1", "baseline_commit": "f" * 40}
    assert objections(tmp_path, *runs, **agreed) == ()
    (tmp_path / "other").mkdir()
    moved = objections(tmp_path / "other", *runs, **{**agreed, "baseline_commit": "e" * 40})
    assert Reason.OTHER_BASELINE in reasons(moved)


def test_a_session_that_is_not_faster_does_not_count(tmp_path):
    found = objections(tmp_path, *last(times=times(8e-3)))
    assert {Reason.ONE_SESSION, Reason.NOT_DECIDED} <= reasons(found)


def test_a_slower_guard_is_not_kept_and_an_accepted_one_is_not_held_against_a_promotion(tmp_path):
    contract = contract_of(tmp_path)
    rows, _ = story(tmp_path, contract, BASE, {**GOOD, "times": times(4e-3, guard=2e-3)})
    assert [row.status for row in rows] == ["base", "revert"]
    accepted = {**draft()["criteria"], "accepted": [{"guard": "peak_memory", "reason": "memory is free here"}]}
    (tmp_path / "other").mkdir()
    assert objections(tmp_path / "other", *again(change=larger), criteria=accepted) == ()


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ({"kernel": "other_kernel"}, "the kernel with the most time is fused_kernel"),
        ({"moves": "up"}, "no pair of profiles shows moved_bytes going up"),
        ({"metric": "registers"}, "no pair of profiles shows registers"),
        ({"metric": "bandwidth"}, "no share of a peak is known"),
    ],
)
def test_a_mechanism_is_the_changed_kernel_and_its_metric_as_it_was_said_to_move(tmp_path, claim, said):
    criteria = draft()["criteria"]
    criteria["mechanism"] |= claim
    found = objections(tmp_path, *again(), criteria=criteria)
    assert [one.reason for one in found] == [Reason.NO_MECHANISM]
    assert said in found[0].text


def on_h200(record: Record) -> Record:
    return record.model_copy(update={"hosts": on_device("NVIDIA H200")})


def test_a_share_of_the_roofline_that_rose_is_a_mechanism_too(tmp_path):
    criteria = draft()["criteria"]
    criteria["mechanism"] = {"kernel": "fused", "metric": "bandwidth", "moves": "up"}
    runs = [{**one, "change": on_h200} for one in again()]
    assert objections(tmp_path, *runs, criteria=criteria, hardware="NVIDIA H200") == ()


def test_the_floor_ends_where_the_roofline_is_reached(tmp_path):
    contract = contract_of(tmp_path, floor_share=1e-6, hardware="NVIDIA H200")
    rows, _ = story(tmp_path, contract, {**BASE, "change": on_h200}, {**GOOD, "change": on_h200})
    assert [row.status for row in rows] == ["base", "floor"]
    limit = decision.limit(contract, rows, Store(tmp_path / "docs/benchmark_logs"), "shape")
    assert limit.text.startswith("n8192 gains least: 2.0")


def test_the_dispatch_table_keeps_the_baseline_where_it_is_not_beaten(tmp_path):
    contract = contract_of(tmp_path)
    rows, store = story(tmp_path, contract, BASE, GOOD)
    large, small = dispatch.table(contract, rows, store)
    assert (large.entry_point, large.reason, large.logs) == (
        "toy.ops:fused",
        "faster on all of 1",
        ("kernels/sweep_20260902",),
    )
    assert small.entry_point == "toy.ops:eager"
    assert small.reason.startswith("n1024 is")
    assert large.ratio is not None
    assert large.ratio.value == pytest.approx(2, rel=0.01)
    assert dispatch.table(contract, (), store)[0].entry_point == "toy.ops:eager"


def test_a_no_go_is_refused_where_the_best_is_promotable(tmp_path):
    contract = contract_of(tmp_path)
    rows, store = story(tmp_path, contract, *again())
    (found,) = decision.no_go(contract, rows, store)
    assert "promotable" in found.text


def test_a_bound_without_a_number_is_none(tmp_path):
    contract = contract_of(tmp_path)
    rows, store = story(tmp_path, contract, BASE, GOOD)
    for bound in ("register", "launch", "bandwidth", "compiler"):
        with pytest.raises(LoopError) as error:
            decision.limit(contract, rows, store, bound)  # type: ignore[arg-type]
        assert error.value.reason is Reason.UNFINISHED
