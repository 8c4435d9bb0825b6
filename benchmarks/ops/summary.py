"""Owns the summary of a result file: gate and environment first, then what changed and what is wrong."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.ops import verdicts
from benchmarks.ops.exits import Blocker, Exit, first
from benchmarks.ops.foreign import Foreign, read
from evidence.compare import compare
from evidence.errors import EvidenceError
from evidence.schema import Failed, Passed, Record, Rejected, Timed
from evidence.units import format_value, scale_for

_DIGITS = 3
_NO_GATE = "the file records no gate, so nothing in it may be promoted"


@dataclass(frozen=True, slots=True)
class Change:
    """One workload on two sides; `percent` is how much longer it takes, negative if less."""

    workload: str
    before_s: float
    after_s: float
    percent: float
    verdict: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What a file says, before it is laid out."""

    gates: tuple[str, ...]
    environment: tuple[str, ...]
    changes: tuple[Change, ...]
    """The slowest first."""
    measured: int
    problems: tuple[Blocker, ...]

    def regressions(self, threshold: float) -> tuple[Change, ...]:
        """Return what takes longer by more than `threshold` per cent and is not called open, the worst first."""
        return tuple(one for one in self.changes if one.percent > threshold and one.verdict in ("", "SLOWER"))

    def wins(self, threshold: float) -> tuple[Change, ...]:
        """Return what takes less time by more than `threshold` per cent and is not called open, the best first."""
        found = [one for one in self.changes if one.percent < -threshold and one.verdict in ("", "FASTER")]
        return tuple(reversed(found))


def summarise(data: bytes) -> Summary:
    """Return what a file's bytes say.

    Raises:
        EvidenceError: it is no result, or a record that does not hold.
    """
    found = read(data)
    return _of_record(found) if isinstance(found, Record) else _of_foreign(found)


def _of_foreign(found: Foreign) -> Summary:
    changes: list[Change] = []
    if len(found.rows) == 2:
        before, after = ({row.key: row for row in side} for side in found.rows)
        for key, row in after.items():
            old = before.get(key)
            if old is not None and old.seconds is not None and row.seconds is not None:
                percent = (row.seconds / old.seconds - 1) * 100
                changes.append(Change(row.name, old.seconds, row.seconds, percent, ""))
    changes.sort(key=lambda one: -one.percent)
    measured = sum(len(side) for side in found.rows)
    return Summary((_NO_GATE,), found.environment, tuple(changes), measured, found.problems)


def _of_record(record: Record) -> Summary:
    baseline = next((arm for arm in record.arms if arm.role == "baseline"), None)
    changes: list[Change] = []
    problems: list[Blocker] = []
    if baseline is not None:
        problems += verdicts.blockers(record)
        for arm in record.arms:
            if arm.role not in ("candidate", "alternative"):
                continue
            for one in compare(record, baseline.name, arm.name, verdicts.TIME):
                if one.change is None or verdicts.is_control(record.workload(one.workload)):
                    continue
                times = [verdicts.median_s(record, cell) for cell in (one.baseline, one.candidate)]
                name = f"{arm.name} on {one.workload}"
                changes.append(Change(name, times[0], times[1], one.change.value * 100, one.word))
    changes.sort(key=lambda one: -one.percent)
    environment = [f"{host.name}: {host.cpu_model or 'unknown processor'}" for host in record.hosts]
    environment += [f"accelerator: {device.model}" for host in record.hosts for device in host.accelerators]
    environment += [f"driver: {host.driver}" for host in record.hosts if host.driver]
    environment += [f"python {stack.python}, {stack.runtime or 'no accelerator runtime'}" for stack in record.stacks]
    problems += _gate_problems(record)
    timed = sum(isinstance(cell, Timed) for cell in record.cells)
    return Summary(tuple(_gates(record)), tuple(environment), tuple(changes), timed, tuple(problems))


def _gates(record: Record) -> Iterator[str]:
    outcomes: dict[str, list[Passed | Failed]] = {gate.name: [] for gate in record.gates}
    for cell in record.cells:
        if isinstance(cell, Timed | Rejected):
            for outcome in (cell.gate, *cell.further):
                outcomes.setdefault(outcome.gate, []).append(outcome)
    for gate in record.gates:
        found = outcomes[gate.name]
        failed = [outcome for outcome in found if isinstance(outcome, Failed)]
        state = f"FAILED: {failed[0].message}" if failed else f"passed in {len(found)} cells" if found else "never ran"
        scope = "" if gate.scope == "full" else f", only a part: {gate.selection}"
        strength = "" if gate.mutants is None else f", refuses {gate.mutants_killed} of {gate.mutants} mutants"
        yield f"{gate.name} ({gate.kind}{scope}): {state}{strength}"


