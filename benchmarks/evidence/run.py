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

from benchmarks import ROOT, capture, command, privacy
from benchmarks.evidence import plan
from benchmarks.evidence.selection import NAME, WORKER, Selection, parser, selection, variables
from benchmarks.evidence.worker import words


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
    environment = variables(os.environ)
    provenance, withheld = capture.provenance(
        given,
        runner=NAME,
        seed=chosen.sizes.get("seed", 0),
        root=ROOT,
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


def _dry_run(chosen: Selection, options: argparse.Namespace) -> str:
    """Return what a run would do, from the options alone; no input is written."""
    program = privacy.program(sys.executable, ROOT)
    log = capture.log_name(options.domain, options.name or chosen.suite.name, "DEVICE", datetime.now(UTC))
    lines = [f"suite       {chosen.suite.name}: {chosen.suite.summary}"]
    lines += [f"size        {name} = {size}" for name, size in chosen.sizes.items()]
    lines += [f"arm         {name} ({role}): {side.implementation}" for name, role, side in chosen.arms]
    lines.append(f"processes   {chosen.processes} a cell, {chosen.processes * len(chosen.arms)} windows at most")
    sides = dict.fromkeys(side.name for _, _, side in chosen.arms)
    lines += [
        f"worker      {shlex.join((program, '-m', WORKER, *words(chosen.suite, side, chosen.sizes)))}" for side in sides
    ]
    lines.append(
        f"log         {options.logs}/{log}/record.json" if options.log else "log         none: --log is not given"
    )
    lines.append("status      unverified: nothing was run")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
