"""Owns whole synthetic projects on disk: a git work tree, mkdocs.yml, pages, claims and logs that fit its commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evidence import store
from evidence.schema import Record, log_date
from tests.evidence.checker import sites
from tests.factories import package_source, record

CLAIMS = """\
claims:
  toy-fused:
    statement: On {device}, fusing runs {ratio} faster.
    series: kernels/toy
    metric: time
    baseline: eager
    candidate: fused
    expect: better
    mechanism: {unknown: nothing was profiled}
tables:
  toy:
    title: The toy op
    series: kernels/toy
    rows: [N]
    across: arm
    columns: [time, {ratio: time}]
    baseline: eager
"""
MKDOCS = """\
site_name: Toy
strict: true
theme: {name: material, font: false}
extra: {generator: false}
plugins:
  - search
  - macros: {modules: [evidence.macros], on_undefined: strict}
  - evidence
markdown_extensions:
  - attr_list
  - md_in_html
  - admonition
  - tables
  - toc: {permalink: "#"}
  - pymdownx.superfences
  - pymdownx.tabbed: {alternate_style: true}
validation: {links: {anchors: warn, unrecognized_links: warn}}
"""
PAGE = """\
# Features

{{ ev.claim("toy-fused") }}

{{ ev.table("toy") }}
"""

Change = Callable[[Record], Record]


def write_project(
    root: Path,
    pages: Mapping[str, str] | None = None,
    *,
    claims: str = CLAIMS,
    mkdocs: str = MKDOCS,
    change: Change = lambda made: made,
) -> Path:
    """Write a project of which the check finds nothing, unless its pages, claims or record are changed."""
    _write(root / sites.KERNEL, "x = 1\n")
    _write(root / ".gitignore", "site/\n")
    _write(root / "mkdocs.yml", mkdocs)
    sites.git(root, "init", "--quiet")
    sites.commit(root)
    source = sites.source(root)
    _write(root / "docs/claims/features.yml", claims)
    for name, text in {"index.md": "# Home\n", "features.md": PAGE, **(pages or {})}.items():
        _write(root / "docs" / name, text)
    store.save(root / "docs/benchmark_logs", change(record(sources=(source, package_source()))))
    sites.write_lock(root)
    return root


def rerun(root: Path, log: str = "kernels/toy_20260902", *, hour: int = 10, **changes: Any) -> str:
    """Save a log measured again on its date, in the project's store, and return its name."""
    day = datetime.strptime(log_date(log), "%Y%m%d").replace(hour=hour, tzinfo=UTC)
    values = {"started_at": day, "ended_at": day + timedelta(minutes=6)}
    sources = (sites.source(root), package_source())
    return store.save(root / "docs/benchmark_logs", record(log, **{"sources": sources, **values, **changes}))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
