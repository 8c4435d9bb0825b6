"""Owns the gated benchmark of one op: `python -m benchmarks.ops.verify --op NAME [--base REF]`.

The frozen tests run first, on the code that is measured; what is wrong with them ends the command. Then both sides are
gated on exactly the inputs that are timed, and timed in interleaved processes, with the baseline again as a control and
a copy that is the same code on both sides. Exit codes are those of `benchmarks.ops.exits`.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import ROOT, capture, command, privacy, probe
from benchmarks.ops import baselines, frozen, outcomes, plan, strength, tested, verdicts
from benchmarks.ops.baselines import BaselineError, Pair
from benchmarks.ops.exits import MEANINGS, Blocker, Exit, first
from benchmarks.ops.frozen import Judged
from benchmarks.ops.origins import package_of
from benchmarks.ops.profiled import take
from benchmarks.ops.registry import ops
from benchmarks.ops.run import TIMERS, rules
from benchmarks.ops.selection import WORKER, Selection, Side, variables
from benchmarks.ops.tiers import tiers
from benchmarks.ops.verification import NAME, Verification, gate_file, mode_of, parser, resolve
from benchmarks.options import UnsuitableError
from benchmarks.plan import Plan
from benchmarks.profile.attachment import attach
from evidence.errors import EvidenceError
from evidence.schema import Passed, Record, Unavailable
from evidence.store import RECORD_NAME, save

_UNPROVED = frozenset({"torch"})
"""Packages of thousands of files, which no baseline replaces: the stack of the record pins them."""


@dataclass(slots=True)
class _Run:
    """One run of the command: what it was asked for, what it must tell of, and what speaks against its result."""

    options: argparse.Namespace
    words: Sequence[str]
    asked: Verification
    began_s: float
    notes: list[str] = field(default_factory=list)
    blockers: list[Blocker] = field(default_factory=list)

    def say(self, kind: str, text: str) -> None:
        """Print a line that a reader, or a program that reads it, finds by its first word."""
        command.say(f"{kind:<11} {text}")

    def end(self) -> Exit:
        """Print the reasons and what they come to."""
        code = first(self.blockers)
        for blocker in self.blockers:
            self.say("blocks", str(blocker))
        self.say("exit", f"{code.value}: {MEANINGS[code]}")
        return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    began_s = time.monotonic()
    words = sys.argv[1:] if argv is None else list(argv)
    options = parser().parse_args(words)
    try:
        return _main(options, words, began_s)
    except UnsuitableError as error:
        return _refuse(error, Exit.UNSUITABLE)
    except BaselineError as error:
        return _refuse(error, Exit.BASELINE_UNAVAILABLE)
    except EvidenceError as error:
        return _refuse(error, Exit.USAGE)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED


def _refuse(error: EvidenceError, code: Exit) -> Exit:
    sys.stderr.write(f"error: {error.message}\n" + (f"  fix: {error.fix}\n" if error.fix else ""))
    sys.stderr.write(f"exit {code.value}: {MEANINGS[code]}\n")
    return code


def _main(options: argparse.Namespace, words: Sequence[str], began_s: float) -> int:
    if options.list:
        command.say(listing(options.format))
        return Exit.OK
    run = _Run(options, words, resolve(options), began_s)
    if options.dry_run:
        command.say(_dry_run(run.asked, options))
        return Exit.OK
    if set_here := outcomes.weakening(os.environ):
        names = ", ".join(f"{setting.name}={setting.value}" for setting in set_here)
        reason = f"{names} is set, which weakens a gate; unset {' '.join(setting.name for setting in set_here)}"
        run.blockers.append(Blocker(Exit.ENVIRONMENT, reason))
        return run.end()
    asked = run.asked
    kept = frozen.frozen_names(asked.op, (asked.test_file,), ROOT)
    with baselines.opened(asked.implementation, asked.base, asked.repository, root=ROOT, frozen_names=kept) as pair:
        return _verify(run, pair)


def _verify(run: _Run, pair: Pair) -> Exit:
    _say_sides(run, pair)
    with ThreadPoolExecutor(max_workers=1) as background:
        # Both import torch and neither is timed; a worker measures what its timer adds itself.
        answer = background.submit(_probe, run)
        judged = _tests(run, pair, answer)
    logs = Path(run.options.logs) if run.options.log else None
    if run.blockers and first(run.blockers) not in (Exit.SUBSET_GATE, Exit.NO_GATE):
        if logs is not None and judged is not None:
            _keep_rejected(run, pair, judged, logs, answer)
        return run.end()
    made = _plan(run, pair, answer.result())
    run.say("timing", f"{made.header.method.processes} processes a cell, interleaved")
    chosen = replace(run.asked.selection, sides=sides(run.asked, pair))

    def finished(record: Record) -> tuple[Record, Mapping[str, bytes]]:
        """Add what was known before the session, and what is asked for after it."""
        told, artifacts = tested.with_tests(record, judged)
        if run.asked.profiling is None:
            return told, artifacts
        profiled, more = attach(told, take(chosen, told, made.environment, run.asked.profiling))
        return profiled, {**artifacts, **more}

    record = command.measured(made, logs, finished)
    run.blockers += verdicts.blockers(record)
    return run.end()


def _keep_rejected(run: _Run, pair: Pair, judged: Judged, logs: Path, answer: Future[probe.Answer]) -> None:
    """Keep what the tests said, without a timing, where the machine can be captured."""
    try:
        made = _plan(run, pair, answer.result())
    except UnsuitableError as error:
        run.say("note", f"no record is kept: {error.message}")
        return
    name = save(logs, *tested.rejected(made, judged))
    run.say("record", f"{logs / name / RECORD_NAME}: what the tests said, and no timing")


def _say_sides(run: _Run, pair: Pair) -> None:
    run.say("candidate", f"{run.asked.implementation.target} from {baselines.described(pair.candidate)}")
    if pair.baseline is not None:
        run.say("baseline", f"{run.asked.base}: {baselines.described(pair.baseline)}")
    for note in pair.notes:
        run.say("note", note)


def _tests(run: _Run, pair: Pair, answer: Future[probe.Answer]) -> Judged | None:
    """Run the frozen tests on the candidate, and hold what they consist of to the baseline.

    Raises:
        UnsuitableError: all were skipped for want of the device that `answer` does not find.
    """
    asked = run.asked
    if not asked.has_tests:
        run.blockers.append(Blocker(Exit.NO_GATE, "--no-gate: the frozen tests were not run"))
        return None
    about = frozen.Asked(
        op=asked.op,
        files=(asked.test_file,),
        selection=asked.gate_k,
        root=ROOT,
        environment=variables(asked.selection, os.environ),
        package=_proved(asked, pair),
        origin=pair.candidate.folder,
    )
    if pair.frozen_at is not None and asked.test_file.is_file() and (how := frozen.changed(about, pair.frozen_at)):
        run.blockers.append(Blocker(Exit.GATE_CHANGED, f"{how}; a change and its gate are never changed together"))
        return None
    run.say("gate", shlex.join(frozen.command_of(about)))
    judged = frozen.run(about, pair.candidate.source.name)
    if judged.blocker is not None:
        if judged.blocker.code is Exit.ALL_SKIPPED and asked.selection.device == "cuda":
            # Where there is no accelerator its tests skip themselves; then that is what is missing.
            answer.result()
        run.blockers.append(judged.blocker)
        return judged
    if isinstance(judged.outcome, Passed):
        run.say("gate", f"passed: {judged.outcome.compared} tests")
    if judged.gate.scope == "partial":
        reason = f"only the tests that {judged.gate.selection!r} selects were run"
        run.blockers.append(Blocker(Exit.SUBSET_GATE, reason))
    return judged


def _proved(asked: Verification, pair: Pair) -> str:
    package = package_of(asked.implementation.target)
    is_elsewhere = pair.candidate.folder is not None or (pair.baseline is not None and pair.baseline.folder is not None)
    return "" if package in _UNPROVED and not is_elsewhere else package


def _probe(run: _Run) -> probe.Answer:
    chosen = run.asked.selection
    environment = variables(chosen, os.environ)
    timer = TIMERS[run.options.timer] if run.options.timer else ""
    try:
        return probe.ask(chosen.device, timer, chosen.threads, root=ROOT, environment=environment)
    except UnsuitableError as error:
        words = [word for word in run.words if word != "--log"]
        how = f"python -m {NAME} {shlex.join(words)} --dry-run"
        raise UnsuitableError(
            error.message, fix=f"run it on a machine with one; {how} shows what it would do"
        ) from None


def sides(asked: Verification, pair: Pair) -> tuple[Side, ...]:
    """Return the arms: the candidate and what it is compared with, or what is measured alone, as the baseline."""
    implementation, proved = asked.implementation, _proved(asked, pair)
    source, folder = pair.candidate.source, pair.candidate.folder
    origin = "" if folder is None else str(folder)
    if pair.baseline is None:
        return (Side(implementation.name, "baseline", implementation.name, source.name, proved, origin),)
    other = "" if pair.baseline.folder is None else str(pair.baseline.folder)
    name = f"{implementation.name}-baseline"
    return (
        Side(name, "baseline", implementation.name, pair.baseline.source.name, proved, other),
        Side(implementation.name, "candidate", implementation.name, source.name, proved, origin),
    )


def _plan(run: _Run, pair: Pair, answer: probe.Answer) -> Plan:
    options, asked = run.options, run.asked
    chosen: Selection = replace(asked.selection, sides=sides(asked, pair))
    environment = variables(chosen, os.environ)
    provenance, withheld = capture.provenance(
        run.words,
        runner=NAME,
        seed=asked.op.seed,
        root=ROOT,
        environment=environment,
        destinations=("--logs", "--repo"),
    )
    sources = [pair.candidate.source] + ([] if pair.baseline is None else [pair.baseline.source])
    strengths = strength.measure(chosen, environment, ROOT) if asked.has_mutants else {}
    for name, found in strengths.items():
        run.say("mutants", f"{name}: {len(found.tried) - len(found.survivors)} of {len(found.tried)} refused")
    return plan.build(
        chosen,
        probed=answer.torch,
        choice=answer.timer,
        facts=answer.facts,
        rules=rules(options),
        further_warm_up_s=options.warm_up if options.further_warm_up is None else options.further_warm_up,
        timeout_s=options.timeout,
        ends_by_s=None if options.deadline is None else run.began_s + options.deadline,
        provenance=provenance,
        withheld=(*withheld, *_left_out(asked), Unavailable(what=tested.TESTS, reason=_why_no_tests(asked))),
        environment=environment,
        domain=options.domain,
        name=options.name or f"verify_{asked.op.name}",
        limitations=(*options.limitation, *pair.notes),
        is_every_process_rechecked=options.recheck == "every",
        sources=[source for source in sources if source.name != capture.REPOSITORY],
        axes=("source",) if pair.baseline is not None else (),
        mutations=strengths,
    )


def _left_out(asked: Verification) -> tuple[Unavailable, ...]:
    """Say of the words that name a place on this machine that the record's command lacks them."""
    if asked.repository is None or asked.repository.is_relative_to(ROOT):
        return ()
    return (Unavailable(what="argument --repo", reason="a folder of the machine; the sources say which code it was"),)


