"""Markdown that no macro runs on, held to claims: what is stale, what is sealed, and that nothing else ever changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence import pictures
from evidence.book import Book
from evidence.documents import Document, Held, Holding, apply, hold, load, paths, read, seal
from evidence.errors import ProjectError
from evidence.project import Project
from evidence.repository import Repository
from evidence.store import Store
from tests.evidence.checker.sites import commit, git
from tests.evidence.test_pictures import png
from tests.projects import CLAIMS, write_project

CLOSE = "<!-- /evidence -->"
SENTENCES = """\
sentences:
  - {page: README.md, pattern: "takes {candidate:us} where it took {baseline}", claim: toy-fused}
  - {page: README.md, pattern: "is {ratio} faster", claim: toy-fused}
"""
SAID = "On Synthetic GPU A, fusing runs 1.25× faster (FASTER, 1.25× (95 % 1.247–1.253), n 9)."
PIECES = st.sampled_from(
    [
        *(
            "<!-- evidence: claim toy-fused -->",
            "<!-- evidence: table toy -->",
            "<!-- evidence: says toy-fused -->",
            CLOSE,
        ),
        *("<!-- evidence: value toy-fused ratio -->", "<!-- evidence: diagnostic toy-fused candidate:us -->"),
        *("<!-- evidence: claim nobody -->", "takes 9 ms where it took 8 s", "is 9.9x faster", "is 1.25× faster"),
        *(
            "takes 802 µs\nwhere it took",
            "```",
            "`",
            "\n",
            "\r\n",
            "\n\n",
            "- ",
            "> ",
            "<div>",
            "\n## 1.2.0\n",
            "\ufeff",
        ),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_project(tmp_path_factory.mktemp("project"), claims=CLAIMS + SENTENCES)


@pytest.fixture(scope="module")
def book(root: Path) -> Book:
    project = Project.find(root)
    return Book(project, Store(project.logs))


def holding(book: Book, root: Path) -> Holding:
    return Holding(book, Store(root / "docs/benchmark_logs"), root / "docs", pictures.load(Project.find(root)))


def held(book: Book, root: Path, text: str, name: str = "README.md") -> Held:
    documents = hold([Document(root / name, name, text)], holding(book, root))
    return documents.held[0]


def filled(book: Book, root: Path, text: str, name: str = "README.md") -> str:
    return apply(text, held(book, root, text, name).edits)


def messages(one: Held) -> list[str]:
    return [finding.message for _, finding in one.findings]


def test_an_empty_block_is_filled_and_the_rest_stays(book: Book, root: Path) -> None:
    text = f"# Toy\n\n- Batching: <!-- evidence: claim toy-fused -->{CLOSE} and more\n"
    assert (
        filled(book, root, text) == f"# Toy\n\n- Batching: <!-- evidence: claim toy-fused -->{SAID}{CLOSE} and more\n"
    )


def test_what_is_edited_by_hand_is_stale_with_its_line(book: Book, root: Path) -> None:
    text = f"\n\n<!-- evidence: claim toy-fused -->{SAID.replace('1.25× faster', '1.45× faster')}{CLOSE}\n"
    (edit,) = held(book, root, text).edits
    assert str(edit.finding.at) == "README.md:3"
    assert "'runs 1.45× faster (FASTER, 1.25× (95'" in edit.finding.message
    assert edit.finding.fix == "run `evidence sync`"


def test_what_is_right_is_left_alone(book: Book, root: Path) -> None:
    one = held(book, root, f"<!-- evidence: claim toy-fused -->{SAID}{CLOSE}")
    assert (one.edits, one.findings) == ([], [])
    assert [(use.macro, use.id) for use in one.uses] == [("claim", "toy-fused")]


def test_a_value_stands_with_its_interval_and_a_diagnostic_with_its_label(book: Book, root: Path) -> None:
    text = (
        f"x <!-- evidence: value toy-fused ratio -->{CLOSE} <!-- evidence: diagnostic toy-fused candidate:us -->{CLOSE}"
    )
    assert filled(book, root, text) == (
        "x <!-- evidence: value toy-fused ratio -->1.25× (95 % 1.247–1.253)<!-- /evidence --> "
        "<!-- evidence: diagnostic toy-fused candidate:us -->802 µs (95 % 798–803 µs) (diagnostic: one session)"
        "<!-- /evidence -->"
    )


def test_a_table_stands_on_lines_of_its_own_with_stance_verdict_and_record(book: Book, root: Path) -> None:
    text = filled(book, root, f"\r\n<!-- evidence: table toy -->{CLOSE}\r\n", "notes/README.md")
    assert "\n" not in text.replace("\r\n", "")
    assert "date: 2026-09-01 · device: Synthetic GPU A" in text
    assert "FASTER |\r\n" in text
    assert "](../docs/benchmark_logs/kernels/toy_20260901/record.json), sha256 " in text
    assert text.endswith(f"\r\n\r\n{CLOSE}\r\n")


def test_a_claim_on_lines_of_its_own_carries_its_evidence(book: Book, root: Path) -> None:
    text = filled(book, root, f"- a\n\n  <!-- evidence: claim toy-fused -->\n  {CLOSE}\n")
    lines = text.split("\n")
    assert "  On Synthetic GPU A, fusing runs 1.25× faster." in lines
    assert "  Why: Mechanism not established: nothing was profiled" in lines
    assert any(line.startswith("  Limitations: ") for line in lines)
    assert any("](docs/benchmark_logs/kernels/toy_20260901/record.json)" in line for line in lines)
    assert f"  {CLOSE}" in lines


def test_a_figure_stands_with_its_words_caption_and_record(tmp_path: Path) -> None:
    project = Project.find(write_project(tmp_path))
    book = Book(project, Store(project.logs))
    image = tmp_path / "docs/figures/fused.png"
    image.parent.mkdir()
    image.write_bytes(png(2, 2))
    pictures.describe(book, "toy-fused", image, "{ratio} in time.")
    text = f"<!-- evidence: figure fused -->{CLOSE}\n<!-- evidence: figure fuse -->{CLOSE}\n"
    one = held(book, tmp_path, text)
    assert apply(text, one.edits).startswith(
        "<!-- evidence: figure fused -->\n\n"
        "![On Synthetic GPU A, fusing runs 1.25× faster.](docs/figures/fused.png)\n\n"
        "1.25× in time. · [kernels/toy\\_20260901](docs/benchmark_logs/kernels/toy_20260901/record.json)\n\n"
    )
    assert [finding.message for _, finding in one.findings] == ["no figure 'fuse'"]


@pytest.mark.parametrize(
    ("block", "message", "fix"),
    [
        ("claim toy-fuse", "no claim 'toy-fuse'", "did you mean 'toy-fused'?"),
        ("table toys", "no table 'toys'", "did you mean 'toy'?"),
        ("table toy-fused", "no table 'toy-fused'", "toy"),
        ("value toy-fused ratios", "{ratios} is neither", "did you mean {ratio}?"),
        ("diagnostic toy-fused canddate", "{canddate} is neither", "did you mean {candidate}?"),
    ],
)
def test_an_unknown_name_has_the_nearest(book: Book, root: Path, block: str, message: str, fix: str) -> None:
    one = held(book, root, f"\n<!-- evidence: {block} -->\n{CLOSE}\n")
    ((code, finding),) = one.findings
    assert (code, finding.at.line) == ("EV702", 2)
    assert message in finding.message
    assert fix in finding.fix
    assert not one.edits


# Sentences bound by pattern.


def test_a_bound_sentence_has_only_its_values_rewritten(book: Book, root: Path) -> None:
    text = "It **took 9.5 ms\nwhere it** x. Fusing takes 3 ms where\r\n> it took 1,200 s, which is ~9.9x faster.\n"
    assert filled(book, root, text) == (
        "It **took 9.5 ms\nwhere it** x. Fusing takes 802 µs where\r\n> it took 1.001 ms, which is 1.25× faster.\n"
    )


def test_every_occurrence_of_a_bound_sentence_must_agree(book: Book, root: Path) -> None:
    one = held(book, root, "It is 1.25× faster.\n\nIt is 1.45× faster.\n\nIt is 1.25×\nfaster, is 2x faster.\n")
    assert [(edit.finding.at.line, edit.text) for edit in one.edits] == [(3, "1.25×"), (6, "1.25×")]
    assert "'1.45×'" in one.edits[0].finding.message
    assert "docs/claims/features.yml" in one.edits[0].finding.fix


def test_a_sentence_in_code_or_a_block_is_not_looked_for(book: Book, root: Path) -> None:
    text = f"```\nis 9x faster\n```\n<!-- is 9x faster -->\n<!-- evidence: says toy-fused -->is 9x faster{CLOSE}\n"
    one = held(book, root, text)
    assert [use.macro for use in one.uses] == ["says"]


def test_a_part_of_a_number_is_no_value(book: Book, root: Path) -> None:
    assert not held(book, root, "v is 1.25.9x faster, is 1.25×2 faster, this 1.25× faster").uses


def test_a_sentence_that_stands_nowhere_is_found(book: Book, root: Path) -> None:
    found = hold([Document(root / "README.md", "README.md", "It is 2x faster.")], holding(book, root)).findings
    ((code, finding),) = found
    assert code == "EV709"
    assert finding.at.path == "docs/claims/features.yml"
    assert "no sentence of README.md reads 'takes {candidate:us}" in finding.message


def test_a_page_that_is_not_there_is_found(book: Book, root: Path) -> None:
    found = hold([Document(root / "README.txt", "README.txt", "")], holding(book, root)).findings
    assert [(code, finding.message) for code, finding in found] == [("EV709", "no page 'README.md'")] * 2
    assert "did you mean 'README.txt'?" in found[0][1].fix


@pytest.mark.parametrize(
    ("pattern", "code", "message"),
    [
        ("is 1.25 or {ratio}", "EV622", "'1.25' is typed"),
        ("on Synthetic GPU A it is {ratio}", "EV622", "device"),
        ("is {ratios} faster", "EV622", "neither a quantity"),
        ("is always {ratio}", "EV604", "wider"),
        ("runs on {device}", "EV622", "where {device} ends"),
    ],
)
def test_a_pattern_is_held_to_the_lint_of_statements(tmp_path: Path, pattern: str, code: str, message: str) -> None:
    text = f'{CLAIMS}sentences:\n  - {{page: README.md, pattern: "{pattern}", claim: toy-fused}}\n'
    project = Project.find(write_project(tmp_path, claims=text))
    store = Store(project.logs)
    (tmp_path / "README.md").write_text("text")
    documents = load([tmp_path / "README.md"], project, Holding(Book(project, store), store, project.docs))
    ((found, finding),) = documents.findings
    assert (found, finding.at.path) == (code, "docs/claims/features.yml")
    assert message in finding.message


def test_one_text_bound_twice_is_found(tmp_path: Path) -> None:
    twice = SENTENCES + '  - {page: README.md, pattern: "{ratio} faster", claim: toy-fused}\n'
    project = Project.find(write_project(tmp_path, claims=CLAIMS + twice))
    one = held(Book(project, Store(project.logs)), tmp_path, "This is 9x faster.")
    assert len(one.edits) == 1
    assert "bound twice" in messages(one)[0]


# What was released.


def test_a_block_under_a_release_is_sealed_and_then_stays(book: Book, root: Path) -> None:
    text = f"# Changes\n\n## [1.2.0] - 2026-11-01\n\n- <!-- evidence: says toy-fused -->{CLOSE}\n"
    one = held(book, root, text, "CHANGELOG.md")
    assert "not sealed" in messages(one)[0]
    sealed = apply(text, [*one.edits, *seal(one, book)])
    assert "<!-- evidence: says toy-fused log=kernels/toy_20260901 seal=" in sealed
    again = held(book, root, sealed, "CHANGELOG.md")
    assert (again.edits, again.findings, again.unsealed) == ([], [], [])
    assert held(book, root, sealed.replace("\n", "\r\n"), "CHANGELOG.md").findings == []


def test_a_sealed_text_that_was_changed_is_found(book: Book, root: Path) -> None:
    text = f"# Changes\n\n## 1.2.0\n\n- <!-- evidence: says toy-fused -->{CLOSE}\n"
    sealed = apply(
        text, [*held(book, root, text, "CHANGELOG.md").edits, *seal(held(book, root, text, "CHANGELOG.md"), book)]
    )
    one = held(book, root, sealed.replace("1.25× faster", "1.45× faster"), "CHANGELOG.md")
    assert messages(one) == ["says toy-fused was changed after it was sealed"]
    assert not one.edits


def test_a_sealed_block_needs_its_log_and_not_its_claim(book: Book, root: Path) -> None:
    text = f"## 1.0\n\n<!-- evidence: says gone log=kernels/gone_20260901 seal=0123456789ab -->9×{CLOSE}"
    one = held(book, root, text, "CHANGELOG.md")
    assert "sealed to a log that is not there: no log 'kernels/gone_20260901'" in messages(one)[0]
    there = text.replace("kernels/gone", "kernels/toy")
    assert messages(held(book, root, there, "CHANGELOG.md")) == ["says gone was changed after it was sealed"]
    misplaced = ["says gone is sealed, and stands under no release of a changelog"]
    assert messages(held(book, root, there)) == misplaced
    assert messages(held(book, root, there.replace("1.0", "Unreleased"), "CHANGELOG.md")) == misplaced


def test_what_a_release_said_is_not_rewritten(book: Book, root: Path) -> None:
    text = f"## 1.0\n\n- <!-- evidence: says toy-fused -->It was 9× faster.{CLOSE}\n\n## 0.9\n\nIt is 9× faster.\n"
    one = held(book, root, text, "CHANGELOG.md")
    assert not one.edits
    assert not one.unsealed
    assert "released (1.0)" in messages(one)[0]
    readme = held(book, root, text)
    assert len(readme.edits) == 2


def test_a_bound_sentence_under_a_release_is_found_and_left(tmp_path: Path) -> None:
    bound = SENTENCES.replace("README.md", "CHANGELOG.md")
    project = Project.find(write_project(tmp_path, claims=CLAIMS + bound))
    text = "## Unreleased\n\nIt is 9× faster.\n\n## 0.9\n\nIt is 9× faster.\n"
    one = held(Book(project, Store(project.logs)), tmp_path, text, "CHANGELOG.md")
    assert [edit.finding.at.line for edit in one.edits] == [3]
    assert [(finding.at.line, "release 0.9" in finding.message) for _, finding in one.findings] == [(7, True)]


# Which files.


def test_markdown_outside_docs_that_git_does_not_ignore_is_held(tmp_path: Path) -> None:
    write_project(tmp_path)
    for name in ("README.md", "parts/one/README.md", "parts/CHANGES.MARKDOWN", "tests/page.md", "site/page.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text")
    (tmp_path / "link.md").symlink_to(tmp_path / "docs/index.md")
    commit(tmp_path)
    (tmp_path / "NEW.md").write_text("text")
    project, repository = Project.find(tmp_path), Repository.find(tmp_path)

    def names(*patterns: str) -> Sequence[str]:
        return [project.name(path) for path in paths(project, repository, patterns)]

    assert names() == ["NEW.md", "README.md", "parts/CHANGES.MARKDOWN", "parts/one/README.md", "tests/page.md"]
    assert names("/tests/") == ["NEW.md", "README.md", "parts/CHANGES.MARKDOWN", "parts/one/README.md"]
    git(tmp_path, "rm", "--quiet", "tests/page.md")
    assert names("/parts", "N*.md") == ["README.md"]
    assert names("*.md", "*.MARKDOWN") == ["README.md"], "no setting leaves out what a reader meets first"
    assert [path.name for path in paths(project, None)] == ["NEW.md", "README.md"]


def test_a_file_outside_the_project_or_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    project = Project.find(write_project(tmp_path / "inside"))
    outside = tmp_path / "README.md"
    outside.write_text("text")
    with pytest.raises(ProjectError, match="outside"):
        read(outside, project)
    (project.root / "README.md").write_bytes(b"caf\xe9")
    with pytest.raises(ProjectError, match="not UTF-8"):
        read(project.root / "README.md", project)


def test_a_file_that_cannot_be_read_is_a_finding_and_the_others_are_held(tmp_path: Path) -> None:
    project = Project.find(write_project(tmp_path))
    store = Store(project.logs)
    (tmp_path / "BAD.md").write_bytes(b"\xff")
    (tmp_path / "README.md").write_text(f"It is <!-- evidence: says toy-fused -->{CLOSE}")
    files = [tmp_path / "BAD.md", tmp_path / "GONE.md", tmp_path / "README.md", tmp_path / "docs/../README.md"]
    found = load(files, project, Holding(Book(project, store), store, project.docs))
    assert [one.document.name for one in found.held] == ["README.md"]
    assert [(code, finding.at.path) for code, finding in found.findings] == [("EV709", "BAD.md")]


# Laws.


@given(TEXTS)
def test_filling_twice_changes_nothing_more(book: Book, root: Path, text: str) -> None:
    once = filled(book, root, text)
    assert filled(book, root, once) == once


@given(TEXTS)
def test_nothing_outside_blocks_and_values_ever_changes(book: Book, root: Path, text: str) -> None:
    one = held(book, root, text)
    result = apply(text, one.edits)
    end = shift = 0
    for edit in sorted(one.edits, key=lambda edit: edit.start):
        assert result[end + shift : edit.start + shift] == text[end : edit.start]
        end, shift = edit.end, shift + len(edit.text) - (edit.end - edit.start)
    assert result[end + shift :] == text[end:]
    assert len(one.prose) == len(text)
