"""Owns what `benchmarks.ops.compile` is asked for. Nothing here imports what compiles: the check reads its commands."""

from __future__ import annotations

import argparse
import os

from benchmarks.ops import selection

NAME = "benchmarks.ops.compile"


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    made = argparse.ArgumentParser(prog=f"python -m {NAME}", description="Compile the kernels of ops, measure nothing.")
    selection.add_what(made.add_argument_group("what to compile"))
    how = made.add_argument_group("how")
    how.add_argument(
        "--processes",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="processes that compile at once (default: the cores that this one may use)",
    )
    how.add_argument(
        "--timeout", type=float, default=600.0, metavar="SECONDS", help="the longest a process may be silent"
    )
    made.set_defaults(baseline=None, alternatives=[], slowed=0.0, no_control=True)
    made.set_defaults(threads=1, nurseries=1, gate_processes=1, in_turn=False, sharing="arm", start=None)
    return made
