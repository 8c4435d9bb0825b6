"""Tests of EV1, one table: what is changed in a sound record, and what must be found."""

from __future__ import annotations

import time

import pytest

from evidence.checker.catalogue import RULES
from evidence.checker.private import kinds_in, private_text
from evidence.diagnostics import Severity
from tests import factories
from tests.evidence.checker.cases import GONE, Case, bad, edited, good, judge
from tests.evidence.checker.sites import KERNEL, Site, codes

UNKNOWN = "f" * 64
NO_OS = {"/hosts/0/os": None, "/hosts/0/missing": lambda old: [*old, {"field": "os", "reason": "not told"}]}


def column(value: int, at: int = 4) -> list[int]:
    """A column of ten readings that changes once."""
    return [0] * at + [value] * (10 - at)


CASES: tuple[Case, ...] = (
    bad("EV101", "no-hosts", {"/hosts": []}),
    bad("EV101", "hosts-missing", {"/hosts": GONE}),
    bad("EV101", "no-stacks", {"/stacks": []}),
    bad("EV101", "import", {}, base="import"),
    good("EV101", "whole", {"/hosts/0/interconnect": "PCIe", "/hosts/0/missing": []}),
    bad("EV102", "driver-unknown", {"/hosts/0/driver": "unknown"}),
    bad("EV102", "driver-without-number", {"/hosts/0/driver": "newest"}),
    bad("EV102", "driver-missing", {"/hosts/0/driver": GONE}),
    bad("EV102", "no-os", NO_OS),
    bad("EV102", "python", {"/stacks/0/python": "three"}),
    bad("EV102", "runtime", {"/stacks/0/runtime": "N/A"}),
    bad("EV102", "framework", {"/stacks/0/packages": ["numpy==2.3.0"]}),
    bad("EV102", "model", {"/hosts/0/accelerators/0/model": "?"}),
    good("EV102", "other-driver", {"/hosts/0/driver": "595.12.01", "/stacks/0/python": "3.13.0rc1"}),
    bad("EV103", "null", {"/provenance": None}),
    bad("EV103", "missing", {"/provenance": GONE}),
    bad("EV103", "no-argv", {"/provenance/argv": []}),
    bad("EV103", "import", {}, base="import"),
    good("EV103", "long", {"/provenance/argv": ["python", "-m", "benchmarks.ops.run", "--op", "toy"]}),
    bad("EV104", "none", {"/sources": []}),
    bad("EV104", "missing", {"/sources": GONE}),
    bad("EV104", "import", {}, base="import"),
    good("EV104", "unused", {"/sources": lambda old: [*old, {**old[1], "name": "other"}]}),
    bad("EV105", "dirty", {"/sources/0/tree_sha256": UNKNOWN}),
    good("EV105", "package", {"/sources/1/record_sha256": UNKNOWN}),
    bad("EV106", "unknown", {"/sources/0/commit": "a" * 40}),
    bad(
        "EV106",
        "none",
        {"/sources/0/commit": None, "/sources/0/missing": lambda old: [*old, {"field": "commit", "reason": "?"}]},
    ),
    good("EV106", "elsewhere", {"/sources": lambda old: [*old, elsewhere(old[0])]}),
    bad("EV107", "edited", {"/sources/0/commit_tree_sha256": UNKNOWN, "/sources/0/tree_sha256": UNKNOWN}),
    bad(
        "EV107",
        "no-digest",
        {
            "/sources/0/commit_tree_sha256": None,
            "/sources/0/missing": lambda old: [*old, {"field": "commit_tree_sha256", "reason": "?"}],
        },
    ),
    good("EV107", "elsewhere", {"/sources": lambda old: [*old, elsewhere(old[0])]}),
    bad("EV108", "changed", {"/sources/0/paths/0/sha256": UNKNOWN}),
    bad("EV108", "gone", {"/sources/0/paths/0/path": "benchmarks/gone.py"}),
    good("EV108", "nothing-watched", {"/sources/0/paths": []}),
    bad("EV109", "shared", {"/conditions/0/foreign_processes": column(1)}),
    good(
        "EV109",
        "not-readable",
        {
            "/conditions/0/foreign_processes": None,
            "/conditions/0/missing": [{"field": "foreign_processes", "reason": "?"}],
        },
    ),
    bad("EV110", "violation", {"/conditions/0/thermal_violation_ns": column(5_000_000)}),
    bad("EV110", "reason", {"/conditions/0/event_reasons": [0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0]}),
    bad("EV110", "never-read", {"/conditions": []}),
    good("EV110", "before-the-run", {"/conditions/0/thermal_violation_ns": [5_000_000] * 10}),
    good("EV110", "power-cap", {"/conditions/0/event_reasons": [0x4] * 10}),
    bad("EV112", "errors", {"/conditions/0/ecc_uncorrected": column(2)}),
    good("EV112", "older-errors", {"/conditions/0/ecc_uncorrected": [2] * 10}),
    bad("EV113", "home", {"/provenance/argv/4": "/home/somebody/toy.py"}),
    bad("EV113", "mac-home", {"/limitations/0": "see /Users/somebody/notes"}),
    bad("EV113", "windows-home", {"/limitations/0": "see C:\\Users\\somebody\\notes"}),
    bad("EV113", "root-home", {"/provenance/argv/4": "/root"}),
    bad("EV113", "mail", {"/limitations/0": "ask someone@example.org"}),
    bad("EV113", "address", {"/provenance/argv/4": "http://10.20.30.40:8000/v1"}),
    bad("EV113", "host", {"/limitations/0": "ran on gpu07.cluster.example.com"}),
    bad("EV113", "local-host", {"/hosts/0/cpu_model": "node.internal"}),
    bad("EV113", "token", {"/provenance/argv/4": "hf_" + "a1B2" * 8}),
    bad("EV113", "key", {"/limitations/0": "API_KEY=abcdefgh12345"}),
    bad("EV113", "password", {"/limitations/0": "from https://me:secret@example.org/x"}),
    bad("EV113", "serial", {"/hosts/0/accelerators/0/vbios": "GPU-0a1b2c3d-1111-2222-3333-444455556666"}),
    bad("EV113", "user-variable", {"/provenance/variables/0/name": "USER"}),
    bad("EV113", "escaped", {"/limitations/0": "\u0001 /home/somebody/x"}),
    good("EV113", "versions", {"/stacks/0/packages": ["nvidia-cublas-cu12==12.8.4.1", "torch==2.11.0"]}),
    good("EV113", "public-address", {"/limitations/0": "see https://github.com/owner/name and /homes/x, ~/x, root"}),
    good("EV113", "vbios", {"/hosts/0/accelerators/0/vbios": "96.00.89.00.01", "/limitations/0": "127.0.0.1:8000"}),
    bad("EV114", "drift", {"/conditions/0/sm_clock_hz": [1.9e9] * 5 + [1.7e9] * 5}),
    good(
        "EV114",
        "idle",
        {"/conditions/0/sm_clock_hz": [1.9e9] * 5 + [3e8] * 5, "/conditions/0/event_reasons": [0] * 5 + [1] * 5},
    ),
    bad("EV115", "other-interpreter", {"/arms/1/command/0": "envs/other/bin/python"}),
    bad("EV115", "other-version", {"/arms/1/command/0": "python3.10"}),
    good("EV115", "same-version", {"/arms/1/command/0": "python3.12"}),
    good("EV115", "no-interpreter", {"/arms/1/command/0": "build/bin/toy"}),
)


