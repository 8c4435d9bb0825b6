"""`evidence sync` on real files: what it writes, what it leaves, what it says, and how it exits."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence import cli
from tests.projects import CLAIMS, write_project

CLOSE = "<!-- /evidence -->"
SAYS = f"<!-- evidence: says toy-fused -->{CLOSE}"
SENTENCE = 'sentences:\n  - {page: README.md, pattern: "fuses {ratio} faster", claim: toy-fused}\n'
TEXTS = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="<>`~"), max_size=60)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_project(tmp_path)
    (tmp_path / "README.md").write_bytes(f"\ufeff# Toy\r\n\r\nIt is {SAYS}\r\nend".encode())
    return tmp_path


def sync(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli.cli, ["sync", "--root", str(root), *arguments])


def last(result: Result) -> str:
    return result.stdout.splitlines()[-1]


def test_it_fills_and_says_where(root: Path) -> None:
    result = sync(root)
    assert result.exit_code == 0, result.output
    assert "README.md:3: says toy-fused does not say what its log gives: it is empty" in result.stdout
    assert last(result) == "evidence sync: 1 file held, 1 place filled in 1 file, 0 findings"
    data = (root / "README.md").read_bytes()
    assert data.startswith(
        b"\xef\xbb\xbf# Toy\r\n\r\nIt is <!-- evidence: says toy-fused -->On Synthetic GPU A, fusing"
    )
    assert data.endswith(b"<!-- /evidence -->\r\nend")


def test_a_second_run_changes_nothing(root: Path) -> None:
    sync(root)
    before = (root / "README.md").read_bytes()
    when = (root / "README.md").stat().st_mtime_ns
    result = sync(root)
    assert (result.exit_code, last(result)) == (0, "evidence sync: 1 file held, 0 places filled in 0 files, 0 findings")
    assert ((root / "README.md").read_bytes(), (root / "README.md").stat().st_mtime_ns) == (before, when)


def test_check_writes_nothing_and_fails(root: Path) -> None:
    before = (root / "README.md").read_bytes()
    result = sync(root, "--check")
    assert result.exit_code == 1
    assert last(result) == "evidence sync: 1 file held, 1 place to fill in 1 file, 0 findings"
    assert (root / "README.md").read_bytes() == before
    sync(root)
    assert sync(root, "--check").exit_code == 0


def test_diff_writes_nothing_and_shows_the_lines(root: Path) -> None:
    before = (root / "README.md").read_bytes()
    result = sync(root, "--diff")
    assert result.exit_code == 1
    assert "--- a/README.md\n+++ b/README.md\n" in result.stdout
    assert f"-It is {SAYS}\n+It is <!-- evidence: says toy-fused -->On Synthetic GPU A" in result.stdout
    assert (root / "README.md").read_bytes() == before


def test_only_the_pages_named_are_filled(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "OTHER.md").write_text(SAYS)
    monkeypatch.chdir(root)
    assert sync(root, "OTHER.md").exit_code == 0
    assert "1.25×" in (root / "OTHER.md").read_text()
    assert "1.25×" not in (root / "README.md").read_text()
    result = sync(root, "OTHR.md")
    assert result.exit_code == 2
    assert "did you mean 'OTHER.md'?" in result.stderr


def test_the_mode_of_a_file_stays_and_nothing_is_left_behind(root: Path) -> None:
    (root / "README.md").chmod(0o640)
    sync(root)
    assert stat.S_IMODE((root / "README.md").stat().st_mode) == 0o640
    assert [path.name for path in root.iterdir() if "README" in path.name] == ["README.md"]


def test_mistakes_are_told_and_the_rest_is_filled(root: Path) -> None:
    (root / "README.md").write_text(
        f"{SAYS}\n\nOpen <!-- evidence: clam x -->y{CLOSE}\n\n<!-- evidence: table toys -->\n{CLOSE}\n"
    )
    result = sync(root)
    assert result.exit_code == 1
    assert "1.25×" in (root / "README.md").read_text()
    assert "README.md:3: EV709: 'clam' is no kind of block\n  fix: did you mean 'claim'?" in result.stderr
    assert "README.md:5: EV702: no table 'toys'\n  fix: did you mean 'toy'?" in result.stderr
    assert last(result).endswith("1 place filled in 1 file, 2 findings")


def test_what_cannot_be_shown_is_left_as_it_is(root: Path) -> None:
    claims = root / "docs/claims/features.yml"
    claims.write_text(claims.read_text().replace("expect: better", "expect: worse"))
    before = (root / "README.md").read_bytes()
    result = sync(root)
    assert result.exit_code == 1
    assert "README.md:3: EV709: left as it is: toy-fused: expect is worse" in result.stderr
    assert (root / "README.md").read_bytes() == before


def test_a_release_is_sealed_and_a_readme_is_not(root: Path) -> None:
    (root / "CHANGELOG.md").write_text(f"# Changes\n\n## Unreleased\n\n- {SAYS}\n\n## 1.0.0\n\n- {SAYS}\n")
    unsealed = sync(root)
    assert unsealed.exit_code == 1
    assert "stands under the release 1.0.0 and is not sealed\n  fix: run `evidence sync --seal`" in unsealed.stderr
    assert "## 1.0.0\n\n- <!-- evidence: says toy-fused --><!-- /evidence -->\n" in (root / "CHANGELOG.md").read_text()
    assert sync(root, "--seal", "--check").exit_code == 1
    assert sync(root, "--seal").exit_code == 0
    text = (root / "CHANGELOG.md").read_text()
    assert text.count("seal=") == 1
    assert "## 1.0.0\n\n- <!-- evidence: says toy-fused log=kernels/toy_20260901 seal=" in text
    assert "seal=" not in (root / "README.md").read_text()
    assert sync(root, "--seal", "--check").exit_code == 0


def test_a_project_without_any_has_nothing_to_fill(tmp_path: Path) -> None:
    result = sync(write_project(tmp_path))
    assert (result.exit_code, last(result)) == (
        0,
        "evidence sync: 0 files held, 0 places filled in 0 files, 0 findings",
    )


def test_a_file_that_is_not_text_is_a_finding(root: Path) -> None:
    (root / "OTHER.md").write_bytes(b"caf\xe9")
    result = sync(root)
    assert result.exit_code == 1
    assert "OTHER.md:1: EV709: OTHER.md is not UTF-8" in result.stderr
    assert (root / "OTHER.md").read_bytes() == b"caf\xe9"


def test_without_a_project_it_exits_with_2(tmp_path: Path) -> None:
    assert sync(tmp_path).exit_code == 2


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_project(tmp_path_factory.mktemp("shared"), claims=CLAIMS + SENTENCE)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(TEXTS, min_size=3, max_size=3), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_every_byte_outside_stays(shared: Path, texts: list[str], newline: str, has_mark: bool) -> None:
    """Whatever stands around a block and a bound sentence: other alphabets, lone line ends, no last newline."""
    mark = b"\xef\xbb\xbf" if has_mark else b""
    before, between, after = (text.encode() for text in texts)
    head = mark + before + f"{newline}{newline}x {SAYS[: -len(CLOSE)]}".encode()
    middle = CLOSE.encode() + f"{newline}{newline}".encode() + between + f"{newline}{newline}It fuses ".encode()
    tail = f" faster.{newline}{newline}".encode() + after
    (shared / "README.md").write_bytes(head + b"stale" + middle + "9.9×".encode() + tail)
    sync(shared)
    data = (shared / "README.md").read_bytes()
    assert data.startswith(head)
    assert data.endswith(tail)
    assert middle in data
    sync(shared)
    assert (shared / "README.md").read_bytes() == data
