from __future__ import annotations

from pathlib import Path

import pytest

from evidence.checker import catalogue
from evidence.checker.catalogue import find
from evidence.checker.corpus import Corpus
from evidence.checker.runs import run
from evidence.diagnostics import Severity
from evidence.project import Project
from tests.factories import arm, loaded, record, timed
from tests.projects import CLAIMS, MKDOCS, write_project

RULES = ["EV701", "EV712", "EV713", "EV714", "EV715"]
SHOWN = '{{ ev.claim("toy-fused") }}\n\n'
DEVICE = "Synthetic CPU"
TABLES = """\
  back:
    title: The toy op, the other way round
    series: kernels/toy
    rows: [N]
    across: arm
    columns: [time, {ratio: time}]
    baseline: fused
  barred:
    title: Not to be cited
    series: kernels/barred
    rows: [N]
    across: arm
    columns: [time, {ratio: time}]
    baseline: eager
    status: {do_not_cite: the session was cut short}
  barred-back:
    title: Not to be cited, the other way round
    series: kernels/barred
    rows: [N]
    across: arm
    columns: [time, {ratio: time}]
    baseline: fused
    status: {do_not_cite: the session was cut short}
  again:
    title: The toy op in another log
    series: kernels/again
    rows: [N]
    columns: [time]
  same:
    title: The toy op in a log that agrees
    series: kernels/same
    rows: [N]
    columns: [time]
  old:
    title: The toy op as it was
    series: kernels/again_20260902
    rows: [N]
    columns: [time]
    status: {historical: before the rewrite}
  other:
    title: Another implementation under the same name
    series: kernels/other
    rows: [N]
    columns: [time]
"""
LOSES = '## One\n\n{{ ev.table("back") }}\n\n'


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "docs/claims").mkdir(parents=True)
    (folder / "docs/claims/page.yml").write_text(CLAIMS + TABLES)
    (folder / "mkdocs.yml").write_text(MKDOCS)
    logs = folder / "docs/benchmark_logs"
    loaded(record(), logs)
    loaded(record("kernels/barred_20260902"), logs)
    fused = {"arms": (arm("fused"),)}
    loaded(record("kernels/again_20260902", cells=(timed("fused", median_s=2e-3),), **fused), logs)
    loaded(record("kernels/same_20260902", cells=(timed("fused", median_s=0.81e-3),), **fused), logs)
    renamed = (arm("fused", implementation="toy.ops:rewritten"),)
    loaded(record("kernels/other_20260902", cells=(timed("fused", median_s=2e-3),), arms=renamed), logs)
    return folder


def findings(root: Path, code: str, page: str, **files: str) -> list[tuple[str, int, Severity | None]]:
    """Return what a rule finds on a page and in documents beside mkdocs.yml, which are removed again."""
    (root / "docs/page.md").write_text(page)
    for name, text in files.items():
        (root / f"{name}.md").write_text(text)
    try:
        corpus = Corpus(Project.find(root))
        return [(one.at.path, one.at.line, one.severity) for one in find(code).check(corpus)]
    finally:
        for name in files:
            (root / f"{name}.md").unlink()


