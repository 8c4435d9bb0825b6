"""Owns the command that holds the harness's timer against NVBench: `python -m benchmarks.calibration.timers --log`.

Its exit codes are those of `benchmarks.command`.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import ROOT, capture, command, privacy, probe
from benchmarks.calibration import plan
from benchmarks.calibration.selection import NAME, TITLE, WORKER, Selection, parser, selection, variables
from benchmarks.ops.workloads import named
from benchmarks.plan import Plan
from benchmarks.timing import Rules
from evidence.schema import Timed


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return command.started(parser(), _main, argv)


def _main(options: argparse.Namespace, words: Sequence[str], began_s: float) -> int:
    chosen = selection(options)
    if options.dry_run:
        command.say(_dry_run(chosen, options))
        return command.OK
    plan.refuse_uninstalled(chosen)
    made = _plan(options, words, chosen, None if options.deadline is None else began_s + options.deadline)
    record = command.measured(made, Path(options.logs) if options.log else None, plan.with_methods)
    return command.OK if any(isinstance(cell, Timed) for cell in record.cells) else command.NOTHING_TIMED


def _plan(options: argparse.Namespace, words: Sequence[str], chosen: Selection, ends_by_s: float | None) -> Plan:
    environment = variables(os.environ)
    provenance, withheld = capture.provenance(
        words,
        runner=NAME,
        seed=chosen.calls.ops[0].seed,
        root=ROOT,
        environment=environment,
        destinations=("--logs",),
    )
    answer = probe.ask(chosen.device, chosen.timers[0], 1, root=ROOT, environment=environment)
    return plan.build(
        chosen,
        probed=answer.torch,
        choice=answer.timer,
        facts=answer.facts,
        rules=rules(chosen, options.warm_up),
        further_warm_up_s=options.further_warm_up,
        timeout_s=options.timeout,
        ends_by_s=ends_by_s,
        provenance=provenance,
        withheld=withheld,
        environment=environment,
        domain=options.domain,
        name=options.name or TITLE,
        limitations=options.limitation,
    )


def rules(chosen: Selection, warm_up_s: float) -> Rules:
    """Return when a process has sampled enough: after a number of samples, whichever timer takes them."""
    return Rules(minimum_samples=chosen.samples, maximum_samples=chosen.samples, budget_s=None, warm_up_s=warm_up_s)


def _dry_run(chosen: Selection, options: argparse.Namespace) -> str:
    """Return what a run would do, from the options alone: no device is asked, so it is the same on every machine."""
    program = privacy.program(sys.executable, ROOT)
    log = capture.log_name(options.domain, options.name or TITLE, "DEVICE", datetime.now(UTC))
    lines = [f"arm         {name} ({role}): {timer}" for name, role, timer in chosen.arms]
    lines += [
        f"workload    {named(call.case, chosen.calls.ops)}: {call.implementation.target}" for call in chosen.calls.timed
    ]
    windows = chosen.processes * len(chosen.arms) * len(chosen.calls.timed)
    lines.append(f"processes   {chosen.processes} a cell, {windows} windows at most, {chosen.samples} samples in each")
    commands = {shlex.join((program, "-m", WORKER, *chosen.words(timer))): None for _, _, timer in chosen.arms}
    lines += [f"worker      {command}" for command in commands]
    lines.append(
        f"log         {options.logs}/{log}/record.json" if options.log else "log         none: --log is not given"
    )
    lines.append("status      unverified: nothing was run")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
