"""Builds in this process, for what a whole site in its own process would be too slow to try."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort, PluginError
from mkdocs.structure.files import get_files

from evidence.plugin import EvidencePlugin
from tests.evidence.checker.sites import KERNEL
from tests.projects import CLAIMS, MKDOCS, write_project

# mkdocs-macros matches paths by a pattern language that pathspec has renamed.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

PLAIN = MKDOCS.replace("theme: {name: material, font: false}", "theme: {name: mkdocs}").replace("strict: true\n", "")


class Built:
    def __init__(self, root: Path) -> None:
        self.config = load_config(str(root / "mkdocs.yml"))
        self.site = root / "site"

    def run(self) -> None:
        build(self.config)

    @property
    def plugin(self) -> EvidencePlugin:
        found = self.config.plugins["evidence"]
        assert isinstance(found, EvidencePlugin)
        return found


def refused(root: Path, caplog: pytest.LogCaptureFixture) -> str:
    with caplog.at_level(logging.ERROR, logger="mkdocs"), pytest.raises(Abort):
        Built(root).run()
    assert list((root / "site").rglob("*.html")) == []
    return "\n".join(record.message for record in caplog.records if record.levelno >= logging.ERROR)


def test_a_sound_site_is_built_twice_alike(tmp_path: Path) -> None:
    built = Built(write_project(tmp_path, mkdocs=PLAIN))
    built.run()
    first = (built.site / "features/index.html").read_text()
    Built(tmp_path).run()
    assert (built.site / "features/index.html").read_text() == first
    assert "ev-claim" in first


def test_a_configuration_may_be_named_by_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_project(tmp_path, mkdocs=PLAIN))
    build(load_config("mkdocs.yml"))
    assert "ev-claim" in Path("site/features/index.html").read_text()


def test_a_broken_call_in_a_heading_is_reported_once_at_its_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    page = '---\nauthor: a\n---\n\n# Cost {{ ev.value("toy-fused", "nothing") }}\n\n{{ ev.claim("toy-fused") }}\n'
    said = refused(write_project(tmp_path, {"features.md": page}, mkdocs=PLAIN), caplog)
    assert said.count("EV702") == 1
    assert "docs/features.md:5: EV702" in said


def test_warnings_are_said_and_do_not_stop_a_lenient_build(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    root = write_project(tmp_path, mkdocs=PLAIN)
    (root / KERNEL).write_text("x = 2\n")
    with caplog.at_level(logging.WARNING, logger="mkdocs"):
        Built(root).run()
    assert [record.message for record in caplog.records if "EV108 stale-source" in record.message]
    assert (root / "site/features/index.html").is_file()
    (root / "mkdocs.yml").write_text(f"strict: true\n{PLAIN}")
    caplog.clear()
    assert "EV108" in refused(root, caplog)


def test_a_page_where_generated_ones_go_is_a_problem(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    said = refused(write_project(tmp_path, {"logs/kernels/toy_20260901.md": "# Forged\n"}, mkdocs=PLAIN), caplog)
    assert "docs/logs/kernels/toy_20260901.md:1: EV704" in said


def test_files_of_logs_are_published_raw_or_not_at_all(tmp_path: Path) -> None:
    root = write_project(tmp_path, mkdocs=PLAIN)
    built = Built(root)
    folder = root / "docs/benchmark_logs/kernels/toy_20260901"
    (folder / "notes.md").write_text("# {{ 7 * 7 }}\n")
    (folder / "page.html").write_text("<script>alert(1)</script>")
    config = built.config.plugins.on_config(built.config)
    found = built.plugin.on_files(get_files(config), config)
    files = {file.src_uri.rpartition("/")[2]: file for file in found if "toy_20260901/" in file.src_uri}
    assert not files["notes.md"].is_documentation_page()
    assert files["notes.md"].dest_uri.endswith("toy_20260901/notes.md")
    assert files["page.html"].inclusion.is_excluded()
    assert files["record.json"].inclusion.is_included()


def test_a_page_that_is_not_utf_8_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    root = write_project(tmp_path, mkdocs=PLAIN)
    (root / "docs/features.md").write_bytes(b"# \xff\n")
    assert "UTF-8" in refused(root, caplog)


def test_claims_and_logs_are_watched(tmp_path: Path) -> None:
    class Server:
        watched: list[str] = []  # noqa: RUF012

        def watch(self, path: str) -> None:
            self.watched.append(path)

    built = Built(write_project(tmp_path, mkdocs=PLAIN))
    config = built.config.plugins.on_config(built.config)
    server = built.plugin.on_serve(Server(), config, build)  # type: ignore[arg-type]
    assert [Path(path).name for path in server.watched] == ["claims", "benchmark_logs"]


def test_a_token_around_the_content_stops_the_build(tmp_path: Path) -> None:
    built = Built(write_project(tmp_path, mkdocs=PLAIN))
    config = built.config.plugins.on_config(built.config)
    session = built.plugin._session
    assert session is not None

    class Page:
        class file:
            src_uri = "page.md"

    with pytest.raises(PluginError, match=r"page\.md"):
        built.plugin.on_post_page(f"<title>{session.build.mint.token()[1]}</title>", Page, config)  # type: ignore[arg-type]


def test_a_claim_whose_record_does_not_load_is_reported_where_it_lies(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    root = write_project(tmp_path, mkdocs=PLAIN)
    record = root / "docs/benchmark_logs/kernels/toy_20260901/record.json"
    record.write_text(record.read_text().replace('"axes"', '"axis"'))
    said = refused(root, caplog)
    assert "record.json:" in said
    assert "EV001" in said
    assert "docs/features.md" not in said, "the page is not at fault"


def test_the_build_fails_for_an_item_that_nothing_else_reports(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    claims = CLAIMS.replace("expect: better", "expect: fine")
    said = refused(write_project(tmp_path, claims=claims, mkdocs=PLAIN), caplog)
    assert said.count("EV620") == 1
    assert "EV601" not in said
