"""Owns the command that measures one op: `python -m benchmarks.ops.run --op NAME`, with `--log` to keep what it found.

Its exit codes are those of `benchmarks.command`.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from benchmarks import capture, command, privacy, probe, session, timing
from benchmarks.ops import plan
from benchmarks.ops.registry import Device, Op, find, ops
from evidence.errors import UnknownNameError

RUNNER = "benchmarks.ops.run"
_TIMERS = {"do-bench": timing.DO_BENCH, "cuda-graph": timing.CUDA_GRAPH, "torch-timer": timing.TORCH_TIMER}


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    made = argparse.ArgumentParser(
        prog=f"python -m {RUNNER}", description="Gate and time implementations of one op in interleaved processes."
    )
    what = made.add_argument_group("what to measure")
    what.add_argument("--op", help="name of the op; --list shows all")
    what.add_argument(
        "--implementations", nargs="+", metavar="NAME", help="which of its implementations; all unless given"
    )
    what.add_argument("--baseline", metavar="NAME", help="what the others are compared with; the first unless given")
    what.add_argument("--alternatives", nargs="+", default=[], metavar="NAME", help="implementations shown for context")
    what.add_argument(
        "--shapes", nargs="+", metavar="SHAPE", help="such as b1-t512-h4-d64; the registered ones unless given"
    )
    what.add_argument("--guards", nargs="+", default=[], metavar="SHAPE", help="shapes that must not get slower")
    what.add_argument("--directions", nargs="+", metavar="NAME", help="forward, forward-backward; all unless given")
    what.add_argument("--dtype", help="the op's first unless given")
    what.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="auto: where the op belongs")
    how = made.add_argument_group("how")
    how.add_argument("--processes", type=int, default=9, help="fresh processes for each arm and workload (default 9)")
    how.add_argument("--threads", type=int, default=1, help="threads inside torch (default 1)")
    how.add_argument("--timer", choices=tuple(_TIMERS), help="do-bench on an accelerator, torch-timer on a processor")
    how.add_argument(
        "--sharing",
        choices=("cell", "arm"),
        default="cell",
        help="cell: a process an arm and workload; arm: a process measures all workloads of an arm in turn, cheaper",
    )
    how.add_argument(
        "--start",
        choices=("spawn", "fork"),
        help="spawn: every process imports everything; fork: from processes that did, see start() (default fork on an "
        "accelerator, spawn on a processor)",
    )
    how.add_argument("--nurseries", type=int, default=3, help="processes an arm is forked from in turn (default 3)")
    how.add_argument(
        "--deadline",
        type=float,
        metavar="SECONDS",
        help="end this long after the command began, with as many whole rounds of processes as fit",
    )
    how.add_argument("--minimum-samples", type=int, default=10)
    how.add_argument("--maximum-samples", type=int, default=50)
    how.add_argument("--target-spread", type=float, help="stop a process at this coefficient of variation")
    how.add_argument(
        "--budget", type=float, default=10.0, metavar="SECONDS", help="sampling of one process and workload"
    )
    how.add_argument("--warm-up", type=float, default=1.0, metavar="SECONDS", help="before a process's first workload")
    how.add_argument(
        "--further-warm-up", type=float, metavar="SECONDS", help="before its others; as --warm-up unless given"
    )
    how.add_argument(
        "--timeout", type=float, default=600.0, metavar="SECONDS", help="the longest a worker may be silent"
    )
    how.add_argument(
        "--recheck", choices=("first", "every"), default="first", help="whose timed outputs are judged again"
    )
    how.add_argument("--no-control", action="store_true", help="leave out the baseline's A/A twin")
    command.add_places(made, domain="kernels", name="the op")
    instead = made.add_argument_group("instead of measuring")
    instead.add_argument("--list", action="store_true", help="list the ops, without importing torch")
    instead.add_argument("--format", choices=("text", "json"), default="text", help="of --list")
    instead.add_argument("--dry-run", action="store_true", help="print the plan and the workers' commands")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    began_s = time.monotonic()
    words = sys.argv[1:] if argv is None else list(argv)
    options = parser().parse_args(words)
    return command.guarded(lambda: _main(options, words, began_s))


def _main(options: argparse.Namespace, words: Sequence[str], began_s: float) -> int:
    if options.list:
        command.say(_listing(options.format))
        return command.OK
    chosen, rules = selection(options), _rules(options)
    if options.dry_run:
        command.say(_dry_run(chosen, options))
        return command.OK
    made = _plan(options, words, chosen, rules, None if options.deadline is None else began_s + options.deadline)
    return command.carry_out(made, Path(options.logs) if options.log else None)


def selection(options: argparse.Namespace) -> plan.Selection:
    """Resolve the options against the registry.

    Raises:
        UsageError: they make no measurement.
        UnknownNameError: a name that is none; it names the nearest.
        UnsuitableError: the op does not run on the device asked for.
    """
    if options.op is None:
        raise command.UsageError("no op is named", fix="give --op NAME; --list shows all")
    op = find(options.op)
    chosen = tuple(op.implementation(name) for name in options.implementations or [e.name for e in op.implementations])
    names = [entry.name for entry in chosen]
    baseline = options.baseline or names[0]
    for name in (baseline, *options.alternatives):
        if name not in names:
            raise UnknownNameError("chosen implementation", name, names)
    _refuse_repeats("implementation", names)
    if baseline in options.alternatives:
        raise command.UsageError(f"{baseline!r} is the baseline and an alternative")
    if min(options.processes, options.threads, options.nurseries) < 1:
        raise command.UsageError("--processes, --threads and --nurseries are at least 1")
    device = _device(op, options.device)
    dtype = options.dtype or op.dtypes[0]
    shapes = [op.shape(text) for text in options.shapes] if options.shapes else list(op.shapes)
    guards = [op.shape(text) for text in options.guards]
    shapes += [shape for shape in guards if shape not in shapes]
    cases = tuple(op.case(shape, dtype, way) for shape in shapes for way in options.directions or op.directions)
    _refuse_repeats("workload", [case.name for case in cases])
    return plan.Selection(
        op=op,
        implementations=chosen,
        baseline=baseline,
        alternatives=tuple(options.alternatives),
        cases=cases,
        guards=tuple(shape.name for shape in guards),
        dtype=dtype,
        device=device,
        has_control=not options.no_control,
        processes=options.processes,
        threads=options.threads,
        sharing=options.sharing,
        start=options.start or start(device),
        nurseries=options.nurseries,
    )


def start(device: Device) -> Literal["spawn", "fork"]:
    """Return how processes begin on a device unless it is said.

    Forks of one process share its hash seed and address-space layout, see `Plan.start`. On a processor both reach what
    is timed, through caches and branch predictors, so the strict way is the usual one. On an accelerator a device's
    clock times the kernels, and what differs between starts is made after the fork: context, allocator, placement on
    the device, clocks. There fresh interpreters cost several times what measuring does and buy nothing but host code's
    share in calls so short that launches show, for which `--start spawn` is there.
    """
    return "fork" if device == "cuda" else "spawn"


def _refuse_repeats(kind: str, names: Sequence[str]) -> None:
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise command.UsageError(f"{kind} {repeated[0]!r} is given twice")


def _device(op: Op, asked: str) -> Device:
    if asked == "cpu" and op.device == "cuda":
        raise capture.UnsuitableError(f"{op.name} has no implementation for a processor", fix="leave out --device")
    return "cuda" if "cuda" in (asked, op.device) else "cpu"


def _rules(options: argparse.Namespace) -> timing.Rules:
    return timing.Rules(
        minimum_samples=options.minimum_samples,
        maximum_samples=options.maximum_samples,
        target_spread=options.target_spread,
        budget_s=options.budget,
        warm_up_s=options.warm_up,
    )


def _listing(form: str) -> str:
    rows = [
        {
            "op": op.name,
            "device": op.device,
            "category": op.category,
            "implementations": [entry.name for entry in op.implementations],
            "directions": list(op.directions),
            "dtypes": list(op.dtypes),
            "shapes": [shape.name for shape in op.shapes],
        }
        for op in ops().values()
    ]
    if form == "json":
        return json.dumps(rows, indent=1)
    from tabulate import tabulate

    columns = ("op", "device", "category", "implementations", "directions", "dtypes", "shapes")
    joined = [[", ".join(row[name]) if isinstance(row[name], list) else row[name] for name in columns] for row in rows]
    return tabulate(joined, headers=columns, maxcolwidths=[None, None, None, 28, None, None, 36])


def _dry_run(chosen: plan.Selection, options: argparse.Namespace) -> str:
    """Return what a run would do, from the options alone: no device is asked, so it is the same on every machine."""
    program = privacy.program(sys.executable, capture.ROOT)
    log = capture.log_name(options.domain, options.name or chosen.op.name, "DEVICE", datetime.now(UTC))
    not_tried = {(event.arm, event.workload): event.reason for event in plan.not_tried(chosen)}
    lines = [f"op          {chosen.op.name} ({chosen.dtype}, {chosen.device})"]
    lines += [f"arm         {name} ({role}): {entry.target}" for name, role, entry in chosen.arms]
    lines += [f"workload    {case.name}" for case in chosen.cases]
    lines += [f"not tried   {arm} on {workload}: {reason}" for (arm, workload), reason in not_tried.items()]
    windows = chosen.processes * (len(chosen.arms) * len(chosen.cases) - len(not_tried))
    lines.append(f"processes   {chosen.processes} a cell, {windows} windows at most, sharing: {chosen.sharing}")
    from_what = f"fork, {chosen.nurseries} nurseries an arm" if chosen.start == "fork" else "spawn"
    lines.append(f"start       {from_what}")
    set_here = {name: value for name, value in plan.variables(chosen, {}).items() if name != "PYTHONUNBUFFERED"}
    lines += [f"variable    {name}={value}" for name, value in sorted(set_here.items())]
    commands = {shlex.join((program, "-m", plan.WORKER, *chosen.words(entry))) for _, _, entry in chosen.arms}
    lines += [f"worker      {command}" for command in sorted(commands)]
    lines.append(
        f"log         {options.logs}/{log}/record.json" if options.log else "log         none: --log is not given"
    )
    lines.append("status      unverified: nothing was run")
    return "\n".join(lines)


def _plan(
    options: argparse.Namespace,
    words: Sequence[str],
    chosen: plan.Selection,
    rules: timing.Rules,
    ends_by_s: float | None,
) -> session.Plan:
    environment = plan.variables(chosen, os.environ)
    provenance, withheld = capture.provenance(
        words,
        runner=RUNNER,
        seed=chosen.op.seed,
        root=capture.ROOT,
        environment=environment,
        destinations=("--logs",),
    )
    plan.refuse_uninstalled(chosen)
    timer = _TIMERS[options.timer] if options.timer else ""
    answer = probe.ask(chosen.device, timer, chosen.threads, root=capture.ROOT, environment=environment)
    return plan.build(
        chosen,
        probed=answer.torch,
        choice=answer.timer,
        facts=answer.facts,
        rules=rules,
        further_warm_up_s=options.warm_up if options.further_warm_up is None else options.further_warm_up,
        timeout_s=options.timeout,
        ends_by_s=ends_by_s,
        provenance=provenance,
        withheld=withheld,
        environment=environment,
        domain=options.domain,
        name=options.name or chosen.op.name,
        limitations=options.limitation,
        is_every_process_rechecked=options.recheck == "every",
    )


if __name__ == "__main__":
    raise SystemExit(main())
