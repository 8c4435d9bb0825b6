"""Tests of adoption: each refusal, the pick of a person, and a lock that is written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidence import adoption, lock
from evidence.adoption import adopt
from evidence.decisions import AdoptionError, Decision
from evidence.errors import UnknownNameError
from evidence.project import Project
from evidence.schema import Cell, Crashed, Record, Skipped
from tests import factories
from tests.evidence import splitkv
from tests.evidence.checker.sites import write_lock

LOST: dict[str, Callable[[Cell], Cell]] = {
    "crashed": lambda cell: Crashed(arm=cell.arm, workload=cell.workload, cause="oom", phase="warm-up", message="full"),
    "was skipped": lambda cell: Skipped(arm=cell.arm, workload=cell.workload, reason="needs more memory"),
    "was rejected": lambda cell: factories.rejected(cell.arm, cell.workload),
}


def losing(log: str, lose: Callable[[Cell], Cell], workload: str = "b1-t8192", **changes: Any) -> Record:
    made = splitkv.splitkv(log)
    cells = tuple(lose(one) if (one.arm, one.workload) == ("split", workload) else one for one in made.cells)
    return made.model_copy(update={"cells": cells, **changes})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The example on its first session, with a lock."""
    made = splitkv.write(tmp_path / "site", splitkv.splitkv())
    write_lock(made)
    return made


def add(root: Path, *records: Record) -> None:
    for one in records:
        factories.loaded(one, root / "docs/benchmark_logs")


def moved(root: Path, *picked: str, only: tuple[str, ...] = ()) -> Decision:
    (decision,) = adopt(Project.find(root), picked, only).decisions
    return decision


def edit(root: Path, change: Callable[[str], str], name: str = "features.yml") -> None:
    path = root / "docs/claims" / name
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


def test_nothing_newer_is_nothing_to_do(root: Path) -> None:
    found = adopt(Project.find(root))
    assert not moved(root).is_moved
    assert (found.changes, found.faults) == ((), ())


def test_of_several_newer_logs_the_last_start_is_adopted(root: Path) -> None:
    add(root, splitkv.splitkv(f"{splitkv.SERIES}_20261110"), splitkv.splitkv(splitkv.SECOND))
    assert moved(root).new.entry.log == splitkv.SECOND


@pytest.mark.parametrize("word", LOST)
def test_a_log_that_lost_a_claimed_cell_is_refused_and_the_old_one_stays(root: Path, word: str) -> None:
    add(root, losing(splitkv.SECOND, LOST[word]))
    decision = moved(root)
    (refusal,) = decision.refusals
    assert (decision.new.entry.log, decision.is_moved, decision.is_behind) == (splitkv.FIRST, False, True)
    assert refusal.code == "EV609"
    assert f"splitkv claims split on b1-t8192, which {word} in it" in refusal.message
    assert f"evidence update --adopt {splitkv.SECOND}" in refusal.fix


def test_a_cell_that_is_not_there_any_more_is_lost_too(root: Path) -> None:
    made = splitkv.splitkv(splitkv.SECOND)
    fewer = tuple(one for one in made.cells if one.workload != "b1-t8192")
    loads = tuple(one for one in made.workloads if one.name != "b1-t8192")
    add(root, made.model_copy(update={"cells": fewer, "workloads": loads}))
    (refusal,) = moved(root).refusals
    assert "splitkv claims split on b1-t8192, which it does not have" in refusal.message.replace("whole", "split")


def test_an_arm_that_is_not_there_any_more_is_lost_too(root: Path) -> None:
    add(root, splitkv.splitkv(splitkv.SECOND))
    edit(
        root,
        lambda text: (
            text
            + "  other:\n    statement: It reads.\n    series: kernels/splitkv_l4\n    metric: time\n    arm: split\n"
        ),
    )
    made = splitkv.splitkv(f"{splitkv.SERIES}_20261129")
    renamed = tuple(one.model_copy(update={"name": "parted"}) if one.name == "split" else one for one in made.arms)
    cells = tuple(one.model_copy(update={"arm": "parted"}) if one.arm == "split" else one for one in made.cells)
    add(root, made.model_copy(update={"arms": renamed, "cells": cells}))
    (refusal,) = moved(root).refusals
    assert "cannot be read in it" in refusal.message
    assert "no arm 'split'" in refusal.message


