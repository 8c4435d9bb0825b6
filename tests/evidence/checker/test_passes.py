"""A pass is the same in one process or several, and a process that does not end well is a finding."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.evidence.faults import plant
from evidence.checker import passes
from evidence.checker.catalogue import RULES
from evidence.checker.corpus import Corpus, Options
from evidence.checker.registry import Turn
from evidence.checker.runs import Report, run
from evidence.diagnostics import Finding
from evidence.project import Project
from evidence.store import Entry
from tests.evidence.checker.rules.test_environment import other_cells
from tests.evidence.checker.sites import Site


def report(root: Path, processes: int) -> Report:
    return run(RULES, Corpus(Project.find(root), Options(processes=processes)))


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("spoilt")
    plant(root, 3)
    return root


@pytest.mark.parametrize("processes", [2, 3, 5])
def test_a_spoilt_store_has_one_report(spoilt: Path, processes: int) -> None:
    alone = report(spoilt, 1)
    assert len({one.code for one in alone.diagnostics}) > 10
    assert report(spoilt, processes) == alone


def test_a_copy_in_another_share_is_found(site: Site) -> None:
    for name in ("a", "b", "c"):
        site.add(site.record(f"kernels/{name}_20260901", cells=site.record().cells if name != "b" else other_cells()))
    found = [report(site.root, processes) for processes in (1, 3)]
    assert found[0] == found[1]
    assert [one.at.path for one in found[0].diagnostics if one.code == "EV004"] == [
        "docs/benchmark_logs/kernels/c_20260901/record.json"
    ]


def test_unreadable_records_have_one_report(site: Site) -> None:
    for name in ("a", "b", "c", "d"):
        site.add(b"{}" if name in "bd" else site.record(f"kernels/{name}_20260901"), f"kernels/{name}_20260901")
    assert report(site.root, 1) == report(site.root, 2)


@pytest.mark.parametrize("how", ["exits", "is killed", "raises"])
def test_a_process_that_dies_is_a_finding(site: Site, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    for name in ("a", "b"):
        site.add(site.record(f"kernels/{name}_20260901", cells=site.record().cells if name == "a" else other_cells()))
    parent, whole = os.getpid(), passes._pass

    def dying(*arguments: object) -> passes.Found:
        if os.getpid() != parent:
            if how == "exits":
                os._exit(7)
            if how == "is killed":
                os.kill(os.getpid(), signal.SIGKILL)
            raise MemoryError
        return whole(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(passes, "_pass", dying)
    found = [one for one in report(site.root, 2).diagnostics if one.code == "EV901"]
    assert [one.message.partition(":")[0] for one in found] == [
        "2 records were not checked, kernels/a_20260901 to kernels/b_20260901"
    ]


def test_a_rule_that_crashes_in_a_share_is_a_finding(site: Site) -> None:
    for name in ("a", "b"):
        site.add(site.record(f"kernels/{name}_20260901", cells=site.record().cells if name == "a" else other_cells()))

    def crashes(*_: object) -> None:
        raise ZeroDivisionError

    rules = tuple(replace(rule, check=crashes) if rule.code == "EV213" else rule for rule in RULES)
    reports = [run(rules, Corpus(Project.find(site.root), Options(processes=processes))) for processes in (1, 2)]
    assert reports[0] == reports[1]
    assert sum(one.code == "EV901" for one in reports[1].diagnostics) == 2


def test_a_rule_apart_sees_the_whole_whoever_applies_it(site: Site) -> None:
    for name in ("a", "b"):
        site.add(site.record(f"kernels/{name}_20260901", cells=site.record().cells if name == "a" else other_cells()))
    appliers = set()

    def sees(corpus: Corpus) -> list[Finding]:
        appliers.add(os.getpid())
        return [Finding(corpus.home, f"{len(corpus.pages)} pages, {len(corpus.documents.held)} documents")]

    def crashes(_: Corpus) -> list[Finding]:
        raise ZeroDivisionError

    instead = {"EV706": sees, "EV707": crashes}
    rules = tuple(replace(rule, check=instead.get(rule.code, rule.check)) for rule in RULES)
    assert all(rule.turn is Turn.APART for rule in rules if rule.code in instead)
    reports = [run(rules, Corpus(Project.find(site.root), Options(processes=processes))) for processes in (1, 2)]
    assert reports[0] == reports[1]
    assert [one.message for one in reports[1].diagnostics if one.code in ("EV706", "EV901")] == [
        f"{len(Corpus(Project.find(site.root)).pages)} pages, 0 documents",
        "EV707 command-differs could not be checked: ZeroDivisionError: ",
    ]
    assert appliers == {os.getpid()}  # of the first run: the second applied them in a process that is gone


def test_rules_that_do_not_wait_need_nothing_of_what_a_pass_remembers(spoilt: Path) -> None:
    page = spoilt / "docs" / "index.md"
    page.write_text(page.read_text() + "\n\nIt is 3.1x faster.\n\n```bash\npython 'x\n```\n")
    early = [rule for rule in RULES if rule.turn is not Turn.LAST]
    before = passes.over_whole(early, Corpus(Project.find(spoilt)))
    corpus = Corpus(Project.find(spoilt))
    passes.over_records([rule for rule in RULES if rule.owns is not None], [], [], corpus)
    assert corpus.memory.seen
    assert corpus.memory.unread
    assert passes.over_whole(early, corpus) == before
    assert {code for code, _ in before} >= {"EV701", "EV706"}


def test_an_early_rule_leaves_nothing_behind_that_depends_on_the_pass(spoilt: Path) -> None:
    corpus = Corpus(Project.find(spoilt))
    passes.over_whole([rule for rule in RULES if rule.turn is Turn.EARLY], corpus)
    assert {"cited", "stated", "attributed"}.isdisjoint(vars(corpus))


def test_a_process_with_threads_is_not_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    with monkeypatch.context() as alone:
        # What ran before in this process may have left a thread of its own.
        alone.setattr(threading, "active_count", lambda: 1)
        assert passes._processes(10_000) == 4
    is_over = threading.Event()
    other = threading.Thread(target=is_over.wait)
    other.start()
    try:
        assert passes._processes(10_000) == 1
    finally:
        is_over.set()
        other.join()


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 9)), unique=True, min_size=1),
    st.integers(1, 6),
)
def test_shares_part_the_logs_by_series(drawn: list[tuple[str, int]], count: int) -> None:
    entries = sorted(
        (Entry(f"kernels/{name}_2026010{day}", Path("/")) for name, day in drawn), key=lambda entry: entry.log
    )
    shares = passes._shares(entries, count)
    assert sorted((entry for share in shares for entry in share), key=lambda entry: entry.log) == entries
    assert all(share == sorted(share, key=lambda entry: entry.log) for share in shares)
    homes = [{entry.series for entry in share} for share in shares]
    assert sum(map(len, homes)) == len(set().union(*homes))


@pytest.mark.parametrize("count", [2, 3, 4])
def test_shares_are_of_one_size_but_for_the_first(tmp_path: Path, count: int) -> None:
    entries = []
    for number in range(30):
        record = tmp_path / f"{number}.json"
        record.write_bytes(b" " * (number * number * 37 % 1000 + 1))
        entries.append(Entry(f"kernels/s{number // 2:02}_2026010{number % 2 + 1}", record))
    sizes = [sum(entry.path.stat().st_size for entry in share) for share in passes._shares(entries, count)]
    assert sum(sizes) == sum(entry.path.stat().st_size for entry in entries)
    assert max(sizes[1:]) - min(sizes[1:]) <= 2 * 2 * 1000  # the largest series, too many here and too few there
    assert sizes[0] < min(sizes[1:])


def test_the_first_process_reads_what_the_rest_of_its_work_leaves_time_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [Entry(f"kernels/s{number:02}_20260101", tmp_path / f"{number}.json") for number in range(40)]
    for entry in entries:
        entry.path.write_bytes(b" " * 100)
    for rest, read in ((0, 20), (1000, 15), (4000, 0), (9000, 0)):
        monkeypatch.setattr(passes, "_BYTES_OF_THE_REST", rest)
        assert [len(share) for share in passes._shares(entries, 2)] == [read, 40 - read]


def test_a_record_that_is_gone_is_in_a_share_all_the_same(tmp_path: Path) -> None:
    entries = [Entry(f"kernels/{name}_20260901", tmp_path / name) for name in "ab"]
    assert [entry for share in passes._shares(entries, 2) for entry in share] == entries
