"""Owns what the loop's command is asked for: its options, apart from what they start, for the check reads them too."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Literal, get_args

Bound = Literal["bandwidth", "compute", "launch", "register", "timer", "compiler", "shape"]
"""What can keep work from being faster."""
BOUNDS: tuple[Bound, ...] = get_args(Bound)


def parser() -> argparse.ArgumentParser:
    """Return the command's options."""
    made = argparse.ArgumentParser(
        prog="python -m benchmarks.loop", description="An optimisation loop that is audited."
    )
    commands = made.add_subparsers(dest="command", required=True)
    start = commands.add_parser("start", help="freeze a contract, before any code")
    start.add_argument("draft", type=Path, help="the contract in JSON; frozen files are listed by their paths")
    iterate = commands.add_parser("iterate", help="measure the one change that is checked out, and add its row")
    iterate.add_argument("--direction", help="the one hypothesis that the change tests")
    iterate.add_argument("--note", help="instead of measuring: what was read from a profile")
    iterate.add_argument("--profiled", metavar="LOG", help="the log that holds that profile")
    commands.add_parser("status", help="where the loop stands, and what speaks against a promotion")
    commands.add_parser("promote", help="promote the best, or say what speaks against it")
    no_go = commands.add_parser("no-go", help="conclude that it gets no better, with what is in the way")
    no_go.add_argument("--bound", required=True, choices=BOUNDS)
    no_go.add_argument("--log", help="the record that the bound's number is read from; the best's unless given")
    no_go.add_argument("--metric", help="the counter of its profile; the bound's own unless given")
    told = commands.add_parser("report", help="print the loop as Markdown, every number from its records")
    told.add_argument("--page", action="store_true", help="for a site: macros instead of numbers")
    told.add_argument("--claims", action="store_true", help="the claims file that such a page needs")
    for command in (iterate, no_go, told, *(commands.choices[name] for name in ("status", "promote"))):
        command.add_argument("--task", help="which task; the only one unless given")
    return made
