"""The command in a throwaway repository: what it adds, and what it refuses. Numbers are invented; git is real."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks.loop.reasons import Reason
from evidence.store import Store
from tests.benchmarks.loop.loops import Sandbox, draft, run_all, sandbox, times

MOVED = {"eager": 9e9, "fused": 9e9}
LESS = {"eager": 9e9, "fused": 3e9}


def code(done: Any) -> Reason:
    return Reason(done.returncode)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A loop with a base, an iteration that was kept, and one that was not; copied by each test that changes it."""
    made = sandbox(tmp_path_factory.mktemp("loop") / "kept")
    run_all(made, [{"times": times(8e-3), "moved": MOVED}, {"times": times(4e-3), "moved": LESS}])
    made.kernel(times=times(6e-3))
    assert made.iterate("wider tiles").returncode == 0
    made.git("revert", "--no-edit", "HEAD~1")
    return made.root


@pytest.fixture
def copied(kept: Path, tmp_path: Path) -> Sandbox:
    shutil.copytree(kept, tmp_path / "kept")
    return Sandbox(tmp_path / "kept")


def test_each_row_is_a_commit_with_its_log(kept):
    made = Sandbox(kept)
    assert made.statuses == ["base", "keep", "revert"]
    subjects = made.git("log", "--format=%s").splitlines()
    assert subjects.count("Loop toy 1: keep") == 1
    files = made.git("show", "--format=", "--name-only", "HEAD~1").split()
    assert sorted(files)[-1] == "docs/loops/toy/journal.jsonl"
    assert any(path.endswith("record.json") for path in files)
    assert made.git("status", "--porcelain") == ""


def test_a_change_is_signed_and_against_the_best(kept):
    base, keep, revert = Sandbox(kept).rows
    assert base["change"] is None
    assert keep["change"]["value"] == pytest.approx(-50, abs=1)
    assert revert["change"]["value"] == pytest.approx(50, abs=2)
    assert keep["change"]["low"] < keep["change"]["value"] < keep["change"]["high"]
    assert keep["change"]["unit"] == "% of time against the best, below 0 is faster"


def test_a_red_row_has_no_timing_and_its_reason_blocks(tmp_path):
    made = sandbox(tmp_path / "red")
    made.kernel(rejected="n8192")
    done = made.iterate("a faster sum")
    assert done.returncode == 0, done.stderr
    (row,) = made.rows
    assert (row["status"], row["gate"], row["change"]) == ("drop", "red", None)
    assert code(made.loop("promote")) is Reason.RED_GATE


@pytest.mark.parametrize(("exit_code", "gate"), [(10, "red"), (11, "missing"), (12, "skipped"), (13, "missing")])
def test_a_gate_that_stops_its_command_is_a_row_without_a_record(tmp_path, exit_code, gate):
    made = sandbox(tmp_path / "stopped")
    made.kernel(exit=exit_code)
    assert made.iterate().returncode == 0
    assert [(row["status"], row["gate"], row["record"]) for row in made.rows] == [("drop", gate, None)]


def test_a_command_that_fails_otherwise_adds_no_row(tmp_path):
    made = sandbox(tmp_path / "broken")
    made.kernel(exit=4)
    assert code(made.iterate()) is Reason.NOTHING_MEASURED
    assert made.rows == []


def test_a_validation_that_fails_is_red_and_measures_nothing(tmp_path):
    made = sandbox(tmp_path / "invalid", draft(validation=["python", "-c", "raise SystemExit(3)"]))
    made.kernel(times=times(4e-3))
    assert made.iterate().returncode == 0
    assert made.rows[0]["note"] == "the validation command ended with 3"
    assert not (made.root / "docs/benchmark_logs").exists()


