"""Owns the command that counts verdicts of committed logs: `python -m benchmarks.calibration.study LOG … --log`.

Its exit codes are those of `benchmarks.command`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import ROOT, capture, command
from benchmarks.calibration import account
from benchmarks.calibration.options import NAME, TITLE, TOTAL, parser, refuse
from evidence.schema import ForeignWorkload, Record, Rejected, Timed
from evidence.store import RECORD_NAME, Store, save


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    options = parser().parse_args(words)
    return command.guarded(lambda: _main(options, words))


def _main(options: argparse.Namespace, words: Sequence[str]) -> int:
    refuse(options)
    provenance, withheld = capture.provenance(
        words, runner=NAME, seed=0, root=ROOT, environment=os.environ, destinations=("--logs",)
    )
    store = Store(Path(options.store))
    record = account.build(
        account.studied(store, options.sessions, options.processes),
        root=ROOT,
        store=store.root,
        provenance=provenance,
        withheld=withheld,
        domain=options.domain,
        name=options.name or TITLE,
        limitations=options.limitation,
    )
    command.say(_told(record))
    if options.log:
        command.say(f"record    {Path(options.logs) / save(Path(options.logs), record) / RECORD_NAME}")
    return command.OK if all(isinstance(cell, Timed) for cell in record.cells) else command.NOTHING_TIMED


def _told(record: Record) -> str:
    """Return what was counted of all trials of a kind, and the verdict on each; or why nothing was."""
    lines = []
    for load, cell in zip(record.workloads, record.cells, strict=True):
        if isinstance(cell, Rejected):
            return f"nothing is counted: {cell.gate.message}"
        if isinstance(load, ForeignWorkload) and isinstance(cell, Timed):
            verdict = {setting.name: setting.value for setting in load.settings}["verdict"]
            lines.append(f"{load.name}: {_values(cell) if verdict == TOTAL else verdict}")
    return "\n".join(lines)


def _values(cell: Timed) -> str:
    return ", ".join(f"{column.metric} {column.values[0]:.4g}" for column in cell.processes[0].samples)


if __name__ == "__main__":
    raise SystemExit(main())
