"""Owns the command that measures engines: `python -m benchmarks.engine.run STUDY`, with `--log` to keep what it found.

Exit codes are those of `benchmarks.command`; a gate that failed is 1 even where other cells were timed.
"""

from __future__ import annotations

import argparse
import os
import shlex
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import ROOT, capture, command, probe
from benchmarks.engine import plan, timeline
from benchmarks.engine.selection import NAME, Selection, log_label, parser, selection, variables
from benchmarks.plan import Plan
from benchmarks.timing import TORCH_TIMER
from evidence.schema import Record, Rejected, Timed

GATE_FAILED = command.NOTHING_TIMED


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return command.started(parser(), _main, argv)


def _main(options: argparse.Namespace, words: Sequence[str], began_s: float) -> int:
    chosen = selection(options)
    if options.dry_run:
        command.say(_dry_run(chosen, options))
        return command.OK
    environment = variables(chosen, os.environ)
    provenance, withheld = capture.provenance(
        words, runner=NAME, seed=chosen.loads[0].seed, root=ROOT, environment=environment, destinations=("--logs",)
    )
    answer = probe.ask(chosen.device, TORCH_TIMER, chosen.threads, root=ROOT, environment=environment)
    with tempfile.TemporaryDirectory(prefix="evidence-timelines-") as folder:
        made = plan.build(
            chosen,
            probed=answer.torch,
            facts=answer.facts,
            timeout_s=options.timeout,
            ends_by_s=None if options.deadline is None else began_s + options.deadline,
            provenance=provenance,
            withheld=withheld,
            environment=environment,
            domain=options.domain,
            label=log_label(chosen, options.name),
            limitations=options.limitation,
        )
        place = _place(options, made)
        timelines = Path(folder) if place is None else place.raw.parent.absolute() / "timelines"
        record = command.measured(
            plan.keeping(made, timelines),
            Path(options.logs) if options.log else None,
            lambda record: timeline.attach(record, timelines),
            place,
        )
    return exit_code(record)


def _place(options: argparse.Namespace, made: Plan) -> command.Place | None:
    """Return where the session keeps its stream; None where nothing is kept."""
    if not options.log:
        return None
    logs = Path(options.logs)
    return (command.resumed_place if options.resume else command.fresh_place)(made.header, logs)


def exit_code(record: Record) -> int:
    """Return 0 if something was timed and no gate failed."""
    if any(isinstance(cell, Rejected) for cell in record.cells):
        return GATE_FAILED
    return command.OK if any(isinstance(cell, Timed) for cell in record.cells) else command.NOTHING_TIMED


def _dry_run(chosen: Selection, options: argparse.Namespace) -> str:
    """Return what a run would do, from the options alone: no device is asked, so it is the same on every machine."""
    not_tried = plan.not_tried(chosen)
    lines = [f"study       {' '.join(chosen.study.command)}: {chosen.study.about}"]
    lines.append(f"model       {chosen.model.name} ({chosen.dtype}, {chosen.device})")
    for side in chosen.arms:
        on = ", ".join(f"{feature.switch}={dict(side.switches)[feature.switch]}" for feature in side.features)
        lines.append(f"arm         {side.name} ({side.role}): {side.implementation}, {on or 'all switches off'}")
    lines += [f"workload    {load.name}: {load.requests} requests, {load.about}" for load in chosen.loads]
    lines += [f"not tried   {event.arm} on {event.workload}: {event.reason}" for event in not_tried]
    windows = chosen.processes * (len(chosen.arms) * len(chosen.loads) - len(not_tried))
    lines.append(f"processes   {chosen.processes} a cell, {windows} windows at most, sharing: {chosen.study.sharing}")
    lines.append(f"start       {chosen.start}" + (f", {chosen.nurseries} nurseries an arm" * (chosen.start == "fork")))
    commands = {shlex.join(plan.recorded_command(chosen, side)) for side in chosen.arms}
    lines += [f"worker      {text}" for text in sorted(commands)]
    log = capture.log_name(options.domain, log_label(chosen, options.name), "DEVICE", datetime.now(UTC))
    kept = f"{options.logs}/{log}/record.json" if options.log else "none: --log is not given"
    lines.append(f"log         {kept}")
    lines.append("status      unverified: nothing was run")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
