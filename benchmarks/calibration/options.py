"""Owns what a study of verdicts is asked for. Nothing is read here."""

from __future__ import annotations

import argparse

from benchmarks.options import LOGS, UsageError, add_places

NAME = "benchmarks.calibration.study"
DOMAIN = "calibration"
TITLE = "study"
TOTAL = "all"
"""What stands for all sessions, where a row is of all trials of a kind."""
LEAST_PROCESSES = 9


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    made = argparse.ArgumentParser(
        prog=f"python -m {NAME}",
        description="Count what the A/A and planted trials of committed logs came to. Nothing is measured.",
    )
    made.add_argument("sessions", nargs="+", metavar="LOG", help="such as kernels/softmax_h200_20260901")
    made.add_argument("--from", dest="store", default=LOGS, metavar="DIR", help=f"their store (default {LOGS})")
    made.add_argument(
        "--processes",
        type=int,
        default=LEAST_PROCESSES,
        help=f"a trial of fewer a side is listed as unusable (default {LEAST_PROCESSES})",
    )
    add_places(made, domain=DOMAIN, name=TITLE)
    return made


def refuse(options: argparse.Namespace) -> None:
    """Refuse options that make no study.

    Raises:
        UsageError: no process is a process too few.
    """
    if options.processes < 1:
        raise UsageError("--processes is at least 1")
