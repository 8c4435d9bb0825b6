"""Owns one worker process of a comparison of timers: gates calls, or times them with one timer.

`python -m benchmarks.calibration.worker --timer NAME --device DEVICE --calls OP:IMPLEMENTATION:SHAPE …`. The job comes
on stdin and messages go to stdout, see `benchmarks.protocol`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from benchmarks import protocol
from benchmarks.calibration import nvbench
from benchmarks.calibration.calls import calls
from benchmarks.conversation import Conversation
from benchmarks.ops import worker as ops_worker
from benchmarks.ops.calls import load
from benchmarks.ops.worker import Chosen, OpWorker


def _asked(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.calibration.worker")
    parser.add_argument("--timer", required=True)
    parser.add_argument("--device", choices=("cpu", "cuda"), required=True)
    parser.add_argument("--calls", nargs="+", required=True)
    return parser.parse_args(words)


def prepare(words: Sequence[str]) -> None:
    """Import what `main` will use, and run nothing of it. NVBench is left out: importing it initialises a driver."""
    ops_worker.import_libraries()
    for call in calls(_asked(words).calls).timed:
        for entry in (call.case.op.reference, call.implementation):
            load(entry.target)


def _timed_by_nvbench(worker: OpWorker, job: protocol.Job) -> None:
    import torch

    torch.set_num_threads(job.threads)

    def attend(state: int, timer: nvbench.NvBench) -> None:
        worker.attend(job.assignments[state], timer, job, is_first=state == 0)

    nvbench.attended(len(job.assignments), job.maximum_samples, attend)


def main(argv: Sequence[str] | None = None) -> int:
    """Do the job that comes on stdin."""
    asked = _asked(sys.argv[1:] if argv is None else argv)
    chosen = calls(asked.calls)
    session = Conversation.over_stdio()
    worker = OpWorker(Chosen(chosen.ops, chosen.of_op), chosen.dtype, asked.device, session)
    job = session.hear_job()
    if job.phase == "timing" and asked.timer == nvbench.NVBENCH:
        _timed_by_nvbench(worker, job)
    else:
        worker.run(job.model_copy(update={"timer": asked.timer}))
    session.close()
    # As other workers: interpreters that hold a device's context can hang while they tear it down.
    os._exit(0)


if __name__ == "__main__":
    raise SystemExit(main())
