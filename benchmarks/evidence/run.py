"""Owns the command that measures the checker and the build: `python -m benchmarks.evidence.run {check,site,store}`.

Its exit codes are those of `benchmarks.command`.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import capture, command, privacy
from benchmarks.evidence import plan
from benchmarks.evidence.suite import Suite, find, suites
from benchmarks.evidence.worker import words

RUNNER = "benchmarks.evidence.run"


def parser() -> argparse.ArgumentParser:
    """Return the command's options; each suite has those of its sizes."""
    made = argparse.ArgumentParser(
        prog=f"python -m {RUNNER}",
        description="Gate and time the checker and the build in interleaved fresh processes.",
    )
    choice = made.add_subparsers(dest="suite", required=True, metavar="SUITE")
    for suite in suites().values():
        _add_options(choice.add_parser(suite.name, help=suite.summary, description=suite.summary), suite)
    return made


def _add_options(made: argparse.ArgumentParser, suite: Suite) -> None:
    for name, size in suite.sizes.items():
        made.add_argument(f"--{name}", type=int, default=size, help=f"of the inputs (default {size})")
    made.add_argument("--processes", type=int, default=6, help="fresh processes for each arm (default 6)")
    made.add_argument(
        "--timeout", type=float, default=900.0, metavar="SECONDS", help="the longest a worker may be silent"
    )
    made.add_argument("--no-control", action="store_true", help="leave out the baseline's A/A twin")
    made.add_argument("--dry-run", action="store_true", help="print the plan and the workers' commands")
    command.add_places(made, domain=plan.DOMAIN, name="the suite")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    given = sys.argv[1:] if argv is None else list(argv)
    options = parser().parse_args(given)
    return command.guarded(lambda: _main(options, given))


def _main(options: argparse.Namespace, given: Sequence[str]) -> int:
    chosen = selection(options)
    if options.dry_run:
        command.say(_dry_run(chosen, options))
        return command.OK
    environment = plan.variables(os.environ)
    provenance, withheld = capture.provenance(
        given,
        runner=RUNNER,
        seed=chosen.sizes.get("seed", 0),
        root=capture.ROOT,
        environment=environment,
        destinations=("--logs",),
    )
    plan.refuse_uninstalled()
    with tempfile.TemporaryDirectory(prefix="evidence-inputs-") as folder:
        made = plan.build(
            chosen,
            chosen.suite.prepare(Path(folder), chosen.sizes),
            provenance=provenance,
            withheld=withheld,
            environment=environment,
            timeout_s=options.timeout,
            domain=options.domain,
            name=options.name or chosen.suite.name,
            limitations=options.limitation,
        )
        return command.carry_out(made, Path(options.logs) if options.log else None)


def selection(options: argparse.Namespace) -> plan.Selection:
    """Resolve the options.

    Raises:
        UsageError: they make no measurement.
    """
    suite = find(options.suite)
    sizes = {name: getattr(options, name) for name in suite.sizes}
    if options.processes < 1 or any(size < 1 for size in sizes.values()):
        raise command.UsageError("--processes and the sizes of the inputs are at least 1")
    return plan.Selection(suite, sizes, has_control=not options.no_control, processes=options.processes)


def _dry_run(chosen: plan.Selection, options: argparse.Namespace) -> str:
    """Return what a run would do, from the options alone; no input is written."""
    program = privacy.program(sys.executable, capture.ROOT)
    log = capture.log_name(options.domain, options.name or chosen.suite.name, "DEVICE", datetime.now(UTC))
    lines = [f"suite       {chosen.suite.name}: {chosen.suite.summary}"]
    lines += [f"size        {name} = {size}" for name, size in chosen.sizes.items()]
    lines += [f"arm         {name} ({role}): {side.implementation}" for name, role, side in chosen.arms]
    lines.append(f"processes   {chosen.processes} a cell, {chosen.processes * len(chosen.arms)} windows at most")
    sides = dict.fromkeys(side.name for _, _, side in chosen.arms)
    lines += [
        f"worker      {shlex.join((program, '-m', plan.WORKER, *words(chosen.suite, side, chosen.sizes)))}"
        for side in sides
    ]
    lines.append(
        f"log         {options.logs}/{log}/record.json" if options.log else "log         none: --log is not given"
    )
    lines.append("status      unverified: nothing was run")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
