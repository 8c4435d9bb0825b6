"""EV709 on whole projects: what a README or CHANGELOG says is what the claims give, and it counts as said on a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.checker.catalogue import RULES
from evidence.checker.corpus import Corpus
from evidence.checker.runs import run
from evidence.documents import apply, digest_of, seal
from evidence.pages.blocks import parse
from evidence.project import Project
from tests.evidence.checker.sites import commit
from tests.projects import CLAIMS, PAGE, write_project

CLOSE = "<!-- /evidence -->"
SENTENCE = 'sentences:\n  - {page: README.md, pattern: "fuses {ratio} faster", claim: toy-fused}\n'
BLOCK = f"# Toy\n\n<!-- evidence: table toy -->{CLOSE}\n\nIt is <!-- evidence: says toy-fused -->{CLOSE}.\n"


def found(root: Path, *families: str) -> list[tuple[str, str]]:
    report = run(RULES, Corpus(Project.find(root)))
    kept = (one for one in report.diagnostics if not families or one.code.startswith(families))
    return [(one.code, str(one.at)) for one in kept]


def sync(root: Path, *, sealing: bool = False) -> None:
    corpus = Corpus(Project.find(root))
    for held in corpus.documents.held:
        edits = [*held.edits, *(seal(held, corpus.book) if sealing else ())]
        held.document.path.write_bytes(apply(held.document.text, edits).encode())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_project(tmp_path, claims=CLAIMS + SENTENCE)
    (tmp_path / "README.md").write_text(BLOCK + "\nIt fuses 9.9× faster.\n")
    return tmp_path


def test_a_synced_project_has_no_finding(root: Path) -> None:
    assert [code for code, _ in found(root, "EV709")] == ["EV709"] * 3
    sync(root)
    assert found(root) == []


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("1.250×", "1.350×", 3),
        ("FASTER |", "SLOWER |", 3),
        ("It is <", "It is 1× <!-- evidence: says -->x<", 18),
        ("fuses 1.25×", "fuses 1.35×", 20),
        ("fuses 1.25× faster", "fuses 1.25× quicker", 0),
        ("(1 faster)", "(2 faster)", 3),
    ],
)
def test_an_edit_by_hand_is_found_at_its_line(root: Path, old: str, new: str, line: int) -> None:
    sync(root)
    text = (root / "README.md").read_text()
    assert old in text
    (root / "README.md").write_text(text.replace(old, new, 1))
    where = f"README.md:{line}" if line else "docs/claims/features.yml:19"
    assert ("EV709", where) in found(root, "EV709")


def test_another_statement_makes_it_stale(root: Path) -> None:
    sync(root)
    claims = root / "docs/claims/features.yml"
    claims.write_text(claims.read_text().replace("fusing runs {ratio} faster", "fusing gives {ratio}"))
    assert found(root, "EV709") == [("EV709", "README.md:18")]


def test_what_a_readme_shows_counts_as_shown(tmp_path: Path) -> None:
    write_project(tmp_path, {"features.md": "# Features\n"})
    unused = found(tmp_path, "EV615", "EV009")
    assert [code for code, _ in unused] == ["EV009", "EV615", "EV615"]
    (tmp_path / "README.md").write_text(BLOCK)
    sync(tmp_path)
    assert found(tmp_path) == []


def test_a_table_cut_to_its_winners_is_found_in_a_readme_too(tmp_path: Path) -> None:
    cut = CLAIMS.replace("    baseline: eager\n", "    baseline: eager\n    where: {arm: eager}\n")
    cut = cut.replace("columns: [time, {ratio: time}]", "columns: [time]")
    write_project(
        tmp_path, {"features.md": '{{ ev.claim("toy-fused") }}\n'}, claims=cut.replace("tables:\n", "tables:\n")
    )
    (tmp_path / "README.md").write_text(f"<!-- evidence: table toy -->{CLOSE}\n")
    sync(tmp_path)
    assert "EV605" in [code for code, _ in found(tmp_path)]


def test_a_superseded_claim_or_one_not_to_be_cited_is_found_in_a_readme(tmp_path: Path) -> None:
    log = "logs:\n  kernels/toy_20260901: {do_not_cite: the fan was off}\n"
    write_project(tmp_path, {"features.md": '{{ ev.table("toy") }}\n'}, claims=CLAIMS + log)
    readme = tmp_path / "README.md"
    readme.write_text(f"<!-- evidence: says toy-fused -->1.25× faster{CLOSE}\n")
    assert [code for code, _ in found(tmp_path)] == ["EV612"]
    readme.write_text(f"It is <!-- evidence: diagnostic toy-fused ratio -->{CLOSE}\n")
    sync(tmp_path)
    assert found(tmp_path) == []
    assert "1.25× (95 % 1.247–1.253) (diagnostic: not to be cited: the fan was off; one session)" in readme.read_text()


def test_an_unknown_id_is_one_finding_with_the_nearest_name(tmp_path: Path) -> None:
    write_project(tmp_path)
    (tmp_path / "README.md").write_text(f"<!-- evidence: says toy-fuse -->1.9× faster{CLOSE}\n")
    assert found(tmp_path) == [("EV702", "README.md:1")]


def test_an_item_that_does_not_stand_is_found_once_where_it_lies(tmp_path: Path) -> None:
    write_project(tmp_path, claims=CLAIMS.replace("expect: better", "expect: worse"))
    (tmp_path / "README.md").write_text(f"<!-- evidence: says toy-fused -->old words{CLOSE}\n")
    assert found(tmp_path) == [("EV602", "docs/claims/features.yml:8")]


def test_pages_of_the_site_may_hold_blocks_and_tracked_markdown_anywhere(tmp_path: Path) -> None:
    block = f"<!-- evidence: says toy-fused -->1.9× faster{CLOSE}\n"
    write_project(tmp_path, {"features.md": PAGE + block})
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/README.md").write_text(block)
    commit(tmp_path)
    assert found(tmp_path) == [("EV709", "docs/features.md:6"), ("EV709", "parts/README.md:1")]
    sync(tmp_path)
    assert found(tmp_path) == []
    (tmp_path / "evidence.toml").write_text('ignore_markdown = ["/parts/"]\n')
    (tmp_path / "parts/README.md").write_text(block)
    assert found(tmp_path) == []


def test_a_release_is_sealed(tmp_path: Path) -> None:
    write_project(tmp_path)
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text(f"# Changes\n\n## 1.0.0\n\n- <!-- evidence: says toy-fused -->{CLOSE}\n")
    sync(tmp_path)
    assert found(tmp_path, "EV7") == [("EV709", "CHANGELOG.md:5")]
    sync(tmp_path, sealing=True)
    assert found(tmp_path) == []
    commit(tmp_path)
    claims = tmp_path / "docs/claims/features.yml"
    claims.write_text(claims.read_text().replace("fusing runs {ratio} faster", "fusing gives {ratio}"))
    assert found(tmp_path, "EV7") == []
    changes.write_text(changes.read_text().replace("1.25×", "1.35×", 1))
    assert found(tmp_path, "EV7") == [("EV709", "CHANGELOG.md:5")]


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A project whose changelog has a sealed block, in a commit."""
    write_project(tmp_path)
    (tmp_path / "CHANGELOG.md").write_text(f"# Changes\n\n## 1.0.0\n\n- <!-- evidence: says toy-fused -->{CLOSE}\n")
    sync(tmp_path, sealing=True)
    commit(tmp_path)
    return tmp_path