def test_three_rows_that_are_not_kept_stall_until_a_profile_was_read(copied):
    for seconds in (5e-3, 4.5e-3):
        copied.kernel(times=times(seconds), no_profile="ncu is not installed here")
        assert copied.iterate().returncode == 0
        copied.git("revert", "--no-edit", "HEAD~1")
    copied.kernel(times=times(3e-3))
    assert copied.statuses == ["base", "keep", "revert", "revert", "revert"]
    assert code(copied.iterate()) is Reason.STALLED
    first, *_, last = (row["record"] for row in copied.rows)
    assert code(copied.loop("iterate", "--note", "bound by memory", "--profiled", copied.rows[2]["record"])) is (
        Reason.NO_MECHANISM
    )
    assert code(copied.loop("iterate", "--note", "bound by memory")) is Reason.USAGE
    assert copied.loop("iterate", "--note", "bound by memory", "--profiled", last).returncode == 0
    assert first != last
    done = copied.iterate("read once")
    assert done.returncode == 0, done.stderr
    assert copied.statuses[-2:] == ["note", "keep"]


def test_the_cap_ends_a_loop(tmp_path):
    made = sandbox(tmp_path / "capped", draft(cap=1))
    run_all(made, [{"times": times(8e-3)}, {"times": times(4e-3)}])
    made.kernel(times=times(3e-3))
    assert code(made.iterate()) is Reason.ENDED


# What is refused before anything is measured.


def test_a_dirty_tree_is_refused(copied):
    copied.kernel(commits=False, times=times(3e-3))
    assert code(copied.iterate()) is Reason.DIRTY_SOURCE
    copied.git("checkout", "--", "kernel.json")
    (copied.root / "new.py").write_text("x = 1\n")
    assert code(copied.iterate()) is Reason.DIRTY_SOURCE


def test_a_changed_frozen_file_is_refused(copied):
    (copied.root / "gate.py").write_text("def test_it():\n    pass\n")
    copied.commit("Loosen the gate")
    assert code(copied.iterate()) is Reason.FROZEN_CHANGED


def test_two_changes_at_once_are_refused(copied):
    copied.kernel(times=times(3.5e-3))
    copied.kernel(times=times(3e-3))
    assert code(copied.iterate()) is Reason.NOT_ONE_CHANGE
    assert len(copied.rows) == 3


def test_a_variable_that_weakens_gates_is_refused(copied):
    copied.kernel(times=times(3e-3))
    done = copied.iterate(FLA_CI_ENV="1")
    assert code(done) is Reason.ENVIRONMENT
    assert "FLA_CI_ENV=1" in done.stderr


# What is refused of a journal.


def test_an_edited_row_is_refused_before_and_after_it_is_committed(copied):
    text = copied.journal.read_text()
    copied.journal.write_text(text.replace("wider tiles", "narrow tiles"))
    assert code(copied.loop("status")) is Reason.EDITED_ROW
    copied.commit("Mend the story")
    assert code(copied.loop("status")) is Reason.EDITED_ROW


def test_a_chain_that_skips_a_row_is_refused(copied):
    lines = copied.journal.read_text().splitlines(keepends=True)
    copied.journal.write_text("".join([lines[0], lines[2]]))
    copied.commit("Forget a row")
    assert code(copied.loop("status")) is Reason.BROKEN_CHAIN


@pytest.mark.parametrize("text", ["{}\n", "not a row\n", '{"iteration": 1}\n'])
def test_what_is_no_row_is_refused(copied, text):
    with copied.journal.open("a") as stream:
        stream.write(text)
    assert code(copied.loop("status")) is Reason.EDITED_ROW


def forge(made: Sandbox, value: float) -> None:
    """Write another number into the last row, together with its chain and a history that never knew another text."""
    row = made.rows[-1]
    row["change"]["value"] = value
    lines = made.journal.read_text().splitlines(keepends=True)
    made.git("reset", "--quiet", "--hard", "HEAD~2")
    made.git("cherry-pick", "--no-commit", "ORIG_HEAD~1")
    forged = json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"
    made.journal.write_text("".join([*lines[:-1], forged]))
    made.commit("Loop toy 2: revert")


def test_a_number_that_its_record_does_not_give_is_refused(copied):
    forge(copied, -60.0)
    done = copied.loop("status")
    assert code(done) is Reason.EDITED_ROW
    assert "another number" in done.stderr


