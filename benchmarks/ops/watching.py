"""Owns the plugin that watches a run of pytest: `-p benchmarks.ops.watching --outcomes FILE` writes a `Report` there.

While a test runs, uninitialised allocations are filled with NaN.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ops.origins import proof, redirect
from benchmarks.ops.outcomes import Report, TestOutcome, weakening
from benchmarks.ops.poison import poisoned
from evidence.errors import EvidenceError


@dataclass(slots=True, eq=False)
class _Watch:
    path: Path
    package: str
    origin: Path | None
    collected: list[str] = field(default_factory=list)
    deselected: list[str] = field(default_factory=list)
    uncollectable: list[str] = field(default_factory=list)
    skipped_files: list[str] = field(default_factory=list)
    tests: dict[str, TestOutcome] = field(default_factory=dict)
    poisoned_allocations: int = 0

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.collected = [item.nodeid for item in session.items]

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self.deselected += [item.nodeid for item in items]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            last = (str(report.longrepr).strip().splitlines() or ["no message"])[-1]
            self.uncollectable.append(f"{report.nodeid}: {last}")
        elif report.skipped:
            self.skipped_files.append(f"{report.nodeid}: {_why_skipped(report.longrepr)}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        known = self.tests.get(report.nodeid)
        if known is not None and known.outcome == "failed":
            return
        if report.failed or report.skipped or (report.when == "call" and known is None):
            reason = "" if report.passed else _why_skipped(report.longrepr) if report.skipped else _why_failed(report)
            outcome: Any = report.outcome
            self.tests[report.nodeid] = TestOutcome(id=report.nodeid, outcome=outcome, reason=reason)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, object, object]:
        if importlib.util.find_spec("torch") is None:
            return (yield)
        with poisoned() as seen:
            try:
                return (yield)
            finally:
                self.poisoned_allocations += seen.allocations

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        self.path.write_text(self._report(int(exitstatus)).model_dump_json(indent=1) + "\n", encoding="utf-8")

    def _report(self, exit_code: int) -> Report:
        code = None
        with contextlib.suppress(EvidenceError):
            code = proof(self.package, self.origin) if self.package else None
        return Report(
            exit_code=exit_code,
            collected=tuple(self.collected),
            deselected=tuple(self.deselected),
            uncollectable=tuple(self.uncollectable),
            skipped_files=tuple(self.skipped_files),
            tests=tuple(self.tests.values()),
            optimized=sys.flags.optimize,
            weakening=weakening(os.environ),
            poisoned_allocations=self.poisoned_allocations,
            code=code,
        )


def _why_skipped(longrepr: object) -> str:
    reason = longrepr[2] if isinstance(longrepr, tuple) else longrepr
    return str(reason).removeprefix("Skipped: ").strip()


def _why_failed(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr)
    return (text.strip().splitlines() or ["no message"])[0]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the plugin's options."""
    group = parser.getgroup("outcomes")
    group.addoption("--outcomes", metavar="FILE", help="write what ran, and what came of it, as JSON")
    group.addoption("--prove", metavar="PACKAGE", default="", help="say which files of this package were loaded")
    group.addoption("--origin", metavar="DIR", default=None, help="import that package from here")


def pytest_configure(config: pytest.Config) -> None:
    """Choose where the package under test comes from, and begin to watch."""
    path, package, origin = (config.getoption(name) for name in ("--outcomes", "--prove", "--origin"))
    where = None if origin is None else Path(origin)
    if where is not None:
        redirect(package, where)
    if path is not None:
        config.pluginmanager.register(_Watch(Path(path), package, where), "outcomes-watch")
