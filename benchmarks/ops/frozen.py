"""Owns the frozen gate of an op: its pytest files run as they stand in a process of their own, and are judged.

What a gate consists of is digested, so that a change of it shows: tests, conftests, references, tolerances, the op's
registry entry, and pytest's settings.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from benchmarks.ops import gates
from benchmarks.ops.exits import Blocker, Exit
from benchmarks.ops.outcomes import Report, weakening
from benchmarks.ops.registry import Op
from benchmarks.privacy import scrubbed
from evidence.schema import Failed, Gate, Outcome, Passed, TestsDetail
from evidence.schema.gates import FailureReason, FrozenPath

ALLOWED = "ALLOWED_SKIPS"
"""A gate file's constant: the names of tests, without the file, that may be skipped."""
LOG = "gate/outcomes.json"
"""Where a log keeps the report."""
SETTINGS = "pyproject.toml#tool.pytest.ini_options"
_OPTIONS = ("-q", "-p", "no:cacheprovider", "-W", "default", "-p", "benchmarks.ops.watching")
"""Warnings stay warnings here: what a library says of its own version is no fault of the code that is gated."""
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOWN = 8
_TRIED_BY = ("benchmarks/ops/trials.py", "benchmarks/ops/interpreter.py")
"""What tests/ops takes its trials from."""
_PYTEST_BROKE, _PYTEST_USAGE = 3, 4
_REASONS: Mapping[Exit, FailureReason] = {
    Exit.RED_GATE: "mismatch",
    Exit.NO_TEST_SELECTED: "no-test-selected",
    Exit.ALL_SKIPPED: "all-skipped",
    Exit.GATE_MISSING: "gate-missing",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """Which tests are to run, on what code."""

    op: Op
    files: tuple[Path, ...]
    selection: str | None
    """A `-k` expression; None: all of them."""
    root: Path
    environment: Mapping[str, str]
    package: str = ""
    """Whose files are to be proved as loaded."""
    origin: Path | None = None
    """Where that package is imported from; None: where it is installed."""
    timeout_s: float = 3600.0

    @property
    def names(self) -> tuple[str, ...]:
        """The files as a record and a command name them."""
        return tuple(path.relative_to(self.root).as_posix() for path in self.files)


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of the tests: the gate and its outcome as a record holds them, and what speaks against timing."""

    gate: Gate
    outcome: Outcome
    blocker: Blocker | None
    log: bytes | None
    """The report's bytes, the artifact at `LOG`."""


def run(asked: Asked, source: str) -> Judged:
    """Run the tests and judge them; nothing is raised for a gate that is missing, red or empty: that is its outcome."""
    missing = [name for name, path in zip(asked.names, asked.files, strict=True) if not path.is_file()]
    if missing:
        return _without_report(asked, source, Exit.GATE_MISSING, f"there is no gate file {missing[0]}")
    with tempfile.TemporaryDirectory(prefix="evidence-gate-") as folder:
        report, words = _report(asked, Path(folder) / "outcomes.json")
    if report is None:
        return _without_report(asked, source, Exit.RED_GATE, f"pytest ended without a report: {words}")
    return _judge(asked, source, report)


def _report(asked: Asked, path: Path) -> tuple[Report | None, str]:
    proved = ("--prove", asked.package) if asked.package else ()
    origin = ("--origin", str(asked.origin)) if asked.origin is not None else ()
    command = (*command_of(asked), "--outcomes", str(path), *proved, *origin)
    try:
        done = subprocess.run(
            [sys.executable, *command[1:]],
            cwd=asked.root,
            env=dict(asked.environment),
            capture_output=True,
            text=True,
            timeout=asked.timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, f"it ran for {asked.timeout_s:g} s"
    try:
        return Report.model_validate_json(path.read_bytes()), ""
    except (OSError, ValidationError):
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["it said nothing"]
        return None, scrubbed(f"exit code {done.returncode}: {lines[-1]}", asked.root)


def command_of(asked: Asked) -> tuple[str, ...]:
    """Return the gate's command as a record holds it."""
    selected = ("-k", asked.selection) if asked.selection is not None else ()
    return ("python", "-m", "pytest", *_OPTIONS, *selected, *asked.names)


def _judge(asked: Asked, source: str, report: Report) -> Judged:
    allowed = tuple(name for path in asked.files for name in allowed_skips(path))
    ran = Counter(test.outcome for test in report.tests)
    never = len(report.collected) - len(report.tests)
    detail = TestsDetail(
        collected=len(report.collected),
        passed=ran["passed"],
        failed=ran["failed"] + never,
        skipped=ran["skipped"],
        allowed_skips=allowed,
    )
    code, message = _fault(asked, report, detail)
    gate = _gate(asked, log=LOG, is_partial=bool(report.deselected))
    scrubbed_report = report.model_copy(
        update={
            "tests": tuple(
                test.model_copy(update={"reason": scrubbed(test.reason, asked.root)}) for test in report.tests
            ),
            "uncollectable": tuple(scrubbed(text, asked.root) for text in report.uncollectable),
        }
    )
    log = (scrubbed_report.model_dump_json(indent=1) + "\n").encode()
    if code is not None:
        outcome: Outcome = Failed(
            gate=gate.name, source=source, reason=_REASONS[code], message=message, seeds=(), detail=detail
        )
        return Judged(gate, outcome, Blocker(code, message), log)
    return Judged(gate, Passed(gate=gate.name, source=source, phase="before", seeds=(), detail=detail), None, log)


def _fault(asked: Asked, report: Report, detail: TestsDetail) -> tuple[Exit | None, str]:
    """Return what a report says against the code or against the gate itself, and its code."""
    names = ", ".join(asked.names)
    if report.uncollectable:
        return Exit.GATE_MISSING, scrubbed(f"the gate cannot be collected: {report.uncollectable[0]}", asked.root)
    if report.exit_code == _PYTEST_BROKE:
        return Exit.RED_GATE, "pytest broke while it ran the gate, so it says nothing"
    if report.exit_code == _PYTEST_USAGE:
        return Exit.NO_TEST_SELECTED, f"--gate-k {asked.selection} is no expression that pytest understands"
    if report.optimized:
        return Exit.RED_GATE, "Python ran with asserts switched off, so no test can fail"
    if not detail.collected and report.deselected:
        return Exit.NO_TEST_SELECTED, _nothing_selected(asked.selection or "", report.deselected)
    if not detail.collected and report.skipped_files:
        return Exit.ALL_SKIPPED, f"{report.skipped_files[0]}"
    if not detail.collected:
        return Exit.NO_TEST_SELECTED, f"{names} holds no test"
    if detail.failed:
        failed = [test for test in report.tests if test.outcome == "failed"]
        first = f": {failed[0].id}: {failed[0].reason}" if failed else ": some never ran"
        return Exit.RED_GATE, scrubbed(f"{detail.failed} of {detail.collected} tests failed{first}", asked.root)
    skipped = [test for test in report.tests if test.outcome == "skipped"]
    if not detail.passed:
        return Exit.ALL_SKIPPED, scrubbed(f"all {detail.skipped} tests were skipped: {skipped[0].reason}", asked.root)
    strange = [test for test in skipped if test.id.partition("::")[2] not in detail.allowed_skips]
    if strange:
        message = f"{strange[0].id} was skipped and {ALLOWED} of its file does not allow that: {strange[0].reason}"
        return Exit.ALL_SKIPPED, scrubbed(message, asked.root)
    return None, ""


def _nothing_selected(selection: str, ids: Sequence[str]) -> str:
    words = [f"{word} ({count})" for word, count in words_of(ids).most_common(_SHOWN)]
    return f"--gate-k {selection} selects none of {len(ids)} tests; these do, with how many: {', '.join(words)}"


def words_of(ids: Sequence[str]) -> Counter[str]:
    """Return the words by which tests can be selected, each with the number of tests that it selects.

    Words that select every test are left out, unless there are no others.
    """
    names = [one.partition("::")[2].removeprefix("test_") for one in ids]
    found = Counter(word for name in names for word in {*_WORD.findall(name)} if len(word) > 1)
    telling = Counter({word: count for word, count in found.items() if count < len(ids)})
    return telling or found


def allowed_skips(path: Path) -> tuple[str, ...]:
    """Return the tests of a file that may be skipped, as its own constant says; the file is not run."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == ALLOWED for t in node.targets):
            return tuple(str(name) for name in ast.literal_eval(node.value))
    return ()


def _without_report(asked: Asked, source: str, code: Exit, message: str) -> Judged:
    gate = _gate(asked, log=None, is_partial=False)
    reason: FailureReason = "gate-missing" if code is Exit.GATE_MISSING else "error"
    outcome = Failed(gate=gate.name, source=source, reason=reason, message=message, seeds=(), detail=None)
    return Judged(gate, outcome, Blocker(code, message), None)


def _gate(asked: Asked, *, log: str | None, is_partial: bool) -> Gate:
    return Gate(
        name=f"{asked.op.name}-tests",
        kind="tests",
        command=command_of(asked),
        scope="partial" if is_partial else "full",
        selection=(asked.selection or "a part of the tests") if is_partial else None,
        reference=None,
        tolerances=(),
        frozen=frozen(asked.op, asked.files, asked.root),
        variables=weakening(asked.environment),
        log=log,
        mutants=None,
        mutants_killed=None,
    )


def frozen(op: Op, files: Sequence[Path], root: Path) -> tuple[FrozenPath, ...]:
    """Return the digest of everything that the gate of an op consists of."""
    digests = {name: hashlib.sha256((root / name).read_bytes()).hexdigest() for name in frozen_names(op, files, root)}
    settings = _settings((root / "pyproject.toml").read_bytes())
    return tuple(
        FrozenPath(path=path, sha256=sha256) for path, sha256 in sorted({**digests, SETTINGS: settings}.items())
    )


def frozen_names(op: Op, files: Sequence[Path], root: Path) -> tuple[str, ...]:
    """Return the frozen files: the tests, what conftests they have, and what the numeric gate consists of."""
    numeric = [path.path for case in op.cases()[:1] for path in gates.definition(case).frozen]
    reference = op.reference.target.partition(":")[0].replace(".", "/") + ".py"
    tests = [path.relative_to(root).as_posix() for path in (*files, *_conftests(files, root)) if path.is_file()]
    own = [name for name in (reference, *_TRIED_BY) if (root / name).is_file()]
    return tuple(sorted({*numeric, *own, *tests}))


def _conftests(files: Sequence[Path], root: Path) -> Iterator[Path]:
    folders = {folder for path in files for folder in path.parents if folder.is_relative_to(root)}
    yield from (folder / "conftest.py" for folder in folders)


def _settings(project: bytes) -> str:
    """Return the digest of pytest's own settings, so that the project file may change otherwise."""
    table = tomllib.loads(project.decode()).get("tool", {}).get("pytest", {}).get("ini_options", {})
    return hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()


def changed(asked: Asked, before: Mapping[str, bytes]) -> str:
    """Return how the gate differs from what its files were at the baseline, by name; empty if in nothing."""
    for entry in frozen(asked.op, asked.files, asked.root):
        name = entry.path.partition("#")[0]
        if name not in before:
            return f"{entry.path} is not in the baseline"
        old = _settings(before[name]) if entry.path == SETTINGS else hashlib.sha256(before[name]).hexdigest()
        if old != entry.sha256:
            return f"{entry.path} differs from the baseline's"
    return ""
