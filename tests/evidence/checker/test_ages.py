"""Reading `maximum_age`: what it means, and that a mistake in it is told and never ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.checker.ages import Limits
from evidence.checker.ignores import read_settings
from evidence.errors import ProjectError
from evidence.schema.claims import Status


def read(tmp_path: Path, text: str) -> object:
    (tmp_path / "pyproject.toml").write_text(f"[tool.evidence]\n{text}\n")
    return read_settings(tmp_path).ages


def test_nothing_said_limits_nothing(tmp_path: Path) -> None:
    assert read_settings(tmp_path).ages.is_empty
    assert read_settings(tmp_path).ages.of("kernels/toy", None) == Limits()


def test_the_first_class_that_covers_a_log_decides(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.evidence.maximum_age]\ndays = 180\ncommits = 50\n"
        '[[tool.evidence.maximum_age.classes]]\nseries = "kernels/"\nstatus = "historical"\ndays = 1000\n'
        '[[tool.evidence.maximum_age.classes]]\nseries = "kernels/"\ncommits = "unlimited"\n'
    )
    ages = read_settings(tmp_path).ages
    historical = Status(historical="before")
    assert ages.of("engine/toy", None) == Limits(180, 50)
    assert ages.of("engine/toy", historical) == Limits()
    assert ages.of("kernels/toy", None) == Limits(180, None)
    assert ages.of("kernels/toy", historical) == Limits(1000, 50)
    assert ages.of("kernels/toy", Status(do_not_cite="x")) == Limits(180, None)
    assert not ages.is_empty


@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        ("maximum_age = 5", "maximum_age is not a table", "days = 180"),
        ("maximum_age = {day = 5}", "unknown key 'day'", "did you mean 'days'?"),
        ("maximum_age = {days = -1}", "days is no number of days", "unlimited"),
        ("maximum_age = {days = true}", "days is no number", "180"),
        ("maximum_age = {commits = 'few'}", "commits is no number of commits", "unlimited"),
        ("maximum_age = {classes = 3}", "classes is not a list", "series"),
        ("maximum_age = {classes = [{days = 3}]}", "classes[0] names neither series nor status", "historical"),
        ("maximum_age = {classes = [{series = 3}]}", "series is not text", "series"),
        ("maximum_age = {classes = [{status = 'historic'}]}", "no status 'historic'", "did you mean 'historical'?"),
        ("ignore_markdown = '/tests/'", "ignore_markdown is not a list", "[\"/tests/\"]"),
    ],
)  # fmt: skip
def test_a_mistake_is_told(tmp_path: Path, text: str, message: str, fix: str) -> None:
    with pytest.raises(ProjectError) as caught:
        read(tmp_path, text)
    assert "pyproject.toml" in caught.value.message
    assert message in caught.value.message
    assert fix in caught.value.fix
