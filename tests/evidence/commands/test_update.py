"""Tests of `evidence update`: what it prints and writes, and how it ends; in real projects, by the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evidence.cli import cli
from evidence.schema import Crashed
from tests import factories
from tests.evidence import splitkv
from tests.evidence.checker.sites import write_lock
from tests.evidence.splitkv import FIRST, SECOND, SERIES
from tests.projects import CLAIMS, rerun, write_project

LOCK = "docs/claims/evidence.lock"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = splitkv.write(tmp_path / "site", splitkv.splitkv())
    write_lock(made)
    return made


def update(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["update", "--root", str(root), *arguments])


def second(root: Path, **changes: object) -> None:
    factories.loaded(splitkv.splitkv(SECOND, splitkv.SLOWER, **changes), root / "docs/benchmark_logs")


def test_old_and_new_of_each_line_and_what_moved_beyond_the_noise(root: Path) -> None:
    second(root)
    done = update(root)
    assert done.exit_code == 0, done.output
    lines = done.output.split("\n")
    assert lines[0] == f"{SERIES}: 20261105 -> 20261128"
    at = lines.index('tables.splitkv-l4."1 / 8192"')
    assert lines[at + 1 : at + 7] == [
        "  - 118.62 µs | 108.80 µs | 1.091× FASTER",
        "  + 118.46 µs | 122.20 µs | 0.970× SLOWER",
        "      whole time: 118.62 µs -> 118.46 µs, within the noise (1.00×, 95 % 0.996–1.002)",
        "      split time: 108.80 µs -> 122.20 µs, beyond the noise (1.12×, 95 % 1.12–1.13)",
        "      whole ÷ split of time: 1.091× -> 0.970×, beyond the noise (0.89×, 95 % 0.887–0.892)",
        "      whole ÷ split of time: FASTER -> SLOWER",
    ]
    assert "      b1-t8192: FASTER -> SLOWER" in lines
    assert "docs/claims/features.yml:16: EV602: splitkv: expect is" in done.output
    assert lines[-2].startswith("evidence: 13 lines changed, 3 numbers beyond the noise, ")
    assert lines[-2].endswith(f" 2 verdicts changed; {LOCK}")


def test_the_lines_of_the_lock_that_a_pull_request_shows(root: Path) -> None:
    """The example of the format: the note, the log and the row of the cell that turned, each whole by itself."""
    before = (root / LOCK).read_text(encoding="utf-8").split("\n")
    second(root)
    update(root)
    after = (root / LOCK).read_text(encoding="utf-8").split("\n")
    removed, added = ([line for line in one if line not in other] for one, other in ((before, after), (after, before)))
    assert f'series."{SERIES}".log = "20261105"' in removed
    assert f'series."{SERIES}".log = "20261128"' in added
    assert 'tables.splitkv-l4."1 / 8192" = "118.62 µs | 108.80 µs | 1.091× FASTER"' in removed
    assert 'tables.splitkv-l4."1 / 8192" = "118.46 µs | 122.20 µs | 0.970× SLOWER"' in added
    (note,) = [line for line in added if line.startswith("claims.splitkv.note")]
    assert note.startswith('claims.splitkv.note = "4 faster, 2 slower, 3 with identical configuration left out, ')
    assert [line.partition(" = ")[0] for line in removed] == [line.partition(" = ")[0] for line in added]


def test_a_dry_run_writes_nothing(root: Path) -> None:
    second(root)
    before = (root / LOCK).read_bytes()
    done = update(root, "--dry-run")
    assert done.exit_code == 0
    assert "nothing written" in done.output
    assert (root / LOCK).read_bytes() == before
    assert update(root).output.replace(LOCK, "") == done.output.replace("nothing written", "")


def test_a_second_update_changes_nothing(root: Path) -> None:
    second(root)
    update(root)
    assert update(root).output == f"evidence: 0 lines changed; {LOCK}\n"


def test_the_first_lock(tmp_path: Path) -> None:
    made = splitkv.write(tmp_path / "site", splitkv.splitkv())
    done = update(made)
    assert done.exit_code == 0
    assert f"{SERIES}: nothing -> 20261105" in done.output
    assert (made / LOCK).read_text(encoding="utf-8").count("\n") == 18


def test_json_has_the_same_facts(root: Path) -> None:
    second(root)
    document = json.loads(update(root, "--format", "json").output)
    assert (document["lock"], document["written"]) == (LOCK, True)
    assert document["series"] == [{"series": SERIES, "old": FIRST, "new": SECOND, "newest": SECOND, "refusals": []}]
    changed = {(one["section"], one["of"]): one for one in document["changes"]}
    row = changed["tables", "1 / 8192"]
    assert [number["moved"] for number in row["numbers"]] == ["not moved", "moved", "moved"]
    assert row["verdicts"] == [{"of": "whole ÷ split of time", "old": "FASTER", "new": "SLOWER"}]
    assert [fault["code"] for fault in document["faults"]] == ["EV602"]


def test_a_refusal_is_printed_with_its_reason_and_ends_with_one(root: Path) -> None:
    before = (root / LOCK).read_bytes()
    made = splitkv.splitkv(SECOND)
    crash = Crashed(arm="split", workload="b1-t512", cause="oom", phase="warm-up", message="full\u009b31m")
    cells = tuple(crash if (one.arm, one.workload) == ("split", "b1-t512") else one for one in made.cells)
    factories.loaded(made.model_copy(update={"cells": cells}), root / "docs/benchmark_logs")
    done = update(root)
    assert done.exit_code == 1
    assert "refused: EV609: 'kernels/splitkv_l4_20261128' is newer than the adopted" in done.output
    assert "\u009b" not in done.output
    assert (root / LOCK).read_bytes() == before
    done = update(root, "--adopt", f"docs/benchmark_logs/{SECOND}/")
    assert done.exit_code == 0
    assert "— CRASHED: out of memory in warm-up: full" in (root / LOCK).read_text(encoding="utf-8")


def test_an_older_pick_is_told_that_it_keeps_failing(root: Path) -> None:
    factories.loaded(splitkv.splitkv(f"{SERIES}_20261110"), root / "docs/benchmark_logs")
    second(root)
    done = update(root, "--adopt", f"{SERIES}_20261110")
    assert done.exit_code == 0
    assert f"{SERIES}: {SECOND} is newer: the check fails until it is adopted, or has a status" in done.output


@pytest.mark.parametrize("arguments", [("--adopt", "kernels/splitkv_l5_20261128"), ("--series", "kernels/splitkv_l5")])
def test_a_name_that_is_not_there_gets_the_nearest(root: Path, arguments: tuple[str, str]) -> None:
    done = update(root, *arguments)
    assert done.exit_code == 2
    assert "did you mean 'kernels/splitkv_l4" in done.output


def test_a_conflict_is_one_error_with_its_line_and_fix(root: Path) -> None:
    text = (root / LOCK).read_text(encoding="utf-8")
    (root / LOCK).write_text(text.replace("series.", "<<<<<<< HEAD\nseries.", 1), encoding="utf-8")
    done = update(root)
    assert done.exit_code == 2
    assert f"{LOCK}:6: a merge left both sides here" in done.output
    assert "fix: keep one side whole (git checkout --ours or --theirs), then run `evidence update`" in done.output


def test_hostile_names_reach_no_terminal_and_read_back(tmp_path: Path) -> None:
    hostile = 'fus\u202eed\u009b31m\u200b"\\'
    made = factories.record()
    arms = tuple(one.model_copy(update={"name": hostile}) if one.name == "fused" else one for one in made.arms)
    cells = tuple(one.model_copy(update={"arm": hostile}) if one.arm == "fused" else one for one in made.cells)
    root = splitkv.write(tmp_path / "site", made.model_copy(update={"arms": arms, "cells": cells}))
    claims = """
