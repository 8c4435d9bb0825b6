"""Owns what a documentation project is: where its pages, claims and logs lie, and how mkdocs.yml runs its macros.

The configuration is read as data. No tag in it is executed, no plugin is imported, and MkDocs need not be installed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evidence import mkdocs_yaml
from evidence.errors import ProjectError
from evidence.mkdocs_yaml import Tagged, line_of

CONFIG_NAMES = ("mkdocs.yml", "mkdocs.yaml")
LOGS_NAME = "benchmark_logs"
CLAIMS_NAME = "claims"
MODULE = "evidence.macros"

_PAGE_SUFFIXES = (".md", ".markdown", ".mdown", ".mkdn", ".mkd")
_ALWAYS_EXCLUDED = (".*", "/templates/")
_MARKERS = {
    "variable_start_string": "{{",
    "variable_end_string": "}}",
    "block_start_string": "{%",
    "block_end_string": "%}",
    "comment_start_string": "{#",
    "comment_end_string": "#}",
}


@dataclass(frozen=True, slots=True)
class MacroSettings:
    """What mkdocs.yml says about mkdocs-macros, as far as reading a page needs it."""

    enabled: bool = True
    """The macros plugin is listed, on, and loads `evidence.macros`."""
    plugin_enabled: bool = True
    """The evidence plugin is listed, on, and stands after macros."""
    render_by_default: bool = True
    force_render_paths: tuple[str, ...] = ()
    on_undefined: str = "strict"
    markers: Mapping[str, str] = field(default_factory=lambda: dict(_MARKERS))
    """Jinja's six delimiters, by the names of its `Environment`."""
    extensions: tuple[str, ...] = ()
    """Jinja's own extensions that are switched on; others would have to be imported to read a page."""
    names: frozenset[str] | None = frozenset()
    """Names that `extra:` adds to those of mkdocs-macros; None where other modules or files may add more."""
    shadowed: bool = False
    """`extra:` holds a key `ev`."""
    line: int = 1
    """Line of the macros plugin in mkdocs.yml."""

    def renders(self, page: str, meta: Mapping[str, Any]) -> bool:
        """Say whether mkdocs-macros runs a page (its path below docs), by the three switches it has."""
        wanted = meta.get("render_macros")
        if not self.enabled or wanted is False:
            return False
        return self.render_by_default or wanted is True or self._is_forced(page)

    def _is_forced(self, page: str) -> bool:
        from pathspec import GitIgnoreSpec

        return GitIgnoreSpec.from_lines(self.force_render_paths).match_file(page)