def test_another_last_digit_is_another_machines_logarithm(copied):
    value = copied.rows[-1]["change"]["value"]
    other = math.nextafter(value, math.inf)
    forge(copied, other)
    assert copied.rows[-1]["change"]["value"] == other != value
    assert code(copied.loop("status")) is not Reason.EDITED_ROW


def test_a_record_that_was_replaced_is_refused(copied):
    record = copied.root / "docs/benchmark_logs" / copied.rows[1]["record"] / "record.json"
    record.write_text(record.read_text().replace("synthetic numbers for a test", "numbers for a test"))
    copied.commit("Tidy")
    assert code(copied.loop("status")) is Reason.EDITED_ROW


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ('"workload": "n1024"', '"workload": "n8192"', Reason.DUPLICATE_ROW),
        ('"values": [', '"values": [NaN, ', Reason.NOT_A_NUMBER),
    ],
)
def test_a_record_that_no_longer_loads_says_why(copied, before, after, reason):
    record = copied.root / "docs/benchmark_logs" / copied.rows[1]["record"] / "record.json"
    text = record.read_text()
    assert before in text
    record.write_text(text.replace(before, after, 1))
    copied.commit("Break it")
    assert code(copied.loop("promote")) is reason


def test_a_changed_contract_is_refused(copied):
    path = copied.root / "docs/loops/toy/contract.json"
    path.write_text(path.read_text().replace('"target_speedup":1.2', '"target_speedup":1.1'))
    path.write_text(path.read_text().replace("1.2", "1.1"))
    copied.commit("Lower the bar")
    assert code(copied.loop("status")) in (Reason.BROKEN_CHAIN, Reason.EDITED_ROW)


# What a loop comes to.


def test_a_best_that_everything_speaks_for_is_promoted(copied):
    assert code(copied.loop("promote")) is Reason.ONE_SESSION
    done = copied.iterate("the best once more")
    assert done.returncode == 0, done.stderr
    assert copied.statuses[-1] == "note"
    done = copied.loop("promote")
    assert done.returncode == 0, done.stdout
    assert copied.statuses[-1] == "promoted"
    assert code(copied.iterate()) is Reason.ENDED
    told = copied.loop("report").stdout
    assert "**promoted**: iteration 1" in told
    assert "| N \\>= 4096 |" in told or "N &gt;= 4096" in told
    assert "toy.ops:fused" in told.replace("\\_", "_")


def test_a_no_go_names_its_bound_with_a_number_of_a_record(tmp_path):
    made = sandbox(tmp_path / "no-go")
    assert code(made.loop("no-go", "--bound", "timer")) is Reason.UNFINISHED
    run_all(made, [{"times": times(8e-3)}])
    assert code(made.loop("no-go", "--bound", "timer")) is Reason.UNFINISHED
    run_all(made, [{"times": times(8.01e-3)}])
    assert code(made.loop("no-go", "--bound", "register")) is Reason.UNFINISHED
    done = made.loop("no-go", "--bound", "timer")
    assert done.returncode == 0, done.stderr + done.stdout
    last = made.rows[-1]
    assert (last["status"], last["bound"]) == ("no-go", "timer")
    assert "allows no effect below 1.0 %" in last["note"]
    assert "**no-go**" in made.loop("report").stdout
    lines = made.journal.read_text().splitlines(keepends=True)
    forged = lines[-1].replace("below 1.0 %", "below 9.0 %")
    made.git("reset", "--quiet", "--hard", "HEAD~1")
    made.journal.write_text("".join([*lines[:-1], forged]))
    made.commit("Loop toy 2: no-go")
    assert code(made.loop("status")) is Reason.EDITED_ROW


def test_a_profile_shows_a_bound(tmp_path):
    made = sandbox(tmp_path / "profiled")
    run_all(made, [{"times": times(8e-3), "moved": MOVED}, {"times": times(8e-3), "no_profile": "none"}])
    done = made.loop("no-go", "--bound", "compiler", "--metric", "moved_bytes")
    assert done.returncode == 0, done.stderr
    assert made.rows[-1]["note"] == "moved_bytes of fused on n8192 is 9e+09 B by ncu"


