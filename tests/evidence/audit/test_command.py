from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evidence.cli import cli
from tests.evidence.audit.pairs import kernel_logs, kernel_page, moved_on_pair


def audit(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["audit", *map(str, arguments)])


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return kernel_page(tmp_path)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return kernel_logs(tmp_path)


def test_a_page_whose_numbers_are_all_bound(page: Path, logs: Path) -> None:
    result = audit(page, "--logs", logs)
    assert result.exit_code == 0
    line = 1 + next(n for n, text in enumerate(page.read_text(encoding="utf-8").split("\n")) if "| pp512 |" in text)
    assert f"{page}:{line}: bound: " in result.output
    assert result.output.rstrip().split("\n")[-1].startswith("audit: 96 bound, ")


def test_a_line_gives_verdict_file_row_field_and_change(page: Path, logs: Path) -> None:
    lines = audit(page, "--logs", logs).output.split("\n")
    at = next(number for number, line in enumerate(lines) if "Δ%" in line)
    assert "how: (old-mfma - HIP) / HIP as percent" in lines[at + 1]
    assert "quokka.plain-hip.jsonl line 1 avg_ts = " in lines[at + 2]
    assert "quokka.old-mfma.jsonl line 1 avg_ts = " in lines[at + 3]


def test_findings_alone(tmp_path: Path) -> None:
    page, log = moved_on_pair(tmp_path)
    result = audit(page, "--logs", log, "--only-findings")
    assert result.exit_code == 1
    assert ": nowhere: 61.93 [Median TTFT]" in result.output
    assert ": configuration:" not in result.output


def test_json(page: Path, logs: Path) -> None:
    document = json.loads(audit(page, "--logs", logs, "--format", "json").output)
    assert document["counts"]["bound"] == 96
    bound = next(one for one in document["numbers"] if one["verdict"] == "bound")
    assert bound["sources"][0]["field"] == "avg_ts"
    assert set(document["verdicts"]) == set(document["counts"])


def test_what_could_not_be_audited(tmp_path: Path, page: Path) -> None:
    (tmp_path / "empty").mkdir()
    nothing = audit(page, "--logs", tmp_path / "empty")
    assert nothing.exit_code == 2
    assert "no result file could be read" in nothing.output
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/run.json").write_text('{"ms": ')
    broken = audit(page, "--logs", tmp_path / "broken")
    assert broken.exit_code == 2
    assert "broken/run.json line 1: not JSON" in broken.output
    assert audit(tmp_path / "no.md", "--logs", tmp_path).exit_code == 2


def test_a_page_that_is_no_text(tmp_path: Path, logs: Path) -> None:
    (tmp_path / "bad.md").write_bytes(b"# Title\n\n5 ms \xff\n")
    result = audit(tmp_path / "bad.md", "--logs", logs)
    assert result.exit_code == 2
    assert "bad.md:3: not UTF-8 at byte 14" in result.output


def test_a_page_without_numbers_has_not_been_audited(tmp_path: Path, logs: Path) -> None:
    (tmp_path / "words.md").write_text("# Words\n")
    assert audit(tmp_path / "words.md", "--logs", logs).exit_code == 2


def test_a_file_that_cannot_be_read_is_a_finding(page: Path, logs: Path) -> None:
    (logs / "more.json").write_text('{"ms": ')
    result = audit(page, "--logs", logs)
    assert result.exit_code == 1
    assert "more.json line 1: not JSON" in result.output


def test_control_characters_are_shown_not_sent(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps([{"name": "a\x1b[31m", "gpu": "\x9b2J", "ms": 8251.37}]))
    (tmp_path / "page.md").write_text(
        "| name | ms |\n|---|---|\n| a\x1b[31m | 8251.37 \x1b[0m|\n\nIt took 8251.37 ms.\n"
    )
    result = audit(tmp_path / "page.md", "--logs", tmp_path / "run.json")
    assert "\x1b" not in result.output
    assert "\x9b" not in result.output


def test_proposed_claims_overwrite_nothing(tmp_path: Path, page: Path, logs: Path) -> None:
    target = tmp_path / "claims.yml"
    assert audit(page, "--logs", logs, "--migrate", "--output", target).exit_code == 0
    before = target.read_text()
    assert audit(page, "--logs", logs, "--migrate", "--output", target).exit_code == 2
    assert target.read_text() == before