def _why_no_tests(asked: Verification) -> str:
    if not asked.has_tests:
        return "--no-gate was given"
    return "they passed before the session; their outcome is added when it ends, and this one did not"


def listing(form: str) -> str:
    """Return every op with where it runs, its shapes and its gate; nothing that measures is imported."""
    rows = [
        {
            "op": op.name,
            "category": op.category,
            "device": op.device,
            "tiers": list(tiers(op)),
            "backends": [entry.name for entry in op.implementations],
            "modes": [mode_of(direction) for direction in op.possible],
            "dtypes": list(op.dtypes),
            "shapes": [shape.name for shape in op.shapes],
            "gate": gate_file(op.name).relative_to(ROOT).as_posix() if gate_file(op.name).is_file() else None,
        }
        for op in ops().values()
    ]
    if form == "json":
        return json.dumps(rows, indent=1)
    from tabulate import tabulate

    columns = tuple(rows[0])
    texts = [
        [", ".join(value) if isinstance(value, list) else value or "none" for value in row.values()] for row in rows
    ]
    return tabulate(texts, headers=columns, maxcolwidths=[None, None, None, None, 20, None, None, 30, None])


def _dry_run(asked: Verification, options: argparse.Namespace) -> str:
    """Return what a run would do, from the options alone: nothing is laid out, and no device is asked."""
    program = privacy.program(sys.executable, ROOT)
    chosen = asked.selection
    about = frozen.Asked(asked.op, (asked.test_file,), asked.gate_k, ROOT, {})
    log = capture.log_name(options.domain, options.name or f"verify_{asked.op.name}", "DEVICE", datetime.now(UTC))
    gate = shlex.join(frozen.command_of(about)) if asked.has_tests else "none: --no-gate"
    missing = "" if asked.test_file.is_file() or not asked.has_tests else "  (the file is missing: exit 13)"
    lines = [
        f"op          {asked.op.name} ({chosen.dtype}, {chosen.device})",
        f"candidate   {asked.implementation.target}",
        f"baseline    {asked.base or 'none: nothing is compared'}",
        f"gate        {gate}{missing}",
        *(f"workload    {case.name}" for case in chosen.cases),
        f"processes   {chosen.processes} a cell, sharing: {chosen.sharing}, start: {chosen.start}",
        *(f"variable    {name}={value}" for name, value in sorted(variables(chosen, {}).items())),
        f"worker      {shlex.join((program, '-m', WORKER, *chosen.words(chosen.twin)))}",
        f"log         {options.logs}/{log}/record.json" if options.log else "log         none: --log is not given",
        "criteria    the full gate green, no workload SLOWER, none INCONCLUSIVE, the control at rest",
        "status      unverified: nothing was run",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
