"""Tests of the command line, through click's runner and once as a real process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evidence import cli
from evidence.schema.json_schema import FILE_NAME, schema_text
from evidence.store import Store
from tests import factories
from tests.evidence.checker.cases import edited
from tests.evidence.checker.sites import LOG, Site, repository
from tests.evidence.importers.test_session_stream import stream, whole

ROOT = Path(__file__).parents[2]
DIRTY = {"/sources/0/tree_sha256": "f" * 64}
WARM = {"/methods/0/timer_overhead_s": None}


@pytest.fixture(scope="module")
def shared_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repository(tmp_path_factory.mktemp("repository"))


@pytest.fixture
def site(shared_repository: Path) -> Site:
    site = Site(shared_repository)
    site.add(site.record())
    return site


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli.cli, list(arguments))


def check(site: Site, *arguments: str) -> Result:
    return invoke("check", "--root", str(site.root), *arguments)


def test_clean_exits_with_0(site: Site) -> None:
    result = check(site)
    assert (result.exit_code, result.output) == (0, "evidence: 0 errors, 0 warnings in 1 log, 1 page\n")


def test_findings_exit_with_1(site: Site) -> None:
    site.add(edited(site.record(), DIRTY))
    result = check(site)
    assert result.exit_code == 1
    assert "EV105 dirty-source" in result.output
    assert result.output.endswith("evidence: 1 error, 0 warnings in 1 log, 1 page\n")


def test_warnings_fail_only_when_strict(site: Site) -> None:
    site.add(edited(site.record(), WARM))
    assert check(site).exit_code == 0
    assert check(site, "--strict").exit_code == 1


def test_nothing_to_check_exits_with_2(shared_repository: Path) -> None:
    empty = Site(shared_repository)
    empty.write("docs/index.md", "# Empty\n")
    result = check(empty)
    assert result.exit_code == 2
    assert "EV905" in result.output


def test_no_project_exits_with_2(tmp_path: Path) -> None:
    result = invoke("check", "--root", str(tmp_path))
    assert result.exit_code == 2
    assert "mkdocs.yml" in result.output


def test_a_page_that_is_no_text_exits_with_2(site: Site) -> None:
    (site.root / "docs" / "broken.md").write_bytes(b"\xff\xfe\x00")
    assert check(site).exit_code == 2


def test_settings_that_cannot_be_read_exit_with_2(site: Site) -> None:
    site.write("evidence.toml", "ignores = []\n")
    result = check(site)
    assert result.exit_code == 2
    assert "did you mean 'ignore'?" in result.output


def test_select_and_ignore(site: Site) -> None:
    site.add(edited(site.record(), DIRTY | WARM))
    assert check(site, "--select", "EV2", "--strict").exit_code == 1
    assert check(site, "--select", "EV3,EV5", "--strict").exit_code == 0
    assert check(site, "--ignore", "dirty-source", "--ignore", "EV208", "--strict").exit_code == 0


@pytest.mark.parametrize(
    "arguments", [["--select", "EV999"], ["--ignore", "EV302"], ["--ignore", "EV3"], ["--format", "x"]]
)
def test_wrong_usage_exits_with_2(site: Site, arguments: list[str]) -> None:
    assert check(site, *arguments).exit_code == 2


@pytest.mark.parametrize("form", ["text", "json", "github", "sarif"])
def test_output_is_written_and_counted(site: Site, form: str, tmp_path: Path) -> None:
    site.add(edited(site.record(), DIRTY))
    target = tmp_path / "report"
    result = check(site, "--format", form, "--output", str(target))
    assert (result.exit_code, result.output) == (1, "evidence: 1 error, 0 warnings in 1 log, 1 page\n")
    assert "EV105" in target.read_text(encoding="utf-8")


def test_json_on_standard_output(site: Site) -> None:
    assert json.loads(check(site, "--format", "json").output)["errors"] == 0


def test_base_is_passed_on(site: Site) -> None:
    result = check(site, "--base", "origin/nowhere")
    assert result.exit_code == 1
    assert "EV006" in result.output


def test_explain_by_code_and_name() -> None:
    by_code, by_name = invoke("explain", "EV105"), invoke("explain", "dirty-source")
    assert by_code.output == by_name.output
    assert by_code.output.startswith("# EV105 dirty-source\n")
    assert "## How to fix it" in by_code.output
    unknown = invoke("explain", "dirty-sauce")
    assert unknown.exit_code == 2
    assert "did you mean 'dirty-source'?" in unknown.output


def test_rules_are_listed() -> None:
    lines = invoke("rules").output.splitlines()
    assert lines[0].startswith("EV001 unreadable-record")
    assert all(line.startswith("EV") for line in lines)


def test_schema_is_printed_and_written(site: Site) -> None:
    assert invoke("schema").output == schema_text()
    assert "claims" in invoke("schema", "--claims").output
    assert invoke("schema", "--write", "--root", str(site.root)).exit_code == 0
    assert (site.root / "docs" / "schemas" / FILE_NAME).read_text(encoding="utf-8") == schema_text()


def test_show_prints_what_a_log_holds(site: Site) -> None:
    output = invoke("show", LOG, "--root", str(site.root)).output
    assert output.startswith(LOG)
    assert "n1024 / fused: time 0.0008" in output
    assert "gate numeric: passed" in output
    assert invoke("show", "kernels/toys_20260901", "--root", str(site.root)).exit_code == 2


@pytest.mark.parametrize("record", [factories.outcomes_record, factories.imported_record, factories.engine_record])
def test_show_prints_every_kind_of_cell(site: Site, record: object) -> None:
    made = record()  # type: ignore[operator]
    site.add(made)
    result = invoke("show", made.log, "--root", str(site.root))
    assert result.exit_code == 0
    assert all(f"{cell.workload} / {cell.arm}: " in result.output for cell in made.cells)


def test_import_says_why_no_importer_reads_a_file(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text("{}", encoding="utf-8")
    result = invoke("import", str(file), "--logs", str(tmp_path / "logs"))
    assert result.exit_code == 2
    assert "no importer reads it" in result.output
    result = invoke("import", str(file), "--logs", str(tmp_path / "logs"), "--format", "nothing")
    assert result.exit_code == 2
    assert "no importer 'nothing'" in result.output
    assert not list(Store(tmp_path / "logs"))


def test_an_error_that_nothing_foresaw_exits_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setattr(cli.cli, "main", fail)
    with pytest.raises(SystemExit) as caught:
        cli.main(["check"])
    assert caught.value.code == 2
    assert "RuntimeError: out of luck" in capsys.readouterr().err


@pytest.mark.parametrize("module", ["evidence.check", "evidence"])
def test_as_a_process(site: Site, module: str) -> None:
    arguments = [] if module == "evidence.check" else ["check"]
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=site.root,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "evidence: 0 errors, 0 warnings in 1 log, 1 page\n"), done.stderr
    assert done.stderr == ""


def test_the_command_line_is_quick_to_start() -> None:
    """Nothing heavy is imported before a command needs it."""
    code = "import sys, evidence.cli; print(*sorted(sys.modules))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    heavy = {"pydantic", "rich", "scipy", "jinja2", "ruamel", "mkdocs", "evidence.schema", "jsonschema"}
    assert not heavy & set(done.stdout.split())


def test_import_saves_what_the_only_importer_reads(tmp_path: Path) -> None:
    file, logs = tmp_path / "raw.jsonl", tmp_path / "logs"
    file.write_bytes(stream(whole()))
    result = invoke("import", str(file), "--logs", str(logs), "--log", "kernels/read_20260901")
    assert (result.exit_code, result.output) == (0, "kernels/read_20260901\n")
    again = invoke("import", str(file), "--logs", str(logs), "--format", "session-stream")
    assert again.exit_code == 0
    assert len(Store(logs).entries) == 2
