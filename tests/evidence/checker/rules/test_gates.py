"""Tests of EV3, one table: what is changed in a sound record, and what must be found."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests import factories
from tests.evidence.checker.cases import GONE, Case, bad, edited, good, judge
from tests.evidence.checker.rules.test_environment import other_cells
from tests.evidence.checker.sites import Site, codes

TENSOR = "/cells/0/gate/detail/tensors/0"
DETAIL = "/cells/0/gate/detail"
ITSELF = {"implementation": "toy.ops:fused", "source": "toy", "stack": None, "dtype": "bf16"}
TARGET = [{"name": "target", "value": "toy.ops:fused"}]
TESTS = {"kind": "tests", "collected": 3, "passed": 1, "failed": 0, "skipped": 2, "allowed_skips": []}
ACCURACY = {
    "kind": "accuracy",
    "task": "toy-task",
    "measure": "exact_match",
    "numerator": 499.0,
    "denominator": 1000,
    "reference_numerator": 500.0,
    "reference_denominator": 1000,
}
SOUND_OUTCOME = {
    "outcome": "passed",
    "gate": "numeric",
    "source": "toy",
    "phase": "before",
    "seeds": [0, 1, 2],
    "detail": {
        "kind": "numeric",
        "tensors": [
            {
                "name": "o",
                "elements": 10,
                "mismatched": 0,
                "non_finite": 0,
                "maximum_absolute": 0.0,
                "maximum_relative": 0.0,
                "rms_to_fp64": None,
            }
        ],
    },
}


def _crashed_in(cell: dict[str, Any], phase: str) -> dict[str, Any]:
    which = {key: cell[key] for key in ("arm", "workload")}
    return {"kind": "crashed", **which, "cause": "error", "phase": phase, "message": "the kernel raised"}


FAILED_OUTCOME = {
    "outcome": "failed",
    "gate": "numeric",
    "source": "toy",
    "reason": "mismatch",
    "message": "o: 3 of 10 elements are beyond the tolerance",
    "seeds": [0],
    "detail": None,
}
GATE = {
    "name": "numeric",
    "kind": "numeric",
    "command": [],
    "scope": "full",
    "selection": None,
    "reference": None,
    "tolerances": [],
    "frozen": [],
    "variables": [],
    "log": None,
    "mutants": None,
    "mutants_killed": None,
}
ACCURATE = {"/gates/0/kind": "accuracy", "/gates/0/tolerances": [{"of": "accuracy", "limit": 0.01}]}

RED, GREEN = b"23 passed, 1 failed in 4 s\n", b"24 passed, 0 failed, 0 errors in 4 s\n"


def printed(text: bytes) -> dict[str, Any]:
    """A gate that kept its output."""
    kept = json.loads(factories.artifact("gate.log", text, role="gate-log").model_dump_json())
    return {"/artifacts": [kept], "/gates/0/log": "gate.log"}


CASES: tuple[Case, ...] = (
    bad("EV312", "output-that-failed", printed(RED), files={"gate.log": RED}),
    good("EV312", "output-that-passed", printed(GREEN), files={"gate.log": GREEN}),
    bad("EV301", "null", {"/cells/1/gate": None}),
    bad("EV301", "missing", {"/cells/1/gate": GONE}),
    bad("EV301", "import", {}, base="import"),
    good("EV301", "import-gated", {"/gates": [GATE], "/cells/0/outcome": SOUND_OUTCOME}, base="import"),
    bad("EV302", "labelled", {f"{TENSOR}/mismatched": 41}),
    bad("EV302", "nothing-compared", {f"{DETAIL}/tensors": []}),
    bad("EV302", "all-skipped", {DETAIL: TESTS}),
    bad("EV302", "failed-and-timed", {"/cells/0/gate/outcome": "failed"}),
    bad("EV302", "relative-alone", {"/gates/0/tolerances": [{"of": "relative", "limit": 0.0001}]}),
    good("EV302", "relative-beside-absolute", {"/gates/0/tolerances/0/limit": 0.0001}),
    bad("EV305", "nothing-fails-it", {"/gates/0/tolerances/0/limit": 1.0}),
    bad("EV305", "no-agreement-asked", {"/gates/0/tolerances/0/limit": 0.0}, base="engine"),
    good("EV305", "wide", {"/gates/0/tolerances/0/limit": 0.9}),
    bad("EV302", "agreement", {"/gates/0/tolerances/0/limit": 0.99}, base="engine"),
    bad(
        "EV302",
        "accuracy",
        {"/cells/*/gate/detail": {**ACCURACY, "numerator": 400.0}, "/arms/*/outputs": "may-differ", **ACCURATE},
    ),
    bad(
        "EV302",
        "rms",
        {"/gates/0/tolerances": [{"of": "rms", "limit": 1e-6}], f"{TENSOR}/rms_to_fp64": 1e-3},
    ),
    bad("EV302", "other-kind", {"/gates/0/kind": "tests"}),
    bad(
        "EV302",
        "import-failed",
        {"/gates": [GATE], "/cells/0/outcome": FAILED_OUTCOME},
        base="import",
    ),
    good("EV302", "within", {"/gates/0/tolerances": [{"of": "rms", "limit": 1e-2}], f"{TENSOR}/rms_to_fp64": 1e-3}),
    good("EV302", "agreement", {"/gates/0/tolerances/0/limit": 0.97}, base="engine"),
    bad("EV304", "other-tree", {"/cells/1/gate/source": "repository"}),
    good("EV304", "same-tree", {"/cells/*/gate/source": "repository", "/arms/*/source": "repository"}),
    bad("EV306", "itself", {"/gates/0/reference": ITSELF}),
    bad(
        "EV306",
        "itself-in-one-op",
        {"/gates/0/reference": ITSELF, "/arms/1/implementation": "toy.ops:several", "/cells/1/ran": TARGET},
    ),
    good(
        "EV306",
        "another-in-this-op",
        {
            "/gates/0/reference": {**ITSELF, "implementation": "toy.ops:several"},
            "/arms/1/implementation": "toy.ops:several",
            "/cells/1/ran": TARGET,
        },
    ),
    good("EV306", "higher-precision", {"/gates/0/reference": {**ITSELF, "dtype": "fp64"}}),
    good("EV306", "baseline", {"/gates/0/reference": {**ITSELF, "implementation": "toy.ops:eager"}}),
    good("EV306", "other-switches", {"/gates/0/reference": ITSELF}, base="switched"),
    bad("EV307", "two", {"/cells/1/gate/seeds": [0, 1]}),
    bad("EV307", "same", {"/cells/1/gate/seeds": [1, 1, 1]}),
    good("EV307", "three", {"/cells/*/gate/seeds": [5, 6, 7]}),
    bad("EV308", "labelled", {f"{TENSOR}/non_finite": 3}),
    bad("EV308", "nothing-finite", {f"{TENSOR}/maximum_absolute": None, f"{TENSOR}/maximum_relative": None}),
    good("EV308", "no-relative", {f"{TENSOR}/maximum_relative": None}),
    bad("EV309", "differs", {f"{DETAIL}/controls/0/agreed": 255}, base="engine"),
    good("EV309", "agrees", {f"{DETAIL}/controls": []}, base="engine"),
    bad("EV310", "zero", {"/cells/2/processes/1/counters/0/count": 0}, base="engine"),
    bad("EV310", "not-counted", {"/cells/2/processes/*/counters": []}, base="engine"),
    good("EV310", "other-arm", {"/cells/0/processes/*/counters": []}, base="engine"),
    bad("EV311", "no-tie", {f"{DETAIL}/divergences/0/is_tie": False}, base="engine"),
    bad("EV311", "untold", {f"{DETAIL}/divergences": []}, base="engine"),
    bad("EV311", "accuracy", {"/cells/*/gate/detail": ACCURACY, **ACCURATE}),
    good("EV311", "declared", {f"{DETAIL}/divergences": [], "/arms/*/outputs": "may-differ"}, base="engine"),
    bad("EV312", "no-outcome", {"/gates": lambda old: [*old, {**old[0], "name": "frozen-tests"}]}),
    bad("EV312", "no-log", {"/gates/0/command": ["pytest", "tests"]}),
    good("EV312", "in-process", {"/gates/0/command": []}),
    good(
        "EV312",
        "raised-inside-the-gate",
        {
            "/gates": lambda old: [*old, {**old[0], "name": "backward"}],
            "/cells/0": lambda old: _crashed_in(old, "gate"),
        },
    ),
    bad(
        "EV312",
        "crashed-elsewhere",
        {
            "/gates": lambda old: [*old, {**old[0], "name": "backward"}],
            "/cells/0": lambda old: _crashed_in(old, "timing"),
        },
    ),
    bad("EV313", "optimized", {"/gates/0/variables": [{"name": "PYTHONOPTIMIZE", "value": "1"}]}),
    bad("EV313", "run", {"/provenance/variables/0": {"name": "FLA_CI_ENV", "value": "1"}}),
    good("EV313", "off", {"/gates/0/variables": [{"name": "PYTHONOPTIMIZE", "value": "0"}]}),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(site: Site, case: Case) -> None:
    judge(site, case)


CLAIM = """\
tables:
  toy: {title: Toy, series: kernels/toy, rows: [workload], across: arm, columns: [time, {ratio: time}], baseline: eager}