def test_a_cell_that_only_a_table_shows_is_not_claimed(root: Path) -> None:
    edit(root, lambda text: text.replace("    expect: {better: 5, worse: 1}", "    where: {B: 1}\n    expect: better"))
    write_lock(root)
    add(root, losing(splitkv.SECOND, LOST["crashed"], "b8-t512"))
    decision = moved(root)
    assert (decision.refusals, decision.new.entry.log) == ((), splitkv.SECOND)


def test_a_cell_that_was_lost_before_is_not_lost_again(tmp_path: Path) -> None:
    root = splitkv.write(tmp_path / "site", losing(splitkv.FIRST, LOST["was skipped"]))
    write_lock(root)
    add(root, losing(splitkv.SECOND, LOST["crashed"]))
    assert moved(root).new.entry.log == splitkv.SECOND


def test_a_person_may_adopt_what_lost_a_cell(root: Path) -> None:
    add(root, losing(splitkv.SECOND, LOST["crashed"]))
    found = adopt(Project.find(root), [splitkv.SECOND])
    assert found.decisions[0].refusals == ()
    assert "— CRASHED: out of memory in warm-up: full" in found.text
    assert [code for code, _ in found.faults] == ["EV601"]


def test_a_person_may_pick_an_older_log_and_stays_behind(root: Path) -> None:
    add(root, splitkv.splitkv(f"{splitkv.SERIES}_20261110"), splitkv.splitkv(splitkv.SECOND))
    decision = moved(root, f"{splitkv.SERIES}_20261110")
    assert decision.new.entry.log == f"{splitkv.SERIES}_20261110"
    assert decision.is_behind


def test_another_device_is_refused(root: Path) -> None:
    add(root, splitkv.splitkv(splitkv.SECOND, hosts=factories.on_device("NVIDIA RTX 4070 Laptop")))
    decision = moved(root)
    (refusal,) = decision.refusals
    assert decision.new.entry.log == splitkv.FIRST
    assert refusal.code == "EV607"
    assert refusal.message == (
        "'kernels/splitkv_l4_20261128' is newer than the adopted '…_20261105' and ran on NVIDIA RTX 4070 Laptop, "
        "not NVIDIA L4"
    )
    with pytest.raises(AdoptionError, match="its series began on NVIDIA L4"):
        adopt(Project.find(root), [splitkv.SECOND])


def test_another_stack_on_that_device_is_adopted_and_its_line_shows_it(root: Path) -> None:
    packages = tuple("torch==2.12.0" if one.startswith("torch==") else one for one in factories.stack().packages)
    add(root, splitkv.splitkv(splitkv.SECOND, stacks=(factories.stack(packages=packages),)))
    found = adopt(Project.find(root))
    (stance,) = [one for one in found.changes if one.key[2] == "stance"]
    assert found.decisions[0].refusals == ()
    assert "torch 2.11.0" in (stance.old or "")
    assert "torch 2.12.0" in (stance.new or "")


def test_a_status_settles_a_refusal(root: Path) -> None:
    add(root, losing(splitkv.SECOND, LOST["crashed"]))
    edit(root, lambda text: f"logs:\n  {splitkv.SECOND}: {{do_not_cite: the device was shared}}\n{text}")
    decision = moved(root)
    assert (decision.refusals, decision.is_behind) == ((), False)
    with pytest.raises(AdoptionError, match="has a status"):
        adopt(Project.find(root), [splitkv.SECOND])