FAILING = [
    ("EV701", "It is 1.8× faster.", 1),
    ("EV701", "---\ntitle: x\n---\n\n\nIt is 1.8× faster.", 6),
    ("EV701", "| arm | time, ms |\n|---|---|\n| a | 1.5 |\n", 1),
    ("EV701", "```text\n550 tok/s\n```\n", 1),
    ("EV701", "text\n\n{{ ev.external('2×', source='its page') }}", 3),
    ("EV701", "{{ ev.spec('4.8 TB/s', device='TODO') }}", 1),
    ("EV701", "Within 1.5 points of the dense model.\n\n{{ ev.table('toy') }}", 1),
    ("EV701", SHOWN + "618 -> 6162 tok/s (5.1x)", 3),
    ("EV712", '{{ ev.table("toy") }}\n\n{{ ev.table("again") }}', 3),
    ("EV712", SHOWN + '{{ ev.table("again") }}', 3),
    ("EV713", LOSES, 3),
    ("EV713", f"{LOSES}## Two\n\nHere it loses.\n", 3),
    ("EV713", '{{ ev.table("back") }}\n', 1),
    ("EV714", f"{SHOWN}All of it ran on NVIDIA H200.", 3),
    ("EV714", f"{SHOWN}Measured with torch 2.13.0.", 3),
    ("EV714", f"{SHOWN}Measured at commit 0123456789ab.", 3),
    ("EV714", f"{SHOWN}It was measured on 2026-05-12.", 3),
    ("EV714", f"{SHOWN}The driver was 512.33.01.", 3),
    ("EV714", f"# Page\n\n## On NVIDIA H100\n\n{SHOWN}", 3),
    ("EV715", "Ours is faster.", 1),
    ("EV715", f"## One\n\n{SHOWN}## Two\n\nIt beats the library.", 7),
    ("EV715", '## One\n\n{{ ev.table("barred") }}\n\nSo batching pays off.', 5),
    ("EV715", '## One\n\n{{ ev.table("barred") }}\n\nIt is faster with the flag.', 5),
]
PASSING = [
    ("EV701", "Shape 64 × 4,096 on 8× H200 with torch 2.13.0. `1.8×` in code.\n"),
    ("EV701", 'A vendor says {{ ev.external("2.0×", source="its datasheet of 2024") }}.'),
    ("EV701", "It has {{ ev.spec('4.8 TB/s', device='NVIDIA H200') }}; we want {{ ev.target('3×') }}."),
    ("EV701", SHOWN + '{{ ev.value("toy-fused", "ratio") }} sooner.'),
    ("EV712", '{{ ev.table("toy") }}\n\n{{ ev.table("same") }}'),
    ("EV712", '{{ ev.table("toy") }}\n\n{{ ev.table("old") }}'),
    ("EV712", '{{ ev.table("toy") }}\n\n{{ ev.table("other") }}'),
    ("EV712", '{{ ev.table("toy") }}\n\n{{ ev.table("back") }}\n\n' + SHOWN),
    ("EV713", f"{LOSES}### Where it loses\n\nOn all of it.\n"),
    ("EV713", f"{LOSES}The other way round it is slower.\n"),
    ("EV713", '{{ ev.table("toy") }}\n'),
    ("EV713", '{{ ev.table("barred-back") }}\n'),
    ("EV714", "All of it ran on NVIDIA H200 with torch 2.13.0, says a page without claims."),
    ("EV714", f"{SHOWN}It needs Python 3.11 or newer. `torch 2.13.0` in code."),
    ("EV714", "# Page\n\n## On NVIDIA H100\n\nNothing yet."),
    ("EV715", f"{SHOWN}Ours is faster."),
    ("EV715", f"## One\n\nOurs is faster.\n\n### Part\n\n{SHOWN}"),
    ("EV715", "Is it faster? If it is, say so. Lower is better. Write as fast as possible."),
    ("EV715", '## One\n\n{{ ev.table("barred") }}\n\nNothing here may be concluded.'),
]


@pytest.mark.parametrize(("code", "page", "line"), FAILING)
def test_a_fault_is_found_at_its_line(root: Path, code: str, page: str, line: int) -> None:
    assert [one[:2] for one in findings(root, code, page)] == [("docs/page.md", line)]


@pytest.mark.parametrize(("code", "page"), PASSING)
def test_a_sound_page_has_no_finding(root: Path, code: str, page: str) -> None:
    assert findings(root, code, page) == []


@pytest.mark.parametrize("code", RULES)
def test_every_rule_has_a_failing_and_a_passing_page(code: str) -> None:
    assert code in {case[0] for case in FAILING}
    assert code in {case[0] for case in PASSING}


def test_a_bare_number_weighs_more_beside_claims(root: Path) -> None:
    assert findings(root, "EV701", "It is 1.8× faster.") == [("docs/page.md", 1, Severity.WARNING)]
    assert findings(root, "EV701", f"{SHOWN}It is 1.8× faster.") == [("docs/page.md", 3, Severity.ERROR)]
    (root / "docs/releases.md").write_text("It is 1.8× faster.")
    try:
        assert findings(root, "EV701", "text") == [("docs/releases.md", 1, Severity.ERROR)]
    finally:
        (root / "docs/releases.md").unlink()


def test_a_conclusion_from_what_may_not_be_cited_is_an_error(root: Path) -> None:
    page = '## One\n\n{{ ev.table("barred") }}\n\nIt is faster.'
    assert findings(root, "EV715", page) == [("docs/page.md", 5, Severity.ERROR)]
    assert findings(root, "EV715", "It is faster.") == [("docs/page.md", 1, None)]


def test_documents_are_read_but_for_what_sync_fills(root: Path) -> None:
    text = "# Title\n\nIt is 1.8× faster.\n\n<!-- evidence: claim toy-fused -->\n9.9× faster\n<!-- /evidence -->\n"
    error = Severity.ERROR
    assert findings(root, "EV701", "text", README=text) == [("README.md", 3, error)]
    assert findings(root, "EV701", "text", CHANGELOG=text) == [("CHANGELOG.md", 3, error)]
    assert findings(root, "EV701", "text", RELEASE_NOTES=text) == [("RELEASE_NOTES.md", 3, error)]
    assert findings(root, "EV701", "text", RESULTS=text) == [("RESULTS.md", 3, error)]
    assert findings(root, "EV701", "text", NOTES="It is 1.8× faster.") == []