claims:
  faster:
    statement: Fusing gives {ratio} on {device}.
    series: kernels/toy
    metric: time
    baseline: eager
    candidate: fused
    expect: better
    mechanism: {unknown: a profile was not taken}
"""
PARTIAL = {"/gates/0/scope": "partial", "/gates/0/selection": "-k toy"}

PARTIAL_CASES = (
    (bad("EV303", "claimed", PARTIAL), '{{ ev.claim("faster") }}\n\n{{ ev.table("toy") }}\n'),
    (good("EV303", "tabled", PARTIAL), '{{ ev.table("toy") }}\n'),
)


@pytest.mark.parametrize(("case", "page"), PARTIAL_CASES, ids=lambda one: getattr(one, "id", ""))
def test_partial_gate_is_found_under_claims_only(site: Site, case: Case, page: str) -> None:
    site.add(edited(site.record(), case.edits))
    site.write("docs/claims/index.yml", CLAIM)
    site.write("docs/index.md", f"# Synthetic\n\n{page}")
    assert ("EV303" in codes(site.check())) is case.fires


LOOSER = {"/gates/0/tolerances/0/limit": 0.05}
FROZEN = {"/gates/0/frozen": [{"path": "tests/test_toy.py", "sha256": "1" * 64}]}
CHANGED_CASES = (
    (bad("EV305", "loosened", LOOSER), {}),
    (bad("EV305", "limit-gone", {"/gates/0/tolerances": []}), {}),
    (bad("EV305", "test-edited", {"/gates/0/frozen": [{"path": "tests/test_toy.py", "sha256": "2" * 64}]}), FROZEN),
    (bad("EV305", "test-gone", {}), FROZEN),
    (
        bad("EV305", "another-name", {"/gates/0/name": "loose", "/cells/*/gate/gate": "loose"}),
        {},
    ),
    (good("EV305", "tightened", {"/gates/0/tolerances/0/limit": 0.005}), {}),
    (good("EV305", "same", FROZEN), FROZEN),
)


@pytest.mark.parametrize(("case", "before"), CHANGED_CASES, ids=lambda one: getattr(one, "id", ""))
def test_gate_is_held_to_the_log_before(site: Site, case: Case, before: dict[str, object]) -> None:
    site.add(edited(site.record(), before))
    newer = site.record("kernels/toy_20260901-2", cells=other_cells())
    path = site.add(edited(newer, case.edits), newer.log)
    found = site.check("EV3")
    assert [one.code for one in found] == ["EV305"] * case.fires
    assert all(path.as_posix().endswith(one.at.path) for one in found)


def test_ungated_import_that_is_not_to_be_cited_is_no_finding(site: Site) -> None:
    record = edited(site.record(), {})
    site.add(record)
    judged = bad("EV301", "import", {}, base="import")
    judge(site, judged)
    site.write("docs/claims/index.yml", "logs:\n  engine/foreign_20260901: {do_not_cite: a foreign file}\n")
    site.cite()
    assert not {"EV101", "EV103", "EV104", "EV301", "EV214"} & set(codes(site.check()))