@dataclass(frozen=True, slots=True)
class Project:
    """One documentation project, from its mkdocs.yml."""

    root: Path
    config: Path
    docs: Path
    macros: MacroSettings
    excluded: tuple[str, ...] = ()
    """Patterns of `exclude_docs` and `draft_docs`, relative to docs."""

    @property
    def logs(self) -> Path:
        """The store of records."""
        return self.docs / LOGS_NAME

    @property
    def claims(self) -> Path:
        """The folder of claims files and of the lock."""
        return self.docs / CLAIMS_NAME

    @classmethod
    def find(cls, start: Path) -> Project:
        """Return the project that `start` lies in: the nearest mkdocs.yml at or above it.

        Raises:
            ProjectError: there is none, or it cannot be read without running it.
        """
        start = start.resolve()
        for folder in (start, *start.parents):
            for name in CONFIG_NAMES:
                if (folder / name).is_file():
                    return cls.read(folder / name)
        raise ProjectError(f"no mkdocs.yml at or above {start}", fix="run inside a documentation project")

    @classmethod
    def read(cls, config: Path) -> Project:
        """Return the project of one mkdocs.yml.

        Raises:
            ProjectError: the file is not a MkDocs configuration, or hides what the check must know.
        """
        settings = _Settings(config)
        docs = (config.parent / settings.text("docs_dir", "docs")).resolve()
        if not docs.is_dir():
            raise ProjectError(f"{config}: docs_dir {docs} is not a folder", fix="create it, or correct docs_dir")
        patterns = (*settings.text("exclude_docs", "").split("\n"), *settings.text("draft_docs", "").split("\n"))
        return cls(
            root=config.parent,
            config=config,
            docs=docs,
            macros=settings.macros(),
            excluded=tuple(pattern for pattern in patterns if pattern.strip()),
        )

    def pages(self) -> tuple[Path, ...]:
        """Return every page MkDocs renders, in order of path; files below benchmark_logs are evidence, not pages."""
        from pathspec import GitIgnoreSpec

        excluded = GitIgnoreSpec.from_lines([*_ALWAYS_EXCLUDED, *self.excluded])
        found = (path for path in _walk(self.docs, set()) if path.suffix.lower() in _PAGE_SUFFIXES)
        kept = sorted(path for path in found if not excluded.match_file(self.uri(path)))
        homes = {path.parent for path in kept if path.stem == "index"}
        return tuple(path for path in kept if not (path.stem == "README" and path.parent in homes))

    def copied(self, *suffixes: str) -> tuple[Path, ...]:
        """Return the files of some suffixes that MkDocs copies into the site as they are."""
        from pathspec import GitIgnoreSpec

        excluded = GitIgnoreSpec.from_lines([*_ALWAYS_EXCLUDED, *self.excluded])
        found = (path for path in _walk(self.docs, set()) if path.suffix.lower() in suffixes)
        return tuple(sorted(path for path in found if not excluded.match_file(self.uri(path))))

    def uri(self, page: Path) -> str:
        """Return a page's path below docs, POSIX, as MkDocs and its plugins name it."""
        return page.relative_to(self.docs).as_posix()

    def name(self, path: Path) -> str:
        """Return a file's path from the project's root, POSIX, as findings name it."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.as_posix()


def _walk(folder: Path, above: set[Path]) -> Iterator[Path]:
    """Yield files below docs as MkDocs does, links followed but each folder once on the way down."""
    here = folder.resolve()
    if here in above:
        return
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.startswith(".") or (entry.name == LOGS_NAME and not above):
                continue
            if entry.is_dir():
                yield from _walk(folder / entry.name, above | {here})
            elif entry.is_file():
                yield folder / entry.name


class _Settings:
    """mkdocs.yml as plain data with lines; asking for a value that only running it would give is an error."""

    def __init__(self, config: Path) -> None:
        self.config = config
        self.data = _load(config)

    def text(self, key: str, default: str) -> str:
        value = self.plain(self.data, key, default)
        if not isinstance(value, str):
            raise ProjectError(f"{self.config.name}: {key} is not text", fix="see the MkDocs manual for its form")
        return value

    def plain(self, holder: Mapping[str, Any], key: str, default: Any) -> Any:
        """Return a value of YAML's own types: a tag such as !ENV would be known only when the site is built."""
        value = holder.get(key, default)
        if isinstance(value, Tagged):
            message = f"{self.config.name}:{line_of(holder, key)}: {key} has the tag {value.tag}"
            raise ProjectError(message, fix=f"write the value of {key} itself: the check reads pages without running")
        return default if value is None else value

    def macros(self) -> MacroSettings:
        plugins = [(name, options, line) for name, options, line in self._plugins() if self._is_on(options)]
        names = [name for name, _, _ in plugins]
        if "macros" not in names:
            return MacroSettings(enabled=False, plugin_enabled=False)
        at = names.index("macros")
        _, options, line = plugins[at]
        modules = self._texts(options, "modules")
        return MacroSettings(
            enabled=MODULE in modules,
            plugin_enabled="evidence" in names[at + 1 :],
            render_by_default=bool(self.plain(options, "render_by_default", True)),
            force_render_paths=tuple(str(self.plain(options, "force_render_paths", "")).split("\n")),
            on_undefined=str(self.plain(options, "on_undefined", "keep")),
            markers={name: str(self.plain(options, f"j2_{name}", "")) or marker for name, marker in _MARKERS.items()},
            extensions=tuple(n for n in self._texts(options, "j2_extensions") if n.startswith("jinja2.ext.")),
            names=self._names(options, modules),
            shadowed="ev" in self._extra(),
            line=line,
        )

    def _plugins(self) -> Iterator[tuple[str, Mapping[str, Any], int]]:
        listed = self.plain(self.data, "plugins", ["search"])
        items: list[tuple[Any, Any, int]] = []
        if isinstance(listed, Mapping):
            items = [(name, options, line_of(listed, name)) for name, options in listed.items()]
        elif isinstance(listed, Sequence) and not isinstance(listed, str):
            for index, item in enumerate(listed):
                pairs = item.items() if isinstance(item, Mapping) else [(item, None)]
                items += [(name, options, line_of(listed, index)) for name, options in pairs]
        for name, options, line in items:
            yield str(name), options if isinstance(options, Mapping) else {}, line

    def _is_on(self, options: Mapping[str, Any]) -> bool:
        return bool(self.plain(options, "enabled", True))

    def _texts(self, holder: Mapping[str, Any], key: str) -> tuple[str, ...]:
        values = self.plain(holder, key, [])
        return tuple(map(str, values)) if isinstance(values, Sequence) and not isinstance(values, str) else ()

    def _extra(self) -> Mapping[str, Any]:
        extra = self.plain(self.data, "extra", {})
        return extra if isinstance(extra, Mapping) else {}

    def _names(self, options: Mapping[str, Any], modules: Sequence[str]) -> frozenset[str] | None:
        has_local = self.plain(options, "module_name", "main") != "main" or any(
            (self.config.parent / name).exists() for name in ("main", "main.py")
        )
        if has_local or tuple(modules) != (MODULE,) or self._texts(options, "include_yaml"):
            return None
        return frozenset(map(str, self._extra()))


def _load(config: Path, above: tuple[Path, ...] = ()) -> Mapping[str, Any]:
    """Read the file, and what it inherits, as YAML 1.1 (which is what MkDocs reads it as)."""
    try:
        data = mkdocs_yaml.load(config.read_text(encoding="utf-8-sig"), keeps_tags=True)
    except OSError as error:
        raise ProjectError(f"{config}: {error.strerror}", fix="make it readable") from None
    except (mkdocs_yaml.YamlError, UnicodeDecodeError) as error:
        raise ProjectError(f"{config}: {error}", fix="correct the file: `mkdocs build` cannot read it either") from None
    if data is None:
        data = {}
    if not isinstance(data, Mapping):
        raise ProjectError(f"{config}: not a mapping", fix="start it with `site_name:`")
    return _inherit(config, data, (*above, config.resolve()))


def _inherit(config: Path, data: Mapping[str, Any], above: tuple[Path, ...]) -> Mapping[str, Any]:
    parent = data.get("INHERIT")
    if parent is None:
        return data
    path = config.parent / str(parent)
    if path.resolve() in above or not path.is_file():
        raise ProjectError(f"{config}: INHERIT names {parent!r}", fix="name another file that exists")
    return _merge(_load(path, above), data)


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> Mapping[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged
