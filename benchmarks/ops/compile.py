"""Owns the command that compiles what a session will run: `python -m benchmarks.ops.compile --op NAME [NAME …]`.

Compiling is work of a processor's cores, so cases are called once side by side, in as many processes as there are
cores. Nothing is measured, stored or gated: compiled kernels stay in Triton's cache on disk, which sessions load them
from. What fails here fails again in its gate, which says so; the exit code is that of a command that ran.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence

from benchmarks import ROOT, command, gating, probe, protocol
from benchmarks.nurseries import Nurseries, Nursery
from benchmarks.ops import plan, selection
from benchmarks.ops.compile_options import parser
from benchmarks.ops.selection import Selection
from benchmarks.options import UnsuitableError
from benchmarks.timing import TORCH_TIMER
from benchmarks.workers import Worker, spawned

_CHOICES_OFF_DISK = {"FLA_CACHE_RESULTS": "0", "TRITON_CACHE_AUTOTUNING": "0"}
"""What autotuners choose while nothing is measured must not be what sessions find."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = parser().parse_args(argv)
    return command.guarded(lambda: _main(options))


def _main(options: argparse.Namespace) -> int:
    chosen = selection.selection(options)
    plan.refuse_uninstalled(chosen)
    environment = {**selection.variables(chosen, os.environ), **_CHOICES_OFF_DISK}
    try:
        facts = probe.ask(chosen.device, TORCH_TIMER, chosen.threads, root=ROOT, environment=environment).facts
    except UnsuitableError as error:
        fix = "run it where the sessions will run: kernels are compiled for the device that is there"
        raise UnsuitableError(error.message, fix=fix) from None
    cells = _cells(chosen)
    commands = {side.name: (sys.executable, "-m", selection.WORKER, *chosen.words(side)) for side in chosen.arms}
    each = max(1, chosen.processes // len(cells)) if chosen.start == "fork" else 0

    def nursery(arm: str) -> Nursery:
        return Nursery(commands[arm], facts, root=ROOT, environment=environment, timeout_s=options.timeout)

    began = time.monotonic()
    with Nurseries({arm: [nursery(arm) for _ in range(each)] for arm in cells}) as nurseries:

        def start(phase: protocol.Phase, arm: str, workloads: Sequence[str], turn: int) -> Worker:
            forked = nurseries.start(arm, turn) if turn < each else None
            made = forked or spawned(commands[arm], root=ROOT, environment=environment)
            return Worker(made, _job(phase, workloads, chosen.threads), timeout_s=options.timeout)

        gating.Stages(start, chosen.processes).beside("compiling", cells, _say)
    total = sum(len(workloads) for workloads in cells.values())
    command.say(f"done       {total} cases in {time.monotonic() - began:.0f} s; nothing was measured, gated or stored")
    return command.OK


def _cells(chosen: Selection) -> gating.Cells:
    return {
        side.name: [chosen.workload(case) for case in chosen.cases if chosen.obstacle(side, case) is None]
        for side in chosen.arms
    }


def _job(phase: protocol.Phase, workloads: Sequence[str], threads: int) -> protocol.Job:
    return protocol.Job(
        phase=phase,
        timer=TORCH_TIMER,
        threads=threads,
        minimum_samples=1,
        maximum_samples=1,
        target_spread=None,
        budget_s=None,
        warm_up_s=0.0,
        further_warm_up_s=0.0,
        assignments=tuple(protocol.Assignment(workload=name, proof=None, is_rechecked=False) for name in workloads),
    )


def _say(arm: str, heard: gating.Heard) -> None:
    if isinstance(heard, protocol.Called):
        command.say(f"compiled   {arm} on {heard.workload} in {heard.seconds:.1f} s")
    elif isinstance(heard, protocol.Failed):
        command.say(f"failed     {arm} on {heard.workload}: {heard.message}")


if __name__ == "__main__":
    raise SystemExit(main())