def test_a_waiver_does_not_open_a_block(root: Path) -> None:
    waiver = '<!-- evidence: allow EV701 because="x" owner="@y" until=2999-01-01 -->'
    text = f"{waiver}\n1.8× faster\n\n<!-- evidence: claim toy-fused -->\n9.9× faster\n<!-- /evidence -->\n"
    assert findings(root, "EV701", "text", README=text) == [("README.md", 2, Severity.ERROR)]


def test_a_comparison_with_a_number_is_one_finding(root: Path) -> None:
    assert findings(root, "EV715", "It is 1.8× faster.") == []


def test_a_comparison_in_a_readme_needs_a_block_in_its_section(root: Path) -> None:
    block = "<!-- evidence: claim toy-fused -->\n9.9× faster\n<!-- /evidence -->\n"
    text = f"# Title\n\n## One\n\nIt is faster.\n\n{block}\n## Two\n\nIt is faster.\n"
    assert findings(root, "EV715", "text", README=text) == [("README.md", 13, None)]


WAIVER = '<!-- evidence: allow {} because="from a keynote" owner="@docs" until=2999-12-31 -->\n'
BLOCKS = {
    "paragraph": "Somebody said\nit is 1.8× faster.\n",
    "list": "- one\n- it is 1.8× faster\n\n    and 2.0× there\n\n- 1.9× here\n",
    "table": "| arm | time, ms |\n|---|---|\n| a | 1.5 |\n",
    "output": "```text\n550 tok/s\n\n560 tok/s\n```\n",
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_project(tmp_path_factory.mktemp("sound"))


def report(root: Path, page: str, readme: str = "") -> tuple[list[tuple[str, str, int]], int]:
    """Run every rule; return what is found of EV7 and EV9, and how many findings are waived."""
    (root / "docs/index.md").write_text(f"# Home\n\n{page}")
    (root / "README.md").write_text(readme)
    made = run(catalogue.RULES, Corpus(Project.find(root)))
    found = [(one.code, one.at.path, one.at.line) for one in made.diagnostics if one.code.startswith(("EV7", "EV9"))]
    return found, len(made.ignored)


@pytest.mark.parametrize("kind", BLOCKS)
def test_a_waiver_covers_the_block_below_and_no_more(sound: Path, kind: str) -> None:
    block = WAIVER.format("EV701") + BLOCKS[kind]
    found, waived = report(sound, f"{block}\nIt is 9.9× faster.\n")
    assert found == [("EV701", "docs/index.md", 5 + BLOCKS[kind].count("\n"))]
    assert waived == (3 if kind == "list" else 1)
    found, waived = report(sound, "", readme=f"# A\n\n{block}")
    assert (found, waived) == ([], 3 if kind == "list" else 1)


def test_a_waiver_that_lacks_a_word_or_covers_nothing_is_found(sound: Path) -> None:
    bad = '<!-- evidence: allow EV701 owner="@docs" until=2999-12-31 -->\nText.\n'
    assert report(sound, bad)[0] == [("EV903", "docs/index.md", 3)]
    assert report(sound, "", bad)[0] == [("EV903", "README.md", 1)]
    idle = WAIVER.format("bare-number") + "Text.\n"
    assert report(sound, idle)[0] == [("EV902", "docs/index.md", 3)]
    assert report(sound, "", idle)[0] == [("EV902", "README.md", 1)]
    past = idle.replace("2999-12-31", "2020-01-01").replace("Text", "1.8× faster")
    assert sorted(code for code, *_ in report(sound, "", past)[0]) == ["EV701", "EV903"]


def test_what_is_shown_beside_the_text_is_read(root: Path) -> None:
    error = Severity.ERROR
    assert findings(root, "EV701", "---\ntitle: x\ndescription: 1.8x faster kernels\n---\n\ntext") == [
        ("docs/page.md", 3, error)
    ]
    assert findings(root, "EV701", f"{SHOWN}On long prompts it is `1.8x faster`.") == [("docs/page.md", 3, error)]
    assert findings(root, "EV701", f"{SHOWN}The flag is `--rate 5`, the field `12.5 ms`.") == []
    (root / "docs/results.html").write_text("<p>\nIt is 1.8x faster.</p>\n")
    (root / "mkdocs.yml").write_text(f"{MKDOCS}# 9.9x faster\nsite_description: kernels that are 1.8x faster\n")
    try:
        assert findings(root, "EV701", "text") == [
            ("mkdocs.yml", MKDOCS.count("\n") + 2, error),
            ("docs/results.html", 2, error),
        ]
    finally:
        (root / "docs/results.html").unlink()
        (root / "mkdocs.yml").write_text(MKDOCS)
