"""Owns the command that measures ops: `python -m benchmarks.ops.run --op NAME [NAME …]`; `--log` keeps what it found.

Its exit codes are those of `benchmarks.command`.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import ROOT, capture, command, privacy, probe, timing
from benchmarks.ops import plan, tiers
from benchmarks.ops.registry import ops
from benchmarks.ops.selection import NAME, WORKER, Selection, Side, log_title, parser, selection, variables
from benchmarks.ops.trials import TIERS
from benchmarks.ops.verification import gate_file
from benchmarks.plan import Plan

TIMERS = {
    "do-bench": timing.DO_BENCH,
    "held-events": timing.HELD_EVENTS,
    "cuda-graph": timing.CUDA_GRAPH,
    "torch-timer": timing.TORCH_TIMER,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return command.started(parser(), _main, argv)


def _main(options: argparse.Namespace, words: Sequence[str], began_s: float) -> int:
    if options.list:
        command.say(_listing(options.format))
        return command.OK
    chosen, asked = selection(options), rules(options)
    if options.dry_run:
        command.say(_dry_run(chosen, options))
        return command.OK
    made = _plan(options, words, chosen, asked, None if options.deadline is None else began_s + options.deadline)
    return command.carry_out(made, Path(options.logs) if options.log else None)


def rules(options: argparse.Namespace) -> timing.Rules:
    """Return when a process has sampled enough, as the options say."""
    return timing.Rules(
        minimum_samples=options.minimum_samples,
        maximum_samples=options.maximum_samples,
        target_spread=options.target_spread,
        budget_s=options.budget,
        warm_up_s=options.warm_up,
    )


def _listing(form: str) -> str:
    rows: list[dict[str, Any]] = [
        {
            "op": op.name,
            "device": op.device,
            "category": op.category,
            "implementations": [entry.name for entry in op.implementations],
            "directions": list(op.directions),
            "dtypes": list(op.dtypes),
            "tiers": list(tiers.tiers(op)),
            "unavailable": {tier: reason for tier, reason in tiers.obstacles(op).items() if reason},
            "shapes": [shape.name for shape in op.shapes],
            "gate": gate.relative_to(ROOT).as_posix() if (gate := gate_file(op.name)).is_file() else None,
        }
        for op in ops().values()
    ]
    if form == "json":
        return json.dumps(rows, indent=1)
    from tabulate import tabulate

    columns = ("op", "device", "category", "tiers", "implementations", "directions", "dtypes", "shapes", "gate")
    joined = [
        [", ".join(row[name]) or "none" if isinstance(row[name], list) else row[name] or "none" for name in columns]
        for row in rows
    ]
    table = tabulate(joined, headers=columns, maxcolwidths=[None, None, None, None, 28, None, None, 36, None])
    return "\n".join((table, "", *_tiers()))


def _tiers() -> list[str]:
    """Return a line a tier: what it is, and whether this machine has it."""
    missing = tiers.missing()
    return [
        f"tier {tier}  {about}: {f'not here, {missing[tier]}' if missing[tier] else 'here'}"
        for tier, about in TIERS.items()
    ]


def _dry_run(chosen: Selection, options: argparse.Namespace) -> str:
    """Return what a run would do, from the options alone: no device is asked, so it is the same on every machine."""
    program = privacy.program(sys.executable, ROOT)
    log = capture.log_name(options.domain, log_title(options, chosen), "DEVICE", datetime.now(UTC))
    not_tried = {(event.arm, event.workload): event.reason for event in plan.not_tried(chosen)}
    lines = [f"op          {chosen.title} ({chosen.dtype}, {chosen.device})"]
    lines += [f"arm         {side.name} ({side.role}): {_targets(chosen, side)}" for side in chosen.arms]
    lines += [f"workload    {chosen.workload(case)}" for case in chosen.cases]
    lines += [f"not tried   {arm} on {workload}: {reason}" for (arm, workload), reason in not_tried.items()]
    windows = chosen.processes * (len(chosen.arms) * len(chosen.cases) - len(not_tried))
    lines.append(f"processes   {chosen.processes} a cell, {windows} windows at most, sharing: {chosen.sharing}")
    from_what = f"fork, {chosen.nurseries} nurseries an arm" if chosen.start == "fork" else "spawn"
    lines.append(f"start       {from_what}")
    set_here = {name: value for name, value in variables(chosen, {}).items() if name != "PYTHONUNBUFFERED"}
    lines += [f"variable    {name}={value}" for name, value in sorted(set_here.items())]
    commands = {shlex.join((program, "-m", WORKER, *chosen.words(side, is_recorded=True))) for side in chosen.arms}
    lines += [f"worker      {command}" for command in sorted(commands)]
    lines.append(
        f"log         {options.logs}/{log}/record.json" if options.log else "log         none: --log is not given"
    )
    lines.append("status      unverified: nothing was run")
    return "\n".join(lines)


def _targets(chosen: Selection, side: Side) -> str:
    """Return what an arm runs, once where it is the same for all ops."""
    return ", ".join(dict.fromkeys(entry.target for entry in chosen.named(side.implementation).values()))


def _plan(
    options: argparse.Namespace,
    words: Sequence[str],
    chosen: Selection,
    asked: timing.Rules,
    ends_by_s: float | None,
) -> Plan:
    environment = variables(chosen, os.environ)
    provenance, withheld = capture.provenance(
        words,
        runner=NAME,
        seed=chosen.seed,
        root=ROOT,
        environment=environment,
        destinations=("--logs",),
    )
    plan.refuse_uninstalled(chosen)
    timer = TIMERS[options.timer] if options.timer else ""
    answer = probe.ask(chosen.device, timer, chosen.threads, root=ROOT, environment=environment)
    return plan.build(
        chosen,
        probed=answer.torch,
        choice=answer.timer,
        facts=answer.facts,
        rules=asked,
        further_warm_up_s=options.warm_up if options.further_warm_up is None else options.further_warm_up,
        timeout_s=options.timeout,
        ends_by_s=ends_by_s,
        provenance=provenance,
        withheld=withheld,
        environment=environment,
        domain=options.domain,
        name=log_title(options, chosen),
        limitations=options.limitation,
        is_every_process_rechecked=options.recheck == "every",
    )


if __name__ == "__main__":
    raise SystemExit(main())
