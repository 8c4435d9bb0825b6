"""Tests of EV0: damaged records, moved and copied logs, edited files, and a ledger rewritten in a real repository."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence import ledger
from evidence.checker.memory import prints_of
from evidence.schema import Record, Timed
from evidence.store import MAXIMUM_LOG_BYTES
from tests import factories
from tests.evidence.checker.cases import GONE, Case, bad, edited, good, judge
from tests.evidence.checker.rules.test_environment import other_cells
from tests.evidence.checker.sites import LOG, Site, codes, commit, git, repository

CASES: tuple[Case, ...] = (
    bad("EV001", "unknown-key", {"/surprise": 1}),
    bad("EV001", "missing-key", {"/limitations": GONE}),
    bad("EV001", "lost-row", {"/cells": lambda old: old[:-1]}),
    bad("EV001", "unknown-name", {"/cells/0/method": "guess"}),
    bad("EV001", "negative-sample", {"/cells/0/processes/0/samples/0/values/0": -1e-3}),
    bad("EV001", "timings-of-a-rejected-cell", {"/cells/0/kind": "rejected"}),
    good("EV001", "sound", {"/limitations": ["none that we know"]}),
    bad("EV002", "newer", {"/schema_version": 99}),
    bad("EV002", "text", {"/schema_version": "1"}),
    bad("EV002", "true", {"/schema_version": True}),
    good("EV002", "current", {"/schema_version": 1}),
    bad("EV003", "other-name", {"/log": "kernels/toy_20260902"}),
    bad("EV003", "other-day", {"/started_at": "2026-08-31T23:59:00Z"}),
    good("EV003", "late", {"/started_at": "2026-09-01T00:00:00Z"}),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(site: Site, case: Case) -> None:
    judge(site, case)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"\xff\xfe{}", b'{"log": "a", "log": "b"}', b"nan", b"[" * 5000, b'{"a": 1e999}'],
    ids=["empty", "cut", "list", "utf-16", "twice", "nan", "deep", "infinite"],
)
def test_hostile_bytes_are_one_finding(site: Site, data: bytes) -> None:
    site.add(data)
    assert codes(site.check()) in (["EV001"], ["EV002"])


@given(data=st.binary(max_size=200))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_a_finding_and_no_crash(shared_repository: Path, data: bytes) -> None:
    site = Site(shared_repository)
    site.add(data)
    (found,) = site.check()
    assert found.code in ("EV001", "EV002")


def test_a_link_in_the_store_is_refused(site: Site) -> None:
    path = site.add(site.record())
    (path.parent / "more.txt").symlink_to(path)
    assert "EV001" in codes(site.check())


COPIES = (
    (bad("EV004", "renamed", {"/limitations": ["another text"]}), {}),
    (bad("EV004", "one-column", {}), "one"),
    (good("EV004", "other-run", {}), "other"),
)


@pytest.mark.parametrize(("case", "how"), COPIES, ids=lambda one: getattr(one, "id", ""))
def test_a_copy_is_found_whatever_was_renamed(site: Site, case: Case, how: Any) -> None:
    site.add(site.record())
    cells = other_cells()
    if how == "one":
        cells = (site.record().cells[0], *cells[1:])
    log = "kernels/twin_20260901"
    copy = site.record(log, cells=cells) if how else site.record(log)
    path = site.add(edited(copy, case.edits), log)
    found = site.check("EV0")
    assert codes(found) == ["EV004"] * case.fires
    assert all(path.as_posix().endswith(one.at.path) and LOG in one.message for one in found)


def shuffled(record: Record) -> Record:
    return recolumned(record, lambda values: tuple(sorted(values)))


def scaled(record: Record) -> Record:
    return recolumned(record, lambda values: tuple(float(f"{0.97 * value:.9g}") for value in values))


def recolumned(record: Record, change: Callable[[tuple[float, ...]], tuple[float, ...]]) -> Record:
    """The record with every column of samples changed."""
    cells = []
    for cell in record.cells:
        assert isinstance(cell, Timed)
        processes = [
            one.model_copy(
                update={"samples": tuple(c.model_copy(update={"values": change(c.values)}) for c in one.samples)}
            )
            for one in cell.processes
        ]
        cells.append(cell.model_copy(update={"processes": tuple(processes)}))
    return record.model_copy(update={"cells": tuple(cells)})


@pytest.mark.parametrize("change", [shuffled, scaled])
def test_a_copy_is_found_in_another_order_and_under_a_factor(site: Site, change: Callable[[Record], Record]) -> None:
    site.add(site.record())
    site.add(change(site.record("kernels/twin_20260901")))
    found = site.check("EV0")
    assert codes(found) == ["EV004"]
    assert "kernels/twin_20260901" in found[0].at.path


def test_columns_that_stand_twice_in_one_log(site: Site) -> None:
    record = site.record()
    eager, fused, again = record.cells
    assert isinstance(eager, Timed)
    assert isinstance(again, Timed)
    copied = tuple(
        one.model_copy(update={"samples": other.samples})
        for one, other in zip(again.processes, eager.processes, strict=True)
    )
    site.add(record.model_copy(update={"cells": (eager, fused, again.model_copy(update={"processes": copied}))}))
    (found,) = site.check("EV0")
    assert (found.code, "9 columns" in found.message) == ("EV004", True)


def test_constant_or_few_samples_prove_no_copy() -> None:
    record = factories.record()
    assert len(set(prints_of(record))) == 27
    flat = json.loads(edited(record, {"/cells/*/processes/*/samples/0/values": [0.001] * 20}))
    few = json.loads(edited(record, {"/cells/*/processes/*/samples/0/values": [0.001, 0.002]}))
    for document in (flat, few):
        same = type(record).model_validate_json(json.dumps(document))
        assert not set(prints_of(same))


ARTIFACT = b"3 passed\n"


def with_artifact(site: Site, name: str = "gate.log") -> Path:
    record = site.record(artifacts=(factories.artifact(name, ARTIFACT, role="gate-log"),))
    return site.add(record, files={name: ARTIFACT}).parent


def edit_record(site: Site) -> None:
    path = with_artifact(site) / "record.json"
    path.write_bytes(path.read_bytes().replace(b"synthetic numbers", b"Synthetic numbers"))


def unlist(site: Site) -> None:
    with_artifact(site)
    (site.logs / ledger.FILE_NAME).write_text("", encoding="utf-8")


def remove_ledger(site: Site) -> None:
    with_artifact(site)
    (site.logs / ledger.FILE_NAME).unlink()


def break_ledger(site: Site) -> None:
    with_artifact(site)
    path = site.logs / ledger.FILE_NAME
    path.write_text(path.read_text(encoding="utf-8") + "not a line\n", encoding="utf-8")


def add_file(site: Site) -> None:
    (with_artifact(site) / "extra.txt").write_text("x", encoding="utf-8")


def list_more(site: Site) -> None:
    with_artifact(site)
    path = site.logs / ledger.FILE_NAME
    path.write_text(path.read_text(encoding="utf-8") + f"{'0' * 64}  kernels/toy_20260901/z.txt\n", encoding="utf-8")


def remove_artifact(site: Site) -> None:
    (with_artifact(site) / "gate.log").unlink()


def edit_artifact(site: Site) -> None:
    (with_artifact(site) / "gate.log").write_bytes(b"9 passed\n")


def edit_artifact_and_ledger(site: Site) -> None:
    edit_artifact(site)
    path = site.logs / ledger.FILE_NAME
    entries = ledger.read(site.logs)
    entries[f"{LOG}/gate.log"] = ledger.digest_of(site.logs / LOG / "gate.log")
    path.write_text(ledger.dump(entries), encoding="utf-8")


def grow(site: Site) -> None:
    large = b"x" * (MAXIMUM_LOG_BYTES + 1)
    record = site.record(artifacts=(factories.artifact("raw.txt", large, role="raw"),))
    site.add(record, files={"raw.txt": large})


def grow_to_the_limit(site: Site) -> None:
    size = MAXIMUM_LOG_BYTES - 100_000
    record = site.record(artifacts=(factories.artifact("raw.txt", b"x" * size, role="raw"),))
    site.add(record, files={"raw.txt": b"x" * size})


def stop_citing(site: Site) -> None:
    with_artifact(site)
    site.add(site.record("other/toy_20260901", cells=other_cells()))
    site.write("docs/index.md", f'{{{{ ev.environment("{LOG}") }}}}\n')


def cite_the_newer(site: Site) -> None:
    with_artifact(site)
    site.add(site.record("kernels/toy_20260901-2", cells=other_cells()))
    site.write("docs/index.md", '{{ ev.environment("kernels/toy_20260901-2") }}\n')


def not_to_be_cited(site: Site) -> None:
    """The only log of a series is set aside, and nothing shows that it is there."""
    stop_citing(site)
    site.write("docs/claims/index.yml", "logs:\n  other/toy_20260901: {do_not_cite: the fan had failed}\n")


def one_of_two_not_to_be_cited(site: Site) -> None:
    with_artifact(site)
    site.add(site.record("kernels/toy_20260901-2", cells=other_cells()))
    site.write("docs/index.md", f'{{{{ ev.environment("{LOG}") }}}}\n')
    site.write("docs/claims/index.yml", "logs:\n  kernels/toy_20260901-2: {do_not_cite: the fan had failed}\n")


def superseded_by_a_stranger(site: Site) -> None:
    stop_citing(site)
    digest = ledger.digest_of(site.logs / "other/toy_20260901/record.json")
    old = {"log": "other/toy_20260901", "sha256": digest, "reason": "measured again"}
    record = site.record(artifacts=(factories.artifact("gate.log", ARTIFACT, role="gate-log"),))
    site.add(edited(record, {"/supersedes": [old]}), LOG)
    site.write("docs/index.md", f'{{{{ ev.environment("{LOG}") }}}}\n')


STORES = (
    (bad("EV005", "edited", {}), edit_record),
    (bad("EV005", "unlisted", {}, also=("EV005",)), unlist),
    (bad("EV005", "no-ledger", {}), remove_ledger),
    (bad("EV005", "malformed", {}), break_ledger),
    (bad("EV005", "extra", {}), add_file),
    (bad("EV005", "listed-and-gone", {}), list_more),
    (bad("EV005", "artifact-edited", {}), edit_artifact),
    (good("EV005", "sound", {}), with_artifact),
    (bad("EV007", "gone", {}), remove_artifact),
    (bad("EV007", "edited-with-its-line", {}), edit_artifact_and_ledger),
    (good("EV007", "sound", {}), with_artifact),
    (bad("EV008", "too-large", {}), grow),
    (good("EV008", "large", {}), grow_to_the_limit),
    (bad("EV009", "uncited", {}), stop_citing),
    (good("EV009", "older-run", {}), cite_the_newer),
    (bad("EV009", "not-to-be-cited-and-shown-nowhere", {}), not_to_be_cited),
    (good("EV009", "one-of-two-not-to-be-cited", {}), one_of_two_not_to_be_cited),
    (bad("EV009", "superseded-by-another-series", {}), superseded_by_a_stranger),
)


@pytest.mark.parametrize(("case", "arrange"), STORES, ids=lambda one: getattr(one, "id", ""))
def test_store(site: Site, case: Case, arrange: Any) -> None:
    arrange(site)
    assert codes(site.check()) == [case.rule] * case.fires + list(case.also)


def test_an_unreadable_record_is_said_once_and_not_again_by_the_ledger(site: Site) -> None:
    path = site.add(site.record())
    path.write_bytes(path.read_bytes()[:-100])
    assert codes(site.check()) == ["EV001"]


@pytest.fixture
def versioned(tmp_path: Path) -> Site:
    """A site whose store is in its repository's history."""
    root = repository(tmp_path / "repository")
    (root / ".gitignore").unlink()
    site = Site(root)
    site.add(site.record())
    commit(root, "A log")
    return site


