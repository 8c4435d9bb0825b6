"""Owns the call that a profiler watches: one implementation on one workload, warm, between its start and its stop.

`python -m benchmarks.ops.profiled --op OP --implementation NAME --workload NAME [--trace FILE]`. Nothing is timed and
nothing is stored here; what a profiler says of it comes back through `benchmarks.profile`.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks import ROOT, privacy
from benchmarks.ops import inputs
from benchmarks.ops.calls import bind
from benchmarks.ops.origins import redirect
from benchmarks.ops.registry import find
from benchmarks.ops.selection import Selection
from benchmarks.ops.verification import Profiling
from benchmarks.ops.workloads import case_of
from benchmarks.profile.collection import Request, collect
from benchmarks.profile.summaries import Taken
from evidence.schema import Record, Timed, Unavailable

NAME = "benchmarks.ops.profiled"
_WARM_UP = 3


def requests(
    chosen: Selection, record: Record, environment: Mapping[str, str], wanted: Profiling
) -> tuple[Request, ...]:
    """Return one request for each cell that was timed, is wanted and is no control."""
    sides = {side.name: side for side in chosen.arms if side.role in wanted.roles}
    made = []
    for cell in record.cells:
        if not isinstance(cell, Timed) or cell.arm not in sides or cell.workload not in wanted.workloads:
            continue
        more = ("--workload", cell.workload, "--threads", str(chosen.threads))
        target = (sys.executable, "-m", NAME, *chosen.words(sides[cell.arm]), *more)
        recorded = chosen.words(sides[cell.arm], is_recorded=True)
        shown = (privacy.program(sys.executable, ROOT), "-m", NAME, *recorded, *more)
        made.append(Request(cell.arm, cell.workload, target, shown, environment, ROOT))
    return tuple(made)


def take(
    chosen: Selection, record: Record, environment: Mapping[str, str], wanted: Profiling
) -> tuple[Taken | Unavailable, ...]:
    """Profile every wanted cell by every tool; what cannot be taken says why."""
    asked = requests(chosen, record, environment, wanted)
    return tuple(collect(request, tool) for request in asked for tool in wanted.tools)


def main(argv: Sequence[str] | None = None) -> int:
    """Make the call."""
    parser = argparse.ArgumentParser(prog=f"python -m {NAME}")
    for name in ("op", "implementation", "workload", "dtype", "device"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--threads", type=int, default=1)
    for name in ("prove", "source", "origin"):
        parser.add_argument(f"--{name}", default="", help="as benchmarks.ops.worker takes it")
    parser.add_argument("--trace", type=Path, help="write the trace of torch's profiler here")
    options = parser.parse_args(argv)
    if options.origin:
        redirect(options.prove, Path(options.origin))
    import torch

    torch.set_num_threads(options.threads)
    op = find(options.op)
    case = case_of(options.workload, (op,), options.dtype)
    sets = inputs.draw_timed(case, options.device)
    call = bind(op.implementation(options.implementation), case)
    is_device = options.device == "cuda"
    for index in range(_WARM_UP):
        call(sets[index % len(sets)])
    if is_device:
        torch.cuda.synchronize()
    with _watched(options.trace, is_device=is_device):
        call(sets[0])
        if is_device:
            torch.cuda.synchronize()
    return 0


@contextlib.contextmanager
def _watched(trace: Path | None, *, is_device: bool) -> Iterator[None]:
    """Start and stop torch's profiler, or the one that runs this program."""
    import torch

    if trace is None:
        if is_device:
            torch.cuda.profiler.start()
        yield
        if is_device:
            torch.cuda.profiler.stop()
        return
    kinds = [torch.profiler.ProfilerActivity.CPU]
    kinds += [torch.profiler.ProfilerActivity.CUDA] if is_device else []
    with torch.profiler.profile(activities=kinds) as profiler:
        yield
    profiler.export_chrome_trace(str(trace))


if __name__ == "__main__":
    raise SystemExit(main())
