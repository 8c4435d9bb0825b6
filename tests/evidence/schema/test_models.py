"""What frozen, strict, closed models promise to the code that holds them, at run time and to a type checker."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from evidence.schema import CrossCheck, Failed, Passed, Timed, log_date, series
from evidence.schema.base import Model
from tests.factories import (
    engine_record,
    failed,
    gate,
    git_source,
    imported_record,
    method,
    outcomes_record,
    passed,
    process,
    record,
    tensor,
    timed,
)

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("made", [record, outcomes_record, engine_record, imported_record])
def test_a_record_is_immutable_all_the_way_down(made: Any) -> None:
    one, other = made(), made()
    assert hash(one) == hash(other)
    assert {one: 1}[other] == 1
    assert hash(one.model_copy(update={"limitations": ("another",)})) != hash(one)


def test_fields_cannot_be_assigned() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        record().cells[0].arm = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    "update",
    [
        {"gate": None},
        {"gate": failed()},
        {"processes": ()},
        {"processes": [process(0, (1e-3,), started_s=0.0)]},
        {"arm": 1},
        {"nonsense": 1},
        {"method": ""},
    ],
)
def test_a_copy_with_changes_is_validated(update: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        timed().model_copy(update=update)


def test_a_copy_without_changes_is_equal() -> None:
    assert record().model_copy() == record()
    assert timed().model_copy(update={"arm": "other"}).arm == "other"


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_python_values_that_are_not_finite_are_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        process(0, (float(text),), started_s=0.0)


@pytest.mark.parametrize("value", ["0.001", True, -1e-9, None, 1j, b"1"])
def test_samples_are_numbers_and_nothing_that_looks_like_one(value: Any) -> None:
    with pytest.raises(ValidationError):
        process(0, (value,), started_s=0.0)


def test_a_constructed_cell_is_caught_when_a_record_is_built_of_it() -> None:
    fields = {name: getattr(timed(), name) for name in Timed.model_fields}
    forged = Timed.model_construct(**{**fields, "gate": None})
    with pytest.raises(ValidationError, match="gate"):
        record(cells=(forged, *record().cells[1:]))


def test_a_poked_dictionary_is_caught_when_a_record_is_built_of_it() -> None:
    poked = timed()
    poked.__dict__["processes"] = ()
    with pytest.raises(ValidationError, match="processes"):
        record(cells=(poked, *record().cells[1:]))


def test_a_passed_gate_cannot_be_made_of_a_failed_one() -> None:
    with pytest.raises(ValidationError, match="3 of 1024 elements"):
        passed(detail=passed().detail.model_copy(update={"tensors": (tensor(mismatched=3),)}))
    assert passed().compared == 1024


def test_a_record_finds_its_parts_by_name() -> None:
    one = record()
    assert one.arm("fused") is one.arms[1]
    assert one.workload("n1024") is one.workloads[0]
    assert one.metric("time") is one.metrics[0]
    assert one.metric("speed") is None
    assert one.cell("fused", "n1024") is one.cells[1]
    for call in (lambda: one.arm("x"), lambda: one.workload("x"), lambda: one.cell("fused", "x")):
        with pytest.raises(KeyError, match="no "):
            call()


@pytest.mark.parametrize(
    ("log", "name", "date"),
    [
        ("kernels/toy_20260901", "kernels/toy", "20260901"),
        ("kernels/toy_20260901-12", "kernels/toy", "20260901"),
        ("kernels/toy_20250101_20260901", "kernels/toy_20250101", "20260901"),
        ("kernels/toy", "kernels/toy", ""),
    ],
)
def test_a_series_is_a_log_without_its_date(log: str, name: str, date: str) -> None:
    assert (series(log), log_date(log)) == (name, date)


def test_a_source_is_dirty_when_its_trees_differ() -> None:
    assert git_source().is_dirty is False
    assert git_source(tree_sha256="f" * 64).is_dirty is True
    unknown = (*git_source().missing, {"field": "tree_sha256", "reason": "no git"})
    assert git_source(tree_sha256=None, missing=unknown).is_dirty is None


LATER = {("EngineWorkload", "parameters")}
"""Fields that records of version 1 were written without at first."""


def test_every_stored_field_is_immutable_and_only_tags_and_later_fields_have_defaults() -> None:
    def kinds(kind: type[Model]) -> set[type[Model]]:
        return {kind}.union(*(kinds(inner) for inner in kind.__subclasses__()))

    for kind in (one for one in kinds(Model) if one.__module__.startswith("evidence.schema.")):
        for name, field in kind.model_fields.items():
            has_default = name in ("kind", "outcome", "origin") or (kind.__name__, name) in LATER
            assert field.is_required() or has_default, f"{kind.__name__}.{name} has a default"
            assert not any(word in str(field.annotation) for word in ("list[", "dict[", "set[")), (
                f"{kind.__name__}.{name}"
            )


WRONG = """from typing import Any
from evidence.schema import Failed, Passed, Process, Timed

def cell(gate: Passed, rest: dict[str, Any]) -> Timed:
    return Timed(gate=gate, **rest)

def times(outcome: Passed | Failed, failed: Failed, t: tuple[Process, ...]) -> None:
    cell(failed, {})
    cell(None, {})
    cell(outcome, {})
    Timed(arm="a", workload="w", gate=failed, further=(), method="m", ran=(), processes=t, discards=(), cross_checks=())
    Timed(arm="a", workload="w", gate=None, further=(), method="m", ran=(), processes=t, discards=(), cross_checks=())
    Timed(arm="a", workload="w", further=(), method="m", ran=(), processes=t, discards=(), cross_checks=())
    Timed(arm="a", workload="w", gate=outcome, further=(failed,), method="m", ran=(), processes=t, discards=(), cross_checks=())
    if isinstance(outcome, Passed):
        cell(outcome, {}).gate = outcome
        cell(outcome, {})
"""  # noqa: E501
LINES_WITH_ERRORS = {8, 9, 10, 11, 12, 13, 14, 16}


def test_a_type_checker_refuses_timings_without_a_passed_gate(tmp_path: Path) -> None:
    program = tmp_path / "wrong.py"
    program.write_text(WRONG)
    options = [
        "--config-file",
        str(ROOT / "pyproject.toml"),
        "--no-error-summary",
        "--hide-error-context",
        str(program),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if "wrong.py:" in line and ": error:" in line}
    assert found == LINES_WITH_ERRORS, done.stdout + done.stderr


def test_a_second_timer_holds_processes_of_its_own() -> None:
    checked = timed().model_copy(
        update={"cross_checks": (CrossCheck(method="nvbench", processes=timed().processes[:2]),)}
    )
    both = (method(), method(name="nvbench"))
    assert record(cells=(checked, *record().cells[1:]), methods=both).cells[0] == checked
    wrong = process(0, (1.0,), started_s=0.0, metric_name="speed")
    bad = checked.model_copy(update={"cross_checks": (CrossCheck(method="nvbench", processes=(wrong,)),)})
    with pytest.raises(ValidationError, match="cells/0/cross_checks/0/processes/0: no iteration or process metric"):
        record(cells=(bad, *record().cells[1:]), methods=both)


@pytest.mark.parametrize("outcome", [passed(source="toy"), failed(source="toy")])
def test_an_import_may_hold_what_its_file_says_of_correctness(outcome: Passed | Failed) -> None:
    cell = imported_record().cells[0].model_copy(update={"outcome": outcome})
    assert imported_record(cells=(cell,), gates=(gate(),)).cells[0] == cell
    with pytest.raises(ValidationError, match="no gate 'numeric'"):
        imported_record(cells=(cell,))
