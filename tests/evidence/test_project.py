from __future__ import annotations

from pathlib import Path

import pytest

from evidence.errors import ProjectError
from evidence.project import MacroSettings, Project


def make(root: Path, text: str, *pages: str) -> Project:
    (root / "docs").mkdir(exist_ok=True)
    for page in pages:
        path = root / "docs" / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text\n")
    (root / "mkdocs.yml").write_text(text)
    return Project.find(root)


def macros(root: Path, plugins: str) -> MacroSettings:
    return make(root, f"site_name: x\nplugins:\n{plugins}").macros


def test_the_nearest_configuration_is_found(tmp_path: Path) -> None:
    project = make(tmp_path, "site_name: x\n", "guides/page.md")
    assert Project.find(tmp_path / "docs/guides") == project
    assert project.logs == tmp_path / "docs/benchmark_logs"
    assert project.claims == tmp_path / "docs/claims"
    assert project.uri(tmp_path / "docs/guides/page.md") == "guides/page.md"
    assert project.name(tmp_path / "docs/guides/page.md") == "docs/guides/page.md"


def test_no_configuration_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"no mkdocs\.yml") as caught:
        Project.find(tmp_path)
    assert caught.value.fix


def test_tags_are_neither_run_nor_refused(tmp_path: Path) -> None:
    text = (
        "site_name: !ENV [NAME, x]\n"
        "markdown_extensions:\n  - pymdownx.emoji:\n      emoji_index: !!python/name:os.abort\n"
        "plugins:\n  - macros: {modules: [evidence.macros], on_undefined: strict}\n  - evidence\n"
    )
    assert make(tmp_path, text).macros.plugin_enabled


def test_a_value_that_only_the_build_knows_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"mkdocs\.yml:4: render_by_default has the tag !ENV"):
        macros(tmp_path, "  - macros:\n      render_by_default: !ENV [X, true]\n  - evidence\n")


@pytest.mark.parametrize(
    "text", ["- a list\n", "a: [", "docs_dir: nowhere\n", "docs_dir: 3\n", "INHERIT: none.yml\n", "? [a]\n: b\n"]
)
def test_a_file_that_is_no_configuration_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(ProjectError):
        make(tmp_path, text)


def test_of_two_equal_keys_the_last_one_holds_as_in_the_build(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    assert make(tmp_path, "docs_dir: first\ndocs_dir: second\n").docs == (tmp_path / "second").resolve()


def test_a_tag_runs_nothing(tmp_path: Path) -> None:
    assert make(tmp_path, f"extra: !!python/object/apply:os.mkdir [{tmp_path / 'made'}]\n").macros is not None
    assert not (tmp_path / "made").exists()


def test_a_configuration_that_inherits_itself_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "base.yml").write_text("INHERIT: mkdocs.yml\n")
    with pytest.raises(ProjectError, match="INHERIT"):
        make(tmp_path, "INHERIT: base.yml\n")


def test_inherited_settings_count(tmp_path: Path) -> None:
    (tmp_path / "base.yml").write_text("plugins:\n  - macros: {modules: [evidence.macros]}\n  - evidence\n")
    assert make(tmp_path, "INHERIT: base.yml\nsite_name: x\n").macros.plugin_enabled


@pytest.mark.parametrize(
    ("plugins", "enabled", "plugin_enabled"),
    [
        ("  - search\n", False, False),
        ("  - macros: {modules: [evidence.macros]}\n  - evidence\n", True, True),
        ("  - evidence\n  - macros: {modules: [evidence.macros]}\n", True, False),
        ("  - macros\n  - evidence\n", False, True),
        ("  - macros: {modules: [evidence.macros], enabled: false}\n  - evidence\n", False, False),
        ("  - macros: {modules: [evidence.macros]}\n  - evidence: {enabled: no}\n", True, False),
        ("    macros: {modules: [evidence.macros]}\n    evidence: {}\n", True, True),
    ],
)
def test_plugins_count_if_on_and_in_order(tmp_path: Path, plugins: str, enabled: bool, plugin_enabled: bool) -> None:
    found = macros(tmp_path, plugins)
    assert (found.enabled, found.plugin_enabled) == (enabled, plugin_enabled)


def test_settings_of_macros_are_read(tmp_path: Path) -> None:
    found = macros(
        tmp_path,
        "  - macros:\n      modules: [evidence.macros]\n      render_by_default: no\n      force_render_paths: |\n"
        "        features.md\n        guides/\n      j2_variable_start_string: '[['\n      on_undefined: strict\n",
    )
    assert found.on_undefined == "strict"
    assert found.markers["variable_start_string"] == "[["
    assert found.renders("features.md", {})
    assert found.renders("guides/page.md", {})
    assert not found.renders("other.md", {})
    assert not found.renders("features.md", {"render_macros": False})
    assert found.names == frozenset()


def test_names_are_unknown_where_other_modules_add_some(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("")
    assert macros(tmp_path, "  - macros: {modules: [evidence.macros]}\n").names is None


def test_pages_are_those_mkdocs_renders(tmp_path: Path) -> None:
    project = make(
        tmp_path,
        "site_name: x\nexclude_docs: |\n  /drafts/\n",
        *("index.md", "README.md", "guides/README.md", "drafts/a.md", ".hidden/a.md", "templates/a.md", "image.png"),
        *("benchmark_logs/k/x/notes.md", "guides/benchmark_logs/a.md"),
    )
    found = [project.uri(page) for page in project.pages()]
    assert found == ["guides/README.md", "guides/benchmark_logs/a.md", "index.md"]


def test_links_that_lead_in_circles_end(tmp_path: Path) -> None:
    project = make(tmp_path, "site_name: x\n", "a/page.md")
    (tmp_path / "docs/a/again").symlink_to(tmp_path / "docs", target_is_directory=True)
    assert [project.uri(page) for page in project.pages()] == ["a/page.md"]


def test_files_that_are_copied_are_those_of_a_suffix_outside_logs_and_exclusions(tmp_path: Path) -> None:
    config = tmp_path / "mkdocs.yml"
    config.write_text("site_name: x\nexclude_docs: drafts/\n")
    for name in ("a.html", "deep/b.HTM", "drafts/c.html", "benchmark_logs/d.html", ".hidden.html", "page.md"):
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    found = Project.read(config)
    assert [found.uri(path) for path in found.copied(".html", ".htm")] == ["a.html", "deep/b.HTM"]