@pytest.mark.parametrize(
    ("bottleneck", "said"),
    [("memory", "memory_share of fused on n8192 is 68 % by ncu"), ("compute", "n8192 is bound by compute")],
)
def test_a_bound_is_what_the_profile_names_and_the_larger_share_shows_it(tmp_path, bottleneck, said):
    made = sandbox(tmp_path / bottleneck)
    profiled = {"moved": MOVED, "shares": {"dram_share": 39, "memory_share": 68}, "bottleneck": bottleneck}
    run_all(made, [{"times": times(8e-3), **profiled}, {"times": times(8e-3), "no_profile": "none"}])
    done = made.loop("no-go", "--bound", "bandwidth")
    assert said in (made.rows[-1]["note"] if bottleneck == "memory" else done.stderr)
    assert (made.rows[-1]["status"] == "no-go") is (bottleneck == "memory")


def test_a_page_has_calls_instead_of_numbers_and_its_claims_stand(copied):
    from evidence.book import Book
    from evidence.project import Project

    page, claims = copied.loop("report", "--page").stdout, copied.loop("report", "--claims").stdout
    assert '{{ ev.table("loop-toy-1") }}' in page
    assert "%" not in page
    folder = copied.root / "docs/claims"
    folder.mkdir()
    (folder / "loop.yml").write_text(claims)
    (copied.root / "mkdocs.yml").write_text("site_name: toy\nplugins: [search, macros, evidence]\n")
    project = Project.find(copied.root)
    book = Book(project, Store(project.logs))
    assert book.table("loop-toy-1").banner is not None
    assert len(book.table("loop-toy-1").rows) == 2


def test_a_hostile_direction_stays_text(tmp_path):
    made = sandbox(tmp_path / "hostile")
    made.kernel(times=times(8e-3))
    assert made.iterate("<script>alert(1)</script> | {{ config }}\n# heading").returncode == 0
    for words in (("report",), ("report", "--page")):
        text = made.loop(*words).stdout
        assert "<script>" not in text
        assert "\n# heading" not in text
        assert "{{ config" not in text


# Starting.


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"workloads": []}, "workloads"),
        ({"frozen": ["nowhere.py"]}, "no file nowhere.py"),
        ({"baseline": "fused"}, "its own baseline"),
        ({"buckets": [{"condition": "all", "workloads": ["n7"]}]}, "neither target nor guard"),
        ({"extra": 1}, "extra"),
        ({"task": "../up"}, "task"),
    ],
)
def test_a_draft_that_is_no_contract_is_refused(tmp_path, changes, said):
    made = sandbox(tmp_path / "draft", draft(**changes), starts=False)
    done = made.loop("start", str(tmp_path / "draft-draft.json"))
    assert code(done) is Reason.USAGE
    assert said in done.stderr
    assert not (made.root / "docs").exists()


def test_a_contract_is_started_once_and_from_a_clean_tree(tmp_path):
    made = sandbox(tmp_path / "again")
    path = str(tmp_path / "again-draft.json")
    assert code(made.loop("start", path)) is Reason.USAGE
    made.kernel(commits=False, times={})
    shutil.rmtree(made.root / "docs/loops")
    assert code(made.loop("start", path)) is Reason.DIRTY_SOURCE


def test_a_baseline_that_is_a_ref_is_pinned_when_the_loop_starts(tmp_path):
    made = sandbox(tmp_path / "pinned", draft(baseline_source="main"))
    commit = made.git("rev-parse", "HEAD~1")
    assert json.loads((made.root / "docs/loops/toy/contract.json").read_text())["baseline_commit"] == commit
    other = sandbox(tmp_path / "unknown", draft(baseline_source="nowhere"), starts=False)
    assert code(other.loop("start", str(tmp_path / "unknown-draft.json"))) is Reason.OTHER_BASELINE


def test_without_a_loop_or_a_repository_it_says_so(tmp_path):
    made = sandbox(tmp_path / "none", starts=False)
    assert code(made.loop("status")) is Reason.USAGE
    (tmp_path / "bare").mkdir()
    assert code(Sandbox(tmp_path / "bare").loop("status")) is Reason.USAGE