def rewrite(site: Site) -> None:
    """Edit a record and its line in the ledger alike: nothing but the history shows it."""
    record = site.record(limitations=("another text",))
    site.add(record)


def forget(site: Site) -> None:
    (site.logs / LOG / "record.json").unlink()
    site.add(site.record("kernels/other_20260901", cells=other_cells()))
    path = site.logs / ledger.FILE_NAME
    entries = {name: digest for name, digest in ledger.read(site.logs).items() if LOG not in name}
    path.write_text(ledger.dump(entries), encoding="utf-8")


def append(site: Site) -> None:
    site.add(site.record("kernels/other_20260901", cells=other_cells()))


HISTORIES = (
    (bad("EV006", "rewritten", {}), rewrite),
    (bad("EV006", "forgotten", {}), forget),
    (good("EV006", "appended", {}), append),
)


@pytest.mark.parametrize(("case", "change"), HISTORIES, ids=lambda one: getattr(one, "id", ""))
def test_ledger_is_held_to_the_last_commit(versioned: Site, case: Case, change: Any) -> None:
    change(versioned)
    assert codes(versioned.check("EV0")) == ["EV006"] * case.fires


@pytest.mark.parametrize(("case", "change"), HISTORIES, ids=lambda one: getattr(one, "id", ""))
def test_ledger_is_held_to_the_branch_it_left(versioned: Site, case: Case, change: Any) -> None:
    git(versioned.repository, "switch", "--quiet", "--create", "work")
    change(versioned)
    commit(versioned.repository, "Committed, so that the last commit agrees, and the history does not")
    assert codes(versioned.check("EV0")) == ["EV006"] * case.fires
    assert codes(versioned.check("EV0", base="main")) == ["EV006"] * case.fires


def test_lines_added_to_the_base_since_are_no_finding(versioned: Site) -> None:
    git(versioned.repository, "switch", "--quiet", "--create", "work")
    commit(versioned.repository, "Work")
    git(versioned.repository, "switch", "--quiet", "main")
    append(versioned)
    commit(versioned.repository, "Another log on main")
    git(versioned.repository, "switch", "--quiet", "work")
    assert codes(versioned.check("EV0", base="main")) == []


def test_a_base_that_is_not_there_is_a_finding_and_no_pass(versioned: Site) -> None:
    (found,) = versioned.check("EV0", base="origin/nowhere")
    assert (found.code, "could not be compared" in found.message) == ("EV006", True)


def test_history_that_is_cut_off_is_a_finding_and_no_pass(versioned: Site, tmp_path: Path) -> None:
    commit(versioned.repository, "Another commit")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth", "1", versioned.repository.as_uri(), str(clone))
    cut = Site.__new__(Site)
    cut.root, cut.repository = clone / versioned.root.relative_to(versioned.repository), clone
    (found,) = cut.check("EV1")
    assert (found.code, "shallow" in found.message) == ("EV106", True)
