"""What the search of a built site knows of blocks: their words, not their drawings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

from tests.projects import write_project

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_project(tmp_path_factory.mktemp("search"))
    build(load_config(str(root / "mkdocs.yml")))
    return root / "site"


def test_the_search_finds_a_block_by_its_words_in_the_section_it_stands_in(site):
    documents = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))["docs"]
    text = " ".join(one["text"] for one in documents if one["location"].startswith("features/"))
    for said in ("On Synthetic GPU A, fusing runs", "The toy op", "instrument triton.testing.do_bench", "Limitations"):
        assert said in text
    assert "data-evidence" not in text
    assert "median, 95 %" not in text, "a table's heads, and so its numbers"


def test_the_page_holds_the_blocks_and_nothing_of_what_the_search_read(site):
    page = (site / "features/index.html").read_text(encoding="utf-8")
    assert page.count('<section class="ev-block" id="ev-toy"') == 1
    assert page.count('id="ev-toy-fused"') == 1
    assert "data-evidence" not in page
