"""EV710 in a whole check: a figure on a page, sound and stale, and what its claim brings with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evidence import pictures
from evidence.book import Book
from evidence.checker.catalogue import RULES
from evidence.checker.corpus import Corpus
from evidence.checker.runs import run
from evidence.project import Project
from evidence.store import Store
from tests.evidence.test_pictures import png
from tests.projects import write_project

PAGE = '# Features\n\n{{ ev.figure("fused") }}\n\n{{ ev.table("toy") }}\n'


def found(root: Path) -> list[tuple[str, str]]:
    return [(one.code, str(one.at)) for one in run(RULES, Corpus(Project.find(root))).diagnostics]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = Project.find(write_project(tmp_path, {"features.md": PAGE}))
    image = tmp_path / "docs/figures/fused.png"
    image.parent.mkdir()
    image.write_bytes(png(2, 2))
    pictures.describe(Book(project, Store(project.logs)), "toy-fused", image, "Fusing runs {ratio} faster.")
    return tmp_path


def test_a_sound_figure_has_no_finding_and_tells_its_claim(root: Path) -> None:
    assert found(root) == []


def test_a_stale_figure_is_found(root: Path) -> None:
    (root / "docs/figures/fused.png").write_bytes(png(2, 3))
    assert found(root) == [("EV710", "docs/figures/fused.json:4")]


def test_a_caption_edited_by_hand_is_found(root: Path) -> None:
    file = root / "docs/figures/fused.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "drawn": "Fusing runs 1.9× faster."}, indent=1))
    assert [code for code, _ in found(root)] == ["EV710"]


def test_a_figure_of_a_claim_not_to_be_cited_is_found(root: Path) -> None:
    claims = root / "docs/claims/features.yml"
    claims.write_text(claims.read_text() + "logs:\n  kernels/toy_20260901: {do_not_cite: the fan was off}\n")
    assert "EV612" in [code for code, _ in found(root)]


def test_a_figure_that_is_not_there_is_named(root: Path) -> None:
    (root / "docs/features.md").write_text(PAGE.replace("fused", "fuse"))
    assert ("EV702", "docs/features.md:3") in found(root)