def elsewhere(source: dict[str, object]) -> dict[str, object]:
    """A checkout of somebody else's repository, which nobody can look up here."""
    return {**source, "name": "other", "repository": "https://example.org/other", "commit": "b" * 40, "missing": []}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(site: Site, case: Case) -> None:
    judge(site, case)


def test_power_cap_is_a_mark_and_no_finding(site: Site) -> None:
    site.add(edited(site.record(), {"/conditions/0/power_violation_ns": column(9)}))
    corpus = site.corpus()
    loaded = corpus.store.load("kernels/toy_20260901")
    mark = next(rule for rule in RULES if rule.code == "EV111")
    assert [finding.message for finding in mark.check(loaded, corpus)]
    assert site.check() == []
    sound = Site(site.repository)
    sound.add(sound.record())
    corpus = sound.corpus()
    assert list(mark.check(corpus.store.load("kernels/toy_20260901"), corpus)) == []


def test_stale_source_is_an_error_for_a_release(site: Site) -> None:
    site.add(edited(site.record(), {"/sources/0/paths/0/sha256": UNKNOWN}))
    (found,) = site.check("EV108")
    assert found.severity is Severity.WARNING
    (found,) = site.check("EV108", is_release=True)
    assert found.severity is Severity.ERROR
    assert KERNEL in found.message


def test_only_the_newest_log_of_a_series_can_be_stale(site: Site) -> None:
    site.add(edited(site.record(), {"/sources/0/paths/0/sha256": UNKNOWN}))
    newer = site.record("kernels/toy_20260901-2", cells=other_cells())
    site.add(newer)
    assert site.check("EV108") == []


def other_cells() -> tuple[object, ...]:
    return tuple(
        factories.timed(arm, median_s=seconds, slot=slot, seed=1)
        for slot, (arm, seconds) in enumerate({"eager": 1e-3, "fused": 0.8e-3, "eager-again": 1e-3}.items())
    )


def test_private_text_in_an_artifact_names_the_file_and_the_line(site: Site) -> None:
    log = b"collected 3 items\nrootdir: /home/somebody/work\n"
    artifact = factories.artifact("gate.log", log, role="gate-log")
    site.add(site.record(artifacts=(artifact,)), files={"gate.log": log})
    (found,) = site.check()
    assert (found.code, found.at.line) == ("EV113", 2)
    assert found.at.path.endswith("gate.log")
    assert "somebody" not in found.message + found.fix


def test_private_data_is_never_printed(site: Site) -> None:
    secret = "ghp_" + "a1B2" * 8
    path = site.add(edited(site.record(), {"/limitations/0": secret}))
    (found,) = site.check()
    assert secret not in repr(found)
    assert secret in path.read_text().splitlines()[found.at.line - 1]


@pytest.mark.parametrize("text", ["toy.ops.kernels", "3.12.3", "GPU 0", "a@b", "fla-core==0.6.0", "1.2.3.4"])
def test_ordinary_words_are_not_private(text: str) -> None:
    assert private_text([text], set()) is None


@pytest.mark.parametrize("unit", ["a", "a.", "a1-", "x@", "a://a:", "10.", "eyJa", "0f:", "C:/users", "gh", "serial "])
def test_the_search_is_linear_in_hostile_text(unit: str) -> None:
    text = (unit * 100_000)[:100_000].encode()
    started = time.process_time()
    next(iter(kinds_in(text)), None)
    assert time.process_time() - started < 2


def test_no_git_is_one_finding_and_no_pass(site: Site, tmp_path: object) -> None:
    import shutil
    from pathlib import Path

    site.add(site.record())
    site.add(site.record("kernels/other_20260901", cells=other_cells()))
    alone = Path(str(tmp_path)) / "alone"
    shutil.copytree(site.root, alone)
    moved = Site.__new__(Site)
    moved.root, moved.repository = alone, alone
    found = moved.check()
    assert codes(found).count("EV106") == 1
    assert "could not check" in next(one for one in found if one.code == "EV106").message