tables:
  toy: {title: The toy op, series: kernels/toy, rows: [arm], columns: [time]}
"""
    (root / "docs/claims/features.yml").write_text(claims, encoding="utf-8")
    done = update(root)
    assert done.exit_code == 0, done.output
    assert not set("\u202e\u009b\u200b") & set(done.output + (root / LOCK).read_text(encoding="utf-8"))
    assert update(root).output == f"evidence: 0 lines changed; {LOCK}\n"


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1", "COLUMNS": "200"}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


def test_a_rerun_is_checked_adopted_and_checked_again(tmp_path: Path) -> None:
    """The way of an author, whole: measured again, refused by the check, adopted, corrected, clean."""
    root = write_project(tmp_path / "site")
    assert run(root, "evidence", "check").returncode == 0
    cells = tuple(factories.timed(arm, slot=slot, seed=5) for slot, arm in enumerate(("eager", "fused", "eager-again")))
    rerun(root, cells=cells, stacks=(factories.stack(python="3.13.1"),))
    failing = run(root, "evidence", "check", "--select", "EV6")
    assert failing.returncode == 1
    assert "EV609 not-adopted: 'kernels/toy_20260902' is newer than the adopted '…_20260901'" in failing.stdout
    assert run(root, "evidence", "update").returncode == 0
    failing = run(root, "evidence", "check", "--select", "EV6")
    assert [line.split()[2] for line in failing.stdout.splitlines() if " error " in line] == ["EV602"]
    corrected = CLAIMS.replace("fusing runs {ratio} faster", "fusing is {ratio}").replace(
        "expect: better", "expect: same"
    )
    (root / "docs/claims/features.yml").write_text(corrected, encoding="utf-8")
    assert run(root, "evidence", "update").returncode == 0
    clean = run(root, "evidence", "check", "--select", "EV6")
    assert clean.returncode == 0, clean.stdout