def _gate_problems(record: Record) -> Iterator[Blocker]:
    for gate in record.gates:
        if gate.scope == "partial":
            yield Blocker(Exit.SUBSET_GATE, f"{gate.name} ran only {gate.selection}")
        for variable in gate.variables:
            yield Blocker(Exit.ENVIRONMENT, f"{variable.name}={variable.value} was set while {gate.name} ran")
    if not any(gate.kind == "tests" for gate in record.gates):
        yield Blocker(Exit.NO_GATE, "no frozen tests were run, only the gate on the timed inputs")


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    made = argparse.ArgumentParser(
        prog="python scripts/summarize_benchmark_json.py",
        description="Summarise a record of this project, or a run or comparison of FLA's benchmarks. Nothing is run.",
    )
    made.add_argument("file", type=Path)
    made.add_argument("--threshold", type=float, default=5.0, metavar="PERCENT", help="changes beyond it are listed")
    made.add_argument("--top", type=int, default=10, help="how many of each are listed (default 10)")
    made.add_argument("--strict", action="store_true", help="exit with the code of what blocks, not 0")
    made.add_argument("--format", choices=("text", "markdown", "json"), default="text")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Print the summary; 2 if the file cannot be read, and with --strict the code of what speaks against it."""
    options = parser().parse_args(argv)
    if options.threshold < 0 or options.top < 1:
        sys.stderr.write("error: --threshold is at least 0 and --top at least 1\n")
        return Exit.USAGE
    try:
        summary = summarise(options.file.read_bytes())
    except OSError as error:
        sys.stderr.write(f"error: {options.file.name} cannot be read: {error.strerror}\n")
        return Exit.USAGE
    except EvidenceError as error:
        sys.stderr.write(f"error: {error.message}\n" + (f"  fix: {error.fix}\n" if error.fix else ""))
        return Exit.USAGE
    blocked = blocking(summary, options.threshold)
    layouts = {"text": _text, "markdown": _markdown, "json": _json}
    sys.stdout.write(layouts[options.format](summary, options.threshold, options.top, blocked) + "\n")
    return first(blocked) if options.strict else Exit.OK


def blocking(summary: Summary, threshold: float) -> tuple[Blocker, ...]:
    """Return all that speaks against a result; that foreign files have no gate comes last, for none has."""
    slower = [
        Blocker(Exit.REGRESSION, f"{one.workload} takes {one.percent:+.1f} %") for one in summary.regressions(threshold)
    ]
    known = {blocker.reason for blocker in summary.problems}
    found = [*summary.problems, *(one for one in slower if one.reason not in known)]
    if not found and _NO_GATE in summary.gates:
        return (Blocker(Exit.GATE_MISSING, _NO_GATE),)
    return tuple(found)


def _line(one: Change) -> tuple[str, ...]:
    times = [format_value(value, scale_for(value, "s"), _DIGITS) for value in (one.before_s, one.after_s)]
    return (one.workload, *times, f"{one.percent:+.1f} %", one.verdict or "not judged")


def _sections(
    summary: Summary, threshold: float, top: int, blocked: Sequence[Blocker]
) -> Iterator[tuple[str, Sequence[str], Sequence[tuple[str, ...]]]]:
    """Yield each section: its head, its lines, and its rows of five columns."""
    yield "Gate", summary.gates or ("none",), ()
    yield "Environment", summary.environment or ("not recorded",), ()
    for name, found in (("Slower", summary.regressions(threshold)), ("Faster", summary.wins(threshold))):
        left = [f"and {len(found) - top} more"] if len(found) > top else []
        head = f"{name} by more than {threshold:g} %"
        yield head, left if found else ["none"], [_line(one) for one in found[:top]]
    within = len(summary.changes) - len(summary.regressions(threshold)) - len(summary.wins(threshold))
    text = f"{summary.measured} rows, {len(summary.changes)} compared, {within} within the threshold or undecided"
    yield "Rows", (text,), ()
    yield "Blocks", [str(blocker) for blocker in blocked] or ["nothing"], ()


def _text(summary: Summary, threshold: float, top: int, blocked: Sequence[Blocker]) -> str:
    lines = []
    for head, texts, rows in _sections(summary, threshold, top, blocked):
        lines.append(head)
        lines += ["  " + "  ".join(row) for row in rows] + [f"  {text}" for text in texts]
    return "\n".join(lines)


def _markdown(summary: Summary, threshold: float, top: int, blocked: Sequence[Blocker]) -> str:
    lines = []
    for head, texts, rows in _sections(summary, threshold, top, blocked):
        lines += [f"### {head}", ""]
        if rows:
            lines += ["| workload | before | after | change | verdict |", "|---|---|---|---|---|"]
            lines += ["| " + " | ".join(_escaped(part) for part in row) + " |" for row in rows]
            lines.append("")
        lines += [f"- {_escaped(text)}" for text in texts] + [""]
    return "\n".join(lines).rstrip()


def _escaped(text: str) -> str:
    """Return a text that Markdown shows as it is: files are not trusted."""
    for sign, entity in (
        ("&", "&amp;"),
        ("<", "&lt;"),
        ("|", "&#124;"),
        ("*", "&#42;"),
        ("_", "&#95;"),
        ("`", "&#96;"),
    ):
        text = text.replace(sign, entity)
    return text.replace("[", "&#91;").replace("\n", " ")


def _json(summary: Summary, threshold: float, top: int, blocked: Sequence[Blocker]) -> str:
    def listed(changes: Sequence[Change]) -> list[dict[str, object]]:
        names = ("workload", "before_s", "after_s", "percent", "verdict")
        return [{name: getattr(one, name) for name in names} for one in changes[:top]]

    said = {
        "gates": summary.gates,
        "environment": summary.environment,
        "regressions": listed(summary.regressions(threshold)),
        "wins": listed(summary.wins(threshold)),
        "rows": summary.measured,
        "compared": len(summary.changes),
        "blocks": [{"code": one.code.value, "name": one.code.name, "reason": one.reason} for one in blocked],
    }
    return json.dumps(said, indent=1, allow_nan=False)