def test_a_log_that_got_a_status_is_left_for_the_one_before(root: Path) -> None:
    add(root, splitkv.splitkv(splitkv.SECOND))
    adopt(Project.find(root)).write()
    edit(root, lambda text: f"logs:\n  {splitkv.SECOND}: {{do_not_cite: the device was shared}}\n{text}")
    decision = moved(root)
    assert (decision.old or decision.new).entry.log == splitkv.SECOND
    assert decision.new.entry.log == splitkv.FIRST


def test_only_named_series_move(root: Path) -> None:
    add(root, splitkv.splitkv(splitkv.SECOND))
    edit(
        root,
        lambda text: (
            text
            + "  other:\n    statement: It takes {value}.\n    series: kernels/toy\n    metric: time\n    arm: eager\n"
        ),
    )
    add(root, factories.record())
    found = adopt(Project.find(root), only=["kernels/toy"])
    assert {one.series: one.is_moved for one in found.decisions} == {"kernels/toy": True, splitkv.SERIES: False}


def test_expect_is_never_rewritten(root: Path) -> None:
    before = (root / "docs/claims/features.yml").read_bytes()
    add(root, splitkv.splitkv(splitkv.SECOND, splitkv.SLOWER))
    adopt(Project.find(root)).write()
    assert (root / "docs/claims/features.yml").read_bytes() == before


@pytest.mark.parametrize(
    ("picked", "only", "message"),
    [
        (["kernels/splitkv_l4_20261129"], [], "no log"),
        ([], ["kernels/splitkv"], "no claimed series"),
        (["kernels/toy_20260901"], [], "no claimed series 'kernels/toy'"),
        ([splitkv.FIRST, f"{splitkv.SERIES}_20261110"], [], "two logs are picked"),
    ],
)
def test_what_cannot_be_picked(root: Path, picked: list[str], only: list[str], message: str) -> None:
    add(root, factories.record(), splitkv.splitkv(f"{splitkv.SERIES}_20261110"))
    with pytest.raises((UnknownNameError, AdoptionError), match=message):
        adopt(Project.find(root), picked, only)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("evidence.lock", "<<<<<<< HEAD\n", "evidence.lock:1: a merge left both sides"),
        ("features.yml", "claims: [", "EV620"),
        ("features.yml", "claims: {a: {}}", "EV620"),
    ],
)
def test_what_must_be_mended_first(root: Path, name: str, text: str, message: str) -> None:
    edit(root, lambda _: text, name)
    with pytest.raises(AdoptionError, match=message) as caught:
        adopt(Project.find(root))
    assert caught.value.fix


def test_lines_of_what_cannot_be_printed_now_are_kept(root: Path) -> None:
    before = lock.read(root / "docs/claims/evidence.lock")
    assert before is not None
    edit(root, lambda text: text.replace("rows: [B, T]", "rows: [B]").replace("{ratio.geomean}", "{ratoi}"))
    assert lock.parse(adopt(Project.find(root)).text).facts == before.facts


def test_a_damaged_log_keeps_its_lines(root: Path) -> None:
    before = (root / "docs/claims/evidence.lock").read_text(encoding="utf-8")
    (root / "docs/benchmark_logs" / splitkv.FIRST / "record.json").write_text("{")
    assert adopt(Project.find(root)).text == before


def test_damage_of_a_line_is_mended(root: Path) -> None:
    path = root / "docs/claims/evidence.lock"
    whole = path.read_text(encoding="utf-8")
    for text in (
        "",
        whole.replace('"1 / 8192" = "', '"1 / 8192" = "x'),
        "\n".join(sorted(whole.split("\n"), reverse=True)),
    ):
        path.write_text(text, encoding="utf-8")
        adopt(Project.find(root)).write()
        assert path.read_text(encoding="utf-8") == whole


def test_a_write_that_fails_leaves_the_old_lock_and_nothing_else(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(root, splitkv.splitkv(splitkv.SECOND))
    found = adopt(Project.find(root))
    before = {path.name: path.read_bytes() for path in (root / "docs/claims").iterdir()}

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(adoption.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        found.write()
    assert {path.name: path.read_bytes() for path in (root / "docs/claims").iterdir()} == before
