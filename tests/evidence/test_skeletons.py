"""Skeletons on a whole project: what is added, what the real check then says, and what is refused."""

from __future__ import annotations

import difflib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evidence import claims, skeletons
from evidence.cli import cli
from evidence.errors import EvidenceError
from evidence.project import Project
from tests.projects import CLAIMS, write_project

SECTION = ("section", "Fused toy norm", "--series", "kernels/toy")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_project(tmp_path)


def new(root: Path, *arguments: str, page: str = "features.md") -> Result:
    more = ("--page", str(root / "docs" / page)) if arguments[0] == "section" else ()
    return CliRunner().invoke(cli, ["new", *arguments, *more, "--root", str(root)])


def codes(root: Path) -> list[str]:
    result = CliRunner().invoke(cli, ["check", "--root", str(root), "--format", "json"])
    return sorted(one["code"] for one in json.loads(result.output)["diagnostics"])


def update(root: Path) -> None:
    assert CliRunner().invoke(cli, ["update", "--root", str(root)]).exit_code == 0


def test_a_section_is_added_and_nothing_else_moves(root: Path) -> None:
    page, file = root / "docs/features.md", root / "docs/claims/features.yml"
    before, listed = page.read_text(), file.read_text()
    assert new(root, *SECTION).exit_code == 0
    assert page.read_text().startswith(before)
    for part in ("## Fused toy norm", "ev.claim", "ev.chart", "ev.table", "ev.reproduce", "### Where it loses"):
        assert part in page.read_text()[len(before) :]
    changes = list(difflib.ndiff(listed.split("\n"), file.read_text().split("\n")))
    assert not [line for line in changes if line.startswith("- ")]
    assert "+   fused-toy-norm:" in changes
    assert "+   fused-toy-norm-table:" in changes


def test_the_check_finds_what_the_author_must_write_and_nothing_else(root: Path) -> None:
    assert codes(root) == []
    new(root, *SECTION)
    assert codes(root) == ["EV610", "EV620", *["EV716"] * 4]
    file, page = root / "docs/claims/features.yml", root / "docs/features.md"
    text = file.read_text().replace("  # expect: better, worse, same or inconclusive", "  expect: better  #")
    text = text.replace("{unknown: to be written}", "{unknown: nothing was profiled}")
    text = text.replace("to be written with {ratio}, {candidate} and {baseline}", "the fused op is {ratio} faster")
    file.write_text(text)
    lines = page.read_text().split("\n")
    page.write_text("\n".join("It was looked for." if line.startswith("<!--") else line for line in lines))
    update(root)
    assert codes(root) == []


def test_a_claim_alone_is_found_unwritten_and_unused(root: Path) -> None:
    assert new(root, "claim", "more-toys", "--series", "kernels/toy").exit_code == 0
    assert codes(root) == ["EV620", "EV716", "EV716"]


def test_a_section_without_a_series_is_prose_to_write(root: Path) -> None:
    assert new(root, "section", "Other things", page="others.md").exit_code == 0
    assert (root / "docs/others.md").read_text().startswith("# Others\n\n## Other things\n")
    assert codes(root) == ["EV716", "EV716"]


def test_a_misspelt_series_gets_the_nearest_name(root: Path) -> None:
    before = (root / "docs/features.md").read_text()
    for arguments in (("section", "Fused norm", "--series", "kernels/toi"), ("claim", "x", "--series", "kernels/toi")):
        result = new(root, *arguments)
        assert result.exit_code == 2
        assert "did you mean 'kernels/toy'" in result.output
    assert (root / "docs/features.md").read_text() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("section", "Features"), "there is a section"),
        (("section", "Toy fused", "--series", "kernels/toy"), "two items are named 'toy-fused'"),
        (("section", "***"), "no name of a section"),
        (("section", "a {{ b }}"), "no name of a section"),
        (("claim", "toy-fused", "--series", "kernels/toy"), "two items are named 'toy-fused'"),
        (("claim", "Toy Fused", "--series", "kernels/toy"), "is no id"),
        (("claim", "x", "--series", "kernels/toy", "--file", "elsewhere.yml"), "a claims file is a .yml file in"),
    ],
)
def test_nothing_is_overwritten(root: Path, arguments: tuple[str, ...], words: str) -> None:
    files = {path: path.read_bytes() for path in (root / "docs").rglob("*") if path.is_file()}
    result = new(root, *arguments)
    assert result.exit_code == 2
    assert words in result.output
    assert {path: path.read_bytes() for path in (root / "docs").rglob("*") if path.is_file()} == files


def test_a_page_outside_docs_is_refused(root: Path) -> None:
    assert new(root, "section", "Other things", page="../README.md").exit_code == 2
    assert not (root / "README.md").exists()


@pytest.mark.parametrize(
    "text",
    [
        CLAIMS,
        CLAIMS.replace("claims:", "claims:  # all of them"),
        "# only a comment\n",
        "tables:\n    wide:\n        title: x\n        series: kernels/toy\n        rows: [N]\n"
        "        columns: [time]\n",
        CLAIMS.rstrip("\n"),
        "\ufeff" + CLAIMS,
    ],
)
def test_items_are_added_to_a_file_however_it_is_written(root: Path, text: str) -> None:
    file = root / "docs/claims/features.yml"
    file.write_text(text)
    addition = skeletons.claim(Project.find(root), "more-toys", "kernels/toy", file)
    for line in text.split("\n"):
        assert line in addition.text.split("\n")
    addition.write()
    loaded = claims.load(root / "docs/claims", root)
    assert [code for code, _ in loaded.findings] == ["EV620"]
    assert "more-toys" in loaded.malformed


@pytest.mark.parametrize("text", ["claims: {}\n", "claims: {a: {statement: x}}\n"])
def test_a_file_that_cannot_be_added_to_is_left(root: Path, text: str) -> None:
    file = root / "docs/claims/features.yml"
    file.write_text(text)
    with pytest.raises(EvidenceError, match="written on one line"):
        skeletons.claim(Project.find(root), "more-toys", "kernels/toy", file)


def test_which_claims_file_is_asked_where_there_are_several(root: Path) -> None:
    (root / "docs/claims/other.yml").write_text("tables:\n")
    result = new(root, "claim", "more-toys", "--series", "kernels/toy")
    assert result.exit_code == 2
    assert "features.yml, other.yml" in result.output