def forge(root: Path, *, said: str, instead: str) -> None:
    """Change what a sealed block says, and its digest with it."""
    changes = root / "CHANGELOG.md"
    text = changes.read_text().replace(said, instead, 1)
    (block,) = parse(text).blocks
    new = digest_of(block, block.logs, text[slice(*block.inner)])
    changes.write_text(text.replace(f"seal={block.seal}", f"seal={new}"))


def test_a_digest_that_somebody_computed_is_found_before_and_after_its_commit(released: Path) -> None:
    assert found(released, "EV709") == []
    forge(released, said="1.25×", instead="1.45×")
    assert found(released, "EV709") == [("EV709", "CHANGELOG.md:5")]
    commit(released)
    assert found(released, "EV709") == [("EV709", "CHANGELOG.md:1")]


def test_a_new_block_with_invented_words_is_found(tmp_path: Path) -> None:
    write_project(tmp_path)
    text = (
        f"## 1.0.0\n\n- <!-- evidence: says toy-fused log=kernels/toy_20260901 seal=000000000000 -->9× faster{CLOSE}\n"
    )
    (tmp_path / "CHANGELOG.md").write_text(text)
    forge(tmp_path, said="9×", instead="8×")
    assert found(tmp_path, "EV709") == [("EV709", "CHANGELOG.md:3")]


def test_a_sealed_block_that_is_gone_is_found(released: Path) -> None:
    (released / "CHANGELOG.md").write_text("# Changes\n\n## 1.0.0\n\n- Faster.\n")
    assert found(released, "EV709") == [("EV709", "CHANGELOG.md:1")]


def test_what_was_sealed_stands_when_its_claim_and_its_series_have_moved_on(released: Path) -> None:
    claims = released / "docs/claims/features.yml"
    claims.write_text(claims.read_text().replace("fusing runs {ratio} faster", "fusing gives {ratio}"))
    assert found(released, "EV709") == []
    claims.write_text("")
    assert found(released, "EV709") == []


@pytest.mark.parametrize("number", [f"<!-- evidence: value toy-fused ratio -->{CLOSE}", "It fuses 1.25× faster."])
def test_a_number_outside_the_site_needs_its_claim_somewhere(tmp_path: Path, number: str) -> None:
    write_project(tmp_path, {"features.md": '{{ ev.table("toy") }}\n'}, claims=CLAIMS + SENTENCE)
    readme = tmp_path / "README.md"
    readme.write_text(f"# Toy\n\n{number}\n\nAnd it fuses 1.25× faster.\n")
    sync(tmp_path)
    assert {code for code, _ in found(tmp_path)} == {"EV711"}
    readme.write_text(f"{readme.read_text()}\n<!-- evidence: says toy-fused -->{CLOSE}\n")
    sync(tmp_path)
    assert found(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "is_dead"),
    [
        ("[raw](docs/benchmark_logs/kernels/toy_20200101/record.json)", True),
        ("see `docs/benchmark_logs/kernels/none_*`", True),
        (
            "[raw](docs/benchmark_logs/kernels/toy_20260901/record.json) `benchmark_logs/kernels/toy_*` [x](docs/a.md)",
            False,
        ),
    ],
)
def test_a_link_outside_the_site_to_a_log_that_is_not_there_is_found(tmp_path: Path, text: str, is_dead: bool) -> None:
    write_project(tmp_path)
    (tmp_path / "README.md").write_text(f"# Toy\n\n{text}\n")
    assert found(tmp_path) == [("EV711", "README.md:3")] * is_dead
