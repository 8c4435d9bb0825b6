from __future__ import annotations

from pathlib import Path

import pytest

from evidence.checker.catalogue import find
from evidence.checker.corpus import Corpus
from evidence.project import Project
from tests.factories import loaded, record
from tests.projects import CLAIMS, MKDOCS


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "docs/claims").mkdir(parents=True)
    (tmp_path / "mkdocs.yml").write_text(MKDOCS)
    (tmp_path / "docs/claims/page.yml").write_text(CLAIMS)
    loaded(record(), tmp_path / "docs/benchmark_logs")
    return tmp_path


def found(root: Path, page: str, claims: str = CLAIMS) -> list[tuple[str, int, str]]:
    (root / "docs/page.md").write_text(page)
    (root / "docs/claims/page.yml").write_text(claims)
    corpus = Corpus(Project.find(root))
    return [(one.at.path, one.at.line, one.message) for one in find("EV716").check(corpus)]


def test_a_comment_left_by_a_skeleton(root: Path) -> None:
    text = "---\ntitle: x\n---\n# Page\n\n<!-- to write: what it\ndoes -->\n"
    assert found(root, text) == [("docs/page.md", 6, "not written yet: what it does")]


@pytest.mark.parametrize("page", ["# Page\n", "<!-- a note -->\n", "```\n<!-- to write: x -->\n```\n", "to write: x\n"])
def test_what_is_no_such_comment(root: Path, page: str) -> None:
    assert found(root, page) == []


def test_a_text_left_in_a_claims_file(root: Path) -> None:
    claims = CLAIMS.replace("nothing was profiled", "to be written")
    line = claims.split("\n").index("    mechanism: {unknown: to be written}") + 1
    assert found(root, "# Page\n", claims) == [("docs/claims/page.yml", line, "mechanism is not written yet")]


def test_a_comment_in_a_claims_file_is_free(root: Path) -> None:
    assert found(root, "# Page\n", CLAIMS + "# mechanism: to be written when profiled\n") == []
